// The handlers of an input, run inside the protected call of ah_apply.

#include <stdio.h>
#include <string.h>

#include "apply.h"

bool ah_decode(lua_State *L, const ah_schema *schema, ah_bytes json) {
    ah_vm *vm = ah_vm_of(L);
    vm->path.count = vm->reason.count = 0;
    if (ah_schema_decode(L, schema, json, &vm->path, &vm->reason)) return true;
    ah_bytes path = ah_arena_clean(&vm->arena, vm->path.base, vm->path.count);
    if (vm->path.count != 0) ah_buffer_append(&vm->path, ": ", 2);
    ah_buffer_append(&vm->path, vm->reason.base, vm->reason.count);
    ah_reject(vm, "invalid_message", ah_arena_clean(&vm->arena, vm->path.base, vm->path.count));
    vm->handler.outcome.path = path;
    return false;
}

ah_bytes ah_encode(lua_State *L, int index, const ah_schema *schema, const char *what) {
    ah_vm *vm = ah_vm_of(L);
    vm->scratch.count = vm->path.count = vm->reason.count = 0;
    if (!ah_schema_encode(L, index, schema, &vm->scratch, &vm->path, &vm->reason)) ah_api_raise_mismatch(L, what);
    ah_bytes json = ah_arena_copy(&vm->arena, vm->scratch.base, vm->scratch.count);
    ah_charge_memory(L, 0);
    return json;
}

/// Pushes the handler and the session; false when the script has none.
static bool push_handler(lua_State *L, int which) {
    ah_vm *vm = ah_vm_of(L);
    ah_name_handler(vm, "", ah_static(ah_handler_names[which]));
    if (vm->handlers[which] == LUA_NOREF) return false;
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->handlers[which]);
    ah_api_push_session(L);
    return true;
}

static void push_text(lua_State *L, ah_bytes text) { lua_pushlstring(L, text.base == NULL ? "" : (const char *)text.base, text.count); }

static void run_view(lua_State *L, uint32_t participant) {
    ah_vm *vm = ah_vm_of(L);
    ah_handler *h = &vm->handler;
    h->read_only = h->silent = true;
    if (push_handler(L, AH_HANDLER_VIEW)) {
        ah_api_push_person(L, ah_session_person(h->session, participant));
        lua_call(L, 2, 1);
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            ah_push_null(L);
        }
        h->outcome.view = ah_encode(L, -1, ah_schema_view, "view");
        lua_pop(L, 1);
    } else {
        vm->scratch.count = 0;
        ah_document_write(h->session->document, &vm->scratch);
        h->outcome.view = ah_arena_copy(&vm->arena, vm->scratch.base, vm->scratch.count);
    }
}

/// Decodes the parameters of the input, makes them the session's and leaves them on the stack.
static bool take_parameters(lua_State *L) {
    ah_vm *vm = ah_vm_of(L);
    ah_session *s = vm->handler.session;
    ah_bytes body = vm->handler.input->body;
    if (body.count > vm->limits.message_bytes) {
        ah_reject(vm, "too_large", ah_static("The parameters are too large."));
        vm->handler.outcome.limit = ah_static("message_bytes");
        vm->handler.outcome.allowed = vm->limits.message_bytes;
        vm->handler.outcome.found = body.count;
        return false;
    }
    if (!ah_decode(L, vm->script->parameters, body.count == 0 ? ah_static("{}") : body)) return false;
    ah_bytes json = ah_encode(L, -1, vm->script->parameters, "parameters");
    ah_text *text = ah_text_new(json.base, json.count);
    ah_text_release(s->parameters);
    s->parameters = text;
    return true;
}

static void run_start(lua_State *L) {
    if (take_parameters(L) && push_handler(L, AH_HANDLER_START)) lua_call(L, 1, 0);
}

static void run_change(lua_State *L) {
    if (!take_parameters(L) || !push_handler(L, AH_HANDLER_CHANGE)) return;
    lua_pushvalue(L, -3);
    lua_call(L, 2, 0);
}

static void run_join(lua_State *L) {
    ah_handler *h = &ah_vm_of(L)->handler;
    uint32_t newcomer = h->input->participant;
    ah_session_join(h->session, h->input);
    if (push_handler(L, AH_HANDLER_JOIN)) {
        ah_api_push_person(L, ah_session_person(h->session, newcomer));
        lua_call(L, 2, 0);
    }
    run_view(L, newcomer);
}

static void run_leave(lua_State *L) {
    ah_handler *h = &ah_vm_of(L)->handler;
    ah_api_push_person(L, ah_session_person(h->session, h->input->participant));
    ah_session_leave(h->session, h->input->participant);
    if (h->input->failed || !push_handler(L, AH_HANDLER_LEAVE)) return;
    lua_pushvalue(L, -3);
    push_text(L, h->input->reason.count == 0 ? ah_static("left") : h->input->reason);
    lua_call(L, 3, 0);
}

static void run_timer(lua_State *L) {
    ah_handler *h = &ah_vm_of(L)->handler;
    const ah_timer *t = ah_session_timer(h->session, h->input->timer);
    push_text(L, ah_text_bytes(t->name));
    ah_bytes data = t->data == NULL ? (ah_bytes){0} : ah_text_bytes(t->data);
    if (data.count == 0) lua_pushnil(L);
    else if (!ah_decode(L, ah_schema_any, data)) return;
    ah_session_cancel_timer(h->session, h->input->timer);
    if (h->input->failed || !push_handler(L, AH_HANDLER_TIMER)) return;
    lua_pushvalue(L, -4);
    lua_pushvalue(L, -4);
    lua_createtable(L, 0, 3);
    lua_pushboolean(L, h->input->late);
    lua_setfield(L, -2, "late");
    ah_set_integer(L, "time", h->now);
    ah_set_integer(L, "seq", (lua_Integer)h->session->seq + 1);
    lua_call(L, 4, 0);
}

static void run_migrate(lua_State *L) {
    if (!push_handler(L, AH_HANDLER_MIGRATE)) return;
    lua_pushinteger(L, ah_vm_of(L)->handler.input->from_version);
    lua_call(L, 2, 0);
}

static void set_field(lua_State *L, const char *name, ah_bytes text) {
    push_text(L, text);
    lua_setfield(L, -2, name);
}

/// Pushes who asks for an export: a member, or nil for the operator.
static void push_member(lua_State *L) {
    ah_handler *h = &ah_vm_of(L)->handler;
    uint32_t member = h->input->member;
    if (member == 0) {
        lua_pushnil(L);
        return;
    }
    lua_createtable(L, 0, 4);
    lua_pushfstring(L, "m%I", (LUAI_UACINT)member);
    lua_setfield(L, -2, "id");
    ah_bytes name = h->input->member_name, color = h->input->color, role = h->input->role;
    for (size_t i = 0; name.count == 0 && i < h->session->people_count; i++) {
        const ah_person *p = &h->session->people[i];
        if (p->member != member) continue;
        name = ah_text_bytes(p->name);
        color = ah_text_bytes(p->color);
        role = ah_text_bytes(p->role);
    }
    set_field(L, "name", name);
    set_field(L, "color", color);
    set_field(L, "role", role);
}

static void run_export(lua_State *L) {
    ah_vm *vm = ah_vm_of(L);
    ah_handler *h = &vm->handler;
    ah_name_handler(vm, "export.", h->input->name);
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->exports);
    push_text(L, h->input->name);
    if (lua_rawget(L, -2) == LUA_TNIL) {
        ah_reject(vm, "unknown_message", ah_static("This activity has no such export."));
        return;
    }
    ah_api_push_session(L);
    push_member(L);
    lua_call(L, 2, 1);
    if (lua_type(L, -1) != LUA_TSTRING) luaL_error(L, "%s has to return a string, but returned %s", h->name, luaL_typename(L, -1));
    size_t count;
    const char *text = lua_tolstring(L, -1, &count);
    h->outcome.view = ah_arena_copy(&vm->arena, text, count);
}

int ah_run_input(lua_State *L) {
    ah_handler *h = &ah_vm_of(L)->handler;
    ah_api_begin(L);
    switch (h->input->kind) {
    case AH_START: run_start(L); break;
    case AH_JOIN: run_join(L); break;
    case AH_LEAVE: run_leave(L); break;
    case AH_MESSAGE: ah_run_message(L); break;
    case AH_TIMER: run_timer(L); break;
    case AH_CHANGE: run_change(L); break;
    case AH_MEMBER: ah_session_change_member(h->session, h->input); break;
    case AH_MIGRATE: run_migrate(L); break;
    case AH_VIEW: run_view(L, h->input->participant); break;
    case AH_EXPORT: run_export(L); break;
    }
    return 0;
}
