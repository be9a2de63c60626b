#include "schedule.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t next_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15;
    uint64_t mixed = *state;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

void schedule_make(schedule *plan, uint32_t senders, uint64_t start, double period) {
    plan->start = start;
    plan->period = period;
    plan->senders = senders;
    plan->order = calloc(senders, sizeof *plan->order);
    plan->rank = calloc(senders, sizeof *plan->rank);
    if (plan->order == NULL || plan->rank == NULL) {
        fprintf(stderr, "loadgen: out of memory\n");
        exit(1);
    }
    uint64_t random = 42;
    for (uint32_t index = 0; index < senders; index++) {
        uint32_t other = (uint32_t)(next_random(&random) % (index + 1));
        plan->order[index] = plan->order[other];
        plan->order[other] = index;
    }
    for (uint32_t index = 0; index < senders; index++) {
        plan->rank[plan->order[index]] = index;
    }
}

uint32_t schedule_sender(const schedule *plan, uint64_t turn, uint32_t *counter) {
    *counter = (uint32_t)(turn / plan->senders) + 1;
    return plan->order[turn % plan->senders];
}

static uint64_t due_at(const schedule *plan, uint64_t beat, uint32_t rank) {
    return plan->start + (uint64_t)(((double)beat + (double)rank / plan->senders) * plan->period);
}

uint64_t schedule_due(const schedule *plan, uint32_t sender, uint32_t counter) {
    return due_at(plan, counter - 1, plan->rank[sender]);
}

uint64_t schedule_turn_due(const schedule *plan, uint64_t turn) {
    return due_at(plan, turn / plan->senders, (uint32_t)(turn % plan->senders));
}
