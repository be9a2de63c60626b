// Metatables and raw access. A script's table never becomes a metatable itself: setmetatable builds a fresh one out of the
// harmless events, so that nothing can be added later (architecture, "The Lua that we have").

#include "lib_meta.h"

#include "vm.h"

static const char *const events[] = {
    "__index", "__newindex", "__call", "__tostring", "__eq", "__lt", "__le", "__unm", "__add", "__sub", "__mul", "__div",
    "__mod", "__pow", "__idiv", "__band", "__bor", "__bxor", "__bnot", "__shl", "__shr",
};
static const char *const refused[] = {"__gc", "__close", "__mode", "__concat", "__len", "__metatable"};
enum { EVENT_COUNT = sizeof events / sizeof *events, REFUSED_COUNT = sizeof refused / sizeof *refused, CACHE_SLOTS = 32 };

// Upvalues of setmetatable: the names of all events, then the cache: for each slot a script's table and what was made of it.
enum { UPVALUE_EVENTS = 1, UPVALUE_REFUSED = UPVALUE_EVENTS + EVENT_COUNT, UPVALUE_CACHE = UPVALUE_REFUSED + REFUSED_COUNT };

static void refuse_events(lua_State *L, int content) {
    for (int i = 0; i < REFUSED_COUNT; i++) {
        lua_pushvalue(L, lua_upvalueindex(UPVALUE_REFUSED + i));
        if (lua_rawget(L, content) != LUA_TNIL) luaL_error(L, "setmetatable: %s is not available to scripts", refused[i]);
        lua_pop(L, 1);
    }
}

static bool same_events(lua_State *L, int content, int made) {
    for (int i = 0; i < EVENT_COUNT; i++) {
        lua_pushvalue(L, lua_upvalueindex(UPVALUE_EVENTS + i));
        lua_rawget(L, content);
        lua_pushvalue(L, lua_upvalueindex(UPVALUE_EVENTS + i));
        lua_rawget(L, made);
        bool same = lua_rawequal(L, -1, -2);
        lua_pop(L, 2);
        if (!same) return false;
    }
    return true;
}

/// Pushes the metatable for the script's table at `index`.
static void push_made(lua_State *L, int index) {
    int slot = 2 * (int)(((size_t)lua_topointer(L, index) >> 4) % CACHE_SLOTS) + 1;
    ah_push_content(L, index);
    int content = lua_gettop(L);
    lua_rawgeti(L, lua_upvalueindex(UPVALUE_CACHE), slot);
    bool cached = lua_rawequal(L, -1, index);
    lua_pop(L, 1);
    if (cached) {
        lua_rawgeti(L, lua_upvalueindex(UPVALUE_CACHE), slot + 1);
        if (!lua_rawequal(L, content, index)) return;   // read-only: it can't have changed
        refuse_events(L, content);
        if (same_events(L, content, content + 1)) return;
        lua_pop(L, 1);
    }
    refuse_events(L, content);
    lua_createtable(L, 0, 4);
    int made = lua_gettop(L);
    for (int i = 0; i < EVENT_COUNT; i++) {
        lua_pushvalue(L, lua_upvalueindex(UPVALUE_EVENTS + i));
        lua_pushvalue(L, -1);
        if (lua_rawget(L, content) == LUA_TNIL) lua_pop(L, 2);
        else lua_rawset(L, made);
    }
    lua_pushvalue(L, index);
    lua_rawsetp(L, made, &ah_original_key);
    lua_pushvalue(L, index);
    lua_rawseti(L, lua_upvalueindex(UPVALUE_CACHE), slot);
    lua_pushvalue(L, made);
    lua_rawseti(L, lua_upvalueindex(UPVALUE_CACHE), slot + 1);
}

static void refuse_proxy(lua_State *L, int index, const char *function) {
    if (ah_proxy_is(L, index)) luaL_error(L, "%s does not work on session.state; use it like a plain table", function);
}

static int meta_set(lua_State *L) {
    refuse_proxy(L, 1, "setmetatable");
    luaL_checktype(L, 1, LUA_TTABLE);
    int kind = lua_type(L, 2);
    luaL_argexpected(L, kind == LUA_TNIL || kind == LUA_TTABLE, 2, "nil or table");
    if (ah_is_frozen(L, 1)) return luaL_error(L, "setmetatable: this table is read-only after load");
    ah_charge(L, 20);
    lua_settop(L, 2);
    if (kind == LUA_TTABLE) push_made(L, 2);
    lua_setmetatable(L, 1);
    lua_settop(L, 1);
    return 1;
}

static int meta_get(lua_State *L) {
    luaL_checkany(L, 1);
    if (lua_type(L, 1) != LUA_TTABLE || !lua_getmetatable(L, 1)) {
        lua_pushnil(L);
        return 1;
    }
    lua_rawgetp(L, -1, &ah_original_key);
    return 1;
}

static int raw_get(lua_State *L) {
    refuse_proxy(L, 1, "rawget");
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checkany(L, 2);
    lua_settop(L, 2);
    ah_push_content(L, 1);
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    return 1;
}

static int raw_set(lua_State *L) {
    refuse_proxy(L, 1, "rawset");
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checkany(L, 2);
    luaL_checkany(L, 3);
    if (ah_is_frozen(L, 1)) return luaL_error(L, "rawset: this table is read-only after load; keep what must last in session.state");
    lua_settop(L, 3);
    lua_rawset(L, 1);
    return 1;
}

static int raw_equal(lua_State *L) {
    luaL_checkany(L, 1);
    luaL_checkany(L, 2);
    refuse_proxy(L, 1, "rawequal");
    refuse_proxy(L, 2, "rawequal");
    lua_pushboolean(L, lua_rawequal(L, 1, 2));
    return 1;
}

static int raw_length(lua_State *L) {
    refuse_proxy(L, 1, "rawlen");
    int kind = lua_type(L, 1);
    luaL_argexpected(L, kind == LUA_TTABLE || kind == LUA_TSTRING, 1, "table or string");
    if (kind == LUA_TTABLE) ah_push_content(L, 1);
    lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -1));
    return 1;
}

void ah_lib_meta(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"getmetatable", meta_get}, {"rawget", raw_get}, {"rawset", raw_set}, {"rawequal", raw_equal}, {"rawlen", raw_length}, {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
    luaL_checkstack(L, UPVALUE_CACHE + 4, NULL);
    for (int i = 0; i < EVENT_COUNT; i++) lua_pushstring(L, events[i]);
    for (int i = 0; i < REFUSED_COUNT; i++) lua_pushstring(L, refused[i]);
    lua_createtable(L, 2 * CACHE_SLOTS, 0);
    lua_pushcclosure(L, meta_set, UPVALUE_CACHE);
    lua_setfield(L, -2, "setmetatable");
}
