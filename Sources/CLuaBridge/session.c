// The record behind a session: what lasts beside the state document, and what a rollback restores of it.

#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "document.h"

static void *allocate(size_t count, size_t size) {
    void *result = calloc(count == 0 ? 1 : count, size);
    if (result == NULL) {
        abort();
    }
    return result;
}

static void *grow(void *base, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) {
        return base;
    }
    *capacity = *capacity == 0 ? 8 : *capacity * 2;
    base = realloc(base, *capacity * size);
    if (base == NULL) {
        abort();
    }
    return base;
}

// MARK: Life

static uint64_t split_mix(uint64_t *seed) {
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

ah_session *ah_session_make(void) {
    ah_session *s = allocate(1, sizeof *s);
    s->next_id = 1;
    s->next_timer = 1;
    s->document = ah_document_new();
    return s;
}

ah_session *ah_session_new(ah_bytes id, uint32_t initiator, uint64_t seed) {
    ah_session *s = ah_session_make();
    s->id = ah_text_new(id.base, id.count);
    s->initiator = initiator;
    for (int i = 0; i < 4; i++) {
        s->random[i] = split_mix(&seed);
    }
    s->parameters = ah_text_new("{}", 2);
    return s;
}

static void free_people(ah_person *people, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ah_text_release(people[i].name);
        ah_text_release(people[i].color);
        ah_text_release(people[i].role);
    }
    free(people);
}

static void free_timers(ah_timer *timers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ah_text_release(timers[i].name);
        ah_text_release(timers[i].data);
    }
    free(timers);
}

void ah_session_free(ah_session *session) {
    ah_session *s = session;
    if (s == NULL) {
        return;
    }
    if (s->saved != NULL && s->saved->open) {
        ah_session_rollback(s);
    }
    ah_text_release(s->id);
    ah_text_release(s->parameters);
    free_people(s->people, s->people_count);
    free_timers(s->timers, s->timer_count);
    ah_document_free(s->document);
    free(s->saved);
    free(s);
}

// MARK: Transactions

void ah_session_begin(ah_session *s) {
    if (s->saved == NULL) {
        s->saved = allocate(1, sizeof *s->saved);
    }
    struct ah_session_saved *saved = s->saved;
    *saved = (struct ah_session_saved){
        .open = true,
        .seq = s->seq,
        .time = s->time,
        .next_id = s->next_id,
        .next_timer = s->next_timer,
        .parameters = ah_text_retain(s->parameters),
    };
    memcpy(saved->random, s->random, sizeof s->random);
    ah_document_begin(s->document);
}

static void forget(struct ah_session_saved *saved) {
    ah_text_release(saved->parameters);
    if (saved->has_people) {
        free_people(saved->people, saved->people_count);
    }
    if (saved->has_timers) {
        free_timers(saved->timers, saved->timer_count);
    }
    *saved = (struct ah_session_saved){.open = false};
}

void ah_session_commit(ah_session *s) {
    ah_document_commit(s->document);
    forget(s->saved);
}

void ah_session_rollback(ah_session *s) {
    struct ah_session_saved *saved = s->saved;
    ah_document_rollback(s->document);
    s->seq = saved->seq;
    s->time = saved->time;
    s->next_id = saved->next_id;
    s->next_timer = saved->next_timer;
    memcpy(s->random, saved->random, sizeof s->random);
    ah_text_release(s->parameters);
    s->parameters = ah_text_retain(saved->parameters);
    if (saved->has_people) {
        free_people(s->people, s->people_count);
        s->people = saved->people;
        s->people_count = s->people_capacity = saved->people_count;
        saved->has_people = false;
    }
    if (saved->has_timers) {
        free_timers(s->timers, s->timer_count);
        s->timers = saved->timers;
        s->timer_count = s->timer_capacity = saved->timer_count;
        saved->has_timers = false;
    }
    forget(saved);
}

/// Copies the people before their first change in a transaction.
static void save_people(ah_session *s) {
    struct ah_session_saved *saved = s->saved;
    if (saved == NULL || !saved->open || saved->has_people) {
        return;
    }
    saved->has_people = true;
    saved->people_count = s->people_count;
    saved->people = allocate(s->people_count, sizeof *s->people);
    for (size_t i = 0; i < s->people_count; i++) {
        saved->people[i] = s->people[i];
        ah_text_retain(s->people[i].name);
        ah_text_retain(s->people[i].color);
        ah_text_retain(s->people[i].role);
    }
}

static void save_timers(ah_session *s) {
    struct ah_session_saved *saved = s->saved;
    if (saved == NULL || !saved->open || saved->has_timers) {
        return;
    }
    saved->has_timers = true;
    saved->timer_count = s->timer_count;
    saved->timers = allocate(s->timer_count, sizeof *s->timers);
    for (size_t i = 0; i < s->timer_count; i++) {
        saved->timers[i] = s->timers[i];
        ah_text_retain(s->timers[i].name);
        ah_text_retain(s->timers[i].data);
    }
}

// MARK: People

ah_person *ah_session_person(ah_session *s, uint32_t participant) {
    // Ids of participants grow, so join order is nearly always their order; the walk is for logs of other hosts.
    size_t low = 0, high = s->people_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->people[middle].participant < participant) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < s->people_count && s->people[low].participant == participant) {
        return &s->people[low];
    }
    for (size_t i = 0; s->people_unordered && i < s->people_count; i++) {
        if (s->people[i].participant == participant) {
            return &s->people[i];
        }
    }
    return NULL;
}

void ah_session_add_person(ah_session *s, ah_person person) {
    s->people = grow(s->people, s->people_count, &s->people_capacity, sizeof *s->people);
    bool ordered = s->people_count == 0 || s->people[s->people_count - 1].participant < person.participant;
    s->people_unordered = s->people_unordered || !ordered;
    s->people[s->people_count++] = person;
}

void ah_session_join(ah_session *s, const ah_input *input) {
    save_people(s);
    ah_session_add_person(
        s, (ah_person){
               .participant = input->participant,
               .member = input->member,
               .name = ah_text_new(input->member_name.base, input->member_name.count),
               .color = ah_text_new(input->color.base, input->color.count),
               .role = ah_text_new(input->role.base, input->role.count),
           });
}

void ah_session_leave(ah_session *s, uint32_t participant) {
    ah_person *person = ah_session_person(s, participant);
    if (person == NULL) {
        return;
    }
    size_t at = (size_t)(person - s->people);
    save_people(s);
    ah_text_release(person->name);
    ah_text_release(person->color);
    ah_text_release(person->role);
    s->people_count--;
    memmove(person, person + 1, (s->people_count - at) * sizeof *person);
}

void ah_session_change_member(ah_session *s, const ah_input *input) {
    save_people(s);
    for (size_t i = 0; i < s->people_count; i++) {
        ah_person *person = &s->people[i];
        if (person->member != input->member) {
            continue;
        }
        if (input->member_name.count > 0) {
            ah_text_release(person->name);
            person->name = ah_text_new(input->member_name.base, input->member_name.count);
        }
        if (input->color.count > 0) {
            ah_text_release(person->color);
            person->color = ah_text_new(input->color.base, input->color.count);
        }
        if (input->role.count > 0) {
            ah_text_release(person->role);
            person->role = ah_text_new(input->role.base, input->role.count);
        }
    }
}

// MARK: Randomness

static uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

uint64_t ah_session_random(ah_session *s) {
    uint64_t *r = s->random, result = rotate(r[1] * 5, 7) * 9, shifted = r[1] << 17;
    r[2] ^= r[0];
    r[3] ^= r[1];
    r[1] ^= r[2];
    r[0] ^= r[3];
    r[2] ^= shifted;
    r[3] = rotate(r[3], 45);
    return result;
}

// MARK: Timers

void ah_session_put_timer(ah_session *s, ah_timer timer) {
    s->timers = grow(s->timers, s->timer_count, &s->timer_capacity, sizeof *s->timers);
    s->timers[s->timer_count++] = timer;
}

uint64_t ah_session_add_timer(ah_session *s, int64_t due, ah_bytes name, ah_bytes data) {
    save_timers(s);
    uint64_t id = s->next_timer++;
    ah_session_put_timer(s, (ah_timer){id, due, ah_text_new(name.base, name.count), ah_text_new(data.base, data.count)});
    return id;
}

const ah_timer *ah_session_timer(const ah_session *s, uint64_t id) {
    for (size_t i = 0; i < s->timer_count; i++) {
        if (s->timers[i].id == id) {
            return &s->timers[i];
        }
    }
    return NULL;
}

bool ah_session_cancel_timer(ah_session *s, uint64_t id) {
    const ah_timer *found = ah_session_timer(s, id);
    if (found == NULL) {
        return false;
    }
    size_t at = (size_t)(found - s->timers);
    save_timers(s);
    ah_text_release(s->timers[at].name);
    ah_text_release(s->timers[at].data);
    s->timer_count--;
    memmove(s->timers + at, s->timers + at + 1, (s->timer_count - at) * sizeof *s->timers);
    return true;
}

// MARK: What the host asks

uint64_t ah_session_seq(const ah_session *session) { return session->seq; }
size_t ah_session_state_bytes(const ah_session *session) { return ah_document_bytes(session->document); }
void ah_session_write_state(const ah_session *session, ah_buffer *out) { ah_document_write(session->document, out); }

uint64_t ah_session_next_timer(const ah_session *session, int64_t *due) {
    const ah_timer *next = NULL;
    for (size_t i = 0; i < session->timer_count; i++) {
        const ah_timer *t = &session->timers[i];
        next = next == NULL || t->due < next->due ? t : next;
    }
    *due = next == NULL ? 0 : next->due;
    return next == NULL ? 0 : next->id;
}
