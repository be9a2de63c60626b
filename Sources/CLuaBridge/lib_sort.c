// table.sort, and the merge sort behind it and behind the order of keys.

#include "lib_sort.h"

#include <string.h>

enum { MAX_SORTED = 1 << 24 };

static void merge(lua_State *L, const uint32_t *from, uint32_t *to, size_t first, size_t middle, size_t last, ah_before before, const void *context) {
    size_t a = first, b = middle;
    for (size_t i = first; i < last; i++) {
        bool right = a == middle || (b < last && before(L, context, from[b], from[a]));
        to[i] = right ? from[b++] : from[a++];
    }
}

uint32_t *ah_sorted_order(lua_State *L, size_t count, ah_before before, const void *context) {
    if (count > MAX_SORTED) luaL_error(L, "too many elements to sort");
    luaL_checkstack(L, 8, NULL);
    uint32_t *order = lua_newuserdatauv(L, 2 * count * sizeof(uint32_t) + 1, 0), *spare = order + count;
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t first = 0; first < count; first += 2 * width) {
            size_t middle = first + width < count ? first + width : count, last = first + 2 * width < count ? first + 2 * width : count;
            ah_charge(L, last - first);
            merge(L, order, spare, first, middle, last, before, context);
        }
        memcpy(order, spare, count * sizeof *order);
    }
    return order;
}

typedef struct sorting { int values, function; } sorting;

static bool value_before(lua_State *L, const void *context, uint32_t a, uint32_t b) {
    const sorting *s = context;
    bool result;
    if (s->function == 0) {
        lua_rawgeti(L, s->values, (lua_Integer)a + 1);
        lua_rawgeti(L, s->values, (lua_Integer)b + 1);
        if (lua_type(L, -1) == LUA_TSTRING) ah_charge(L, lua_rawlen(L, -1) / 64);
        result = lua_compare(L, -2, -1, LUA_OPLT);
        lua_pop(L, 2);
    } else {
        lua_pushvalue(L, s->function);
        lua_rawgeti(L, s->values, (lua_Integer)a + 1);
        lua_rawgeti(L, s->values, (lua_Integer)b + 1);
        lua_call(L, 2, 1);
        result = lua_toboolean(L, -1);
        lua_pop(L, 1);
    }
    return result;
}

int ah_table_sort(lua_State *L) {
    bool proxy = ah_proxy_is(L, 1);
    if (!proxy) luaL_checktype(L, 1, LUA_TTABLE);
    if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
    if (ah_is_frozen(L, 1)) return luaL_error(L, "table.sort: this table is read-only after load");
    lua_settop(L, 2);
    lua_Integer n = proxy ? ah_proxy_length(L, 1) : luaL_len(L, 1);
    if (n < 2) return 0;
    if (n > MAX_SORTED) return luaL_error(L, "too many elements to sort");
    lua_createtable(L, (int)n, 0);
    for (lua_Integer i = 1; i <= n; i++) {
        if (proxy) ah_proxy_geti(L, 1, i);
        else lua_geti(L, 1, i);
        lua_rawseti(L, 3, i);
        if (i % 64 == 0) ah_charge(L, 64);
    }
    sorting s = {3, lua_isnil(L, 2) ? 0 : 2};
    uint32_t *order = ah_sorted_order(L, (size_t)n, value_before, &s);
    if (proxy) {
        if (ah_proxy_length(L, 1) != n) return luaL_error(L, "table.sort: the list changed its length while it was sorted");
        for (lua_Integer i = 0; i < n; i++) order[i]++;
        ah_proxy_permute(L, 1, order, (size_t)n);
        return 0;
    }
    for (lua_Integer i = 0; i < n; i++) {
        lua_rawgeti(L, 3, (lua_Integer)order[i] + 1);
        lua_seti(L, 1, i + 1);
        if (i % 64 == 0) ah_charge(L, 64);
    }
    return 0;
}
