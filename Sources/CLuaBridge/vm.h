// The VM half's own picture of a script, a VM and the handler that runs in it. Marks as in internal.h.

#ifndef AH_VM_H
#define AH_VM_H

#include <setjmp.h>

#include "internal.h"

enum {
    AH_HOOK_INTERVAL = 1000,          // VM instructions between two looks at the budget,
    AH_HOOK_FINE = 50,                // and once there are strings so long
    AH_LONG_STRING = 64 << 10,        // that one instruction (taking one for a number) can need a millisecond
    AH_LOG_BYTES = 64 << 10,          // of one handler
    AH_MAX_RESULTS = 8000,            // values that one library call may return or take apart
    AH_MAX_NAME = 64,                 // bytes of a message's or timer's name
    AH_MAX_TEXT = 2000,               // bytes of a text for people (a refusal's message)
};

// MARK: arena.c: memory of one outcome, freed as a whole                                                          [never]
typedef struct ah_arena {
    struct ah_block *blocks;
    size_t held;
} ah_arena;
void *ah_arena_take(ah_arena *a, size_t count);
ah_bytes ah_arena_copy(ah_arena *a, const void *bytes, size_t count);
/// A copy that is valid UTF-8: bytes that are not become U+FFFD.
ah_bytes ah_arena_clean(ah_arena *a, const void *bytes, size_t count);
ah_bytes ah_arena_format(ah_arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ah_arena_reset(ah_arena *a);     // keeps one block
void ah_arena_free(ah_arena *a);
static inline ah_bytes ah_static(const char *text) { return (ah_bytes){(const uint8_t *)text, __builtin_strlen(text)}; }
bool ah_same(ah_bytes a, const char *text);

// MARK: script.c
struct ah_script {
    ah_source *sources;               // text without a byte order mark
    size_t source_count;
    ah_message_type *messages;
    size_t message_count;
    const ah_message_type *relay;     // messages["*"], or NULL
    ah_schema *parameters;            // never NULL
    ah_buffer manifest;
};
/// The message type that takes `name`, the relay included; NULL if none does.                                       [never]
const ah_message_type *ah_script_message(const ah_script *s, ah_bytes name);
bool ah_message_name_valid(ah_bytes name);
/// Checks the activity's table at `index` and fills `s` from it; on failure returns false with a sentence in `error`.   [raises]
bool ah_script_examine(lua_State *L, int index, ah_script *s, ah_buffer *error);
/// The entry of `candidates` (NULL at the end) that looks most like `word`, NULL if none does.                          [never]
const char *ah_nearest(const char *word, const char *const *candidates);

// MARK: source.c
/// Checks a source before Lua sees it and drops a byte order mark from `text`. On failure `line` and `error` say what.  [never]
bool ah_source_check(ah_bytes *text, int32_t *line, ah_buffer *error);

// MARK: budget.c
typedef enum ah_stop {
    AH_STOP_NONE,
    AH_STOP_TIME,
    AH_STOP_INSTRUCTIONS,
    AH_STOP_MEMORY,
    AH_STOP_STRING,                   // a string outgrew AH_MAX_STRING
    AH_STOP_REFUSED,                  // session:reject ended the handler
} ah_stop;

typedef struct ah_budget {
    ah_stop stop;                     // why the handler has to end; stays until it has
    bool unbounded;                   // replay: no limits of time and instructions
    uint64_t steps;                   // instructions and library steps so far
    uint64_t unchecked;               // library steps since the last look
    uint64_t deadline;                // CPU nanoseconds of this thread; 0 until the first look
} ah_budget;

// MARK: apply.c: the handler that runs
enum { AH_HANDLER_START, AH_HANDLER_JOIN, AH_HANDLER_LEAVE, AH_HANDLER_CHANGE, AH_HANDLER_TIMER, AH_HANDLER_VIEW, AH_HANDLER_MIGRATE, AH_HANDLER_COUNT };
extern const char *const ah_handler_names[AH_HANDLER_COUNT + 1];

typedef struct ah_handler {
    ah_session *session;              // NULL while nothing runs
    const ah_input *input;
    const ah_message_type *message;   // AH_MESSAGE
    int64_t now;                      // what session:now() says
    bool open;                        // a transaction is open
    bool read_only;                   // no state, timer, random number or id may change
    bool silent;                      // view and export: nothing may be sent
    bool ephemeral;                   // transient and latest: only such messages may be sent
    char name[AH_MAX_NAME + 16];      // "on.add_points"
    ah_outcome outcome;
    size_t send_capacity, refresh_capacity, log_capacity;
    ah_send *sends;
    uint32_t *refresh;
    ah_log_line *logs;
    size_t log_bytes;
} ah_handler;

// MARK: vm.c
struct ah_vm {
    lua_State *L;
    const ah_script *script;
    ah_limits limits;
    size_t bytes;                     // memory that Lua holds
    size_t heavy;                     // bytes of large blocks since the hook was last brought forward
    int interval;                     // of the hook
    bool loading;                     // the main chunk runs
    bool spent;                       // must not be used again
    jmp_buf escape;                   // where a panic goes
    lua_State *running;               // the coroutine that runs
    bool cached;                      // something is kept in the registry for the rest of this handler
    ah_budget budget;
    ah_handler handler;
    ah_arena arena;                   // of the current outcome
    ah_buffer scratch, path, reason;
    int handlers[AH_HANDLER_COUNT];   // references to functions, LUA_NOREF if absent
    int on;                           // reference to a plain table name -> function of messages
    int exports;                      // likewise for exports
    struct {                          // a reported error, taken where it was raised
        ah_bytes file, message, trace;
        int32_t line;
    } error;
};

/// A VM with the sandbox in it and nothing loaded; NULL when there is no memory for it.                              [never]
ah_vm *ah_vm_create(const ah_script *script, const ah_limits *limits);
/// Calls `body` (one argument, a light userdata) protected, panics included. On false vm->error and vm->budget say why.  [never]
bool ah_vm_enter(ah_vm *vm, lua_CFunction body, void *argument);
/// Notes in vm->error where the innermost function of the script stands.                                             [never]
void ah_vm_locate(lua_State *L);
/// Turns vm->error and vm->budget into a report: code, file, line, message, trace; strings in the arena.             [never]
ah_report ah_vm_report(ah_vm *vm);
/// A report of its own, not of a VM.                                                                                 [never]
void ah_report_fill(ah_report *out, const char *code, ah_bytes file, int32_t line, ah_bytes message, ah_bytes trace);
/// Starts counting anew for the next handler.                                                                        [never]
void ah_budget_start(ah_vm *vm, bool unbounded);
void ah_budget_hook(lua_State *L, lua_Debug *ar);
/// Gives a coroutine that starts or goes on the VM's interval.                                                       [never]
void ah_budget_tune(lua_State *L);
void ah_budget_check(lua_State *L);                // [raises] looks at the clock, the counters and the memory now
_Noreturn void ah_budget_raise(lua_State *L);      // [raises] the error of budget.stop
void ah_budget_install(lua_State *L);              // [raises]

/// Runs the activity's main chunk and pushes the table that it returned.                                              [raises]
void ah_load_main(lua_State *L);
/// Takes the handlers from the table at `index` and makes everything that lasts read-only.                            [raises]
void ah_load_finish(lua_State *L, int index);
int ah_lib_require(lua_State *L);

// MARK: lib_freeze.c
/// Makes all plain tables reachable from the table at `index` read-only; `message` says why when one is assigned to.   [raises]
void ah_freeze(lua_State *L, int index, const char *message);
bool ah_is_frozen(lua_State *L, int index);        // [never]
/// Pushes the table with the raw content of the plain table at `index`, which is that table or its hidden one.          [raises]
void ah_push_content(lua_State *L, int index);

// MARK: the libraries: each pushes nothing and adds to the table at the top (or the globals)                          [raises]
void ah_sandbox_install(lua_State *L);
void ah_lib_base(lua_State *L);
void ah_lib_iterate(lua_State *L);
void ah_lib_meta(lua_State *L);
void ah_lib_log(lua_State *L);
void ah_lib_string(lua_State *L);
void ah_lib_pattern(lua_State *L);
void ah_lib_table(lua_State *L);
void ah_lib_math(lua_State *L);
void ah_lib_utf8(lua_State *L);
void ah_lib_coroutine(lua_State *L);
int ah_string_format(lua_State *L);
int ah_table_sort(lua_State *L);
/// Pushes the text of the value at `index` as scripts see it, without addresses.                                      [raises]
const char *ah_push_text(lua_State *L, int index, size_t *count);
/// Takes a fresh snapshot of nothing: forgets what `next` remembered of the last handler.                             [raises]
void ah_iterate_forget(lua_State *L);
void ah_log_append(ah_vm *vm, const char *level, const char *text, size_t count);   // [never]

// MARK: api.c: the `session` of handlers
void ah_api_install(lua_State *L);                 // [raises]
void ah_api_begin(lua_State *L);                   // [raises] forgets what was cached for the last handler
void ah_api_push_session(lua_State *L);            // [raises]
/// Pushes the table of one participant, always the same one within a handler.                                          [raises]
void ah_api_push_person(lua_State *L, const ah_person *p);
/// Checks that argument 1 is the session; `method` is for the error. Returns the handler that runs.                    [raises]
ah_handler *ah_api_check(lua_State *L, const char *method);
/// Also that the handler may change the session.                                                                       [raises]
ah_handler *ah_api_check_writable(lua_State *L, const char *method);
void ah_api_add_sends(lua_State *L);               // [raises] each adds methods to the table at the top
void ah_api_add_times(lua_State *L);
/// Marks the people named by the participant, id or list of them at `index` in `marks` (one byte a person). Who is not in
/// the session (any more) is an error, or passed over where that is allowed.                                           [raises]
void ah_api_mark_people(lua_State *L, int index, const char *method, bool absent_allowed, uint8_t *marks);
/// A text argument for people: valid UTF-8, not empty, `most` bytes at most; copied to the arena. `fallback` when nil. [raises]
ah_bytes ah_api_text(lua_State *L, int index, const char *what, size_t most, const char *fallback);
/// Encodes the value at `index` as any JSON into the arena; empty for nil.                                             [raises]
ah_bytes ah_api_json(lua_State *L, int index, const char *what);
/// Raises "what: path: reason" from vm->path and vm->reason.                                                           [raises]
int ah_api_raise_mismatch(lua_State *L, const char *what);
uint32_t ah_parse_id(const char *text, size_t count, char letter);     // [never] "p7" -> 7, 0 if it is none

#endif
