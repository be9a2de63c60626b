// A node of the document as a Lua value: a full userdata with a metatable that scripts never see. It is good within one
// handler; a commit or a rollback makes it stale.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proxy.h"

typedef struct ah_proxy {
    const void *magic;     // &proxyKey: no other userdata begins with it
    ah_document *document;
    ah_node *node;
    uint64_t generation;
} ah_proxy;

static char proxyKey;

static ah_proxy *to_proxy(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) != sizeof(ah_proxy)) {
        return NULL;
    }
    ah_proxy *p = lua_touserdata(L, index);
    return p->magic == &proxyKey ? p : NULL;
}

void ah_proxy_push(lua_State *L, ah_document *d, ah_node *n) {
    ah_proxy *p = lua_newuserdatauv(L, sizeof *p, 0);
    *p = (ah_proxy){&proxyKey, d, n, d->generation};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &proxyKey);
    lua_setmetatable(L, -2);
}

bool ah_proxy_is(lua_State *L, int index) { return to_proxy(L, index) != NULL; }

ah_node *ah_proxy_node(lua_State *L, int index) {
    ah_proxy *p = to_proxy(L, index);
    if (p == NULL) {
        return NULL;
    }
    // The pointer is compared before it is followed: the document may be gone.
    if (p->document != ah_vm_document(L) || p->generation != p->document->generation) {
        luaL_error(L, "this part of session.state was read in an earlier handler; read it again");
    }
    return p->node;
}

static ah_node *check_node(lua_State *L, int index) {
    ah_node *n = ah_proxy_node(L, index);
    if (n == NULL) {
        luaL_error(L, "a part of session.state expected, got %s", ah_value_name(L, index));
    }
    return n;
}

void ah_push_value(lua_State *L, ah_document *d, ah_value v) {
    switch ((ah_tag)v.tag) {
    case AH_NIL: lua_pushnil(L); break;
    case AH_NULL: ah_push_null(L); break;
    case AH_FALSE: lua_pushboolean(L, 0); break;
    case AH_TRUE: lua_pushboolean(L, 1); break;
    case AH_INTEGER: lua_pushinteger(L, v.as.integer); break;
    case AH_DOUBLE: lua_pushnumber(L, v.as.real); break;
    case AH_STRING: lua_pushlstring(L, (const char *)v.as.text->bytes, v.as.text->count); break;
    case AH_NODE: ah_proxy_push(L, d, v.as.node); break;
    }
}

// MARK: Reading

static const char integerOnMap[] = "an integer key on a map; its keys are strings (use tostring(key))";

/// True if the key at `index` is an integer, or a float with an integer's value.
static bool integer_key(lua_State *L, int index, lua_Integer *key) {
    int exact = 0;
    if (lua_type(L, index) == LUA_TNUMBER) {
        *key = lua_tointegerx(L, index, &exact);
    }
    return exact != 0;
}

static void push_item(lua_State *L, ah_node *n, lua_Integer i) {
    if (ah_node_kind_of(n) == AH_MAP) {
        ah_refuse(L, n, NULL, integerOnMap);
    }
    bool inside = ah_node_is_list(n) && i >= 1 && i <= (lua_Integer)n->s.used;
    ah_push_value(L, n->document, inside ? n->s.items[i - 1] : ah_value_nil());
}

static void push_field(lua_State *L, ah_node *n, int key) {
    lua_Integer i;
    if (integer_key(L, key, &i)) {
        push_item(L, n, i);
        return;
    }
    ah_value v = ah_value_nil();
    if (lua_type(L, key) == LUA_TSTRING && !ah_node_is_list(n)) {
        size_t count;
        const char *text = lua_tolstring(L, key, &count);
        uint32_t at;
        if (ah_map_find(n, text, count, &at)) {
            v = n->s.entries[at].value;
        }
    }
    ah_push_value(L, n->document, v);
}

lua_Integer ah_proxy_length(lua_State *L, int index) {
    ah_node *n = check_node(L, index);
    return ah_node_is_list(n) ? (lua_Integer)n->s.used : 0;
}

void ah_proxy_geti(lua_State *L, int index, lua_Integer i) { push_item(L, check_node(L, index), i); }

/// The place from which a walk over a map goes on after the key on top of the stack.
static uint32_t place_after(lua_State *L, ah_node *n) {
    uint32_t at = 0;
    if (lua_isnil(L, -1)) {
        return n->s.first;
    }
    size_t count = 0;
    const char *key = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &count) : NULL;
    bool found = key != NULL && ah_map_find(n, key, count, &at);
    // A key that this handler has removed still has its place; one that was removed earlier is unknown, as it would be
    // after a restart.
    bool hole = found && n->s.entries[at].value.tag == AH_NIL;
    if (!found || (hole && n->s.entries[at].value.as.integer != (int64_t)n->document->transaction)) {
        luaL_error(L, "next: the key is not in this map");
    }
    return at + 1;
}

bool ah_proxy_next(lua_State *L, int index) {
    ah_node *n = check_node(L, index);
    if (ah_node_is_list(n)) {
        lua_Integer i = 0;
        if (!lua_isnil(L, -1) && (!integer_key(L, -1, &i) || i < 1)) {
            luaL_error(L, "next: the key is not in this list");
        }
        lua_pop(L, 1);
        if (i >= (lua_Integer)n->s.used) {
            return false;
        }
        lua_pushinteger(L, i + 1);
        ah_push_value(L, n->document, n->s.items[i]);
        return true;
    }
    uint32_t at = place_after(L, n);
    lua_pop(L, 1);
    while (at < n->s.used && n->s.entries[at].value.tag == AH_NIL) {
        at++;
    }
    if (at >= n->s.used) {
        return false;
    }
    ah_entry *entry = &n->s.entries[at];
    lua_pushlstring(L, (const char *)entry->key->bytes, entry->key->count);
    ah_push_value(L, n->document, n->s.entries[at].value);
    return true;
}

// MARK: Writing

static void check_writable(lua_State *L, const ah_document *d) {
    if (!d->open || ah_is_read_only(L)) {
        luaL_error(L, "state is read-only here");
    }
}

static void set_item(lua_State *L, ah_node *n, lua_Integer i, int value) {
    lua_Integer count = (lua_Integer)n->s.live;
    ah_node_kind kind = ah_node_kind_of(n);
    bool nil = lua_isnil(L, value);
    ah_step step = {NULL, {0}, i >= 1 ? (uint64_t)i : 0};
    if (kind == AH_MAP) {
        ah_refuse(L, n, NULL, integerOnMap);
    }
    if (i < 1 || i > count + 1) {
        char reason[120];
        snprintf(reason, sizeof reason, "a list has no holes: %lld is neither one of its %lld elements nor the next", (long long)i, (long long)count);
        ah_refuse(L, n, NULL, reason);
    }
    if (nil) {
        if (i < count) {
            ah_refuse(L, n, &step, "a list has no holes; use table.remove(list, index)");
        }
        if (i == count) {
            ah_write_list_remove(n, (uint32_t)(i - 1));
        }
        return;
    }
    ah_value v = ah_copy(L, value, n, &step);
    ah_copy_done(v);
    if (kind == AH_EMPTY) {
        ah_write_become_list(n);
    }
    if (i == count + 1) {
        ah_write_list_insert(n, (uint32_t)count, v);
    } else {
        ah_write_list_set(n, (uint32_t)(i - 1), v);
    }
    ah_charge_memory(L, n->document->held);
}

static void set_key(lua_State *L, ah_node *n, int key, int value) {
    size_t count;
    const char *text = lua_tolstring(L, key, &count);
    ah_step step = {NULL, {(const uint8_t *)text, count}, 0};
    if (ah_node_is_list(n)) {
        ah_refuse(L, n, &step, "a string key on a list; its keys are the integers from 1 to #list");
    }
    if (lua_isnil(L, value)) {
        ah_write_map_set(n, text, count, ah_value_nil());
        return;
    }
    if (count > AH_MAX_STRING) {
        ah_refuse(L, n, &step, "a key longer than 1 MiB cannot be stored");
    }
    ah_charge(L, 1 + count / 64);
    if (!ah_utf8_valid((const uint8_t *)text, count)) {
        ah_refuse(L, n, &step, "a key that is not valid UTF-8 cannot be stored");
    }
    ah_value v = ah_copy(L, value, n, &step);
    ah_copy_done(v);
    ah_write_map_set(n, text, count, v);
    ah_charge_memory(L, n->document->held);
}

static void assign(lua_State *L, ah_node *n, int key, int value) {
    check_writable(L, n->document);
    lua_Integer i;
    if (lua_type(L, key) == LUA_TSTRING) {
        set_key(L, n, key, value);
    } else if (integer_key(L, key, &i)) {
        set_item(L, n, i, value);
    } else {
        char reason[100];
        snprintf(reason, sizeof reason, "a key must be a string (or, in a list, an integer), got %s", ah_value_name(L, key));
        ah_refuse(L, n, NULL, reason);
    }
}

void ah_proxy_set(lua_State *L, int index) {
    ah_node *n = check_node(L, index);
    int top = lua_gettop(L);
    assign(L, n, top - 1, top);
    lua_settop(L, top - 2);
}

static ah_node *check_list(lua_State *L, int index, const char *what) {
    ah_node *n = check_node(L, index);
    check_writable(L, n->document);
    if (ah_node_kind_of(n) == AH_MAP) {
        char reason[80];
        snprintf(reason, sizeof reason, "%s needs a list; this is a map", what);
        ah_refuse(L, n, NULL, reason);
    }
    return n;
}

void ah_proxy_insert(lua_State *L, int index, lua_Integer i) {
    ah_node *n = check_list(L, index, "table.insert");
    lua_Integer count = (lua_Integer)n->s.live;
    int value = lua_gettop(L);
    ah_step step = {NULL, {0}, i >= 1 ? (uint64_t)i : 0};
    if (i < 1 || i > count + 1) {
        ah_refuse(L, n, NULL, "table.insert: position out of bounds");
    }
    if (lua_isnil(L, value)) {
        ah_refuse(L, n, &step, "a list has no holes: nil cannot be inserted");
    }
    ah_charge(L, (size_t)(count - i + 1) / 16 + 1);
    ah_value v = ah_copy(L, value, n, &step);
    ah_copy_done(v);
    if (!ah_node_is_list(n)) {
        ah_write_become_list(n);
    }
    ah_write_list_insert(n, (uint32_t)(i - 1), v);
    ah_charge_memory(L, n->document->held);
    lua_settop(L, value - 1);
}

void ah_proxy_remove(lua_State *L, int index, lua_Integer i) {
    ah_node *n = check_list(L, index, "table.remove");
    lua_Integer count = (lua_Integer)n->s.live;
    if (i < 1 || i > count) {
        lua_pushnil(L);
        return;
    }
    ah_charge(L, (size_t)(count - i) / 16 + 1);
    ah_push_value(L, n->document, n->s.items[i - 1]);
    ah_write_list_remove(n, (uint32_t)(i - 1));
}

void ah_proxy_permute(lua_State *L, int index, const uint32_t *order, size_t count) {
    ah_node *n = check_list(L, index, "table.sort");
    bool fits = count == n->s.live;
    for (size_t i = 0; fits && i < count; i++) {
        fits = order[i] >= 1 && order[i] <= count;
    }
    if (!fits) {
        ah_refuse(L, n, NULL, "the list changed while it was sorted");
    }
    ah_charge(L, count / 8 + 1);
    ah_charge_memory(L, n->document->held + count * sizeof(ah_value) * 2);
    ah_write_list_permute(n, order);
}

void ah_proxy_assign_root(lua_State *L, ah_document *d, int index) {
    check_writable(L, d);
    ah_node *root = ah_copy_root(L, lua_absindex(L, index), d);
    ah_build_done(root);
    ah_write_root(d, root);
    ah_charge_memory(L, d->held);
}

// MARK: The metatable

static int meta_index(lua_State *L) {
    push_field(L, check_node(L, 1), 2);
    return 1;
}

static int meta_newindex(lua_State *L) {
    assign(L, check_node(L, 1), 2, 3);
    return 0;
}

static int meta_len(lua_State *L) {
    lua_pushinteger(L, ah_proxy_length(L, 1));
    return 1;
}

static int meta_eq(lua_State *L) {
    ah_proxy *a = to_proxy(L, 1), *b = to_proxy(L, 2);
    lua_pushboolean(L, a != NULL && b != NULL && a->node == b->node && a->generation == b->generation);
    return 1;
}

void ah_proxy_install(lua_State *L) {
    static const luaL_Reg events[] = {
        {"__index", meta_index}, {"__newindex", meta_newindex}, {"__len", meta_len}, {"__eq", meta_eq}, {NULL, NULL}};
    luaL_newlib(L, events);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &proxyKey);
    lua_newtable(L);
    ah_mark_list(L, -1);  // makes the lists' metatable
    lua_pop(L, 1);
}
