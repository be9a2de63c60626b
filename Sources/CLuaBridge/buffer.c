// The growable output buffer. Running out of memory here ends the process: the box is made to be restarted, and every
// amount that a script controls is refused before it comes this far.

#include <stdlib.h>
#include <string.h>

#include "internal.h"

void ah_buffer_free(ah_buffer *buffer) {
    free(buffer->base);
    *buffer = (ah_buffer){0};
}

void ah_buffer_reserve(ah_buffer *b, size_t more) {
    if (b->capacity - b->count >= more) {
        return;
    }
    size_t capacity = b->capacity < 64 ? 64 : b->capacity;
    while (capacity - b->count < more) {
        if (capacity > SIZE_MAX / 2) {
            abort();
        }
        capacity *= 2;
    }
    uint8_t *base = realloc(b->base, capacity);
    if (base == NULL) {
        abort();
    }
    b->base = base;
    b->capacity = capacity;
}

void ah_buffer_append(ah_buffer *b, const void *bytes, size_t count) {
    if (count == 0) {
        return;
    }
    ah_buffer_reserve(b, count);
    memcpy(b->base + b->count, bytes, count);
    b->count += count;
}

void ah_buffer_byte(ah_buffer *b, uint8_t byte) {
    if (b->count == b->capacity) {
        ah_buffer_reserve(b, 1);
    }
    b->base[b->count++] = byte;
}
