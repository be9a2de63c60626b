// The table library: plain tables, lists of the state (proxies) and read-only tables alike. Every element is a step.

#include "lib_buffer.h"

static lua_Integer length(lua_State *L, int index) { return ah_proxy_is(L, index) ? ah_proxy_length(L, index) : luaL_len(L, index); }

static void get(lua_State *L, int index, lua_Integer i) {
    if (ah_proxy_is(L, index)) ah_proxy_geti(L, index, i);
    else lua_geti(L, index, i);
}

/// Pops a value and assigns it to element `i`.
static void set(lua_State *L, int index, lua_Integer i) {
    if (!ah_proxy_is(L, index)) {
        lua_seti(L, index, i);
        return;
    }
    lua_pushinteger(L, i);
    lua_insert(L, -2);
    ah_proxy_set(L, index);
}

static void check_table(lua_State *L, int index) {
    if (!ah_proxy_is(L, index)) luaL_checktype(L, index, LUA_TTABLE);
}

static void check_writable(lua_State *L, const char *who) {
    check_table(L, 1);
    if (ah_is_frozen(L, 1)) luaL_error(L, "%s: this table is read-only after load; keep what must last in session.state", who);
}

static int table_insert(lua_State *L) {
    check_writable(L, "table.insert");
    lua_Integer n = length(L, 1), at = n + 1;
    int top = lua_gettop(L);
    if (top != 2 && top != 3) return luaL_error(L, "wrong number of arguments to 'insert'");
    if (top == 3) {
        at = luaL_checkinteger(L, 2);
        luaL_argcheck(L, at >= 1 && at <= n + 1, 2, "position out of bounds");
    }
    if (ah_proxy_is(L, 1)) {
        ah_charge(L, (size_t)(n + 1 - at) / 16 + 1);
        ah_proxy_insert(L, 1, at);
        return 0;
    }
    ah_charge(L, (size_t)(n + 1 - at) + 1);
    for (lua_Integer i = n + 1; i > at; i--) {
        lua_geti(L, 1, i - 1);
        lua_seti(L, 1, i);
    }
    lua_seti(L, 1, at);
    return 0;
}

static int table_remove(lua_State *L) {
    check_writable(L, "table.remove");
    lua_Integer n = length(L, 1), at = luaL_optinteger(L, 2, n);
    if (!lua_isnoneornil(L, 2)) luaL_argcheck(L, (at >= 1 && at <= n + 1) || (n == 0 && at == 0), 2, "position out of bounds");
    if (ah_proxy_is(L, 1)) {
        if (at < 1 || at > n) {
            lua_pushnil(L);
            return 1;
        }
        ah_charge(L, (size_t)(n - at) / 16 + 1);
        ah_proxy_remove(L, 1, at);
        return 1;
    }
    ah_charge(L, at < n ? (size_t)(n - at) + 1 : 1);
    lua_geti(L, 1, at);
    for (; at < n; at++) {
        lua_geti(L, 1, at + 1);
        lua_seti(L, 1, at);
    }
    lua_pushnil(L);
    lua_seti(L, 1, at);
    return 1;
}

static int table_concat(lua_State *L) {
    check_table(L, 1);
    size_t separator_count;
    const char *separator = luaL_optlstring(L, 2, "", &separator_count);
    lua_Integer first = luaL_optinteger(L, 3, 1), last = lua_isnoneornil(L, 4) ? length(L, 1) : luaL_checkinteger(L, 4);
    lua_settop(L, 4);
    ah_out out;
    ah_out_begin(&out, L);
    for (lua_Integer i = first; i <= last; i++) {
        get(L, 1, i);
        if (!lua_isstring(L, -1)) return luaL_error(L, "invalid value (a %s) at index %I in table for 'concat'", luaL_typename(L, -1), (LUAI_UACINT)i);
        size_t n;
        const char *s = lua_tolstring(L, -1, &n);
        ah_charge(L, 1 + (n + separator_count) / 64);
        ah_out_add(&out, s, n);
        lua_pop(L, 1);
        if (i == last) break;   // the next could pass the largest integer
        ah_out_add(&out, separator, separator_count);
    }
    ah_out_push(&out);
    return 1;
}

static int table_unpack(lua_State *L) {
    lua_Integer first = luaL_optinteger(L, 2, 1), last = lua_isnoneornil(L, 3) ? length(L, 1) : luaL_checkinteger(L, 3);
    if (first > last) return 0;
    lua_Unsigned n = (lua_Unsigned)last - (lua_Unsigned)first;
    if (n >= AH_MAX_RESULTS || !lua_checkstack(L, (int)n + 2)) return luaL_error(L, "too many results to unpack (%d at most)", AH_MAX_RESULTS);
    ah_charge(L, (size_t)n + 1);
    for (lua_Unsigned i = 0; i <= n; i++) get(L, 1, first + (lua_Integer)i);
    return (int)n + 1;
}

static int table_pack(lua_State *L) {
    int n = lua_gettop(L);
    ah_charge(L, (size_t)n);
    lua_createtable(L, n, 1);
    lua_insert(L, 1);
    for (int i = n; i >= 1; i--) lua_rawseti(L, 1, i);
    lua_pushinteger(L, n);
    lua_setfield(L, 1, "n");
    return 1;
}

static int table_move(lua_State *L) {
    lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3), to = luaL_checkinteger(L, 4);
    int target = lua_isnoneornil(L, 5) ? 1 : 5;
    check_table(L, 1);
    check_table(L, target);
    if (last >= first) {
        luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3, "too many elements to move");
        luaL_argcheck(L, to <= LUA_MAXINTEGER - (last - first), 4, "destination wrap around");
        bool up = to > last || to <= first || (target != 1 && !lua_compare(L, 1, target, LUA_OPEQ));
        for (lua_Integer i = 0; i <= last - first; i++) {
            lua_Integer k = up ? i : last - first - i;
            ah_charge(L, 1);
            get(L, 1, first + k);
            set(L, target, to + k);
        }
    }
    lua_pushvalue(L, target);
    return 1;
}

void ah_lib_table(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"insert", table_insert}, {"remove", table_remove}, {"concat", table_concat}, {"unpack", table_unpack},
        {"pack", table_pack},     {"move", table_move},     {"sort", ah_table_sort},  {NULL, NULL},
    };
    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    lua_setglobal(L, "table");
}
