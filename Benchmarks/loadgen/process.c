#define _GNU_SOURCE
#include "process.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAXIMUM_PROCESSES = 4096 };

typedef struct {
    pid_t id;
    pid_t parent;
    unsigned long long ticks;
    long long resident_pages;
    bool counted;
} entry;

static bool read_entry(pid_t id, entry *into) {
    char path[64];
    char line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)id);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = '\0';
    // The command name stands in parentheses and may hold spaces and parentheses itself.
    const char *after = strrchr(line, ')');
    if (after == NULL) {
        return false;
    }
    unsigned long long user = 0;
    unsigned long long system = 0;
    int parent = 0;
    long long pages = 0;
    int fields = sscanf(
        after + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %*u %*u %lld", &parent, &user, &system,
        &pages);
    *into = (entry){ .id = id, .parent = parent, .ticks = user + system, .resident_pages = pages, .counted = false };
    return fields == 4;
}

process_usage process_usage_of(const pid_t *roots, size_t count) {
    static entry entries[MAXIMUM_PROCESSES];
    size_t known = 0;
    DIR *directory = opendir("/proc");
    if (directory != NULL) {
        struct dirent *item;
        while (known < MAXIMUM_PROCESSES && (item = readdir(directory)) != NULL) {
            if (isdigit((unsigned char)item->d_name[0]) && read_entry(atoi(item->d_name), &entries[known])) {
                known++;
            }
        }
        closedir(directory);
    }
    for (size_t index = 0; index < known; index++) {
        for (size_t root = 0; root < count; root++) {
            entries[index].counted = entries[index].counted || entries[index].id == roots[root];
        }
    }
    for (bool grown = true; grown;) {
        grown = false;
        for (size_t index = 0; index < known; index++) {
            for (size_t parent = 0; parent < known && !entries[index].counted; parent++) {
                if (entries[parent].counted && entries[parent].id == entries[index].parent) {
                    entries[index].counted = true;
                    grown = true;
                }
            }
        }
    }
    process_usage usage = { 0 };
    for (size_t index = 0; index < known; index++) {
        if (entries[index].counted) {
            usage.cpu_seconds += (double)entries[index].ticks / (double)sysconf(_SC_CLK_TCK);
            usage.resident_bytes += entries[index].resident_pages * sysconf(_SC_PAGESIZE);
            usage.processes++;
        }
    }
    return usage;
}
