// Plain Lua tables seen as JSON values: the null sentinel, lists, and the keys of maps in an order that is the same on
// every machine. Access is raw throughout: no metamethod runs while a value is copied or encoded.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proxy.h"

static char nullKey, listKey;

void ah_push_null(lua_State *L) { lua_pushlightuserdata(L, &nullKey); }

bool ah_is_null(lua_State *L, int index) {
    return lua_type(L, index) == LUA_TLIGHTUSERDATA && lua_touserdata(L, index) == &nullKey;
}

/// Pushes the one metatable that all lists share. It is empty: only its identity matters.
static void push_list_metatable(lua_State *L) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &listKey) == LUA_TTABLE) {
        return;
    }
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &listKey);
}

void ah_mark_list(lua_State *L, int index) {
    index = lua_absindex(L, index);
    push_list_metatable(L);
    lua_setmetatable(L, index);
}

bool ah_is_list(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) {
        return false;
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &listKey);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

int ah_table_content(lua_State *L, int index) {
    index = lua_absindex(L, index);
    bool plain = !lua_getmetatable(L, index);
    if (!plain) {
        lua_pop(L, 1);
    }
    if (plain || ah_is_list(L, index) || !ah_push_frozen(L, index)) {
        lua_pushvalue(L, index);
    }
    return lua_gettop(L);
}

ah_shape ah_table_shape(lua_State *L, int index, size_t *count) {
    size_t length = lua_rawlen(L, index), elements = 0, strings = 0;
    *count = 0;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        ++*count;
        if (lua_type(L, -1) == LUA_TSTRING) {
            strings++;
        } else if (lua_isinteger(L, -1)) {
            elements += lua_tointeger(L, -1) >= 1 && (lua_Unsigned)lua_tointeger(L, -1) <= length;
        }
    }
    ah_charge(L, *count + 1);
    if (*count == 0) {
        return ah_is_list(L, index) ? AH_SHAPE_LIST : AH_SHAPE_EMPTY;
    }
    if (elements == *count && elements == length) {
        return AH_SHAPE_LIST;
    }
    return strings == *count ? AH_SHAPE_MAP : AH_SHAPE_MIXED;
}

static int by_bytes(const void *left, const void *right) {
    const ah_bytes *a = left, *b = right;
    int order = memcmp(a->base, b->base, a->count < b->count ? a->count : b->count);
    return order != 0 ? order : (a->count > b->count) - (a->count < b->count);
}

void ah_table_keys(lua_State *L, int index, size_t count, ah_keys *keys) {
    keys->count = count;
    if (count <= AH_INLINE_KEYS) {
        keys->list = keys->few;
        lua_pushnil(L);
    } else {
        keys->list = lua_newuserdatauv(L, count * sizeof(ah_bytes), 0);
    }
    size_t i = 0;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        size_t length;
        const char *text = lua_tolstring(L, -1, &length);
        keys->list[i++] = (ah_bytes){(const uint8_t *)text, length};
    }
    if (count > AH_INLINE_KEYS) {
        ah_charge(L, count * 4);
        qsort(keys->list, count, sizeof(ah_bytes), by_bytes);
        return;
    }
    for (i = 1; i < count; i++) {
        ah_bytes key = keys->list[i];
        size_t to = i;
        while (to > 0 && by_bytes(&keys->list[to - 1], &key) > 0) {
            keys->list[to] = keys->list[to - 1];
            to--;
        }
        keys->list[to] = key;
    }
}

const char *ah_value_name(lua_State *L, int index) {
    switch (lua_type(L, index)) {
    case LUA_TNONE:
    case LUA_TNIL: return "nil";
    case LUA_TBOOLEAN: return "a boolean";
    case LUA_TSTRING: return "a string";
    case LUA_TTABLE: return "a table";
    case LUA_TFUNCTION: return "a function";
    case LUA_TTHREAD: return "a coroutine";
    case LUA_TLIGHTUSERDATA: return "null";
    case LUA_TUSERDATA: return ah_proxy_is(L, index) ? "a table" : "a host object";
    default: break;
    }
    if (lua_isinteger(L, index)) {
        return "an integer";
    }
    lua_Number value = lua_tonumber(L, index);
    return isnan(value) ? "NaN" : isinf(value) ? "infinity" : "a number";
}
