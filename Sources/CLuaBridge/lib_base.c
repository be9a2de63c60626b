// The basic functions. pcall and its kin pass the end of a budget on: it is not the script's to catch.

#include <ctype.h>
#include <string.h>

#include "vm.h"

const char *ah_push_text(lua_State *L, int index, size_t *count) {
    index = lua_absindex(L, index);
    luaL_checkstack(L, 3, NULL);
    if (luaL_callmeta(L, index, "__tostring")) {
        if (!lua_isstring(L, -1)) luaL_error(L, "'__tostring' must return a string");
    } else {
        switch (lua_type(L, index)) {
        case LUA_TSTRING:
        case LUA_TNUMBER: lua_pushvalue(L, index); break;
        case LUA_TBOOLEAN: lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false"); break;
        default: lua_pushstring(L, ah_is_null(L, index) ? "null" : ah_proxy_is(L, index) ? "table" : luaL_typename(L, index));
        }
    }
    return lua_tolstring(L, -1, count);   // on a copy: a number on the stack must stay one
}

static int base_tostring(lua_State *L) {
    luaL_checkany(L, 1);
    size_t count;
    ah_push_text(L, 1, &count);
    return 1;
}

static int base_type(lua_State *L) {
    luaL_checkany(L, 1);
    lua_pushstring(L, ah_proxy_is(L, 1) ? "table" : luaL_typename(L, 1));
    return 1;
}

static int base_assert(lua_State *L) {
    luaL_checkany(L, 1);
    if (lua_toboolean(L, 1)) return lua_gettop(L);
    lua_remove(L, 1);
    lua_pushliteral(L, "assertion failed!");
    lua_settop(L, 1);
    return lua_error(L);
}

static int base_error(lua_State *L) {
    int level = (int)luaL_optinteger(L, 2, 1);
    lua_settop(L, 1);
    if (lua_type(L, 1) == LUA_TSTRING && level > 0) {
        luaL_where(L, level);
        lua_insert(L, 1);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int base_select(lua_State *L) {
    int n = lua_gettop(L);
    if (lua_type(L, 1) == LUA_TSTRING && strcmp(lua_tostring(L, 1), "#") == 0) {
        lua_pushinteger(L, n - 1);
        return 1;
    }
    lua_Integer i = luaL_checkinteger(L, 1);
    if (i < 0) i = n + i;
    else if (i > n) i = n;
    luaL_argcheck(L, i >= 1, 1, "index out of range");
    ah_charge(L, (size_t)n / 16);
    return n - (int)i;
}

static int digit_of(int c) { return isdigit(c) ? c - '0' : isalpha(c) ? toupper(c) - 'A' + 10 : 99; }

static int tonumber_in_base(lua_State *L, lua_Integer base) {
    luaL_checktype(L, 1, LUA_TSTRING);
    luaL_argcheck(L, base >= 2 && base <= 36, 2, "base out of range");
    size_t count;
    const char *s = lua_tolstring(L, 1, &count), *end = s + count;
    ah_charge(L, 1 + count / 16);
    while (s < end && isspace((unsigned char)*s)) s++;
    while (end > s && isspace((unsigned char)end[-1])) end--;
    bool negative = s < end && *s == '-';
    s += negative;
    lua_Unsigned n = 0;
    bool good = s < end;
    for (; good && s < end; s++) {
        int d = digit_of((unsigned char)*s);
        good = d < base;
        n = n * (lua_Unsigned)base + (lua_Unsigned)d;
    }
    if (good) lua_pushinteger(L, (lua_Integer)(negative ? 0u - n : n));
    else luaL_pushfail(L);
    return 1;
}

static int base_tonumber(lua_State *L) {
    if (!lua_isnoneornil(L, 2)) return tonumber_in_base(L, luaL_checkinteger(L, 2));
    if (lua_type(L, 1) == LUA_TNUMBER) {
        lua_settop(L, 1);
        return 1;
    }
    luaL_checkany(L, 1);
    if (lua_type(L, 1) == LUA_TSTRING) {
        size_t count;
        const char *s = lua_tolstring(L, 1, &count);
        ah_charge(L, 1 + count / 16);
        if (lua_stringtonumber(L, s) == count + 1) return 1;
    }
    luaL_pushfail(L);
    return 1;
}

static int finish_call(lua_State *L, int status, lua_KContext kept) {
    if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - (int)kept;
    ah_vm *vm = ah_vm_of(L);
    if (vm->budget.stop != AH_STOP_NONE) ah_budget_raise(L);
    ah_budget_check(L);   // finding the name for an error's text is not counted: look at the clock after each
    lua_pushboolean(L, 0);
    lua_pushvalue(L, -2);
    return 2;
}

static int base_pcall(lua_State *L) {
    luaL_checkany(L, 1);
    ah_charge(L, 4);
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    return finish_call(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, finish_call), 0);
}

/// Stands before the script's own message handler, which has no say once the handler has to end.
static int guarded_handler(lua_State *L) {
    if (ah_vm_of(L)->budget.stop != AH_STOP_NONE) return 1;
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

static int base_xpcall(lua_State *L) {
    int n = lua_gettop(L);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    ah_charge(L, 8);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, guarded_handler, 1);
    lua_replace(L, 2);
    lua_pushboolean(L, 1);
    lua_pushvalue(L, 1);
    lua_rotate(L, 3, 2);
    return finish_call(L, lua_pcallk(L, n - 2, LUA_MULTRET, 2, 2, finish_call), 2);
}

void ah_lib_base(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"assert", base_assert}, {"error", base_error},       {"pcall", base_pcall}, {"select", base_select}, {"tonumber", base_tonumber},
        {"type", base_type},     {"tostring", base_tostring}, {"xpcall", base_xpcall}, {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}
