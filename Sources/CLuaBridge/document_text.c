// Texts: the immutable strings of a document and of a session's record.

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "document.h"

// A multiply-and-fold hash over words, with a secret that differs from process to process: keys come from strangers.

static uint64_t fold(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/// 16 random bytes that the kernel gives each process; reading them needs no system call, so it works in a closed box.
static const void *secret(void) {
    static const uint64_t fallback[2] = {0x2d358dccaa6c78a5u, 0x8bb84b93962eacc9u};
    const void *given = (const void *)getauxval(AT_RANDOM);  // at any address
    return given == NULL ? fallback : given;
}

uint32_t ah_hash(const void *bytes, size_t count) {
    static _Thread_local uint64_t key[2];
    if (key[0] == 0) {
        memcpy(key, secret(), sizeof key);
        key[0] |= 1;
        key[1] |= 1;
    }
    const uint8_t *at = bytes;
    uint64_t h = key[0] ^ count;
    size_t left = count;
    while (left > 0) {
        uint64_t word = 0;
        size_t n = left < 8 ? left : 8;
        memcpy(&word, at, n);
        h = fold(h ^ word, key[1] ^ 0x4b33a62ed433d4a3u);
        at += n;
        left -= n;
    }
    h = fold(h ^ key[1], 0x9e3779b97f4a7c15u);
    uint32_t result = (uint32_t)(h ^ h >> 32);
    return result == 0 ? 1 : result;
}

ah_text *ah_text_new(const void *bytes, size_t count) {
    ah_text *t = malloc(sizeof(ah_text) + count);
    if (t == NULL || count > UINT32_MAX / 8) {
        abort();
    }
    *t = (ah_text){.references = 1, .count = (uint32_t)count};
    if (count > 0) {
        memcpy(t->bytes, bytes, count);
    }
    t->json = (uint32_t)ah_json_string_count(t->bytes, count);
    return t;
}

ah_text *ah_text_retain(ah_text *t) {
    if (t != NULL) {
        t->references++;
    }
    return t;
}

void ah_text_release(ah_text *t) {
    if (t != NULL && --t->references == 0) {
        free(t);
    }
}

ah_bytes ah_text_bytes(const ah_text *t) {
    return t == NULL ? (ah_bytes){NULL, 0} : (ah_bytes){t->bytes, t->count};
}

ah_text *ah_document_text(ah_document *d, const void *bytes, size_t count) {
    ah_text *t = ah_text_new(bytes, count);
    d->held += ah_text_size(t);
    return t;
}

ah_text *ah_document_key(ah_document *d, const void *bytes, size_t count) {
    if (count > AH_KEY_CACHE_MAX) {
        return ah_document_text(d, bytes, count);
    }
    uint32_t hash = ah_hash(bytes, count);
    ah_text **place = &d->keys[hash % AH_KEY_CACHE];
    if (*place != NULL && (*place)->hash == hash && ah_text_equal(*place, bytes, count)) {
        return ah_document_retain(d, *place);
    }
    ah_text *t = ah_document_text(d, bytes, count);
    t->hash = hash;
    if (*place != NULL) {
        ah_document_release(d, *place);
    }
    *place = ah_document_retain(d, t);
    return t;
}

ah_text *ah_document_retain(ah_document *d, ah_text *t) {
    (void)d;
    t->references++;
    return t;
}

void ah_document_release(ah_document *d, ah_text *t) {
    if (t->references == 1) {
        d->held -= ah_text_size(t);
    }
    ah_text_release(t);
}
