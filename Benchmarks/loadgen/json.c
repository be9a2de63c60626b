#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { MAXIMUM_DEPTH = 128 };

static const char *skip_space(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) {
        at++;
    }
    return at;
}

/// Past the closing quote of the string that starts at `at`, or NULL.
static const char *skip_string(const char *at, const char *end) {
    if (at >= end || *at != '"') {
        return NULL;
    }
    for (at++; at < end; at++) {
        if (*at == '"') {
            return at + 1;
        }
        if (*at == '\\') {
            at++;
        } else if ((unsigned char)*at < 0x20) {
            return NULL;
        }
    }
    return NULL;
}

/// Past the value that starts at `at`, or NULL. Containers are matched by kind, which is what broken framing upsets.
static const char *skip_value(const char *at, const char *end) {
    char open[MAXIMUM_DEPTH];
    int depth = 0;
    do {
        at = skip_space(at, end);
        if (at >= end) {
            return NULL;
        }
        if (*at == '"') {
            at = skip_string(at, end);
            if (at == NULL) {
                return NULL;
            }
        } else if (*at == '{' || *at == '[') {
            if (depth == MAXIMUM_DEPTH) {
                return NULL;
            }
            open[depth++] = *at++;
        } else if (*at == '}' || *at == ']') {
            if (depth == 0 || open[depth - 1] != (*at == '}' ? '{' : '[')) {
                return NULL;
            }
            depth--;
            at++;
        } else if (*at == ',' || *at == ':') {
            if (depth == 0) {
                return NULL;
            }
            at++;
        } else {
            const char *start = at;
            while (at < end && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *at) != NULL && *at != '\0') {
                at++;
            }
            if (at == start) {
                return NULL;
            }
        }
    } while (depth > 0);
    return at;
}

static json_walk walk_over(span text, char open, char close) {
    json_walk walk = { .at = text.start, .end = text.start + text.length, .started = false, .failed = false };
    walk.at = skip_space(walk.at, walk.end);
    while (walk.end > walk.at && strchr(" \t\r\n", walk.end[-1]) != NULL) {
        walk.end--;
    }
    if (walk.end - walk.at < 2 || *walk.at != open || walk.end[-1] != close) {
        walk.failed = true;
        return walk;
    }
    walk.at++;
    walk.end--;
    return walk;
}

json_walk json_array(span text) {
    return walk_over(text, '[', ']');
}

json_walk json_object(span text) {
    return walk_over(text, '{', '}');
}

/// Steps over the comma between two items. False at the end.
static bool advance(json_walk *walk) {
    if (walk->failed) {
        return false;
    }
    walk->at = skip_space(walk->at, walk->end);
    if (walk->at == walk->end) {
        return false;
    }
    if (walk->started) {
        if (*walk->at != ',') {
            walk->failed = true;
            return false;
        }
        walk->at = skip_space(walk->at + 1, walk->end);
    }
    walk->started = true;
    return true;
}

bool json_next_element(json_walk *walk, span *element) {
    if (!advance(walk)) {
        return false;
    }
    const char *end = skip_value(walk->at, walk->end);
    if (end == NULL) {
        walk->failed = true;
        return false;
    }
    *element = (span){ .start = walk->at, .length = (size_t)(end - walk->at) };
    walk->at = end;
    return true;
}

bool json_next_member(json_walk *walk, span *key, span *value) {
    if (!advance(walk)) {
        return false;
    }
    const char *key_end = skip_string(walk->at, walk->end);
    if (key_end == NULL) {
        walk->failed = true;
        return false;
    }
    *key = (span){ .start = walk->at + 1, .length = (size_t)(key_end - walk->at) - 2 };
    const char *at = skip_space(key_end, walk->end);
    if (at == walk->end || *at != ':') {
        walk->failed = true;
        return false;
    }
    at = skip_space(at + 1, walk->end);
    const char *end = skip_value(at, walk->end);
    if (end == NULL) {
        walk->failed = true;
        return false;
    }
    *value = (span){ .start = at, .length = (size_t)(end - at) };
    walk->at = end;
    return true;
}

bool json_member(span text, const char *key, span *value) {
    json_walk walk = json_object(text);
    span name;
    while (json_next_member(&walk, &name, value)) {
        if (span_equals(name, key)) {
            return true;
        }
    }
    return false;
}

bool span_equals(span piece, const char *text) {
    return piece.length == strlen(text) && memcmp(piece.start, text, piece.length) == 0;
}

bool json_is_string(span value, const char *text) {
    size_t length = strlen(text);
    return value.length == length + 2 && value.start[0] == '"' && memcmp(value.start + 1, text, length) == 0;
}

bool json_copy_string(span value, char *into, size_t capacity) {
    if (value.length < 2 || value.start[0] != '"' || value.length - 2 >= capacity) {
        return false;
    }
    if (memchr(value.start, '\\', value.length) != NULL) {
        return false;
    }
    memcpy(into, value.start + 1, value.length - 2);
    into[value.length - 2] = '\0';
    return true;
}

bool json_integer(span value, int64_t *number) {
    char text[32];
    if (value.length == 0 || value.length >= sizeof text) {
        return false;
    }
    memcpy(text, value.start, value.length);
    text[value.length] = '\0';
    char *end = NULL;
    *number = strtoll(text, &end, 10);
    // A host may hand a whole number back as a double.
    return *end == '\0' || strcmp(end, ".0") == 0;
}
