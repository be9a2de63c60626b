// The life of a document, the two ends of a transaction, and its JSON.

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"

ah_document *ah_document_new(void) {
    // Generations are unique in the process, so that a proxy of a freed document never fits the next one at its address.
    static _Atomic uint64_t documents = 1;
    ah_document *d = calloc(1, sizeof *d);
    if (d == NULL) {
        abort();
    }
    d->held = sizeof *d;
    d->generation = atomic_fetch_add(&documents, 1) << 32;
    d->transaction = 1;
    d->root = ah_node_new(d, AH_MAP, 1);
    d->root->attached = true;
    d->bytes = d->root->s.own;
    d->born = NULL;
    return d;
}

void ah_document_free(ah_document *d) {
    if (d == NULL) {
        return;
    }
    if (d->open) {
        ah_document_rollback(d);
    }
    ah_node_free_deep(d->root);
    for (size_t i = 0; i < AH_KEY_CACHE; i++) {
        ah_text_release(d->keys[i]);
    }
    free(d->undo);
    free(d);
}

ah_node *ah_document_root(ah_document *d) { return d->root; }
size_t ah_document_bytes(const ah_document *d) { return d->bytes; }

// MARK: Transactions

void ah_document_begin(ah_document *d) {
    d->transaction++;
    d->open = true;
    d->bytes_before = d->bytes;
}

static void finish(ah_document *d) {
    enum { kept = 256 };
    d->born = NULL;
    d->detached = NULL;
    d->undo_count = 0;
    if (d->undo_capacity > kept) {
        d->held -= d->undo_capacity * sizeof *d->undo;
        free(d->undo);
        d->undo = NULL;
        d->undo_capacity = 0;
    }
    d->open = false;
    d->generation++;
}

static ah_storage *saved_of(const ah_undo *u) { return (ah_storage *)(uintptr_t)u->old.as.integer; }

void ah_document_commit(ah_document *d) {
    for (size_t i = 0; i < d->undo_count; i++) {
        ah_undo *u = &d->undo[i];
        if (u->kind == AH_UNDO_STORAGE) {
            ah_storage_release(d, saved_of(u));
            d->held -= sizeof(ah_storage);
            free(saved_of(u));
        } else if (u->kind != AH_UNDO_MAP_APPEND && u->old.tag == AH_STRING) {
            ah_document_release(d, u->old.as.text);
        }
    }
    for (ah_node *n = d->detached; n != NULL;) {
        ah_node *next = n->next_detached;
        ah_node_free_deep(n);
        n = next;
    }
    finish(d);
}

static void undo_one(ah_document *d, const ah_undo *u) {
    ah_node *n = u->node;
    ah_value gone = ah_value_nil();
    switch (u->kind) {
    case AH_UNDO_LIST_SET: gone = ah_list_swap(n, u->at, u->old); break;
    case AH_UNDO_LIST_INSERT: gone = ah_list_take(n, u->at); break;
    case AH_UNDO_LIST_REMOVE: ah_list_put(n, u->at, u->old); break;
    case AH_UNDO_MAP_SET: gone = ah_map_swap(n, u->at, u->old); break;
    case AH_UNDO_MAP_APPEND: ah_map_unappend(n, (uint32_t)u->old.as.integer, &gone); break;
    case AH_UNDO_STORAGE:
        ah_storage_release(d, &n->s);
        n->s = *saved_of(u);
        d->held -= sizeof(ah_storage);
        free(saved_of(u));
        break;
    case AH_UNDO_ROOT:
        d->root = u->old.as.node;
        break;
    }
    if (gone.tag == AH_STRING) {
        ah_document_release(d, gone.as.text);
    }
}

void ah_document_rollback(ah_document *d) {
    for (size_t i = d->undo_count; i > 0; i--) {
        undo_one(d, &d->undo[i - 1]);
    }
    d->bytes = d->bytes_before;
    // Whatever is older than the transaction was attached when it began, and is in its place again.
    for (ah_node *n = d->detached; n != NULL; n = n->next_detached) {
        if (n->born != d->transaction) {
            ah_node_mark(n, true);
        }
    }
    for (ah_node *n = d->born; n != NULL;) {
        ah_node *next = n->next_born;
        ah_node_free_shallow(n);
        n = next;
    }
    finish(d);
}

// MARK: JSON out

void ah_value_write(ah_value v, ah_buffer *out) {
    switch ((ah_tag)v.tag) {
    case AH_NIL: break;
    case AH_NULL: ah_buffer_append(out, "null", 4); break;
    case AH_FALSE: ah_buffer_append(out, "false", 5); break;
    case AH_TRUE: ah_buffer_append(out, "true", 4); break;
    case AH_INTEGER:
        ah_buffer_reserve(out, 32);
        out->count += ah_integer_text(v.as.integer, (char *)out->base + out->count);
        break;
    case AH_DOUBLE:
        ah_buffer_reserve(out, 32);
        out->count += ah_double_text(v.as.real, (char *)out->base + out->count);
        break;
    case AH_STRING: ah_json_string(out, v.as.text->bytes, v.as.text->count); break;
    case AH_NODE: ah_node_write(v.as.node, out); break;
    }
}

void ah_node_write(const ah_node *n, ah_buffer *out) {
    bool list = ah_node_is_list(n), first = true;
    ah_buffer_byte(out, list ? '[' : '{');
    for (uint32_t i = n->s.first; i < n->s.used; i++) {
        ah_value v = list ? n->s.items[i] : n->s.entries[i].value;
        if (v.tag == AH_NIL) {
            continue;
        }
        if (!first) {
            ah_buffer_byte(out, ',');
        }
        first = false;
        if (!list) {
            ah_json_string(out, n->s.entries[i].key->bytes, n->s.entries[i].key->count);
            ah_buffer_byte(out, ':');
        }
        ah_value_write(v, out);
    }
    ah_buffer_byte(out, list ? ']' : '}');
}

void ah_document_write(const ah_document *d, ah_buffer *out) {
    ah_buffer_reserve(out, d->bytes);
    ah_node_write(d->root, out);
}

int ah_node_height(const ah_node *n, size_t *visited) {
    int height = 0;
    uint32_t left = n->s.children;
    *visited += left > 0 ? n->s.used : 1;
    for (uint32_t i = 0; left > 0 && i < n->s.used; i++) {
        ah_value v = ah_node_is_list(n) ? n->s.items[i] : n->s.entries[i].value;
        if (v.tag == AH_NODE) {
            int below = ah_node_height(v.as.node, visited);
            height = below > height ? below : height;
            left--;
        }
    }
    return height + 1;
}

// MARK: Paths

void ah_path_key(ah_buffer *out, const uint8_t *key, size_t count) {
    bool plain = count > 0 && count <= 64 && !(key[0] >= '0' && key[0] <= '9');
    for (size_t i = 0; plain && i < count; i++) {
        uint8_t c = key[i];
        plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    if (plain) {
        if (out->count > 0) {
            ah_buffer_byte(out, '.');
        }
        ah_buffer_append(out, key, count);
        return;
    }
    size_t shown = count > 80 ? 80 : count;
    while (shown > 0 && shown < count && (key[shown] & 0xC0) == 0x80) {
        shown--;
    }
    ah_buffer_byte(out, '[');
    if (ah_utf8_valid(key, shown)) {
        ah_json_string(out, key, shown);
    } else {
        ah_buffer_append(out, "\"?\"", 3);
    }
    ah_buffer_byte(out, ']');
}

void ah_path_index(ah_buffer *out, uint64_t index) {
    char text[32];
    size_t count = ah_integer_text((int64_t)index, text);
    ah_buffer_byte(out, '[');
    ah_buffer_append(out, text, count);
    ah_buffer_byte(out, ']');
}

void ah_node_path(const ah_node *n, ah_buffer *out) {
    if (n->parent == NULL) {
        const char *name = n == n->document->root ? "session.state" : "(removed)";
        ah_buffer_append(out, name, strlen(name));
        return;
    }
    const ah_storage *s = &n->parent->s;
    for (uint32_t i = 0; i < s->used; i++) {
        ah_value v = s->kind == AH_LIST ? s->items[i] : s->entries[i].value;
        if (v.tag == AH_NODE && v.as.node == n) {
            ah_node_path(n->parent, out);
            if (s->kind == AH_LIST) {
                ah_path_index(out, (uint64_t)i + 1);
            } else {
                ah_path_key(out, s->entries[i].key->bytes, s->entries[i].key->count);
            }
            return;
        }
    }
    ah_buffer_append(out, "(removed)", 9);
}
