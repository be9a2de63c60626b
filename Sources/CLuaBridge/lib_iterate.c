// next, pairs and ipairs in an order that is the same on every machine: the list part (1, 2, … up to the first hole), then
// numbers, then strings by their bytes. pairs takes a sorted snapshot of the keys once; next remembers that of one table.

#include <string.h>

#include "lib_sort.h"

static const char cache_table = 0, cache_keys = 0, cache_place = 0;

typedef struct key {
    const char *text;                 // NULL: a number
    size_t count;
    lua_Integer slot;                 // in the table of unsorted keys, for numbers
} key;

typedef struct key_list { const key *keys; int unsorted; } key_list;

typedef struct place {
    lua_Integer list;                 // length of the list part
    lua_Integer at;                   // the entry of the sorted keys that was given last
} place;

static bool text_before(const key *a, const key *b) {
    size_t n = a->count < b->count ? a->count : b->count;
    int c = memcmp(a->text, b->text, n);
    return c != 0 ? c < 0 : a->count < b->count;
}

static bool key_before(lua_State *L, const void *context, uint32_t i, uint32_t j) {
    const key_list *l = context;
    const key *a = &l->keys[i], *b = &l->keys[j];
    if ((a->text == NULL) != (b->text == NULL)) return a->text == NULL;
    if (a->text != NULL) {
        ah_charge(L, 1 + (a->count < b->count ? a->count : b->count) / 64);
        return text_before(a, b);
    }
    lua_rawgeti(L, l->unsorted, a->slot);
    lua_rawgeti(L, l->unsorted, b->slot);
    bool result = lua_compare(L, -2, -1, LUA_OPLT);
    lua_pop(L, 2);
    return result;
}

static void check_key(lua_State *L, int kind) {
    if (kind != LUA_TNUMBER && kind != LUA_TSTRING) {
        luaL_error(L, "a table with a key of type %s cannot be iterated, since such keys have no order", lua_typename(L, kind));
    }
}

static lua_Integer list_length(lua_State *L, int content) {
    lua_Integer n = 0;
    while (lua_rawgeti(L, content, n + 1) != LUA_TNIL) {
        lua_pop(L, 1);
        if (++n % 64 == 0) ah_charge(L, 16);
    }
    lua_pop(L, 1);
    return n;
}

/// Pushes the keys beyond the list part, sorted, or nil if there are none. Returns the length of the list part.
static lua_Integer push_sorted_keys(lua_State *L, int content) {
    luaL_checkstack(L, 10, NULL);
    int top = lua_gettop(L);
    lua_Integer list = list_length(L, content), count = 0;
    for (lua_pushnil(L); lua_next(L, content); lua_pop(L, 1)) {
        if (++count % 64 == 0) ah_charge(L, 32);
        check_key(L, lua_type(L, -2));
    }
    count -= list;
    if (count == 0) {
        lua_pushnil(L);
        return list;
    }
    int unsorted = top + 1;
    lua_createtable(L, (int)count, 0);
    key *keys = lua_newuserdatauv(L, (size_t)count * sizeof(key), 0);
    lua_Integer n = 0;
    lua_pushnil(L);
    while (lua_next(L, content)) {
        lua_pop(L, 1);
        if (lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1 && lua_tointeger(L, -1) <= list) continue;
        key *k = &keys[n++];
        k->slot = n;
        k->text = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &k->count) : NULL;
        lua_pushvalue(L, -1);
        lua_rawseti(L, unsorted, n);
    }
    ah_charge(L, (size_t)count);
    key_list l = {keys, unsorted};
    const uint32_t *order = ah_sorted_order(L, (size_t)count, key_before, &l);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, unsorted, (lua_Integer)order[i] + 1);
        lua_rawseti(L, -2, i + 1);
    }
    lua_replace(L, unsorted);
    lua_settop(L, unsorted);
    return list;
}

// MARK: pairs

/// Upvalues: the content, the length of its list part, the sorted keys or nil, how many keys were given.
static int pairs_step(lua_State *L) {
    lua_Integer list = lua_tointeger(L, lua_upvalueindex(2)), at = lua_tointeger(L, lua_upvalueindex(4));
    for (;;) {
        at++;
        if (at <= list) lua_pushinteger(L, at);
        else if (lua_isnil(L, lua_upvalueindex(3)) || lua_rawgeti(L, lua_upvalueindex(3), at - list) == LUA_TNIL) break;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
            lua_pushinteger(L, at);
            lua_replace(L, lua_upvalueindex(4));
            return 2;
        }
        lua_pop(L, 2);   // removed meanwhile
        ah_charge(L, 1);
    }
    lua_pushinteger(L, at - 1);
    lua_replace(L, lua_upvalueindex(4));
    lua_pushnil(L);
    return 1;
}

static int proxy_step(lua_State *L) {
    lua_settop(L, 2);
    if (ah_proxy_next(L, 1)) return 2;
    lua_pushnil(L);
    return 1;
}

static int base_pairs(lua_State *L) {
    if (ah_proxy_is(L, 1)) {
        lua_pushcfunction(L, proxy_step);
    } else {
        luaL_checktype(L, 1, LUA_TTABLE);
        lua_settop(L, 1);
        ah_push_content(L, 1);
        lua_Integer list = push_sorted_keys(L, 2);
        lua_pushinteger(L, list);
        lua_insert(L, 3);
        lua_pushinteger(L, 0);
        lua_pushcclosure(L, pairs_step, 4);
    }
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

static int ipairs_step(lua_State *L) {
    lua_Integer i = luaL_checkinteger(L, 2) + 1;
    lua_pushinteger(L, i);
    if (ah_proxy_is(L, 1)) ah_proxy_geti(L, 1, i);
    else lua_geti(L, 1, i);
    return lua_isnil(L, -1) ? 1 : 2;
}

static int base_ipairs(lua_State *L) {
    luaL_checkany(L, 1);
    lua_pushcfunction(L, ipairs_step);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

// MARK: next

void ah_iterate_forget(lua_State *L) {
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &cache_table);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &cache_keys);
}

/// Pushes the first key of the table at `content`, or nil; without sorting them all.
static void push_first_key(lua_State *L, int content) {
    if (lua_rawgeti(L, content, 1) != LUA_TNIL) {
        lua_pop(L, 1);
        lua_pushinteger(L, 1);
        return;
    }
    lua_pop(L, 1);
    lua_pushnil(L);
    int best = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, content);) {
        lua_pop(L, 1);
        ah_charge(L, 1);
        int kind = lua_type(L, -1), held = lua_type(L, best);
        check_key(L, kind);
        bool before = held == LUA_TNIL || (kind == LUA_TNUMBER && held == LUA_TSTRING);
        if (kind == held && kind == LUA_TNUMBER) {
            before = lua_compare(L, -1, best, LUA_OPLT);
        } else if (kind == held) {
            key a = {0}, b = {0};
            a.text = lua_tolstring(L, -1, &a.count);
            b.text = lua_tolstring(L, best, &b.count);
            ah_charge(L, (a.count < b.count ? a.count : b.count) / 64);
            before = text_before(&a, &b);
        }
        if (before) lua_copy(L, -1, best);
    }
}

/// Makes the cache hold the table at `content` and pushes its sorted keys.
static place *push_cached_keys(lua_State *L, int content) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &cache_place);
    place *p = lua_touserdata(L, -1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &cache_table);
    bool cached = lua_rawequal(L, -1, content);
    lua_pop(L, 2);
    if (cached) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &cache_keys);
        return p;
    }
    lua_Integer list = push_sorted_keys(L, content);
    *p = (place){list, 0};
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &cache_keys);
    lua_pushvalue(L, content);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &cache_table);
    ah_vm_of(L)->cached = true;
    return p;
}

/// Position of the key at index 2 among list and sorted keys (pushed at `keys`), 0 if it is not there.
static lua_Integer position_of(lua_State *L, const place *p, int keys) {
    if (lua_isinteger(L, 2) && lua_tointeger(L, 2) >= 1 && lua_tointeger(L, 2) <= p->list) return lua_tointeger(L, 2);
    if (lua_isnil(L, keys)) return 0;
    lua_Integer count = (lua_Integer)lua_rawlen(L, keys);
    for (lua_Integer tried = 0; tried < count; tried++) {
        lua_Integer i = (p->at + tried) % count + 1;
        lua_rawgeti(L, keys, i);
        bool found = lua_rawequal(L, -1, 2);
        lua_pop(L, 1);
        if (found) return p->list + i;
        ah_charge(L, 1);
    }
    return 0;
}

static int base_next(lua_State *L) {
    if (ah_proxy_is(L, 1)) return proxy_step(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    ah_push_content(L, 1);
    if (lua_isnil(L, 2)) {
        ah_iterate_forget(L);   // a new walk sees the keys of now
        push_first_key(L, 3);
        lua_settop(L, 4);
        if (lua_isnil(L, 4)) return 1;
        lua_pushvalue(L, 4);
        lua_rawget(L, 3);
        return 2;
    }
    place *p = push_cached_keys(L, 3);
    lua_Integer at = position_of(L, p, 4);
    if (at == 0) return luaL_error(L, "invalid key to 'next'");
    for (;;) {
        at++;
        ah_charge(L, 1);
        if (at <= p->list) lua_pushinteger(L, at);
        else if (lua_isnil(L, 4) || lua_rawgeti(L, 4, at - p->list) == LUA_TNIL) break;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 3) != LUA_TNIL) {
            p->at = at <= p->list ? 0 : at - p->list - 1;
            return 2;
        }
        lua_pop(L, 2);
    }
    lua_pushnil(L);
    return 1;
}

void ah_lib_iterate(lua_State *L) {
    *(place *)lua_newuserdatauv(L, sizeof(place), 0) = (place){0, 0};
    lua_rawsetp(L, LUA_REGISTRYINDEX, &cache_place);
    static const luaL_Reg functions[] = {{"next", base_next}, {"pairs", base_pairs}, {"ipairs", base_ipairs}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
