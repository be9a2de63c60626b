// One input, one transaction: the handler runs on the session's document, then everything is kept or nothing.

#include <string.h>

#include "apply.h"

void ah_reject(ah_vm *vm, const char *code, ah_bytes message) {
    ah_outcome *o = &vm->handler.outcome;
    o->status = AH_REJECTED;
    o->code = ah_static(code);
    o->message = message;
}

void ah_name_handler(ah_vm *vm, const char *prefix, ah_bytes name) {
    char *out = vm->handler.name;
    size_t before = strlen(prefix), count = name.count;
    if (before + count >= sizeof vm->handler.name) count = sizeof vm->handler.name - 1 - before;
    memcpy(out, prefix, before);
    if (count != 0) memcpy(out + before, name.base, count);
    out[before + count] = 0;
}

static bool is_query(const ah_input *input) { return input->kind == AH_VIEW || input->kind == AH_EXPORT; }

static bool concerns_participant(const ah_input *input) { return input->kind == AH_LEAVE || input->kind == AH_MESSAGE || input->kind == AH_VIEW; }

static void begin(ah_vm *vm, ah_session *session, const ah_input *input) {
    ah_handler *h = &vm->handler;
    ah_arena_reset(&vm->arena);
    memset(&h->outcome, 0, sizeof h->outcome);
    h->session = session;
    h->input = input;
    h->now = input->time > session->time ? input->time : session->time;
    h->message = NULL;
    h->open = h->ephemeral = false;
    h->read_only = h->silent = is_query(input);
    h->log_bytes = 0;
    h->name[0] = 0;
    ah_budget_start(vm, input->replay);
}

/// What needs no VM, in the contract's order; false when the input is rejected.
static bool admit(ah_vm *vm) {
    ah_handler *h = &vm->handler;
    const ah_input *in = h->input;
    if (vm->spent || vm->L == NULL) {
        ah_reject(vm, "unavailable", ah_static("The activity is being restarted."));
        return false;
    }
    if (concerns_participant(in) && ah_session_person(h->session, in->participant) == NULL) {
        ah_reject(vm, "not_joined", ah_static("You are not in this session."));
        return false;
    }
    if (in->kind == AH_JOIN && ah_session_person(h->session, in->participant) != NULL) {
        ah_reject(vm, "forbidden", ah_static("This participant is in the session already."));
        return false;
    }
    if (in->kind == AH_TIMER && ah_session_timer(h->session, in->timer) == NULL) {
        ah_reject(vm, "unavailable", ah_static("There is no such timer."));
        return false;
    }
    if (in->kind != AH_MESSAGE) return true;
    h->message = ah_script_message(vm->script, in->name);
    if (h->message == NULL || ah_same(in->name, "*")) {
        ah_reject(vm, "unknown_message", ah_static("This activity has no such message."));
        return false;
    }
    h->outcome.delivery = h->message->delivery;
    h->read_only = h->ephemeral = h->message->delivery != AH_DURABLE;
    if (in->body.count > vm->limits.message_bytes) {
        ah_reject(vm, "too_large", ah_static("The message is too large."));
        h->outcome.limit = ah_static("message_bytes");
        h->outcome.allowed = vm->limits.message_bytes;
        h->outcome.found = in->body.count;
        return false;
    }
    return true;
}

// MARK: Ends

static void drop_effects(ah_outcome *o) {
    o->sends = NULL;
    o->refresh = NULL;
    o->send_count = o->refresh_count = 0;
    o->finished = false;
    o->finish_reason = o->view = o->body = (ah_bytes){0};
    o->relay = AH_RELAY_NONE;
}

static void commit(ah_vm *vm, ah_status status) {
    ah_handler *h = &vm->handler;
    ah_session_commit(h->session);
    h->open = false;
    h->session->seq++;
    h->session->time = h->now;
    h->outcome.status = status;
    h->outcome.seq = h->session->seq;
}

static void roll_back(ah_vm *vm) {
    ah_handler *h = &vm->handler;
    if (h->open) ah_session_rollback(h->session);
    h->open = false;
    drop_effects(&h->outcome);
}

/// A leave or a timer whose handler failed: it stands, without the handler's effects.
static void let_stand(ah_vm *vm) {
    ah_handler *h = &vm->handler;
    ah_session_begin(h->session);
    if (h->input->kind == AH_LEAVE) ah_session_leave(h->session, h->input->participant);
    else ah_session_cancel_timer(h->session, h->input->timer);
    commit(vm, AH_STANDS);
}

/// The handler raised, ran over its budget or refused.
static void fail(ah_vm *vm) {
    ah_handler *h = &vm->handler;
    ah_outcome *o = &h->outcome;
    bool refused = vm->budget.stop == AH_STOP_REFUSED, stands = h->input->kind == AH_LEAVE || h->input->kind == AH_TIMER;
    roll_back(vm);
    if (!refused) {
        o->has_report = true;
        o->report = ah_vm_report(vm);
    } else if (stands) {
        o->has_report = true;
        o->report = (ah_report){.code = ah_static("script_error"), .file = vm->error.file, .line = vm->error.line,
                                .message = ah_arena_format(&vm->arena, "session:reject in %s has nobody to answer", h->name)};
    }
    if (stands) {
        o->message = o->reason = o->data = (ah_bytes){0};
        let_stand(vm);
    } else if (refused) {
        ah_reject(vm, "refused", o->message);
    } else {
        ah_reject(vm, "activity_failed", ah_static("The activity had a problem. Nothing was changed."));
    }
}

/// A state that grew over its bound is refused; one that shrinks is accepted even above it, so that people can get below.
static bool state_fits(ah_vm *vm, size_t before) {
    ah_handler *h = &vm->handler;
    size_t after = ah_document_bytes(h->session->document), allowed = vm->limits.state_bytes;
    if (h->input->replay || after <= allowed || after <= before) return true;
    ah_bytes message = ah_arena_format(&vm->arena, "%s made the state %zu bytes long; the limit state_bytes is %zu", h->name[0] == 0 ? "the input" : h->name, after, allowed);
    roll_back(vm);
    h->outcome.has_report = true;
    h->outcome.report = (ah_report){.code = ah_static("budget_state"), .message = message};
    if (h->input->kind == AH_LEAVE || h->input->kind == AH_TIMER) {
        let_stand(vm);
        return false;
    }
    ah_reject(vm, "limit_reached", ah_static("The activity's memory is full. Delete something first."));
    h->outcome.limit = ah_static("state_bytes");
    h->outcome.allowed = allowed;
    h->outcome.found = after;
    return false;
}

/// After a handler that took too much memory: is the rest of it garbage, or does the script hold on to it?
static void inspect_memory(ah_vm *vm) {
    if (vm->budget.stop != AH_STOP_MEMORY || vm->L == NULL) return;
    lua_gc(vm->L, LUA_GCCOLLECT, 0);
    if (vm->bytes > vm->limits.vm_bytes / 4 * 3) vm->spent = true;
}

ah_outcome ah_apply(ah_vm *vm, ah_session *session, const ah_input *input) {
    ah_handler *h = &vm->handler;
    begin(vm, session, input);
    if (admit(vm)) {
        size_t before = ah_document_bytes(session->document);
        bool transaction = !is_query(input) && !h->ephemeral;
        if (transaction) {
            ah_session_begin(session);
            h->open = true;
        }
        if (!ah_vm_enter(vm, ah_run_input, vm)) fail(vm);
        else if (h->outcome.status == AH_REJECTED) roll_back(vm);
        else if (!transaction) h->outcome.status = AH_DONE;
        else if (state_fits(vm, before)) commit(vm, AH_COMMITTED);
        inspect_memory(vm);
    }
    h->session = NULL;
    h->input = NULL;
    return h->outcome;
}
