// What the kernel says about the processes under test.
#pragma once

#include <stddef.h>
#include <sys/types.h>

/// CPU seconds (user and system, all threads) and resident bytes, summed over processes.
typedef struct {
    double cpu_seconds;
    long long resident_bytes;
    int processes;
} process_usage;

/// Sums over the processes named and all that descend from them (a host's script boxes are its children).
process_usage process_usage_of(const pid_t *roots, size_t count);
