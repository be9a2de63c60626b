// Memory that belongs to one outcome: taken piece by piece, given back as a whole when the next call begins.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm.h"

enum { BLOCK_BYTES = 16 << 10 };

typedef struct ah_block {
    struct ah_block *next;
    size_t used, size;
    max_align_t data[];
} ah_block;

void *ah_arena_take(ah_arena *a, size_t count) {
    count = (count + 15) & ~(size_t)15;
    ah_block *b = a->blocks;
    if (b == NULL || b->size - b->used < count) {
        size_t size = count > BLOCK_BYTES ? count : BLOCK_BYTES;
        b = malloc(sizeof *b + size);
        if (b == NULL) abort();
        b->size = size;
        b->used = 0;
        b->next = a->blocks;
        a->blocks = b;
        a->held += size;
    }
    void *p = (uint8_t *)b->data + b->used;
    b->used += count;
    return p;
}

ah_bytes ah_arena_copy(ah_arena *a, const void *bytes, size_t count) {
    if (count == 0) return (ah_bytes){NULL, 0};
    void *p = ah_arena_take(a, count);
    memcpy(p, bytes, count);
    return (ah_bytes){p, count};
}

/// Bytes of the valid UTF-8 sequence at `s`, 0 if there is none.
static size_t sequence(const uint8_t *s, size_t count) {
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    return n != 0 && n <= count && ah_utf8_valid(s, n) ? n : 0;
}

ah_bytes ah_arena_clean(ah_arena *a, const void *bytes, size_t count) {
    if (ah_utf8_valid(bytes, count)) return ah_arena_copy(a, bytes, count);
    const uint8_t *s = bytes;
    uint8_t *out = ah_arena_take(a, count * 3);
    size_t n = 0;
    for (size_t i = 0; i < count;) {
        size_t k = sequence(s + i, count - i);
        if (k == 0) {
            memcpy(out + n, "\xEF\xBF\xBD", 3);
            n += 3;
            i += 1;
        } else {
            memcpy(out + n, s + i, k);
            n += k;
            i += k;
        }
    }
    return (ah_bytes){out, n};
}

ah_bytes ah_arena_format(ah_arena *a, const char *format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    size_t count = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    return ah_arena_clean(a, text, count);
}

void ah_arena_reset(ah_arena *a) {
    while (a->blocks != NULL && (a->blocks->next != NULL || a->blocks->size > BLOCK_BYTES)) {
        ah_block *b = a->blocks;
        a->blocks = b->next;
        a->held -= b->size;
        free(b);
    }
    if (a->blocks != NULL) a->blocks->used = 0;
}

void ah_arena_free(ah_arena *a) {
    while (a->blocks != NULL) {
        ah_block *b = a->blocks;
        a->blocks = b->next;
        free(b);
    }
    a->held = 0;
}

bool ah_same(ah_bytes a, const char *text) { return a.count == strlen(text) && memcmp(a.base, text, a.count) == 0; }
