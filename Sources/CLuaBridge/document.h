// The state document from inside. Four files, each on top of the one before:
//   document_text.c    texts: immutable strings, counted references
//   document_node.c    maps and lists as storage; knows its own bytes, nothing of transactions
//   document_write.c   changes: keeps the undo record, the count of bytes and what is detached
//   document.c         life of a document, commit and rollback, JSON out and in
//
// Ownership: a value in a node owns its text reference or its child. A node that is taken out of the tree stays valid,
// detached, until the transaction ends. Nodes never move: assigning copies, so a subtree is put in place once, new.

#ifndef AH_DOCUMENT_H
#define AH_DOCUMENT_H

#include "json.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ah_text {
    uint32_t references;
    uint32_t count;
    uint32_t hash;   // seeded per process; 0 until asked for
    uint32_t json;   // bytes as a JSON string
    uint8_t bytes[];
};

typedef struct ah_entry {
    ah_text *key;
    ah_value value;  // AH_NIL: a hole. `as.integer` of a hole is the transaction that made it
} ah_entry;

/// What a node keeps in memory. A map's holes go when it is compacted.
typedef struct ah_storage {
    uint8_t kind;        // AH_MAP or AH_LIST; a map of no keys counts as AH_EMPTY
    uint32_t used;       // items, or entries with holes
    uint32_t capacity;
    uint32_t live;       // list: as `used`; map: entries without holes
    uint32_t first;      // map: no live entry before this one
    uint32_t slots;      // map: size of `index`, 0 while it has none (8 entries or fewer)
    uint32_t children;   // values that are nodes
    size_t own;          // bytes as JSON without those of child nodes
    union {
        ah_value *items;
        ah_entry *entries;
    };
    uint32_t *index;     // entry + 1, 0 is free; the last entry of a key, also if it is a hole
} ah_storage;

struct ah_node {
    ah_storage s;
    ah_document *document;
    ah_node *parent;     // NULL for the root; valid within a transaction even when detached
    ah_node *next_born;
    ah_node *next_detached;
    uint64_t born;       // the transaction that made it; changes to it need no undo in the same one
    uint64_t touched;    // the last transaction that recorded undo for it
    uint8_t depth;       // the root has 1
    bool attached;       // reachable from the root, so its bytes count
};

typedef enum ah_undo_kind {
    AH_UNDO_LIST_SET,
    AH_UNDO_LIST_INSERT,
    AH_UNDO_LIST_REMOVE,
    AH_UNDO_MAP_SET,       // also removals: the entry stays as a hole
    AH_UNDO_MAP_APPEND,    // `old.as.integer` is the hole (+ 1) that the key had before
    AH_UNDO_STORAGE,       // `old.as.integer` points to the saved ah_storage
    AH_UNDO_ROOT,          // `old` is the root before
} ah_undo_kind;

typedef struct ah_undo {
    ah_node *node;
    uint32_t at;
    ah_undo_kind kind;
    ah_value old;
} ah_undo;

enum { AH_KEY_CACHE = 128, AH_KEY_CACHE_MAX = 40 };

struct ah_document {
    ah_node *root;
    size_t bytes;
    size_t held;
    uint64_t generation;
    uint64_t transaction;        // the number of the open one, or of the last one
    bool open;
    size_t bytes_before;
    ah_node *born;               // nodes made in this transaction
    ah_node *detached;           // roots of subtrees that left the tree in this transaction, or never reached it
    ah_undo *undo;
    size_t undo_count, undo_capacity;
    ah_text *keys[AH_KEY_CACHE]; // recent keys, so that equal keys share memory
};

// MARK: document_text.c                                                                                          [never]
uint32_t ah_hash(const void *bytes, size_t count);
/// A text of the document, counted as held; short keys are shared.
ah_text *ah_document_text(ah_document *d, const void *bytes, size_t count);
ah_text *ah_document_key(ah_document *d, const void *bytes, size_t count);
ah_text *ah_document_retain(ah_document *d, ah_text *t);
void ah_document_release(ah_document *d, ah_text *t);
static inline size_t ah_text_size(const ah_text *t) { return sizeof(ah_text) + t->count; }
static inline bool ah_text_equal(const ah_text *t, const void *bytes, size_t count) {
    return t->count == count && __builtin_memcmp(t->bytes, bytes, count) == 0;
}

// MARK: values                                                                                                   [never]
static inline ah_value ah_value_nil(void) { return (ah_value){.tag = AH_NIL}; }
static inline ah_value ah_value_integer(int64_t i) {
    return (ah_value){.tag = AH_INTEGER, .digits = (uint8_t)ah_integer_digits(i), .as.integer = i};
}
static inline ah_value ah_value_double(double r) {
    return (ah_value){.tag = AH_DOUBLE, .digits = (uint8_t)ah_double_digits(r), .as.real = r};
}
static inline ah_value ah_value_node(ah_node *n) { return (ah_value){.tag = AH_NODE, .as.node = n}; }
static inline ah_value ah_value_text(ah_text *t) { return (ah_value){.tag = AH_STRING, .as.text = t}; }
/// Bytes as JSON; 0 for a node, which counts its own.
size_t ah_value_bytes(ah_value v);
void ah_value_write(ah_value v, ah_buffer *out);

// MARK: document_node.c: storage without undo                                                                    [never]
/// A new node, detached and without a parent, freed by a rollback of the open transaction.
ah_node *ah_node_new(ah_document *d, ah_node_kind kind, uint8_t depth);
void ah_node_free_shallow(ah_node *n);
void ah_storage_release(ah_document *d, ah_storage *s);
void ah_list_put(ah_node *n, uint32_t at, ah_value v);                 // makes room at `at`
ah_value ah_list_take(ah_node *n, uint32_t at);                        // closes the gap
ah_value ah_list_swap(ah_node *n, uint32_t at, ah_value v);
/// Finds the newest entry of a key, which may be a hole.
bool ah_map_find(const ah_node *n, const void *key, size_t count, uint32_t *at);
uint32_t ah_map_append(ah_node *n, ah_text *key, ah_value v);          // takes over the key; returns the hole (+ 1) it had, or 0
void ah_map_unappend(ah_node *n, uint32_t hole, ah_value *v);          // undoes the last append
ah_value ah_map_swap(ah_node *n, uint32_t at, ah_value v);             // AH_NIL makes a hole or fills one
void ah_map_compact(ah_node *n);
void ah_node_reserve(ah_node *n, uint32_t count);
static inline bool ah_node_is_list(const ah_node *n) { return n->s.kind == AH_LIST; }

// MARK: document_write.c: changes within a transaction; new values are subtrees that have just been built        [never]
void ah_write_list_set(ah_node *n, uint32_t at, ah_value v);
void ah_write_list_insert(ah_node *n, uint32_t at, ah_value v);
void ah_write_list_remove(ah_node *n, uint32_t at);
void ah_write_list_permute(ah_node *n, const uint32_t *order);
void ah_write_map_set(ah_node *n, const void *key, size_t count, ah_value v);  // AH_NIL removes
void ah_write_become_list(ah_node *n);                                 // `n` is AH_EMPTY
void ah_write_root(ah_document *d, ah_node *root);
/// A subtree that is being built is pending: it dies with the transaction unless ah_build_done is called, at most one at a time.
void ah_build_begin(ah_node *n);
void ah_build_done(ah_node *n);
/// Sets or clears `attached` in a subtree; returns its bytes.
size_t ah_node_mark(ah_node *n, bool attached);
void ah_node_free_deep(ah_node *n);

// MARK: document.c                                                                                               [never]
void ah_node_write(const ah_node *n, ah_buffer *out);
/// Depth of the subtree, counting `n` itself; adds to `visited` how many values were looked at.
int ah_node_height(const ah_node *n, size_t *visited);
/// Reads a value from JSON into a new subtree, outside of transactions; for snapshots. At most AH_MAX_DEPTH levels.
bool ah_document_read_root(ah_document *d, ah_json *j);
/// "session.state.players.p1"; the path of a detached node begins with "(removed)".
void ah_node_path(const ah_node *n, ah_buffer *out);
/// Appends one step of a path: ".key", "[\"odd key\"]".
void ah_path_key(ah_buffer *out, const uint8_t *key, size_t count);
void ah_path_index(ah_buffer *out, uint64_t index);

#ifdef __cplusplus
}
#endif

#endif
