// Maps and lists as storage. Everything here keeps `own`, `live` and `children` right, and is undone by its opposite;
// it knows nothing of transactions.

#include <stdlib.h>
#include <string.h>

#include "document.h"

enum { inlineKeys = 8 };

static void *resize(ah_document *d, void *base, size_t before, size_t after) {
    void *result = realloc(base, after);
    if (result == NULL) {
        abort();
    }
    d->held += after - before;
    return result;
}

size_t ah_value_bytes(ah_value v) {
    switch ((ah_tag)v.tag) {
    case AH_NULL:
    case AH_TRUE: return 4;
    case AH_FALSE: return 5;
    case AH_INTEGER:
    case AH_DOUBLE: return v.digits;
    case AH_STRING: return v.as.text->json;
    case AH_NIL:
    case AH_NODE: return 0;
    }
    return 0;
}

static size_t element_size(const ah_storage *s) { return s->kind == AH_LIST ? sizeof(ah_value) : sizeof(ah_entry); }
static size_t commas(size_t count) { return count > 1 ? count - 1 : 0; }

static void came(ah_node *n, ah_value v, size_t key) {
    n->s.own += key + ah_value_bytes(v) + commas(n->s.live + 1) - commas(n->s.live);
    n->s.live++;
    if (v.tag == AH_NODE) {
        n->s.children++;
        v.as.node->parent = n;
    }
}

static void went(ah_node *n, ah_value v, size_t key) {
    n->s.live--;
    n->s.own -= key + ah_value_bytes(v) + commas(n->s.live + 1) - commas(n->s.live);
    n->s.children -= v.tag == AH_NODE;
}

// MARK: Nodes

ah_node *ah_node_new(ah_document *d, ah_node_kind kind, uint8_t depth) {
    ah_node *n = calloc(1, sizeof *n);
    if (n == NULL) {
        abort();
    }
    d->held += sizeof *n;
    n->s.kind = kind == AH_LIST ? AH_LIST : AH_MAP;
    n->s.own = 2;
    n->document = d;
    n->born = n->touched = d->transaction;
    n->depth = depth;
    n->next_born = d->born;
    d->born = n;
    return n;
}

void ah_storage_release(ah_document *d, ah_storage *s) {
    for (uint32_t i = 0; i < s->used; i++) {
        ah_value v = s->kind == AH_LIST ? s->items[i] : s->entries[i].value;
        if (v.tag == AH_STRING) {
            ah_document_release(d, v.as.text);
        }
        if (s->kind == AH_MAP) {
            ah_document_release(d, s->entries[i].key);
        }
    }
    d->held -= s->capacity * element_size(s) + s->slots * sizeof(uint32_t);
    free(s->items);
    free(s->index);
    *s = (ah_storage){.kind = AH_MAP, .own = 2};
}

void ah_node_free_shallow(ah_node *n) {
    ah_storage_release(n->document, &n->s);
    n->document->held -= sizeof *n;
    free(n);
}

void ah_node_reserve(ah_node *n, uint32_t count) {
    ah_storage *s = &n->s;
    if (count <= s->capacity) {
        return;
    }
    uint32_t capacity = s->capacity + s->capacity / 2;
    capacity = capacity < count ? count : capacity;
    capacity = capacity < 4 && s->used > 0 ? 4 : capacity;
    size_t size = element_size(s);
    s->items = resize(n->document, s->items, s->capacity * size, capacity * size);
    s->capacity = capacity;
}

ah_node_kind ah_node_kind_of(const ah_node *n) {
    return n->s.kind == AH_LIST ? AH_LIST : n->s.live == 0 ? AH_EMPTY : AH_MAP;
}

// MARK: Lists

void ah_list_put(ah_node *n, uint32_t at, ah_value v) {
    ah_node_reserve(n, n->s.used + 1);
    if (at < n->s.used) {
        memmove(n->s.items + at + 1, n->s.items + at, (n->s.used - at) * sizeof(ah_value));
    }
    n->s.items[at] = v;
    n->s.used++;
    came(n, v, 0);
}

ah_value ah_list_take(ah_node *n, uint32_t at) {
    ah_value v = n->s.items[at];
    n->s.used--;
    memmove(n->s.items + at, n->s.items + at + 1, (n->s.used - at) * sizeof(ah_value));
    went(n, v, 0);
    return v;
}

ah_value ah_list_swap(ah_node *n, uint32_t at, ah_value v) {
    ah_value old = n->s.items[at];
    went(n, old, 0);
    n->s.items[at] = v;
    came(n, v, 0);
    return old;
}

// MARK: Maps

static uint32_t hash_of(ah_text *key) {
    if (key->hash == 0) {
        key->hash = ah_hash(key->bytes, key->count);
    }
    return key->hash;
}

/// The slot of a key, or the free one where it belongs.
static uint32_t slot_of(const ah_storage *s, const void *key, size_t count, uint32_t hash) {
    uint32_t mask = s->slots - 1, slot = hash & mask;
    while (s->index[slot] != 0) {
        ah_text *other = s->entries[s->index[slot] - 1].key;
        if (hash_of(other) == hash && ah_text_equal(other, key, count)) {
            break;
        }
        slot = (slot + 1) & mask;
    }
    return slot;
}

/// Fills the index anew, with room for twice the entries.
static void rebuild(ah_node *n) {
    ah_storage *s = &n->s;
    uint32_t slots = 16;
    while (slots < s->capacity * 2) {
        slots *= 2;
    }
    if (slots != s->slots) {
        s->index = resize(n->document, s->index, s->slots * sizeof(uint32_t), slots * sizeof(uint32_t));
        s->slots = slots;
    }
    memset(s->index, 0, slots * sizeof(uint32_t));
    for (uint32_t i = 0; i < s->used; i++) {
        ah_text *key = s->entries[i].key;
        s->index[slot_of(s, key->bytes, key->count, hash_of(key))] = i + 1;
    }
}

/// Frees one slot and moves back what was pushed on by it.
static void free_slot(ah_storage *s, uint32_t slot) {
    uint32_t mask = s->slots - 1, gap = slot, at = slot;
    for (;;) {
        at = (at + 1) & mask;
        if (s->index[at] == 0) {
            break;
        }
        uint32_t home = hash_of(s->entries[s->index[at] - 1].key) & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            s->index[gap] = s->index[at];
            gap = at;
        }
    }
    s->index[gap] = 0;
}

bool ah_map_find(const ah_node *n, const void *key, size_t count, uint32_t *at) {
    const ah_storage *s = &n->s;
    if (s->slots > 0) {
        uint32_t entry = s->index[slot_of(s, key, count, ah_hash(key, count))];
        *at = entry - 1;
        return entry != 0;
    }
    for (uint32_t i = s->used; i > 0; i--) {
        if (ah_text_equal(s->entries[i - 1].key, key, count)) {
            *at = i - 1;
            return true;
        }
    }
    return false;
}

uint32_t ah_map_append(ah_node *n, ah_text *key, ah_value v) {
    ah_storage *s = &n->s;
    uint32_t hole = 0, at = s->used;
    if (s->slots == 0 && at < inlineKeys) {
        uint32_t found;
        hole = ah_map_find(n, key->bytes, key->count, &found) ? found + 1 : 0;
    }
    ah_node_reserve(n, at + 1);
    if (at >= inlineKeys && s->slots < s->capacity + s->capacity / 2) {
        rebuild(n);
    }
    s->entries[at] = (ah_entry){key, v};
    s->used++;
    if (s->slots > 0) {
        uint32_t slot = slot_of(s, key->bytes, key->count, hash_of(key));
        hole = s->index[slot];
        s->index[slot] = at + 1;
    }
    came(n, v, (size_t)key->json + 1);
    return hole;
}

void ah_map_unappend(ah_node *n, uint32_t hole, ah_value *v) {
    ah_storage *s = &n->s;
    ah_text *key = s->entries[s->used - 1].key;
    *v = s->entries[s->used - 1].value;
    went(n, *v, (size_t)key->json + 1);
    if (s->slots > 0) {
        uint32_t slot = slot_of(s, key->bytes, key->count, hash_of(key));
        if (hole != 0) {
            s->index[slot] = hole;
        } else {
            free_slot(s, slot);
        }
    }
    s->used--;
    s->first = s->first > s->used ? s->used : s->first;
    ah_document_release(n->document, key);
}

ah_value ah_map_swap(ah_node *n, uint32_t at, ah_value v) {
    ah_storage *s = &n->s;
    ah_entry *entry = &s->entries[at];
    size_t key = (size_t)entry->key->json + 1;
    ah_value old = entry->value;
    if (old.tag != AH_NIL) {
        went(n, old, key);
    }
    entry->value = v;
    if (v.tag != AH_NIL) {
        came(n, v, key);
        s->first = at < s->first ? at : s->first;
    } else {
        while (s->first < s->used && s->entries[s->first].value.tag == AH_NIL) {
            s->first++;
        }
    }
    return old;
}

void ah_map_compact(ah_node *n) {
    ah_storage *s = &n->s;
    uint32_t to = 0;
    for (uint32_t i = 0; i < s->used; i++) {
        if (s->entries[i].value.tag == AH_NIL) {
            ah_document_release(n->document, s->entries[i].key);
        } else {
            s->entries[to++] = s->entries[i];
        }
    }
    s->used = to;
    s->first = 0;
    if (s->slots > 0) {
        rebuild(n);
    }
}
