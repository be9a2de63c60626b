#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: loadgen --url ws://HOST:PORT [options]\n"
    "  --host-pid PID     whose CPU and memory to read, with its children; repeatable\n"
    "  --rooms R          groups, each with one session (1)\n"
    "  --participants P   people in each (4)\n"
    "  --senders S        how many of them send (all)\n"
    "  --rate HZ          messages a second and sender (20)\n"
    "  --seconds N        measured time (4)\n"
    "  --warmup N         time before it (1)\n"
    "  --activity NAME    must take upsert_stroke {id, color, points} (draw)\n"
    "  --token OPERATOR   the operator's token, where loopback is not enough\n"
    "  --no-ref           send without asking for an answer\n";

/// A number of at least `minimum`.
static bool read_number(const char *text, double minimum, double *into) {
    char *end = NULL;
    *into = strtod(text, &end);
    return end != text && *end == '\0' && *into >= minimum;
}

static bool read_count(const char *text, int *into) {
    double value = 0;
    bool good = read_number(text, 1, &value) && value <= 1000000 && value == (int)value;
    *into = (int)value;
    return good;
}

static bool read_option(options *into, const char *name, const char *value) {
    if (strcmp(name, "--url") == 0) {
        into->url = value;
        return true;
    }
    if (strcmp(name, "--activity") == 0) {
        into->activity = value;
        return strlen(value) <= 64;
    }
    if (strcmp(name, "--token") == 0) {
        into->operator_token = value;
        return strlen(value) <= 256;
    }
    if (strcmp(name, "--host-pid") == 0) {
        int id = 0;
        if (into->host_process_count == MAXIMUM_HOST_PROCESSES || sscanf(value, "%d", &id) != 1 || id <= 0) {
            return false;
        }
        into->host_processes[into->host_process_count++] = id;
        return true;
    }
    if (strcmp(name, "--rooms") == 0) {
        return read_count(value, &into->rooms);
    }
    if (strcmp(name, "--participants") == 0) {
        return read_count(value, &into->participants);
    }
    if (strcmp(name, "--senders") == 0) {
        return read_count(value, &into->senders);
    }
    if (strcmp(name, "--rate") == 0) {
        return read_number(value, 0.01, &into->rate);
    }
    if (strcmp(name, "--seconds") == 0) {
        return read_number(value, 0.1, &into->seconds);
    }
    if (strcmp(name, "--warmup") == 0) {
        return read_number(value, 0, &into->warmup);
    }
    return false;
}

bool options_read(options *into, int count, char **arguments) {
    *into = (options){
        .activity = "draw", .rooms = 1, .participants = 4, .rate = 20, .seconds = 4, .warmup = 1, .acknowledged = true,
    };
    for (int index = 1; index < count; index++) {
        if (strcmp(arguments[index], "--no-ref") == 0) {
            into->acknowledged = false;
        } else if (index + 1 == count || !read_option(into, arguments[index], arguments[index + 1])) {
            fprintf(stderr, "loadgen: cannot use %s\n%s", arguments[index], usage);
            return false;
        } else {
            index++;
        }
    }
    if (into->senders == 0) {
        into->senders = into->participants;
    }
    if (into->url == NULL || into->senders > into->participants) {
        fprintf(stderr, "loadgen: %s\n%s", into->url == NULL ? "--url is missing" : "more senders than participants", usage);
        return false;
    }
    // The counter travels as a coordinate, and those end at a million.
    if (into->rate * (into->seconds + into->warmup) > 1000000) {
        fprintf(stderr, "loadgen: at most a million messages a sender\n");
        return false;
    }
    return true;
}
