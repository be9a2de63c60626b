// loadgen: many people in many groups, each message sent when it is due and watched until it arrives.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

#include "client.h"
#include "options.h"
#include "process.h"
#include "room.h"
#include "schedule.h"

enum { EVENTS_AT_ONCE = 256 };

static const uint64_t second = 1000000000;

typedef struct {
    options wanted;
    endpoint place;
    room *rooms;
    schedule plan;
    tally tally;
    int poll;
    uint64_t lost_connections;
} run;

static double own_cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/// Asks to be told when a connection that kept something back can take it.
static void watch(run *run, person *person) {
    bool wants = person->connection.unsent.length > 0;
    if (wants == person->connection.wants_writable || person->gone) {
        return;
    }
    struct epoll_event event = { .events = EPOLLIN | (wants ? EPOLLOUT : 0u), .data.ptr = person };
    epoll_ctl(run->poll, EPOLL_CTL_MOD, person->connection.socket, &event);
    person->connection.wants_writable = wants;
}

static void lose(run *run, person *person) {
    if (!person->gone) {
        person->gone = true;
        run->lost_connections++;
        client_close(&person->connection);
    }
}

/// Handles what comes until `deadline` (monotonic nanoseconds), or until nothing is left when it has passed already.
static void turn(run *run, uint64_t deadline) {
    struct epoll_event events[EVENTS_AT_ONCE];
    uint64_t now = monotonic_now();
    uint64_t left = deadline > now ? deadline - now : 0;
    struct timespec patience = { .tv_sec = (time_t)(left / second), .tv_nsec = (long)(left % second) };
    int count = epoll_pwait2(run->poll, events, EVENTS_AT_ONCE, &patience, NULL);
    for (int index = 0; index < count; index++) {
        person *person = events[index].data.ptr;
        bool good = !person->gone;
        if (good && (events[index].events & EPOLLOUT) != 0) {
            good = client_flush(&person->connection);
        }
        if (good && (events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
            good = room_receive(person);
        }
        if (!good) {
            lose(run, person);
        }
        watch(run, person);
    }
}

static bool everybody_joined(const run *run) {
    for (int room = 0; room < run->wanted.rooms; room++) {
        for (int index = 0; index < run->wanted.participants; index++) {
            const person *person = &run->rooms[room].people[index];
            if (!person->joined || person->gone) {
                return false;
            }
        }
    }
    return true;
}

static bool assemble(run *run) {
    run->poll = epoll_create1(EPOLL_CLOEXEC);
    run->rooms = calloc((size_t)run->wanted.rooms, sizeof *run->rooms);
    if (run->poll < 0 || run->rooms == NULL) {
        return false;
    }
    for (int index = 0; index < run->wanted.rooms; index++) {
        room *room = &run->rooms[index];
        room->size = (uint32_t)run->wanted.participants;
        room->senders = (uint32_t)run->wanted.senders;
        room->first_number = (uint32_t)index * room->size;
        room->plan = &run->plan;
        room->tally = &run->tally;
        if (!room_create(room, &run->place, &run->wanted) || !room_connect(room, &run->place)) {
            return false;
        }
        for (uint32_t member = 0; member < room->size; member++) {
            struct epoll_event event = { .events = EPOLLIN, .data.ptr = &room->people[member] };
            epoll_ctl(run->poll, EPOLL_CTL_ADD, room->people[member].connection.socket, &event);
        }
        turn(run, 0);
    }
    uint64_t deadline = monotonic_now() + 30 * second;
    while (!everybody_joined(run)) {
        if (monotonic_now() > deadline || run->lost_connections > 0 || run->tally.rejected > 0) {
            fprintf(stderr, "loadgen: not everybody could join: %s\n", run->tally.first_refusal);
            return false;
        }
        turn(run, monotonic_now() + second / 10);
    }
    return true;
}

static person *sender_at(run *run, uint32_t sender) {
    return &run->rooms[sender / (uint32_t)run->wanted.senders].people[sender % (uint32_t)run->wanted.senders];
}

/// What the counters showed at one moment.
typedef struct {
    process_usage host;
    double own_cpu_seconds;
    uint64_t delivered;
    uint64_t bytes;
    uint64_t frames;
} reading;

static reading read_counters(const run *run) {
    return (reading){
        .host = process_usage_of(run->wanted.host_processes, run->wanted.host_process_count),
        .own_cpu_seconds = own_cpu_seconds(),
        .delivered = run->tally.delivered,
        .bytes = run->tally.received_bytes,
        .frames = run->tally.frames,
    };
}

/// What the sending was like.
typedef struct {
    reading before;
    reading after;
    uint64_t sent;
    double worst_lateness;
} sending;

/// Sends everything that is due, and reads meanwhile. The counters are read at both ends of the measured time.
static sending send_all(run *run, uint64_t measured_from, uint64_t measured_until) {
    sending result = { 0 };
    bool measuring = false;
    for (uint64_t next = 0; schedule_turn_due(&run->plan, next) < measured_until; next++) {
        uint64_t due = schedule_turn_due(&run->plan, next);
        while (monotonic_now() < due) {
            turn(run, due);
        }
        if (!measuring && due >= measured_from) {
            measuring = true;
            result.before = read_counters(run);
        }
        uint32_t counter = 0;
        person *sender = sender_at(run, schedule_sender(&run->plan, next, &counter));
        if (!sender->gone) {
            double lateness = (double)(monotonic_now() - due) / 1e6;
            result.worst_lateness = lateness > result.worst_lateness ? lateness : result.worst_lateness;
            if (!room_send(sender, counter, run->wanted.acknowledged)) {
                lose(run, sender);
            }
            watch(run, sender);
            result.sent++;
        }
        // Reading goes on between two sends even when the schedule is behind.
        turn(run, 0);
    }
    result.after = read_counters(run);
    return result;
}

/// Waits for what is still on its way, five seconds at most.
static void drain(run *run, uint64_t sent) {
    const tally *tally = &run->tally;
    uint64_t receivers = (uint64_t)run->wanted.participants - 1;
    uint64_t deadline = monotonic_now() + 5 * second;
    for (;;) {
        bool arrived = tally->delivered + tally->rejected * receivers >= sent * receivers;
        bool answered = !run->wanted.acknowledged || tally->accepted + tally->rejected >= sent;
        if ((arrived && answered) || monotonic_now() >= deadline) {
            return;
        }
        turn(run, monotonic_now() + second / 10);
    }
}

static int compare_latencies(const void *left, const void *right) {
    uint32_t one = *(const uint32_t *)left;
    uint32_t other = *(const uint32_t *)right;
    return (one > other) - (one < other);
}

static double percentile(const tally *tally, double share) {
    if (tally->latency_count == 0) {
        return 0;
    }
    uint64_t index = (uint64_t)(share * (double)(tally->latency_count - 1) + 0.5);
    return (double)tally->latencies[index] / 1000;
}


static double per(double amount, uint64_t count) {
    return count == 0 ? 0 : amount / (double)count;
}

static void report(run *run, const sending *sending) {
    tally *tally = &run->tally;
    if (tally->latency_count > 0) {
        qsort(tally->latencies, tally->latency_count, sizeof *tally->latencies, compare_latencies);
    }
    uint64_t expected = sending->sent * (uint64_t)(run->wanted.participants - 1);
    const reading *before = &sending->before;
    const reading *after = &sending->after;
    double cpu = after->host.cpu_seconds - before->host.cpu_seconds;
    uint64_t deliveries = after->delivered - before->delivered;
    printf(
        "{\"activity\":\"%s\",\"rooms\":%d,\"participants\":%d,\"senders\":%d,\"rate\":%g,\"seconds\":%g,\"sent\":%llu,\"expected\":%llu,"
        "\"delivered\":%llu,\"lost\":%lld,\"echoes\":%llu,\"accepted\":%llu,\"rejected\":%llu,\"order_errors\":%llu,\"malformed\":%llu,"
        "\"snapshots\":%llu,\"lost_connections\":%llu,",
        run->wanted.activity, run->wanted.rooms, run->wanted.participants, run->wanted.senders, run->wanted.rate, run->wanted.seconds,
        (unsigned long long)sending->sent, (unsigned long long)expected, (unsigned long long)tally->delivered,
        (long long)(expected - tally->delivered), (unsigned long long)tally->echoes, (unsigned long long)tally->accepted,
        (unsigned long long)tally->rejected, (unsigned long long)tally->order_errors, (unsigned long long)tally->malformed,
        (unsigned long long)tally->snapshots, (unsigned long long)run->lost_connections);
    printf(
        "\"latency_ms\":{\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,\"max\":%.3f},\"host_cpu_seconds\":%.3f,\"host_processes\":%d,"
        "\"host_resident_bytes\":%lld,\"loadgen_cpu_seconds\":%.3f,\"loadgen_lateness_max_ms\":%.3f,\"deliveries_per_second\":%.1f,"
        "\"cpu_us_per_delivery\":%.3f,\"bytes_per_delivery\":%.1f,\"deliveries_per_frame\":%.2f}\n",
        percentile(tally, 0.5), percentile(tally, 0.9), percentile(tally, 0.99), percentile(tally, 1), cpu, after->host.processes,
        after->host.resident_bytes, after->own_cpu_seconds - before->own_cpu_seconds, sending->worst_lateness,
        (double)deliveries / run->wanted.seconds, per(cpu * 1e6, deliveries), per((double)(after->bytes - before->bytes), deliveries),
        per((double)deliveries, after->frames - before->frames));
    if (tally->rejected > 0) {
        fprintf(stderr, "loadgen: first refusal: %s\n", tally->first_refusal);
    }
}

int main(int count, char **arguments) {
    run run = { .poll = -1 };
    if (!options_read(&run.wanted, count, arguments)) {
        return 2;
    }
    struct rlimit descriptors;
    if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
        descriptors.rlim_cur = descriptors.rlim_max;
        setrlimit(RLIMIT_NOFILE, &descriptors);
    }
    if (!endpoint_resolve(run.wanted.url, &run.place) || !assemble(&run)) {
        return 1;
    }
    // A fifth of a second for the joins' last echoes to come in before the first message is due.
    uint64_t start = monotonic_now() + second / 5;
    schedule_make(&run.plan, (uint32_t)run.wanted.rooms * (uint32_t)run.wanted.senders, start, (double)second / run.wanted.rate);
    uint64_t measured_from = start + (uint64_t)(run.wanted.warmup * (double)second);
    uint64_t measured_until = measured_from + (uint64_t)(run.wanted.seconds * (double)second);
    for (int index = 0; index < run.wanted.rooms; index++) {
        run.rooms[index].measured_from = measured_from;
        run.rooms[index].measured_until = measured_until;
    }
    sending result = send_all(&run, measured_from, measured_until);
    drain(&run, result.sent);
    report(&run, &result);
    const tally *tally = &run.tally;
    bool complete = tally->delivered == result.sent * (uint64_t)(run.wanted.participants - 1);
    return complete && tally->order_errors == 0 && tally->malformed == 0 && tally->rejected == 0 ? 0 : 1;
}
