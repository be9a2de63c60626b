// When which message is due: every sender keeps its own even beat, the beats are spread over the period in a fixed shuffled
// order, so that the members of one room are no nearer in time than strangers.
#pragma once

#include <stdint.h>

typedef struct {
    uint64_t start;
    double period;
    uint32_t senders;
    uint32_t *order;
    uint32_t *rank;
} schedule;

/// Lays out the beats of `senders` from `start` (monotonic nanoseconds) on, one message every `period` nanoseconds each.
void schedule_make(schedule *plan, uint32_t senders, uint64_t start, double period);

/// The sender whose turn is the `turn`-th of all, counted from 0, and the number of that message (from 1).
uint32_t schedule_sender(const schedule *plan, uint64_t turn, uint32_t *counter);

/// When message `counter` (from 1) of a sender is due, in monotonic nanoseconds.
uint64_t schedule_due(const schedule *plan, uint32_t sender, uint32_t counter);

/// When the `turn`-th of all messages is due.
uint64_t schedule_turn_due(const schedule *plan, uint64_t turn);
