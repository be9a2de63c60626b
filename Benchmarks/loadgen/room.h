// The people of one group, and what each of them has to see.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client.h"
#include "options.h"
#include "schedule.h"

/// What all receivers together saw.
typedef struct {
    uint64_t delivered;
    uint64_t echoes;
    uint64_t accepted;
    uint64_t rejected;
    uint64_t order_errors;
    uint64_t malformed;
    uint64_t snapshots;
    uint64_t received_bytes;
    uint64_t frames;
    uint32_t *latencies;
    uint64_t latency_count;
    uint64_t latency_capacity;
    char first_refusal[256];
} tally;

typedef struct room room;

/// A participant of the room's session; `number` is unique in the whole run.
typedef struct {
    client connection;
    room *room;
    uint32_t number;
    bool joined;
    bool gone;
    int64_t last_seq;
    uint32_t *next_counter;
} person;

struct room {
    char code[32];
    char session[32];
    person *people;
    uint32_t size;
    uint32_t first_number;
    uint32_t senders;
    const schedule *plan;
    tally *tally;
    uint64_t measured_from;
    uint64_t measured_until;
};

/// Asks the host for a group with a session. False with a line on standard error.
bool room_create(room *room, const endpoint *place, const options *wanted);

/// Connects everybody and asks to join; the answers come later. False with a line on standard error.
bool room_connect(room *room, const endpoint *place);

/// Sends message `counter` of one person. False when the connection is gone.
bool room_send(person *sender, uint32_t counter, bool acknowledged);

/// Reads what came for one person. False when the connection is gone.
bool room_receive(person *receiver);

/// Monotonic time in nanoseconds.
uint64_t monotonic_now(void);
