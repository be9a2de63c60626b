// Changes. Each records how to undo it, unless its node was made in the same transaction: then a rollback frees the
// node as a whole. So putting a big new value in place costs one record, and filling it costs none.

#include <stdlib.h>
#include <string.h>

#include "document.h"

enum { coalesce = 4, compactAt = 16 };

static void record(ah_node *n, ah_undo_kind kind, uint32_t at, ah_value old) {
    ah_document *d = n->document;
    if (d->undo_count == d->undo_capacity) {
        size_t capacity = d->undo_capacity == 0 ? 32 : d->undo_capacity * 2;
        ah_undo *undo = realloc(d->undo, capacity * sizeof *undo);
        if (undo == NULL) {
            abort();
        }
        d->held += (capacity - d->undo_capacity) * sizeof *undo;
        d->undo = undo;
        d->undo_capacity = capacity;
    }
    d->undo[d->undo_count++] = (ah_undo){n, at, kind, old};
}

/// True if one of the latest records, with only assignments after it, already knows what this place held before.
static bool is_known(const ah_node *n, ah_undo_kind kind, uint32_t at) {
    const ah_document *d = n->document;
    for (size_t i = 0; i < coalesce && i < d->undo_count; i++) {
        const ah_undo *u = &d->undo[d->undo_count - 1 - i];
        if (u->kind != AH_UNDO_LIST_SET && u->kind != AH_UNDO_MAP_SET) {
            return false;
        }
        if (u->node == n && u->kind == kind && u->at == at) {
            return true;
        }
    }
    return false;
}

/// To be called before a change; true if it has to be recorded.
static bool touch(ah_node *n) {
    ah_document *d = n->document;
    if (n->born == d->transaction) {
        return false;
    }
    if (n->touched != d->transaction) {
        n->touched = d->transaction;
        // No record of this transaction knows an entry by its place yet: the one moment where entries may move.
        if (n->s.kind == AH_MAP && n->s.used >= compactAt && n->s.live < n->s.used / 2) {
            ah_map_compact(n);
        }
    }
    return true;
}

size_t ah_node_mark(ah_node *n, bool attached) {
    size_t bytes = n->s.own;
    n->attached = attached;
    uint32_t left = n->s.children;
    for (uint32_t i = 0; left > 0 && i < n->s.used; i++) {
        ah_value v = n->s.kind == AH_LIST ? n->s.items[i] : n->s.entries[i].value;
        if (v.tag == AH_NODE) {
            bytes += ah_node_mark(v.as.node, attached);
            left--;
        }
    }
    return bytes;
}

void ah_node_free_deep(ah_node *n) {
    uint32_t left = n->s.children;
    for (uint32_t i = 0; left > 0 && i < n->s.used; i++) {
        ah_value v = n->s.kind == AH_LIST ? n->s.items[i] : n->s.entries[i].value;
        if (v.tag == AH_NODE) {
            ah_node_free_deep(v.as.node);
            left--;
        }
    }
    ah_node_free_shallow(n);
}

void ah_build_begin(ah_node *n) {
    n->next_detached = n->document->detached;
    n->document->detached = n;
}

void ah_build_done(ah_node *n) {
    n->document->detached = n->next_detached;
    n->next_detached = NULL;
}

/// Counts what a change did to `n` itself, then to the values that came and went.
static void account(ah_node *n, size_t own_before, ah_value old, ah_value new) {
    ah_document *d = n->document;
    if (n->attached) {
        d->bytes += n->s.own - own_before;
        if (old.tag == AH_NODE) {
            d->bytes -= ah_node_mark(old.as.node, false);
        }
        if (new.tag == AH_NODE) {
            d->bytes += ah_node_mark(new.as.node, true);
        }
    }
    if (old.tag == AH_NODE) {
        ah_build_begin(old.as.node);  // on the list of what is detached
    }
}

/// Gives up a value that no record keeps.
static void drop(ah_node *n, ah_value old) {
    if (old.tag == AH_STRING) {
        ah_document_release(n->document, old.as.text);
    }
}

// MARK: Lists

void ah_write_list_set(ah_node *n, uint32_t at, ah_value v) {
    bool recorded = touch(n);
    size_t own = n->s.own;
    ah_value old = ah_list_swap(n, at, v);
    account(n, own, old, v);
    if (recorded && !is_known(n, AH_UNDO_LIST_SET, at)) {
        record(n, AH_UNDO_LIST_SET, at, old);
    } else {
        drop(n, old);
    }
}

void ah_write_list_insert(ah_node *n, uint32_t at, ah_value v) {
    bool recorded = touch(n);
    size_t own = n->s.own;
    ah_list_put(n, at, v);
    account(n, own, ah_value_nil(), v);
    if (recorded) {
        record(n, AH_UNDO_LIST_INSERT, at, ah_value_nil());
    }
}

void ah_write_list_remove(ah_node *n, uint32_t at) {
    bool recorded = touch(n);
    size_t own = n->s.own;
    ah_value old = ah_list_take(n, at);
    account(n, own, old, ah_value_nil());
    if (recorded) {
        record(n, AH_UNDO_LIST_REMOVE, at, old);
    } else {
        drop(n, old);
    }
}

/// Keeps a copy of the storage for the undo record; texts get a reference more.
static void record_storage(ah_node *n, bool take) {
    ah_document *d = n->document;
    ah_storage *saved = malloc(sizeof *saved);
    if (saved == NULL) {
        abort();
    }
    *saved = n->s;
    d->held += sizeof *saved;
    if (!take) {
        size_t size = n->s.capacity * sizeof(ah_value);
        saved->items = malloc(size);
        if (saved->items == NULL) {
            abort();
        }
        d->held += size;
        memcpy(saved->items, n->s.items, n->s.used * sizeof(ah_value));
        for (uint32_t i = 0; i < n->s.used; i++) {
            if (saved->items[i].tag == AH_STRING) {
                ah_document_retain(d, saved->items[i].as.text);
            }
        }
    }
    record(n, AH_UNDO_STORAGE, 0, (ah_value){.as.integer = (int64_t)(uintptr_t)saved});
}

void ah_write_list_permute(ah_node *n, const uint32_t *order) {
    if (n->s.used == 0) {
        return;
    }
    if (touch(n)) {
        record_storage(n, false);
    }
    ah_value *items = malloc(n->s.capacity * sizeof *items);
    if (items == NULL) {
        abort();
    }
    for (uint32_t i = 0; i < n->s.used; i++) {
        items[i] = n->s.items[order[i] - 1];
    }
    free(n->s.items);
    n->s.items = items;
}

void ah_write_become_list(ah_node *n) {
    if (touch(n)) {
        record_storage(n, true);
    } else {
        ah_storage_release(n->document, &n->s);
    }
    n->s = (ah_storage){.kind = AH_LIST, .own = 2};
}

// MARK: Maps

void ah_write_map_set(ah_node *n, const void *key, size_t count, ah_value v) {
    ah_document *d = n->document;
    bool recorded = touch(n);
    size_t own = n->s.own;
    uint32_t at;
    bool found = ah_map_find(n, key, count, &at);
    bool live = found && n->s.entries[at].value.tag != AH_NIL;
    if (live) {
        ah_value mark = v;
        if (v.tag == AH_NIL) {
            mark.as.integer = (int64_t)d->transaction;
        }
        ah_value old = ah_map_swap(n, at, mark);
        account(n, own, old, v);
        if (recorded && !(v.tag != AH_NIL && is_known(n, AH_UNDO_MAP_SET, at))) {
            record(n, AH_UNDO_MAP_SET, at, old);
        } else {
            drop(n, old);
        }
        return;
    }
    if (v.tag == AH_NIL) {
        return;
    }
    if (!recorded && n->s.used == n->s.capacity && n->s.used >= compactAt && n->s.live < n->s.used / 2) {
        ah_map_compact(n);
    }
    uint32_t hole = ah_map_append(n, ah_document_key(d, key, count), v);
    account(n, own, ah_value_nil(), v);
    if (recorded) {
        record(n, AH_UNDO_MAP_APPEND, n->s.used - 1, (ah_value){.as.integer = hole});
    }
}

// MARK: The root

void ah_write_root(ah_document *d, ah_node *root) {
    ah_node *old = d->root;
    d->bytes = ah_node_mark(root, true);
    ah_node_mark(old, false);
    root->parent = NULL;
    d->root = root;
    ah_build_begin(old);
    if (old->born != d->transaction) {
        record(root, AH_UNDO_ROOT, 0, ah_value_node(old));
    }
}
