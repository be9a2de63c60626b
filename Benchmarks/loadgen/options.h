// What the command line asks for.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { MAXIMUM_HOST_PROCESSES = 16 };

typedef struct {
    const char *url;
    const char *activity;
    const char *operator_token;
    pid_t host_processes[MAXIMUM_HOST_PROCESSES];
    size_t host_process_count;
    int rooms;
    int participants;
    int senders;
    double rate;
    double seconds;
    double warmup;
    bool acknowledged;
} options;

/// Reads the command line. False, with what is wrong on standard error, when it makes no sense.
bool options_read(options *into, int count, char **arguments);
