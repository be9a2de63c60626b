// `session`, as handlers see it: one userdata a VM, whose fields are made when they are asked for.

#include <string.h>

#include "vm.h"

static const char session_key = 0, people_key = 0, list_key = 0, parameters_key = 0, state_key = 0;

static const char fields[] = "state, id, parameters, initiator, participants, send, refresh, reject, after, cancel, finish, now, uuid";

static void forget(lua_State *L, const char *key) {
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

/// Keeps the value at the top, until the next handler.
static void keep(lua_State *L, const char *key) {
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key);
    ah_vm_of(L)->cached = true;
}

void ah_api_begin(lua_State *L) {
    ah_vm *vm = ah_vm_of(L);
    if (!vm->cached) return;
    vm->cached = false;
    forget(L, &people_key);
    forget(L, &list_key);
    forget(L, &parameters_key);
    forget(L, &state_key);
    ah_iterate_forget(L);
}

void ah_api_push_session(lua_State *L) { lua_rawgetp(L, LUA_REGISTRYINDEX, &session_key); }

static bool is_session(lua_State *L, int index) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &session_key);
    bool same = lua_rawequal(L, -1, index);
    lua_pop(L, 1);
    return same;
}

static ah_handler *running(lua_State *L) {
    ah_handler *h = &ah_vm_of(L)->handler;
    if (h->session == NULL) luaL_error(L, "session is there in handlers only");
    return h;
}

ah_handler *ah_api_check(lua_State *L, const char *method) {
    if (lua_gettop(L) == 0 || !is_session(L, 1)) luaL_error(L, "session.%s was called without the session; write session:%s(…) with a colon", method, method);
    return running(L);
}

ah_handler *ah_api_check_writable(lua_State *L, const char *method) {
    ah_handler *h = ah_api_check(L, method);
    if (h->read_only) luaL_error(L, "session:%s: the session is read-only here (%s)", method, h->name);
    return h;
}

// MARK: Ids

uint32_t ah_parse_id(const char *text, size_t count, char letter) {
    if (count < 2 || count > 11 || text[0] != letter || text[1] == '0') return 0;
    uint64_t n = 0;
    for (size_t i = 1; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') return 0;
        n = n * 10 + (uint64_t)(text[i] - '0');
    }
    return n <= UINT32_MAX ? (uint32_t)n : 0;
}

static void set_id(lua_State *L, const char *field, char letter, uint32_t number) {
    char text[32] = {letter};
    lua_pushlstring(L, text, 1 + ah_integer_text(number, text + 1));
    lua_setfield(L, -2, field);
}

static void set_text(lua_State *L, const char *field, ah_text *text) {
    ah_bytes b = ah_text_bytes(text);
    lua_pushlstring(L, (const char *)b.base, b.count);
    lua_setfield(L, -2, field);
}

// MARK: People

void ah_api_push_person(lua_State *L, const ah_person *p) {
    luaL_checkstack(L, 4, NULL);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &people_key) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
        keep(L, &people_key);
    }
    if (lua_rawgeti(L, -1, p->participant) == LUA_TNIL) {
        lua_pop(L, 1);
        ah_charge(L, 20);
        lua_createtable(L, 0, 5);
        set_id(L, "id", 'p', p->participant);
        set_id(L, "member", 'm', p->member);
        set_text(L, "name", p->name);
        set_text(L, "color", p->color);
        set_text(L, "role", p->role);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, p->participant);
    }
    lua_remove(L, -2);
}

static void push_participants(lua_State *L, ah_session *s) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &list_key) != LUA_TNIL) return;
    lua_pop(L, 1);
    lua_createtable(L, (int)s->people_count, 0);
    ah_mark_list(L, -1);
    for (size_t i = 0; i < s->people_count; i++) {
        ah_api_push_person(L, &s->people[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    keep(L, &list_key);
}

static void mark_id(lua_State *L, int index, const char *method, bool absent_allowed, uint8_t *marks) {
    ah_session *s = ah_vm_of(L)->handler.session;
    size_t count;
    const char *text = lua_tolstring(L, index, &count);
    uint32_t number = ah_parse_id(text, count, 'p');
    ah_person *p = number == 0 ? NULL : ah_session_person(s, number);
    if (p == NULL && absent_allowed && number != 0) return;
    if (p == NULL) luaL_error(L, "session:%s: no participant \"%s\" is in this session", method, text);
    marks[p - s->people] = 1;
}

/// One participant: a table with an id, or an id. False if the value at `index` is neither.
static bool mark_one(lua_State *L, int index, const char *method, bool absent_allowed, uint8_t *marks) {
    if (lua_type(L, index) == LUA_TSTRING) {
        mark_id(L, index, method, absent_allowed, marks);
        return true;
    }
    if (!lua_istable(L, index)) return false;
    lua_pushliteral(L, "id");
    bool found = lua_rawget(L, index) == LUA_TSTRING;
    if (found) mark_id(L, -1, method, absent_allowed, marks);
    lua_pop(L, 1);
    return found;
}

void ah_api_mark_people(lua_State *L, int index, const char *method, bool absent_allowed, uint8_t *marks) {
    index = lua_absindex(L, index);
    luaL_checkstack(L, 6, NULL);
    if (mark_one(L, index, method, absent_allowed, marks)) return;
    bool proxy = ah_proxy_is(L, index);
    if (!proxy && !lua_istable(L, index)) luaL_error(L, "session:%s: a participant, an id or a list of them expected, got %s", method, luaL_typename(L, index));
    lua_Integer n = proxy ? ah_proxy_length(L, index) : luaL_len(L, index);
    for (lua_Integer i = 1; i <= n; i++) {
        ah_charge(L, 4);
        if (proxy) ah_proxy_geti(L, index, i);
        else lua_geti(L, index, i);
        if (!mark_one(L, lua_gettop(L), method, absent_allowed, marks)) luaL_error(L, "session:%s: element %d of the list is no participant and no id", method, (int)i);
        lua_pop(L, 1);
    }
}

// MARK: Arguments

ah_bytes ah_api_text(lua_State *L, int index, const char *what, size_t most, const char *fallback) {
    if (fallback != NULL && lua_isnoneornil(L, index)) return ah_static(fallback);
    if (lua_type(L, index) != LUA_TSTRING) luaL_error(L, "%s: a text expected, got %s", what, luaL_typename(L, index));
    size_t count;
    const char *text = lua_tolstring(L, index, &count);
    if (count == 0 || count > most) luaL_error(L, "%s: 1 to %d bytes expected, got %d", what, (int)most, (int)count);
    if (!ah_utf8_valid((const uint8_t *)text, count)) luaL_error(L, "%s: not valid UTF-8", what);
    return ah_arena_copy(&ah_vm_of(L)->arena, text, count);
}

int ah_api_raise_mismatch(lua_State *L, const char *what) {
    ah_vm *vm = ah_vm_of(L);
    lua_pushlstring(L, (const char *)vm->path.base, vm->path.count);
    lua_pushlstring(L, (const char *)vm->reason.base, vm->reason.count);
    return luaL_error(L, "%s: %s%s%s", what, lua_tostring(L, -2), vm->path.count == 0 ? "" : ": ", lua_tostring(L, -1));
}

ah_bytes ah_api_json(lua_State *L, int index, const char *what) {
    ah_vm *vm = ah_vm_of(L);
    if (lua_isnoneornil(L, index)) return (ah_bytes){0};
    vm->scratch.count = vm->path.count = vm->reason.count = 0;
    if (!ah_schema_encode(L, index, ah_schema_any, &vm->scratch, &vm->path, &vm->reason)) ah_api_raise_mismatch(L, what);
    if (vm->scratch.count > vm->limits.message_bytes) {
        luaL_error(L, "%s: %d bytes are more than the limit message_bytes (%d)", what, (int)vm->scratch.count, (int)vm->limits.message_bytes);
    }
    ah_bytes json = ah_arena_copy(&vm->arena, vm->scratch.base, vm->scratch.count);
    ah_charge_memory(L, 0);
    return json;
}

// MARK: The session

static void push_parameters(lua_State *L, ah_session *s) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &parameters_key) != LUA_TNIL) return;
    lua_pop(L, 1);
    ah_vm *vm = ah_vm_of(L);
    vm->path.count = vm->reason.count = 0;
    ah_bytes json = ah_text_bytes(s->parameters);
    // Parameters of an older version of the script may not fit any more: then they are given as they are.
    if (!ah_schema_decode(L, vm->script->parameters, json, &vm->path, &vm->reason) && !ah_schema_decode(L, ah_schema_any, json, &vm->path, &vm->reason)) {
        lua_newtable(L);
    }
    keep(L, &parameters_key);
}

static void push_state(lua_State *L, ah_session *s) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key) != LUA_TNIL) return;
    lua_pop(L, 1);
    ah_proxy_push(L, s->document, ah_document_root(s->document));
    keep(L, &state_key);
}

/// Upvalue: the methods.
static int session_index(lua_State *L) {
    ah_session *s = running(L)->session;
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    if (strcmp(key, "state") == 0) {
        push_state(L, s);
        return 1;
    }
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    if (strcmp(key, "participants") == 0) {
        push_participants(L, s);
    } else if (strcmp(key, "parameters") == 0) {
        push_parameters(L, s);
    } else if (strcmp(key, "id") == 0) {
        ah_bytes id = ah_text_bytes(s->id);
        lua_pushlstring(L, (const char *)id.base, id.count);
    } else if (strcmp(key, "initiator") == 0) {
        lua_pushfstring(L, "m%I", (LUAI_UACINT)s->initiator);
    } else {
        return luaL_error(L, "session has no %s; it has %s", *key == 0 ? luaL_typename(L, 2) : key, fields);
    }
    return 1;
}

static int session_assign(lua_State *L) {
    ah_handler *h = running(L);
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    if (strcmp(key, "state") != 0) return luaL_error(L, "session.%s cannot be assigned; what must last goes into session.state", key);
    if (h->read_only) return luaL_error(L, "state is read-only here (%s)", h->name);
    if (!ah_proxy_is(L, 3) && !lua_istable(L, 3)) return luaL_error(L, "session.state: a table expected, got %s", luaL_typename(L, 3));
    ah_proxy_assign_root(L, h->session->document, 3);
    forget(L, &state_key);
    return 0;
}

static int session_text(lua_State *L) {
    lua_pushliteral(L, "session");
    return 1;
}

void ah_api_install(lua_State *L) {
    lua_newuserdatauv(L, 0, 0);
    lua_createtable(L, 0, 4);
    lua_newtable(L);
    ah_api_add_sends(L);
    ah_api_add_times(L);
    lua_pushcclosure(L, session_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, session_assign);
    lua_setfield(L, -2, "__newindex");
    lua_pushcfunction(L, session_text);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &session_key);
}
