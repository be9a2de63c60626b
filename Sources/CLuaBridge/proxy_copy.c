// Copying Lua values into the document. What is half copied when an error is raised hangs below a pending node and goes
// with the transaction.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proxy.h"

// One big string, or that many small values: after each the memory is looked at, since a table may hold the same string
// a million times where the document copies it.
enum { checkBytes = 256, checkValues = 256 };

static void fill_from_table(lua_State *L, int index, ah_node *n, ah_node *place, const ah_step *step);

// MARK: Errors

static void append_steps(const ah_step *step, ah_buffer *out) {
    if (step == NULL) {
        return;
    }
    append_steps(step->up, out);
    if (step->index != 0) {
        ah_path_index(out, step->index);
    } else {
        ah_path_key(out, step->key.base, step->key.count);
    }
}

/// Finding the name of a node means looking through its parent: a script that fails on purpose pays for it.
static void charge_path(lua_State *L, const ah_node *n) {
    size_t looks = 0;
    for (; n != NULL && n->parent != NULL; n = n->parent) {
        looks += n->parent->s.used;
    }
    ah_charge(L, looks / 8);
}

int ah_refuse(lua_State *L, const ah_node *n, const ah_step *step, const char *reason) {
    charge_path(L, n);
    ah_buffer text = {0};
    if (n == NULL) {
        ah_buffer_append(&text, "session.state", 13);
    } else {
        ah_node_path(n, &text);
    }
    append_steps(step, &text);
    ah_buffer_append(&text, ": ", 2);
    ah_buffer_append(&text, reason, strlen(reason));
    luaL_where(L, 1);
    lua_pushlstring(L, (const char *)text.base, text.count);
    ah_buffer_free(&text);
    lua_concat(L, 2);
    return lua_error(L);
}

static int refuse_kind(lua_State *L, const ah_node *n, const ah_step *step, int index) {
    char reason[80];
    snprintf(reason, sizeof reason, "%s cannot be stored", ah_value_name(L, index));
    return ah_refuse(L, n, step, reason);
}

// MARK: Scalars

static void check_text(lua_State *L, const char *text, size_t count, const ah_node *n, const ah_step *step, const char *what) {
    char reason[80];
    if (count > AH_MAX_STRING) {
        snprintf(reason, sizeof reason, "%s longer than 1 MiB cannot be stored", what);
        ah_refuse(L, n, step, reason);
    }
    if (count >= 512) {
        ah_charge(L, count / 64);
    }
    if (!ah_utf8_valid((const uint8_t *)text, count)) {
        snprintf(reason, sizeof reason, "%s that is not valid UTF-8 cannot be stored", what);
        ah_refuse(L, n, step, reason);
    }
}

/// The value at `index` unless it is a table or proxy. `place` is where the path begins.
static ah_value copy_scalar(lua_State *L, int index, ah_document *d, const ah_node *place, const ah_step *step) {
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN: return (ah_value){.tag = lua_toboolean(L, index) ? AH_TRUE : AH_FALSE};
    case LUA_TNUMBER: {
        if (lua_isinteger(L, index)) {
            return ah_value_integer(lua_tointeger(L, index));
        }
        double real = lua_tonumber(L, index);
        if (!isfinite(real)) {
            refuse_kind(L, place, step, index);
        }
        return ah_value_double(real);
    }
    case LUA_TSTRING: {
        size_t count;
        const char *text = lua_tolstring(L, index, &count);
        check_text(L, text, count, place, step, "a string");
        if (count >= checkBytes) {
            ah_charge_memory(L, d->held + count);
        }
        return ah_value_text(ah_document_text(d, text, count));
    }
    case LUA_TLIGHTUSERDATA:
        if (ah_is_null(L, index)) {
            return (ah_value){.tag = AH_NULL};
        }
        break;
    default: break;
    }
    refuse_kind(L, place, step, index);
    return ah_value_nil();
}

// MARK: Tables

static const char tooDeep[] = "a cycle or more than 64 levels cannot be stored";

/// A new node one level below `parent`, already in its place there, so that nothing is lost when filling it raises.
static ah_node *child_of(lua_State *L, ah_node *parent, ah_node_kind kind, const ah_node *place, const ah_step *step, ah_text *key) {
    ah_document *d = parent->document;
    if (parent->depth >= AH_MAX_DEPTH) {
        if (key != NULL) {
            ah_document_release(d, key);
        }
        ah_refuse(L, place, step, tooDeep);
    }
    ah_node *child = ah_node_new(d, kind, (uint8_t)(parent->depth + 1));
    if (key == NULL) {
        ah_list_put(parent, parent->s.used, ah_value_node(child));
    } else {
        ah_map_append(parent, key, ah_value_node(child));
    }
    return child;
}

static void fill_from_node(lua_State *L, const ah_node *from, ah_node *to, ah_node *place, const ah_step *step) {
    ah_document *d = to->document;
    ah_charge(L, from->s.used + 1);
    ah_charge_memory(L, d->held + from->s.used * sizeof(ah_entry));
    ah_node_reserve(to, from->s.live);
    bool list = ah_node_is_list(from);
    for (uint32_t i = 0; i < from->s.used; i++) {
        ah_value v = list ? from->s.items[i] : from->s.entries[i].value;
        if (v.tag == AH_NIL) {
            continue;
        }
        ah_text *key = list ? NULL : ah_document_retain(d, from->s.entries[i].key);
        if (v.tag == AH_NODE) {
            ah_node_kind kind = v.as.node->s.kind == AH_LIST ? AH_LIST : AH_MAP;
            ah_step below = {step, list ? (ah_bytes){0} : ah_text_bytes(key), list ? (uint64_t)i + 1 : 0};
            ah_node *child = child_of(L, to, kind, place, &below, key);
            fill_from_node(L, v.as.node, child, place, &below);
            continue;
        }
        if (v.tag == AH_STRING) {
            ah_document_retain(d, v.as.text);
        }
        if (list) {
            ah_list_put(to, to->s.used, v);
        } else {
            ah_map_append(to, key, v);
        }
    }
}

/// Fills `n` with what is at `index`, a table or a proxy.
static void fill(lua_State *L, int index, ah_node *n, ah_node *place, const ah_step *step) {
    if (lua_type(L, index) == LUA_TTABLE) {
        fill_from_table(L, index, n, place, step);
    } else {
        fill_from_node(L, ah_proxy_node(L, index), n, place, step);
    }
}

static bool is_container(lua_State *L, int index) { return lua_type(L, index) == LUA_TTABLE || ah_proxy_is(L, index); }

/// What kind of node the container at `index` becomes.
static ah_node_kind kind_at(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE) {
        return ah_node_is_list(ah_proxy_node(L, index)) ? AH_LIST : AH_MAP;
    }
    int content = ah_table_content(L, index);
    bool list = lua_rawlen(L, content) > 0 || ah_is_list(L, content);
    lua_pop(L, 1);
    return list ? AH_LIST : AH_MAP;
}

static void append_item(lua_State *L, int index, ah_node *n, ah_node *place, const ah_step *step) {
    if (n->s.used % checkValues == checkValues - 1) {
        ah_charge_memory(L, n->document->held);
    }
    if (lua_isinteger(L, index)) {
        ah_list_put(n, n->s.used, ah_value_integer(lua_tointeger(L, index)));
    } else if (is_container(L, index)) {
        ah_node *child = child_of(L, n, kind_at(L, index), place, step, NULL);
        fill(L, index, child, place, step);
    } else {
        ah_list_put(n, n->s.used, copy_scalar(L, index, n->document, place, step));
    }
}

static void refuse_shape(lua_State *L, ah_node *place, const ah_step *step) {
    ah_refuse(L, place, step, "a list has no holes and no other keys than 1 to #list; a map has string keys only (use tostring(key))");
}

static void fill_list(lua_State *L, int content, ah_node *n, ah_node *place, const ah_step *step) {
    size_t length = lua_rawlen(L, content);
    ah_charge(L, length + 1);
    ah_charge_memory(L, n->document->held + length * sizeof(ah_value));
    ah_node_reserve(n, (uint32_t)length);
    // A walk usually meets the elements in order; what comes otherwise is looked up, and then all keys are counted.
    size_t next = 1;
    lua_pushnil(L);
    bool ordered = true;
    while (lua_next(L, content)) {
        ordered = lua_isinteger(L, -2) && lua_tointeger(L, -2) == (lua_Integer)next && next <= length;
        if (!ordered) {
            lua_pop(L, 2);
            break;
        }
        ah_step below = {step, {0}, next};
        append_item(L, lua_gettop(L), n, place, &below);
        lua_pop(L, 1);
        next++;
    }
    if (ordered) {
        return;
    }
    size_t count;
    if (ah_table_shape(L, content, &count) != AH_SHAPE_LIST) {
        refuse_shape(L, place, step);
    }
    for (; next <= length; next++) {
        lua_rawgeti(L, content, (lua_Integer)next);
        ah_step below = {step, {0}, next};
        append_item(L, lua_gettop(L), n, place, &below);
        lua_pop(L, 1);
    }
}

static void fill_map(lua_State *L, int content, ah_node *n, ah_node *place, const ah_step *step) {
    size_t count;
    ah_shape shape = ah_table_shape(L, content, &count);
    if (shape == AH_SHAPE_EMPTY) {
        return;
    }
    if (shape != AH_SHAPE_MAP) {
        refuse_shape(L, place, step);
    }
    ah_document *d = n->document;
    ah_charge_memory(L, d->held + count * sizeof(ah_entry));
    ah_keys keys;
    ah_table_keys(L, content, count, &keys);
    ah_node_reserve(n, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        ah_bytes key = keys.list[i];
        ah_step below = {step, key, 0};
        check_text(L, (const char *)key.base, key.count, place, &below, "a key");
        if (key.count >= checkBytes || i % checkValues == checkValues - 1) {
            ah_charge_memory(L, d->held + key.count);
        }
        lua_pushlstring(L, (const char *)key.base, key.count);
        lua_rawget(L, content);
        int index = lua_gettop(L);
        if (is_container(L, index)) {
            ah_node_kind kind = kind_at(L, index);
            ah_node *child = child_of(L, n, kind, place, &below, ah_document_key(d, key.base, key.count));
            fill(L, index, child, place, &below);
        } else {
            ah_value v = copy_scalar(L, index, d, place, &below);
            ah_map_append(n, ah_document_key(d, key.base, key.count), v);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void fill_from_table(lua_State *L, int index, ah_node *n, ah_node *place, const ah_step *step) {
    luaL_checkstack(L, 12, "nested tables");
    int content = ah_table_content(L, index);
    if (ah_node_is_list(n)) {
        fill_list(L, content, n, place, step);
    } else {
        fill_map(L, content, n, place, step);
    }
    lua_settop(L, content - 1);
}

// MARK: Entry points

ah_value ah_copy(lua_State *L, int index, ah_node *n, const ah_step *step) {
    if (!is_container(L, index)) {
        return copy_scalar(L, index, n->document, n, step);
    }
    if (n->depth >= AH_MAX_DEPTH) {
        ah_refuse(L, n, step, tooDeep);
    }
    ah_node *copy = ah_node_new(n->document, kind_at(L, index), (uint8_t)(n->depth + 1));
    ah_build_begin(copy);
    fill(L, index, copy, n, step);
    return ah_value_node(copy);
}

ah_node *ah_copy_root(lua_State *L, int index, ah_document *d) {
    if (!is_container(L, index)) {
        char reason[80];
        snprintf(reason, sizeof reason, "a table expected, got %s", ah_value_name(L, index));
        ah_refuse(L, NULL, NULL, reason);
    }
    ah_node *copy = ah_node_new(d, kind_at(L, index), 1);
    ah_build_begin(copy);
    fill(L, index, copy, NULL, NULL);
    return copy;
}

void ah_copy_done(ah_value v) {
    if (v.tag == AH_NODE) {
        ah_build_done(v.as.node);
    }
}
