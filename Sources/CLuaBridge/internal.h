// What the files of the bridge share. Two halves: values (number, json, document, proxy, schema, session) know how data
// looks; the VM (budget, source, pattern, sandbox libraries, script, api, apply) knows how scripts run.
//
// Mark of each function: [never] raises no Lua error; [raises] may raise one, so it is called inside a protected call only.

#ifndef AH_INTERNAL_H
#define AH_INTERNAL_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "ah_bridge.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    AH_MAX_STRING = 1 << 20,       // bytes of one string in the state or made by a library function
    AH_MAX_SOURCE = 256 << 10,     // bytes of one source file
    AH_MAX_DEPTH = 64,             // nesting of the state
    AH_MAX_JSON_DEPTH = 64,        // nesting of JSON text that comes in; a schema's `any` allows 16
    AH_MAX_CHAIN = 200,            // suffixes of one expression (`a.b.c…`): see source.c
};

// MARK: buffer.c (values half)                                                                                   [never]
void ah_buffer_reserve(ah_buffer *b, size_t more);             // aborts the process when memory is out, as malloc wrappers do
void ah_buffer_append(ah_buffer *b, const void *bytes, size_t count);
void ah_buffer_byte(ah_buffer *b, uint8_t byte);
static inline ah_bytes ah_buffer_bytes(const ah_buffer *b) { return (ah_bytes){b->base, b->count}; }

// MARK: number.cc (values half): double-conversion behind C                                                      [never]
/// Shortest text that reads back as `value` and cannot be mistaken for an integer ("1.0", "1e+21" as "1e21", "-0.0").
/// Returns the length; `out` has room for 32 bytes. `value` is finite.
size_t ah_double_text(double value, char *out);
size_t ah_integer_text(int64_t value, char *out);
/// What a JSON number is. Integers outside 64 bits and non-finite results are too large.
typedef enum ah_number_kind { AH_NUMBER_BAD, AH_NUMBER_INTEGER, AH_NUMBER_DOUBLE, AH_NUMBER_TOO_LARGE } ah_number_kind;

// MARK: json.c (values half): strict RFC 8259, no recursion on input depth, UTF-8 checked, lone surrogates refused [never]
bool ah_utf8_valid(const uint8_t *bytes, size_t count);
size_t ah_utf8_count(const uint8_t *bytes, size_t count);     // code points of valid UTF-8
void ah_json_string(ah_buffer *out, const uint8_t *bytes, size_t count);   // quotes and escapes valid UTF-8
size_t ah_json_string_count(const uint8_t *bytes, size_t count);           // bytes that ah_json_string appends

// MARK: document.c (values half): the state beside the VM                                                        [never]
/// An ordered tree of values with an undo record. Nodes live until the transaction that removed them has ended.
typedef struct ah_document ah_document;
typedef struct ah_node ah_node;               // a map or a list

typedef enum ah_tag { AH_NIL, AH_NULL, AH_FALSE, AH_TRUE, AH_INTEGER, AH_DOUBLE, AH_STRING, AH_NODE } ah_tag;
typedef struct ah_text ah_text;               // an immutable, reference-counted byte string of the document

typedef struct ah_value {
    uint8_t tag;
    uint8_t digits;                           // length of a number as canonical JSON
    union { int64_t integer; double real; ah_text *text; ah_node *node; } as;
} ah_value;

typedef enum ah_node_kind { AH_EMPTY, AH_MAP, AH_LIST } ah_node_kind;   // AH_EMPTY: an empty table, undecided; JSON {}

ah_document *ah_document_new(void);
void ah_document_free(ah_document *d);
ah_node *ah_document_root(ah_document *d);
size_t ah_document_bytes(const ah_document *d);               // as canonical JSON
void ah_document_begin(ah_document *d);                       // opens a transaction
void ah_document_commit(ah_document *d);
void ah_document_rollback(ah_document *d);
void ah_document_write(const ah_document *d, ah_buffer *out); // canonical JSON: no spaces, insertion order

ah_node_kind ah_node_kind_of(const ah_node *n);
// Further document functions (get, set, insert, remove, iterate, undo) are the values half's own; see document.h.

// MARK: proxy.c (values half): a document node as a Lua value (full userdata, metatable kept from scripts)
void ah_proxy_install(lua_State *L);                          // [raises] makes the metatables in the registry; called once a VM
void ah_proxy_push(lua_State *L, ah_document *d, ah_node *n); // [raises]
bool ah_proxy_is(lua_State *L, int index);                    // [never]
/// The node behind a proxy, NULL if the value is none; raises "this part of session.state was read in an earlier handler" if stale.
ah_node *ah_proxy_node(lua_State *L, int index);              // [raises]
lua_Integer ah_proxy_length(lua_State *L, int index);         // [raises] like #, for `index` a proxy
void ah_proxy_geti(lua_State *L, int index, lua_Integer i);   // [raises] pushes element i or nil
void ah_proxy_set(lua_State *L, int index);                   // [raises] pops key and value (value on top) and assigns a copy; checks everything of contract 3.3
void ah_proxy_insert(lua_State *L, int index, lua_Integer i); // [raises] pops a value, inserts it before element i of a list
void ah_proxy_remove(lua_State *L, int index, lua_Integer i); // [raises] removes element i, pushes it (a detached live reference if a node)
bool ah_proxy_next(lua_State *L, int index);                  // [raises] like lua_next: pops a key, pushes key and value, or nothing and returns false; O(1) amortised
/// Reorders a list: element i of the result is element order[i - 1] (1-based) of now.   [raises]
void ah_proxy_permute(lua_State *L, int index, const uint32_t *order, size_t count);
/// Replaces the whole state by a copy of the table or proxy at `index` (`session.state = {…}`).   [raises]
void ah_proxy_assign_root(lua_State *L, ah_document *d, int index);

// Plain Lua values that stand for JSON:
void ah_push_null(lua_State *L);                              // [never] the sentinel `null` (a light userdata)
bool ah_is_null(lua_State *L, int index);                     // [never]
/// Marks the plain table at `index` as a list, so that it stays `[]` when empty (`list()` and decoded lists).
void ah_mark_list(lua_State *L, int index);                   // [raises]
bool ah_is_list(lua_State *L, int index);                     // [never]

// MARK: schema.c (values half)
typedef struct ah_schema ah_schema;                           // compiled once a script, immutable

typedef enum ah_right { AH_PARTICIPANT, AH_MODERATOR, AH_HOST, AH_INITIATOR, AH_SCRIPT } ah_right;

typedef struct ah_message_type {
    char *name;                                               // "*" for the relay
    ah_delivery delivery;
    ah_right right;
    bool targeted;
    ah_schema *schema;
} ah_message_type;

/// Compiles the schema table (or type string) at `index`. On error returns NULL and appends to `error` a path and a reason
/// made to stand behind the name of the whole: ".points: unknown type …", ": unknown word …".
/// `words` receives delivery and right when it is not NULL (a message's top table); NULL means words are an error.   [raises]
ah_schema *ah_schema_compile(lua_State *L, int index, ah_message_type *words, ah_buffer *error);
void ah_schema_free(ah_schema *s);                            // [never]
void ah_schema_write(const ah_schema *s, ah_buffer *out);     // [never] as JSON Schema (2020-12 words); optional: not in `required`

/// Decodes JSON text against the schema straight into a Lua value and pushes it. On a mismatch pushes nothing and returns
/// false with `path` ("points[3].x", empty at the top) and `reason` ("integer expected, got string").   [raises only for memory]
bool ah_schema_decode(lua_State *L, const ah_schema *s, ah_bytes json, ah_buffer *path, ah_buffer *reason);
/// Encodes the Lua value at `index` (plain table or proxy) against the schema, appending JSON. Same errors.   [raises only for memory and budget]
bool ah_schema_encode(lua_State *L, int index, const ah_schema *s, ah_buffer *out, ah_buffer *path, ah_buffer *reason);
extern const ah_schema *const ah_schema_any;                  // any JSON, 16 deep
extern const ah_schema *const ah_schema_view;                 // any JSON, AH_MAX_DEPTH deep: what `view` returns; proxies are written directly

// MARK: session.c (values half): the record behind ah_session; plain C                                           [never]
typedef struct ah_person { uint32_t participant, member; ah_text *name, *color, *role; } ah_person;
typedef struct ah_timer { uint64_t id; int64_t due; ah_text *name; ah_text *data; /* JSON, or empty */ } ah_timer;

struct ah_session {
    ah_text *id;
    uint32_t initiator;
    uint64_t seq;
    int64_t time;                     // the latest input's time; never goes back
    uint64_t random[4];               // xoshiro256**
    uint64_t next_id;                 // counter behind session:uuid()
    uint64_t next_timer;
    ah_text *parameters;              // JSON; replaced as a whole (release the old text, put a new one)
    ah_person *people; size_t people_count, people_capacity;     // in join order; change them only by the functions below
    bool people_unordered;            // participants did not join in the order of their numbers
    ah_timer *timers; size_t timer_count, timer_capacity;        // in order of creation
    ah_document *document;
    struct ah_session_saved *saved;   // what rollback restores, while a transaction is open
};
void ah_session_begin(ah_session *s);      // document, people, timers, random, ids, parameters
void ah_session_commit(ah_session *s);
void ah_session_rollback(ah_session *s);
ah_person *ah_session_person(ah_session *s, uint32_t participant);   // NULL if not in the session
void ah_session_join(ah_session *s, const ah_input *input);          // appends
void ah_session_leave(ah_session *s, uint32_t participant);
void ah_session_change_member(ah_session *s, const ah_input *input);  // AH_MEMBER: name and role (an absent one stays) of `member`
uint64_t ah_session_random(ah_session *s);                           // next 64 bits; advances the state
uint64_t ah_session_add_timer(ah_session *s, int64_t due, ah_bytes name, ah_bytes data);
const ah_timer *ah_session_timer(const ah_session *s, uint64_t id);  // NULL if there is none; valid until the next change of timers
bool ah_session_cancel_timer(ah_session *s, uint64_t id);            // false if there is none
ah_text *ah_text_new(const void *bytes, size_t count);
ah_text *ah_text_retain(ah_text *t);
void ah_text_release(ah_text *t);
ah_bytes ah_text_bytes(const ah_text *t);

// MARK: budget.c (VM half)
/// Counts `steps` of library work against the handler's budget; raises the uncatchable budget error when it is spent.   [raises]
void ah_charge(lua_State *L, size_t steps);
struct ah_vm *ah_vm_of(lua_State *L);                          // [never] by lua_getextraspace, inherited by coroutines
// The values half calls these four; the VM half provides them.
/// Raises the budget error when the VM's memory and `document_bytes` together pass vm_bytes. Called after growth.      [raises]
void ah_charge_memory(lua_State *L, size_t document_bytes);
/// True while a handler may not change the session: proxies raise `state is read-only here`.                          [never]
bool ah_is_read_only(lua_State *L);
/// The document of the running ah_apply, NULL outside of one: a proxy of any other document is stale.                 [never]
ah_document *ah_vm_document(lua_State *L);
/// If the plain table at `index` was frozen after load, pushes the hidden table with its content (which keeps the mark
/// of a list, see ah_mark_list) and returns true; otherwise pushes nothing. Only called for tables with a metatable.  [raises]
bool ah_push_frozen(lua_State *L, int index);

#ifdef __cplusplus
}
#endif

#endif
