// session:send, refresh and reject: what goes out of a handler.

#include <stdlib.h>
#include <string.h>

#include "vm.h"

static const ah_message_type *check_type(lua_State *L, ah_handler *h, ah_bytes *name) {
    ah_vm *vm = ah_vm_of(L);
    if (lua_type(L, 2) != LUA_TSTRING) luaL_error(L, "session:send: the name of a message expected, got %s", luaL_typename(L, 2));
    name->base = (const uint8_t *)lua_tolstring(L, 2, &name->count);
    const ah_message_type *type = ah_script_message(vm->script, *name);
    if (type == NULL || ah_same(*name, "*")) {
        const char *names[257];
        size_t n = vm->script->message_count < 256 ? vm->script->message_count : 256;
        for (size_t i = 0; i < n; i++) names[i] = vm->script->messages[i].name;
        names[n] = NULL;
        const char *near = ah_nearest(lua_tostring(L, 2), names);
        if (near != NULL) luaL_error(L, "session:send: messages has no %s, did you mean %s?", lua_tostring(L, 2), near);
        luaL_error(L, "session:send: messages has no %s; declare it there", lua_tostring(L, 2));
    }
    if (h->ephemeral && type->delivery == AH_DURABLE) {
        luaL_error(L, "session:send: %s is durable, but %s may send transient and latest messages only", lua_tostring(L, 2), h->name);
    }
    return type;
}

/// Encodes the body at index 3 into the arena.
static ah_bytes encode_body(lua_State *L, const ah_message_type *type, ah_bytes name) {
    ah_vm *vm = ah_vm_of(L);
    if (type->delivery == AH_LATEST && ah_is_null(L, 3)) return ah_static("null");   // the current one is gone
    if (lua_isnoneornil(L, 3)) {
        lua_newtable(L);
        lua_replace(L, 3);
    }
    vm->scratch.count = vm->path.count = vm->reason.count = 0;
    if (!ah_schema_encode(L, 3, type->schema, &vm->scratch, &vm->path, &vm->reason)) {
        lua_pushfstring(L, "session:send: %s", (const char *)name.base);
        ah_api_raise_mismatch(L, lua_tostring(L, -1));
    }
    if (vm->scratch.count > vm->limits.message_bytes) {
        luaL_error(L, "session:send: a body of %d bytes is over the limit message_bytes (%d)", (int)vm->scratch.count, (int)vm->limits.message_bytes);
    }
    ah_charge(L, 10 + vm->scratch.count / 16);
    ah_bytes body = ah_arena_copy(&vm->arena, vm->scratch.base, vm->scratch.count);
    ah_charge_memory(L, 0);
    return body;
}

/// Fills the receivers of `out` from the options at index 4.
static void choose_receivers(lua_State *L, ah_handler *h, ah_send *out) {
    out->to_all = true;
    if (lua_isnoneornil(L, 4)) return;
    if (!lua_istable(L, 4)) luaL_error(L, "session:send: options such as { to = participant } expected, got %s", luaL_typename(L, 4));
    ah_session *s = h->session;
    size_t n = s->people_count;
    uint8_t *marks = lua_newuserdatauv(L, 2 * n + 1, 0), *except = marks + n;
    memset(marks, 0, 2 * n);
    for (lua_pushnil(L); lua_next(L, 4); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : luaL_typename(L, -2);
        if (strcmp(key, "to") != 0 && strcmp(key, "except") != 0) luaL_error(L, "session:send: the options are to and except, not %s", key);
    }
    bool chosen = lua_getfield(L, 4, "to") != LUA_TNIL;
    if (chosen) ah_api_mark_people(L, -1, "send", false, marks);
    else memset(marks, 1, n);
    if (lua_getfield(L, 4, "except") != LUA_TNIL) {
        ah_api_mark_people(L, -1, "send", true, except);
        chosen = true;
    }
    if (!chosen) return;
    ah_charge(L, n / 4);
    uint32_t *to = ah_arena_take(&ah_vm_of(L)->arena, (n + 1) * sizeof *to);
    uint32_t newcomer = h->input->kind == AH_JOIN ? h->input->participant : 0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (marks[i] && !except[i] && s->people[i].participant != newcomer) to[count++] = s->people[i].participant;
    }
    ah_charge_memory(L, 0);
    out->to_all = false;
    out->to = to;
    out->to_count = count;
}

static int session_send(lua_State *L) {
    ah_handler *h = ah_api_check(L, "send");
    ah_vm *vm = ah_vm_of(L);
    if (h->silent) return luaL_error(L, "session:send: %s may not send anything", h->name);
    lua_settop(L, 4);
    ah_bytes name;
    const ah_message_type *type = check_type(L, h, &name);
    if (h->outcome.send_count >= vm->limits.handler_sends) {
        return luaL_error(L, "session:send: more than %d sends in one handler (the limit handler_sends)", (int)vm->limits.handler_sends);
    }
    ah_send send = {.delivery = type->delivery};
    send.body = encode_body(L, type, name);
    choose_receivers(L, h, &send);
    send.name = ah_arena_copy(&vm->arena, name.base, name.count);
    if (h->input->kind == AH_START || (!send.to_all && send.to_count == 0)) return 0;   // it would reach nobody
    if (h->outcome.send_count == h->send_capacity) {
        size_t capacity = h->send_capacity == 0 ? 16 : 2 * h->send_capacity;
        ah_send *sends = realloc(h->sends, capacity * sizeof *sends);
        if (sends == NULL) abort();
        h->sends = sends;
        h->send_capacity = capacity;
    }
    h->sends[h->outcome.send_count++] = send;
    h->outcome.sends = h->sends;
    return 0;
}

static int session_refresh(lua_State *L) {
    ah_handler *h = ah_api_check(L, "refresh");
    if (h->read_only) return luaL_error(L, "session:refresh: %s cannot change anybody's view", h->name);
    ah_session *s = h->session;
    size_t n = s->people_count;
    lua_settop(L, 2);
    uint8_t *marks = lua_newuserdatauv(L, n + 1, 0);
    memset(marks, 0, n);
    ah_api_mark_people(L, 2, "refresh", false, marks);
    for (size_t i = 0; i < h->outcome.refresh_count; i++) {
        ah_person *p = ah_session_person(s, h->refresh[i]);
        if (p != NULL) marks[p - s->people] = 0;
    }
    ah_charge(L, n / 4 + h->outcome.refresh_count);
    if (h->refresh_capacity < n) {
        uint32_t *refresh = realloc(h->refresh, n * sizeof *refresh);
        if (refresh == NULL) abort();
        h->refresh = refresh;
        h->refresh_capacity = n;
    }
    uint32_t newcomer = h->input->kind == AH_JOIN ? h->input->participant : 0;   // whose view is taken anyway
    for (size_t i = 0; i < n; i++) {
        if (marks[i] && s->people[i].participant != newcomer) h->refresh[h->outcome.refresh_count++] = s->people[i].participant;
    }
    h->outcome.refresh = h->refresh;
    return 0;
}

static int session_reject(lua_State *L) {
    ah_handler *h = ah_api_check(L, "reject");
    lua_settop(L, 4);
    ah_bytes message = ah_api_text(L, 2, "session:reject: message", AH_MAX_TEXT, "The activity refused this.");
    ah_bytes reason = lua_isnil(L, 3) ? (ah_bytes){0} : ah_api_text(L, 3, "session:reject: code", AH_MAX_NAME, NULL);
    ah_bytes data = ah_api_json(L, 4, "session:reject: data");
    h->outcome.message = message;
    h->outcome.reason = reason;
    h->outcome.data = data;
    ah_vm_of(L)->budget.stop = AH_STOP_REFUSED;
    ah_budget_raise(L);
}

void ah_api_add_sends(lua_State *L) {
    static const luaL_Reg methods[] = {{"send", session_send}, {"refresh", session_refresh}, {"reject", session_reject}, {NULL, NULL}};
    luaL_setfuncs(L, methods, 0);
}
