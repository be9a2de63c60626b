// A message: its body, its handler, and where it goes.

#include <string.h>

#include "apply.h"

/// `latest` messages are taken back by a null body.
static bool is_null(ah_bytes json) {
    while (json.count > 0 && strchr(" \t\r\n", json.base[0]) != NULL && json.base[0] != 0) json = (ah_bytes){json.base + 1, json.count - 1};
    while (json.count > 0 && strchr(" \t\r\n", json.base[json.count - 1]) != NULL && json.base[json.count - 1] != 0) json.count--;
    return ah_same(json, "null");
}

static bool receivers_present(ah_vm *vm) {
    const ah_handler *h = &vm->handler;
    if (h->input->to == NULL) return true;
    if (!h->message->targeted) {
        ah_reject(vm, "forbidden", ah_static("This message cannot be sent to chosen people."));
        return false;
    }
    for (size_t i = 0; i < h->input->to_count; i++) {
        if (ah_session_person(h->session, h->input->to[i]) != NULL) continue;
        ah_reject(vm, "no_such_participant", ah_arena_format(&vm->arena, "p%u is not in this session.", h->input->to[i]));
        return false;
    }
    return true;
}

/// Pushes the handler of the message: on.NAME, or on["*"] where the relay takes it. False if there is none.
static bool push_handler(lua_State *L) {
    ah_vm *vm = ah_vm_of(L);
    ah_bytes name = vm->handler.input->name;
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->on);
    lua_pushlstring(L, (const char *)name.base, name.count);
    if (lua_rawget(L, -2) == LUA_TNIL && vm->handler.message == vm->script->relay) {
        lua_pop(L, 1);
        lua_pushliteral(L, "*");
        lua_rawget(L, -2);
    }
    lua_remove(L, -2);
    return !lua_isnil(L, -1);
}

static void push_context(lua_State *L) {
    const ah_handler *h = &ah_vm_of(L)->handler;
    lua_createtable(L, 0, 5);
    ah_api_push_person(L, ah_session_person(h->session, h->input->participant));
    lua_setfield(L, -2, "sender");
    lua_pushlstring(L, (const char *)h->input->name.base, h->input->name.count);
    lua_setfield(L, -2, "name");
    ah_set_integer(L, "time", h->now);
    if (h->message->delivery == AH_DURABLE) ah_set_integer(L, "seq", (lua_Integer)h->session->seq + 1);
    if (h->input->to == NULL) return;
    lua_createtable(L, (int)h->input->to_count, 0);
    ah_mark_list(L, -1);
    for (size_t i = 0; i < h->input->to_count; i++) {
        ah_api_push_person(L, ah_session_person(h->session, h->input->to[i]));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "to");
}

/// What the handler returned (at the top) decides where the message goes.
static void take_result(lua_State *L) {
    ah_vm *vm = ah_vm_of(L);
    ah_handler *h = &vm->handler;
    if (lua_isnil(L, -1)) return;
    if (lua_isboolean(L, -1) && !lua_toboolean(L, -1)) {
        h->outcome.relay = AH_RELAY_NONE;
        return;
    }
    if (lua_isboolean(L, -1)) luaL_error(L, "%s returned true; expected nothing, false or a table", h->name);
    h->outcome.body = ah_encode(L, -1, h->message->schema, h->name);
    if (h->outcome.body.count > vm->limits.message_bytes) {
        luaL_error(L, "%s returned a body of %d bytes, over the limit message_bytes (%d)", h->name, (int)h->outcome.body.count, (int)vm->limits.message_bytes);
    }
    h->outcome.relay = AH_RELAY_REPLACED;
}

void ah_run_message(lua_State *L) {
    ah_vm *vm = ah_vm_of(L);
    ah_handler *h = &vm->handler;
    ah_name_handler(vm, "on.", h->input->name);
    if (h->input->body.count == 0) {
        ah_reject(vm, "invalid_message", ah_static("the body is missing"));
        return;
    }
    bool gone = h->message->delivery == AH_LATEST && is_null(h->input->body);
    if (!gone && !ah_decode(L, h->message->schema, h->input->body)) return;
    if (!receivers_present(vm)) return;
    h->outcome.relay = AH_RELAY_RECEIVED;
    if (gone || !push_handler(L)) return;
    ah_api_push_session(L);
    lua_pushvalue(L, 2);   // the body; 1 is the argument of ah_run_input
    push_context(L);
    lua_call(L, 3, 1);
    take_result(L);
}
