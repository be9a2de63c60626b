// Tables that are read-only after load. The content moves into a hidden table; the visible one stays empty behind a
// metatable that scripts never see, so that reading goes through and every assignment is caught.

#include "vm.h"
#include "lib_meta.h"

static const char frozen_key = 0;
const char ah_original_key = 0;

bool ah_push_frozen(lua_State *L, int index) {
    if (!lua_getmetatable(L, index)) return false;
    if (lua_rawgetp(L, -1, &frozen_key) == LUA_TTABLE) {
        lua_remove(L, -2);
        return true;
    }
    lua_pop(L, 2);
    return false;
}

bool ah_is_frozen(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE || !ah_push_frozen(L, index)) return false;
    lua_pop(L, 1);
    return true;
}

void ah_push_content(lua_State *L, int index) {
    luaL_checkstack(L, 3, NULL);
    if (!ah_push_frozen(L, index)) lua_pushvalue(L, index);
}

static int refuse_assignment(lua_State *L) { return luaL_error(L, "%s", lua_tostring(L, lua_upvalueindex(1))); }

static int content_length(lua_State *L) {
    ah_push_content(L, 1);
    lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -1));
    return 1;
}

/// Upvalues: the hidden table and the script's own __index function, which must not meet the hidden table.
static int content_or_function(lua_State *L) {
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    lua_settop(L, 2);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1);
    lua_call(L, 2, 1);
    return 1;
}

/// Moves the content of the table at `table` to the one at `hidden` and notes nested tables at the end of the list at `todo`.
static void move_content(lua_State *L, int table, int hidden, int todo) {
    lua_pushnil(L);
    while (lua_next(L, table)) {
        ah_charge(L, 2);
        if (lua_type(L, -1) == LUA_TTABLE) {
            lua_pushvalue(L, -1);
            lua_rawseti(L, todo, (lua_Integer)lua_rawlen(L, todo) + 1);
        }
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, hidden);
        lua_pushvalue(L, -1);
        lua_pushnil(L);
        lua_rawset(L, table);
    }
}

/// Carries the script's events (metatable at `old`) over to the locked metatable at `locked`.
static void keep_events(lua_State *L, int old, int hidden, int locked) {
    if (lua_rawgetp(L, old, &ah_original_key) == LUA_TNIL) {   // a mark of the host, as that of lists
        lua_pop(L, 1);
        lua_pushvalue(L, old);
        lua_setmetatable(L, hidden);
        return;
    }
    lua_pop(L, 1);
    lua_pushnil(L);
    while (lua_next(L, old)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, locked);
    }
    lua_pushliteral(L, "__index");
    int kind = lua_rawget(L, old);
    if (kind == LUA_TFUNCTION) {
        lua_pushvalue(L, hidden);
        lua_insert(L, -2);
        lua_pushcclosure(L, content_or_function, 2);
        lua_setfield(L, locked, "__index");
        return;
    }
    lua_pushvalue(L, hidden);
    lua_setfield(L, locked, "__index");
    if (kind != LUA_TNIL) {   // continues behind the hidden table
        lua_createtable(L, 0, 1);
        lua_pushvalue(L, -2);
        lua_setfield(L, -2, "__index");
        lua_setmetatable(L, hidden);
    }
    lua_pop(L, 1);
}

static void freeze_one(lua_State *L, int table, int todo, int refusal) {
    if (ah_is_frozen(L, table)) return;
    int top = lua_gettop(L), hidden = top + 1, locked = top + 2, old = top + 3;
    lua_newtable(L);
    lua_createtable(L, 0, 4);
    move_content(L, table, hidden, todo);
    lua_pushvalue(L, hidden);
    lua_setfield(L, locked, "__index");
    if (lua_getmetatable(L, table)) keep_events(L, old, hidden, locked);
    lua_pushvalue(L, hidden);
    lua_rawsetp(L, locked, &frozen_key);
    lua_pushvalue(L, refusal);
    lua_setfield(L, locked, "__newindex");
    lua_pushcfunction(L, content_length);
    lua_setfield(L, locked, "__len");
    lua_pushvalue(L, locked);
    lua_setmetatable(L, table);
    lua_settop(L, top);
}

void ah_freeze(lua_State *L, int index, const char *message) {
    luaL_checkstack(L, 12, NULL);
    index = lua_absindex(L, index);
    int top = lua_gettop(L), todo = top + 1, first = top + 2, other = top + 3;
    lua_newtable(L);
    lua_pushstring(L, message);
    lua_pushcclosure(L, refuse_assignment, 1);
    lua_pushliteral(L, "this table is read-only after load; keep what must last in session.state");
    lua_pushcclosure(L, refuse_assignment, 1);
    freeze_one(L, index, todo, first);
    for (lua_Integer n; (n = (lua_Integer)lua_rawlen(L, todo)) > 0;) {
        lua_rawgeti(L, todo, n);
        lua_pushnil(L);
        lua_rawseti(L, todo, n);
        freeze_one(L, lua_gettop(L), todo, other);
        lua_pop(L, 1);
    }
    lua_settop(L, top);
}
