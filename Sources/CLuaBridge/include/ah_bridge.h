// The bridge between the host and Lua scripts: sandboxed VMs, message schemas and the session document behind plain C.
//
// No function of this header ever raises a Lua error or lets one pass: each opens its own protected call. `lua.h` is not
// visible through it. All functions are synchronous; an object may be used by one thread at a time (any thread whose
// stack has 8 MB or more), different objects by different threads at once. An `ah_script` is immutable once loaded and
// may be shared by threads.
//
// Strings are byte ranges, never NUL-terminated, valid UTF-8 unless said otherwise. Times are milliseconds since 1970.
// Members and participants are numbers here: 7 is "m7" or "p7" outside and in scripts.

#ifndef AH_BRIDGE_H
#define AH_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A range of bytes that belongs to somebody else; each function says to whom and for how long.
typedef struct ah_bytes {
    const uint8_t *_Nullable base;
    size_t count;
} ah_bytes;

/// A growable output buffer that the caller owns; zero-initialise it, append with bridge calls, free once.
typedef struct ah_buffer {
    uint8_t *_Nullable base;
    size_t count;
    size_t capacity;
} ah_buffer;

void ah_buffer_free(ah_buffer *_Nonnull buffer);

/// What a script may spend; the names are those of the contract's limits.
typedef struct ah_limits {
    uint64_t handler_ms;            // CPU time of one handler
    uint64_t handler_instructions;  // VM instructions and library steps of one handler
    uint64_t vm_bytes;              // memory of one VM
    uint64_t state_bytes;           // the state as canonical JSON
    uint32_t handler_sends;         // sends of one handler
    uint32_t timers;                // pending timers of a session
    uint32_t message_bytes;         // one message body, in and out
} ah_limits;

ah_limits ah_limits_default(void);

/// An error for the script's author. Strings live in `storage` until `ah_report_free`.
typedef struct ah_report {
    ah_bytes code;      // "load_failed", "invalid_script", "script_error", "budget_time", "budget_instructions", "budget_memory", "budget_state", …
    ah_bytes file;      // relative to the activity's folder, empty if unknown
    int32_t line;       // 0 if unknown
    ah_bytes message;   // one sentence, without the position
    ah_bytes trace;     // lines "file:line: in …", may be empty
    void *_Nullable storage;
} ah_report;

void ah_report_free(ah_report *_Nonnull report);

// MARK: Scripts

/// One source file of an activity; the first of a list is the main one. `name` is the path shown in errors, for example
/// "activity.lua"; `require "cards"` finds the file named "cards.lua".
typedef struct ah_source {
    ah_bytes name;
    ah_bytes text;
} ah_source;

typedef struct ah_script ah_script;

/// Checks and loads a script once: sources (text only, 256 KiB each at most), the returned table, its schemas.
/// Returns NULL and fills `report` when something is wrong. Sources are copied.
ah_script *_Nullable ah_script_load(
    const ah_source *_Nonnull sources, size_t count, const ah_limits *_Nonnull limits, ah_report *_Nonnull report);

void ah_script_free(ah_script *_Nullable script);

/// The manifest as JSON, alive as long as the script:
/// {"identifier":…,"aliases":[…],"version":1,"metadata":{…as written…},"parameters":<JSON Schema>,
///  "messages":{"<name>":{"index":0,"delivery":"durable|transient|latest","targeted":bool,
///     "right":"participant|moderator|host|initiator|script","schema":<JSON Schema>}},
///  "handlers":["start","join","on.add_points",…],"exports":["csv"]}
ah_bytes ah_script_manifest(const ah_script *_Nonnull script);

// MARK: Sessions

/// All of a session that lasts: the state document, participants, parameters, random state, id counter, timers, seq and time.
typedef struct ah_session ah_session;

/// A new, empty session, before its `start` input. `id` is its public id ("s1"), copied.
ah_session *_Nonnull ah_session_new(ah_bytes id, uint32_t initiator, uint64_t seed);
void ah_session_free(ah_session *_Nullable session);

/// Appends the session as one JSON object (a snapshot) from which `ah_session_read` makes an equal one.
void ah_session_write(const ah_session *_Nonnull session, ah_buffer *_Nonnull out);
ah_session *_Nullable ah_session_read(ah_bytes snapshot, ah_report *_Nonnull report);

/// Appends the state document alone, as canonical JSON.
void ah_session_write_state(const ah_session *_Nonnull session, ah_buffer *_Nonnull out);
uint64_t ah_session_seq(const ah_session *_Nonnull session);
size_t ah_session_state_bytes(const ah_session *_Nonnull session);

/// The earliest due timer: its id (0 if there is none) and when it is due.
uint64_t ah_session_next_timer(const ah_session *_Nonnull session, int64_t *_Nonnull due);

// MARK: VMs

/// A sandboxed Lua state with a script loaded. It holds nothing that lasts and can be freed between any two calls.
typedef struct ah_vm ah_vm;

ah_vm *_Nullable ah_vm_new(const ah_script *_Nonnull script, const ah_limits *_Nonnull limits, ah_report *_Nonnull report);
void ah_vm_free(ah_vm *_Nullable vm);
size_t ah_vm_bytes(const ah_vm *_Nonnull vm);
/// True once a budget killed a handler in a way after which the VM must not be used again; make a new one. Until then it
/// rejects every input with `unavailable`.
bool ah_vm_is_spent(const ah_vm *_Nonnull vm);

// MARK: Inputs and outcomes

typedef enum ah_input_kind {
    AH_START,     // parameters in `body`
    AH_JOIN,      // `participant`…`role` describe the newcomer; the outcome has its view in `view`
    AH_LEAVE,     // `participant`, `reason`
    AH_MESSAGE,   // `participant` (sender), `name`, `body`, `to`
    AH_TIMER,     // `timer`, `late`
    AH_CHANGE,    // parameters in `body`, `member` gave them
    AH_MEMBER,    // a member's new `member_name` or `role`: changes every participant of `member`
    AH_MIGRATE,   // `from_version`
    AH_VIEW,      // query: the view of `participant`
    AH_EXPORT,    // query: `name` is the kind, `member` asks (0 for the operator); the result is in `view` (bytes as returned)
} ah_input_kind;

typedef struct ah_input {
    ah_input_kind kind;
    int64_t time;
    uint32_t participant;
    uint32_t member;
    ah_bytes member_name;
    ah_bytes color;
    ah_bytes role;
    ah_bytes reason;
    ah_bytes name;
    ah_bytes body;                       // JSON text as received; absent (count 0) means {} for parameters and is invalid for messages
    const uint32_t *_Nullable to;        // AH_MESSAGE: the receivers asked for, or NULL for everyone
    size_t to_count;
    uint64_t timer;
    bool late;
    bool replay;                         // run without budgets of time and instructions
    bool failed;                         // AH_LEAVE, AH_TIMER on replay: its outcome was AH_STANDS, so the handler does not run again
    int64_t from_version;
} ah_input;

typedef enum ah_status {
    AH_COMMITTED,       // an input that is now part of the session, at `seq`
    AH_STANDS,          // leave and timer: the input is part of the session, at `seq`, but its handler failed and left no effects
    AH_DONE,            // transient and latest messages, and queries: handled, nothing changed, no seq
    AH_REJECTED,        // nothing happened; `code` says why
} ah_status;

typedef enum ah_delivery { AH_DURABLE, AH_TRANSIENT, AH_LATEST } ah_delivery;
typedef enum ah_relay { AH_RELAY_NONE, AH_RELAY_RECEIVED, AH_RELAY_REPLACED } ah_relay;

/// A message that the script sent, already checked and encoded.
typedef struct ah_send {
    ah_bytes name;
    ah_bytes body;
    ah_delivery delivery;
    bool to_all;                          // everyone (a newcomer, whose view is taken after `join`, excepted)
    const uint32_t *_Nullable to;         // otherwise these participants, all present
    size_t to_count;
} ah_send;

typedef struct ah_log_line {
    const char *_Nonnull level;           // "info", "warn", "error"
    ah_bytes text;
} ah_log_line;

/// What an input did. All memory belongs to the VM until its next call.
typedef struct ah_outcome {
    ah_status status;
    uint64_t seq;
    // AH_REJECTED
    ah_bytes code;                        // a wire code: "invalid_message", "unknown_message", "activity_failed", "refused", "too_large", "limit_reached", "no_such_participant", "not_joined", …
    ah_bytes message;                     // for the person: one sentence
    ah_bytes path;                        // invalid_message: where in the body
    ah_bytes reason;                      // refused: the script's own code
    ah_bytes data;                        // refused: the script's data, JSON; or absent
    ah_bytes limit;                       // too_large, limit_reached: which limit
    uint64_t allowed, found;
    // AH_MESSAGE
    ah_relay relay;
    ah_bytes body;                        // AH_RELAY_REPLACED: goes to the receivers and the sender
    ah_delivery delivery;                 // of the message that came in
    // effects
    const ah_send *_Nullable sends;
    size_t send_count;
    const uint32_t *_Nullable refresh;    // participants whose view changed
    size_t refresh_count;
    bool finished;                        // session:finish was called
    ah_bytes finish_reason;
    ah_bytes view;                        // AH_JOIN, AH_VIEW: JSON; AH_EXPORT: the bytes
    // for the author
    bool has_report;
    ah_report report;                     // borrowed: never free it
    const ah_log_line *_Nullable logs;
    size_t log_count;
} ah_outcome;

/// Applies one input as one transaction: runs the handler, then commits or rolls back. Queries change nothing.
/// A query or an input for a participant that is not in the session is rejected with `not_joined`.
ah_outcome ah_apply(ah_vm *_Nonnull vm, ah_session *_Nonnull session, const ah_input *_Nonnull input);

/// Which of the known faults of the linked Lua are present, as a JSON object; safe to call (runs in this process only what
/// cannot crash it).
void ah_self_test(ah_buffer *_Nonnull out);

/// The version of the linked Lua, a static string such as "Lua 5.4.4".
const char *_Nonnull ah_lua_version(void);

#ifdef __cplusplus
}
#endif

#endif
