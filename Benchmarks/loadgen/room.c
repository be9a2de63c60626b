#define _GNU_SOURCE
#include "room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t monotonic_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool room_create(room *room, const endpoint *place, const options *wanted) {
    char body[128];
    snprintf(body, sizeof body, "{\"activity\":\"%s\",\"parameters\":{}}", wanted->activity);
    buffer answer = { 0 };
    int status = http_post(place, "/v1/groups", wanted->operator_token, body, &answer);
    span text = { .start = answer.bytes, .length = answer.length };
    span code;
    span session;
    bool good = status == 201 && json_member(text, "code", &code) && json_copy_string(code, room->code, sizeof room->code) &&
                json_member(text, "session", &session) && json_copy_string(session, room->session, sizeof room->session);
    if (!good) {
        fprintf(stderr, "loadgen: POST /v1/groups answered %d: %.*s\n", status, (int)answer.length, answer.bytes == NULL ? "" : answer.bytes);
    }
    free(answer.bytes);
    return good;
}

bool room_connect(room *room, const endpoint *place) {
    room->people = calloc(room->size, sizeof *room->people);
    if (room->people == NULL) {
        fprintf(stderr, "loadgen: out of memory\n");
        return false;
    }
    for (uint32_t index = 0; index < room->size; index++) {
        person *person = &room->people[index];
        person->room = room;
        person->number = room->first_number + index;
        person->next_counter = calloc(room->senders, sizeof *person->next_counter);
        if (person->next_counter == NULL || !client_open(&person->connection, place)) {
            return false;
        }
        char text[512];
        int length = snprintf(
            text, sizeof text,
            "[{\"type\":\"hello\",\"protocol\":1,\"group\":\"%s\",\"name\":\"Load %u\",\"token\":null,\"client\":\"c%u\",\"locale\":\"en\"},"
            "{\"type\":\"join\",\"ref\":1,\"session\":\"%s\",\"participant\":null,\"since\":null}]",
            room->code, person->number, person->number, room->session);
        if (!client_send(&person->connection, text, (size_t)length)) {
            fprintf(stderr, "loadgen: a connection was lost before it joined\n");
            return false;
        }
    }
    return true;
}

bool room_send(person *sender, uint32_t counter, bool acknowledged) {
    char text[512];
    char reference[32] = "";
    if (acknowledged) {
        snprintf(reference, sizeof reference, "\"ref\":%u,", counter + 1);
    }
    // The first two coordinates carry who and which; the rest fills the body up to the usual size of a stroke message.
    int length = snprintf(
        text, sizeof text,
        "[{\"type\":\"send\",%s\"session\":\"%s\",\"name\":\"upsert_stroke\",\"body\":{\"id\":\"stroke-%u\",\"color\":\"#2563eb\","
        "\"points\":[%u,%u,123.5,456.25,124.5,457.75,125.25,459.5,126,461.25]}}]",
        reference, sender->room->session, sender->number, counter, sender->number - sender->room->first_number);
    return client_send(&sender->connection, text, (size_t)length);
}

static void record_latency(tally *tally, uint64_t nanoseconds) {
    if (tally->latency_count == tally->latency_capacity) {
        uint64_t capacity = tally->latency_capacity == 0 ? 65536 : tally->latency_capacity * 2;
        uint32_t *grown = realloc(tally->latencies, capacity * sizeof *grown);
        if (grown == NULL) {
            fprintf(stderr, "loadgen: out of memory\n");
            exit(1);
        }
        tally->latencies = grown;
        tally->latency_capacity = capacity;
    }
    uint64_t microseconds = nanoseconds / 1000;
    tally->latencies[tally->latency_count++] = microseconds > UINT32_MAX ? UINT32_MAX : (uint32_t)microseconds;
}

/// The first two numbers of the body's points: the sender's counter and its index in the room.
static bool read_points(span body, int64_t *counter, int64_t *sender) {
    span points;
    span element;
    if (!json_member(body, "points", &points)) {
        return false;
    }
    json_walk walk = json_array(points);
    return json_next_element(&walk, &element) && json_integer(element, counter) && json_next_element(&walk, &element) &&
           json_integer(element, sender);
}

static void take_stroke(person *receiver, span body, uint64_t now) {
    room *room = receiver->room;
    tally *tally = room->tally;
    int64_t counter = 0;
    int64_t sender = 0;
    if (!read_points(body, &counter, &sender) || sender < 0 || sender >= room->senders || counter < 1) {
        tally->malformed++;
        return;
    }
    uint32_t *expected = &receiver->next_counter[sender];
    if (*expected != 0 && counter != *expected) {
        tally->order_errors++;
    }
    *expected = (uint32_t)counter + 1;
    // A script that returns a body of its own sends it to the sender too.
    if (receiver->number == room->first_number + (uint32_t)sender) {
        tally->echoes++;
        return;
    }
    tally->delivered++;
    uint64_t due = schedule_due(room->plan, room->first_number / room->size * room->senders + (uint32_t)sender, (uint32_t)counter);
    if (due >= room->measured_from && due < room->measured_until) {
        record_latency(tally, now > due ? now - due : 0);
    }
}

/// A seq that may not go back in this person's stream.
static void take_seq(person *receiver, span value) {
    int64_t seq = 0;
    if (!json_integer(value, &seq) || seq < receiver->last_seq) {
        receiver->room->tally->order_errors++;
    }
    receiver->last_seq = seq;
}

typedef struct {
    span type;
    span name;
    span body;
    span seq;
} envelope;

static bool read_envelope(span text, envelope *into) {
    json_walk walk = json_object(text);
    span key;
    span value;
    memset(into, 0, sizeof *into);
    while (json_next_member(&walk, &key, &value)) {
        if (span_equals(key, "type")) {
            into->type = value;
        } else if (span_equals(key, "name")) {
            into->name = value;
        } else if (span_equals(key, "body")) {
            into->body = value;
        } else if (span_equals(key, "seq")) {
            into->seq = value;
        }
    }
    return !walk.failed && into->type.length > 0;
}

static void take_envelope(person *receiver, span text, uint64_t now) {
    tally *tally = receiver->room->tally;
    envelope envelope;
    if (!read_envelope(text, &envelope)) {
        tally->malformed++;
        return;
    }
    if (json_is_string(envelope.type, "message")) {
        take_seq(receiver, envelope.seq);
        if (json_is_string(envelope.name, "upsert_stroke")) {
            take_stroke(receiver, envelope.body, now);
        }
    } else if (json_is_string(envelope.type, "accepted")) {
        take_seq(receiver, envelope.seq);
        tally->accepted++;
    } else if (json_is_string(envelope.type, "participants")) {
        take_seq(receiver, envelope.seq);
    } else if (json_is_string(envelope.type, "joined")) {
        take_seq(receiver, envelope.seq);
        receiver->joined = true;
    } else if (json_is_string(envelope.type, "snapshot")) {
        take_seq(receiver, envelope.seq);
        tally->snapshots++;
        memset(receiver->next_counter, 0, receiver->room->senders * sizeof *receiver->next_counter);
    } else if (json_is_string(envelope.type, "rejected") || json_is_string(envelope.type, "invalidated")) {
        if (tally->rejected++ == 0) {
            snprintf(tally->first_refusal, sizeof tally->first_refusal, "%.*s", (int)text.length, text.start);
        }
    }
}

static void take_frame(void *context, span message) {
    person *receiver = context;
    tally *tally = receiver->room->tally;
    uint64_t now = monotonic_now();
    tally->received_bytes += message.length;
    tally->frames++;
    json_walk walk = json_array(message);
    span element;
    while (json_next_element(&walk, &element)) {
        take_envelope(receiver, element, now);
    }
    if (walk.failed) {
        tally->malformed++;
    }
}

bool room_receive(person *receiver) {
    return client_receive(&receiver->connection, take_frame, receiver) == CLIENT_OPEN;
}
