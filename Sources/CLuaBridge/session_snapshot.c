// A session as one JSON object, and back. What is read was written by this program, perhaps by another version, perhaps
// on a disk that failed: everything is checked.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "session.h"
#include "vm.h"

enum { format = 1 };

// MARK: Out

static void put(ah_buffer *out, const char *text) { ah_buffer_append(out, text, strlen(text)); }

static void put_text(ah_buffer *out, const char *key, const ah_text *text) {
    put(out, key);
    ah_json_string(out, text->bytes, text->count);
}

static void put_raw(ah_buffer *out, const char *key, const ah_text *json) {
    put(out, key);
    ah_buffer_append(out, json->bytes, json->count);
}

static void put_number(ah_buffer *out, const char *key, int64_t value) {
    put(out, key);
    ah_buffer_reserve(out, 32);
    out->count += ah_integer_text(value, (char *)out->base + out->count);
}

void ah_session_write(const ah_session *session, ah_buffer *out) {
    const ah_session *s = session;
    put_number(out, "{\"format\":", format);
    put_text(out, ",\"id\":", s->id);
    put_number(out, ",\"initiator\":", s->initiator);
    put_number(out, ",\"seq\":", (int64_t)s->seq);
    put_number(out, ",\"time\":", s->time);
    put(out, ",\"random\":[");
    for (int i = 0; i < 4; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s\"%016llx\"", i > 0 ? "," : "", (unsigned long long)s->random[i]);
        put(out, text);
    }
    put_number(out, "],\"next_id\":", (int64_t)s->next_id);
    put_number(out, ",\"next_timer\":", (int64_t)s->next_timer);
    put_raw(out, ",\"parameters\":", s->parameters);
    put(out, ",\"people\":[");
    for (size_t i = 0; i < s->people_count; i++) {
        const ah_person *p = &s->people[i];
        put_number(out, i > 0 ? ",{\"participant\":" : "{\"participant\":", p->participant);
        put_number(out, ",\"member\":", p->member);
        put_text(out, ",\"name\":", p->name);
        put_text(out, ",\"color\":", p->color);
        put_text(out, ",\"role\":", p->role);
        put(out, "}");
    }
    put(out, "],\"timers\":[");
    for (size_t i = 0; i < s->timer_count; i++) {
        const ah_timer *t = &s->timers[i];
        put_number(out, i > 0 ? ",{\"id\":" : "{\"id\":", (int64_t)t->id);
        put_number(out, ",\"due\":", t->due);
        put_text(out, ",\"name\":", t->name);
        if (t->data->count > 0) {
            put_raw(out, ",\"data\":", t->data);
        }
        put(out, "}");
    }
    put(out, "],\"state\":");
    ah_document_write(s->document, out);
    put(out, "}");
}

// MARK: In

/// One field of an object: where its value goes and how it is read.
typedef struct field {
    const char *name;
    bool (*read)(ah_json *j, void *to);
    void *to;
    bool optional;
} field;

/// Reads an object that has these fields and no others, in any order.
static bool read_object(ah_json *j, const field *fields, size_t count) {
    uint32_t seen = 0, missing = 0;
    if (!ah_json_take(j, '{')) {
        return ah_json_fail(j, "an object is expected");
    }
    bool more = !ah_json_take(j, '}');
    while (more) {
        ah_json_text key;
        if (!ah_json_scan_key(j, &key)) {
            return false;
        }
        size_t i = 0;
        while (i < count && (strlen(fields[i].name) != key.count || memcmp(fields[i].name, key.raw, key.count) != 0)) {
            i++;
        }
        if (i == count) {
            return ah_json_fail(j, "unknown field");
        }
        if (seen >> i & 1) {
            return ah_json_fail(j, "duplicate key");
        }
        seen |= 1u << i;
        if (!fields[i].read(j, fields[i].to) || !ah_json_more(j, '}', &more)) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        missing += !(seen >> i & 1) && !fields[i].optional;
    }
    return missing == 0 || ah_json_fail(j, "a field is missing");
}

static bool read_integer(ah_json *j, void *to) {
    ah_number_kind kind;
    double real;
    if (!ah_json_scan_number(j, &kind, to, &real)) {
        return false;
    }
    return kind == AH_NUMBER_INTEGER || ah_json_fail(j, "an integer is expected");
}

static bool read_count(ah_json *j, void *to) {
    int64_t value;
    if (!read_integer(j, &value)) {
        return false;
    }
    *(uint64_t *)to = (uint64_t)value;
    return value >= 0 || ah_json_fail(j, "the number is negative");
}

static bool read_number32(ah_json *j, void *to) {
    int64_t value;
    if (!read_integer(j, &value)) {
        return false;
    }
    *(uint32_t *)to = (uint32_t)value;
    return (value >= 0 && value <= UINT32_MAX) || ah_json_fail(j, "the number does not fit");
}

static bool read_text(ah_json *j, void *to) {
    ah_json_text raw;
    if (!ah_json_scan_string(j, &raw)) {
        return false;
    }
    if (raw.count > AH_MAX_STRING * 6) {
        return ah_json_fail(j, "the string is too long");
    }
    uint8_t *bytes = malloc(raw.count + 1);
    if (bytes == NULL) {
        abort();
    }
    *(ah_text **)to = ah_text_new(bytes, ah_json_unescape(raw, bytes));
    free(bytes);
    return true;
}

static bool read_raw(ah_json *j, void *to) {
    ah_bytes value;
    if (!ah_json_skip(j, AH_MAX_JSON_DEPTH, &value)) {
        return false;
    }
    *(ah_text **)to = ah_text_new(value.base, value.count);
    return true;
}

static bool read_parameters(ah_json *j, void *to) {
    return ah_json_peek(j) == '{' ? read_raw(j, to) : ah_json_fail(j, "an object is expected");
}

static bool read_random(ah_json *j, void *to) {
    uint64_t *random = to;
    bool more = true;
    if (!ah_json_take(j, '[')) {
        return ah_json_fail(j, "a list is expected");
    }
    for (int i = 0; i < 4; i++) {
        ah_json_text text;
        if (!more || !ah_json_scan_string(j, &text) || text.count != 16) {
            return ah_json_fail(j, "four numbers of 16 hexadecimal digits are expected");
        }
        random[i] = 0;
        for (size_t k = 0; k < 16; k++) {
            const char *digits = "0123456789abcdef", *digit = text.raw[k] == 0 ? NULL : strchr(digits, text.raw[k]);
            if (digit == NULL) {
                return ah_json_fail(j, "four numbers of 16 hexadecimal digits are expected");
            }
            random[i] = random[i] << 4 | (uint64_t)(digit - digits);
        }
        if (!ah_json_more(j, ']', &more)) {
            return false;
        }
    }
    bool zero = (random[0] | random[1] | random[2] | random[3]) == 0;
    return (!more && !zero) || ah_json_fail(j, "four numbers, not all 0, are expected");
}

static bool read_person(ah_json *j, ah_session *s) {
    ah_person p = {0};
    const field fields[] = {
        {"participant", read_number32, &p.participant, false}, {"member", read_number32, &p.member, false}, {"name", read_text, &p.name, false},
        {"color", read_text, &p.color, false}, {"role", read_text, &p.role, false}};
    bool good = read_object(j, fields, sizeof fields / sizeof *fields);
    if (good && (p.participant == 0 || ah_session_person(s, p.participant) != NULL)) {
        good = ah_json_fail(j, "a participant's number is 0 or taken");
    }
    if (good) {
        ah_session_add_person(s, p);
        return true;
    }
    ah_text_release(p.name);
    ah_text_release(p.color);
    ah_text_release(p.role);
    return false;
}

static bool read_timer(ah_json *j, ah_session *s) {
    ah_timer t = {0};
    const field fields[] = {
        {"id", read_count, &t.id, false}, {"due", read_integer, &t.due, false}, {"name", read_text, &t.name, false},
        {"data", read_raw, &t.data, true}};
    bool good = read_object(j, fields, sizeof fields / sizeof *fields);
    if (good && (t.id == 0 || (s->timer_count > 0 && t.id <= s->timers[s->timer_count - 1].id))) {
        good = ah_json_fail(j, "timers are not in the order of their numbers");
    }
    if (good) {
        t.data = t.data == NULL ? ah_text_new(NULL, 0) : t.data;
        ah_session_put_timer(s, t);
        return true;
    }
    ah_text_release(t.name);
    ah_text_release(t.data);
    return false;
}

static bool read_list(ah_json *j, ah_session *s, bool (*element)(ah_json *, ah_session *)) {
    if (!ah_json_take(j, '[')) {
        return ah_json_fail(j, "a list is expected");
    }
    bool more = !ah_json_take(j, ']');
    while (more) {
        if (!element(j, s) || !ah_json_more(j, ']', &more)) {
            return false;
        }
    }
    return true;
}

static bool read_people(ah_json *j, void *to) { return read_list(j, to, read_person); }
static bool read_timers(ah_json *j, void *to) { return read_list(j, to, read_timer); }
static bool read_state(ah_json *j, void *to) { return ah_document_read_root(to, j); }

static bool read_session(ah_json *j, ah_session *s) {
    uint64_t version = 0;
    const field fields[] = {
        {"format", read_count, &version, false}, {"id", read_text, &s->id, false}, {"initiator", read_number32, &s->initiator, false},
        {"seq", read_count, &s->seq, false}, {"time", read_integer, &s->time, false}, {"random", read_random, s->random, false},
        {"next_id", read_count, &s->next_id, false}, {"next_timer", read_count, &s->next_timer, false},
        {"parameters", read_parameters, &s->parameters, false},
        {"people", read_people, s, false}, {"timers", read_timers, s, false}, {"state", read_state, s->document, false}};
    if (!read_object(j, fields, sizeof fields / sizeof *fields) || !ah_json_finish(j)) {
        return false;
    }
    if (version != format) {
        return ah_json_fail(j, "another version of this program wrote it");
    }
    bool fits = s->next_timer > 0 && (s->timer_count == 0 || s->timers[s->timer_count - 1].id < s->next_timer);
    return fits || ah_json_fail(j, "a timer's number is still to be given");
}

ah_session *ah_session_read(ah_bytes snapshot, ah_report *report) {
    static const uint8_t nothing[1];
    ah_json j = ah_json_begin(snapshot.base == NULL ? (ah_bytes){nothing, 0} : snapshot);
    ah_session *s = ah_session_make();
    if (read_session(&j, s)) {
        return s;
    }
    char message[200];
    int count = snprintf(message, sizeof message, "the snapshot cannot be read, byte %zu: %s", (size_t)(j.at - j.start) + 1, j.error);
    ah_report_fill(report, "invalid_snapshot", (ah_bytes){0}, 0, (ah_bytes){(const uint8_t *)message, (size_t)count}, (ah_bytes){0});
    ah_session_free(s);
    return NULL;
}
