// Lua values to JSON text, checked against a schema. Plain tables are read raw; their keys are written in byte order,
// fields in the order of the schema, so that every machine writes the same bytes.

#include <math.h>
#include <string.h>

#include "proxy.h"
#include "schema.h"

enum { outputMax = 16 << 20 };

typedef struct encoder {
    lua_State *L;
    ah_buffer *out;
    size_t start;
    ah_buffer *path, *reason;
} encoder;

/// A table, or a node of the state, seen alike.
typedef struct container {
    const ah_node *node;   // or
    int index;             // of the table with the content, on the stack
    ah_shape shape;
    size_t count;
} container;

static bool encode(encoder *e, int index, const ah_schema *s, int64_t depth);

static const char notJSON[] = "a list has no holes and no other keys than 1 to #list; a map has string keys only";

static const char *got(lua_State *L, int index) {
    const char *name = ah_value_name(L, index);
    return strncmp(name, "a ", 2) == 0 ? name + 2 : strncmp(name, "an ", 3) == 0 ? name + 3 : name;
}

static void write_key(encoder *e, const uint8_t *key, size_t count, bool *first) {
    if (!*first) {
        ah_buffer_byte(e->out, ',');
    }
    *first = false;
    ah_json_string(e->out, key, count);
    ah_buffer_byte(e->out, ':');
}

// MARK: Containers

/// Opens the table or proxy at `index`; pushes one value. The shape of a map without keys is EMPTY.
static container open_container(encoder *e, int index) {
    lua_State *L = e->L;
    luaL_checkstack(L, 12, "nested tables");
    if (lua_type(L, index) == LUA_TTABLE) {
        container c = {.index = ah_table_content(L, index)};
        c.shape = ah_table_shape(L, c.index, &c.count);
        return c;
    }
    const ah_node *n = ah_proxy_node(L, index);
    static const ah_shape shapes[] = {[AH_EMPTY] = AH_SHAPE_EMPTY, [AH_MAP] = AH_SHAPE_MAP, [AH_LIST] = AH_SHAPE_LIST};
    ah_charge(L, n->s.live + 1);
    lua_pushvalue(L, index);
    return (container){n, 0, shapes[ah_node_kind_of(n)], n->s.live};
}

static void push_element(encoder *e, const container *c, size_t i) {
    if (c->node != NULL) {
        ah_push_value(e->L, c->node->document, c->node->s.items[i - 1]);
    } else {
        lua_rawgeti(e->L, c->index, (lua_Integer)i);
    }
}

static void push_member(encoder *e, const container *c, const void *key, size_t count) {
    if (c->node == NULL) {
        lua_pushlstring(e->L, key, count);
        lua_rawget(e->L, c->index);
        return;
    }
    uint32_t at;
    bool found = ah_map_find(c->node, key, count, &at);
    ah_push_value(e->L, c->node->document, found ? c->node->s.entries[at].value : ah_value_nil());
}

static bool encode_elements(encoder *e, const container *c, const ah_schema *element, int64_t depth) {
    ah_buffer_byte(e->out, '[');
    for (size_t i = 1; i <= c->count; i++) {
        if (i > 1) {
            ah_buffer_byte(e->out, ',');
        }
        push_element(e, c, i);
        if (!encode(e, lua_gettop(e->L), element, depth)) {
            ah_schema_prepend_index(e->path, i);
            return false;
        }
        lua_pop(e->L, 1);
    }
    ah_buffer_byte(e->out, ']');
    return true;
}

static bool encode_member(encoder *e, const container *c, ah_bytes key, const ah_schema *element, int64_t depth, bool *first) {
    bool good = ah_utf8_valid(key.base, key.count) || ah_schema_say(e->reason, "a key that is not valid UTF-8");
    if (good) {
        write_key(e, key.base, key.count, first);
        push_member(e, c, key.base, key.count);
        good = encode(e, lua_gettop(e->L), element, depth);
        lua_pop(e->L, 1);
    }
    if (!good) {
        ah_schema_prepend_key(e->path, key.base, key.count);
    }
    return good;
}

/// All members of a map: of a table in byte order, of the state in its own.
static bool encode_members(encoder *e, const container *c, const ah_schema *element, int64_t depth) {
    bool first = true, good = true;
    ah_buffer_byte(e->out, '{');
    if (c->node != NULL) {
        for (uint32_t i = c->node->s.first; good && i < c->node->s.used; i++) {
            const ah_entry *entry = &c->node->s.entries[i];
            good = entry->value.tag == AH_NIL || encode_member(e, c, ah_text_bytes(entry->key), element, depth, &first);
        }
    } else if (c->count > 0) {
        ah_keys keys;
        ah_table_keys(e->L, c->index, c->count, &keys);
        for (size_t i = 0; good && i < keys.count; i++) {
            good = encode_member(e, c, keys.list[i], element, depth, &first);
        }
        lua_pop(e->L, 1);
    }
    ah_buffer_byte(e->out, '}');
    return good;
}

// MARK: Objects with fields

static bool check_field(encoder *e, const ah_schema *s, const void *key, size_t count) {
    if (ah_schema_field(s, key, count, 0) >= 0) {
        return true;
    }
    ah_schema_say(e->reason, "unknown field");
    ah_schema_prepend_key(e->path, key, count);
    return false;
}

static bool check_fields(encoder *e, const container *c, const ah_schema *s) {
    if (c->node != NULL) {
        bool good = true;
        for (uint32_t i = 0; good && i < c->node->s.used; i++) {
            const ah_entry *entry = &c->node->s.entries[i];
            good = entry->value.tag == AH_NIL || check_field(e, s, entry->key->bytes, entry->key->count);
        }
        return good;
    }
    lua_pushnil(e->L);
    while (lua_next(e->L, c->index)) {
        lua_pop(e->L, 1);
        size_t count;
        const char *key = lua_tolstring(e->L, -1, &count);
        if (!check_field(e, s, key, count)) {
            lua_pop(e->L, 1);
            return false;
        }
    }
    return true;
}

static bool encode_fields(encoder *e, const container *c, const ah_schema *s, int64_t depth) {
    if (!check_fields(e, c, s)) {
        return false;
    }
    bool first = true;
    ah_buffer_byte(e->out, '{');
    for (size_t i = 0; i < s->field_count; i++) {
        const ah_field *field = &s->fields[i];
        push_member(e, c, field->name, field->count);
        bool absent = lua_isnil(e->L, -1), good = true;
        if (!absent) {
            write_key(e, (const uint8_t *)field->name, field->count, &first);
            good = encode(e, lua_gettop(e->L), field->schema, depth);
        } else if (!field->schema->optional) {
            ah_schema_expect(field->schema, e->reason);
            good = ah_schema_say(e->reason, " expected, but it is missing");
        }
        lua_pop(e->L, 1);
        if (!good) {
            ah_schema_prepend_key(e->path, (const uint8_t *)field->name, field->count);
            return false;
        }
    }
    ah_buffer_byte(e->out, '}');
    return true;
}

// MARK: All kinds

/// A part of the state written as it is. Its height is looked at first: nothing deeper than its reader allows goes out.
static bool encode_node(encoder *e, const ah_node *n, int64_t depth) {
    size_t visited = 0;
    int height = ah_node_height(n, &visited);
    ah_charge(e->L, visited);
    if (height > depth) {
        return ah_schema_say(e->reason, "too deeply nested");
    }
    size_t before = e->out->count;
    ah_node_write(n, e->out);
    ah_charge(e->L, (e->out->count - before) / 32 + 1);
    return true;
}

static bool encode_any(encoder *e, const container *c, int64_t depth) {
    if (c->node != NULL) {
        return encode_node(e, c->node, depth);
    }
    if (depth == 0) {
        return ah_schema_say(e->reason, "a cycle or too deeply nested");
    }
    switch (c->shape) {
    case AH_SHAPE_LIST: return encode_elements(e, c, ah_schema_any, depth - 1);
    case AH_SHAPE_MIXED: return ah_schema_say(e->reason, "%s", notJSON);
    default: return encode_members(e, c, ah_schema_any, depth - 1);
    }
}

static bool encode_shape(encoder *e, const container *c, const ah_schema *s, int64_t depth) {
    bool empty = c->count == 0;
    switch (s->kind) {
    case AH_KIND_ANY: return encode_any(e, c, depth < 0 ? s->most : depth);
    case AH_KIND_LIST:
        if (c->shape != AH_SHAPE_LIST && !empty) {
            return c->shape == AH_SHAPE_MIXED ? ah_schema_say(e->reason, "%s", notJSON) : ah_schema_mismatch(s, "object", e->reason);
        }
        if ((int64_t)c->count > s->most) {
            return ah_schema_say(e->reason, "list of at most %lld elements expected, got %zu", (long long)s->most, c->count);
        }
        return encode_elements(e, c, s->element, -1);
    case AH_KIND_MAP:
    case AH_KIND_OBJECT:
        if (c->shape != AH_SHAPE_MAP && !empty) {
            return c->shape == AH_SHAPE_MIXED ? ah_schema_say(e->reason, "%s", notJSON) : ah_schema_mismatch(s, "list", e->reason);
        }
        if (s->kind == AH_KIND_OBJECT) {
            // Of a list without elements no fields can be read; as an object it is one without keys.
            container fields = *c;
            if (fields.node != NULL && ah_node_is_list(fields.node)) {
                return ah_schema_mismatch(s, "list", e->reason);
            }
            return encode_fields(e, &fields, s, -1);
        }
        if ((int64_t)c->count > s->most) {
            return ah_schema_say(e->reason, "object of at most %lld keys expected, got %zu", (long long)s->most, c->count);
        }
        return encode_members(e, c, s->element, -1);
    default: return ah_schema_mismatch(s, c->shape == AH_SHAPE_LIST ? "list" : "table", e->reason);
    }
}

static bool encode_text(encoder *e, int index, const ah_schema *s) {
    size_t count;
    const uint8_t *text = (const uint8_t *)lua_tolstring(e->L, index, &count);
    if (count >= 512) {
        ah_charge(e->L, count / 64);
    }
    if (!ah_utf8_valid(text, count)) {
        return ah_schema_say(e->reason, "string that is not valid UTF-8");
    }
    if (!ah_schema_check_text(s, text, count, e->reason)) {
        return false;
    }
    ah_json_string(e->out, text, count);
    return true;
}

static bool encode_number(encoder *e, int index, const ah_schema *s) {
    ah_value v;
    if (lua_isinteger(e->L, index)) {
        v = (ah_value){.tag = AH_INTEGER, .as.integer = lua_tointeger(e->L, index)};
        if (!ah_schema_check_integer(s, v.as.integer, e->reason)) {
            return false;
        }
    } else {
        v = (ah_value){.tag = AH_DOUBLE, .as.real = lua_tonumber(e->L, index)};
        if (!isfinite(v.as.real)) {
            return ah_schema_mismatch(s, got(e->L, index), e->reason);
        }
        if (!ah_schema_check_number(s, v.as.real, e->reason)) {
            bool whole = s->kind == AH_KIND_INTEGER && v.as.real == floor(v.as.real);
            return whole ? ah_schema_say(e->reason, " (use // or math.tointeger)") : false;
        }
    }
    ah_value_write(v, e->out);
    return true;
}

static bool encode_null(encoder *e, int index, const ah_schema *s) {
    if (!s->optional && (s->kind != AH_KIND_ANY || lua_isnil(e->L, index))) {
        return ah_schema_mismatch(s, got(e->L, index), e->reason);
    }
    ah_buffer_append(e->out, "null", 4);
    return true;
}

/// `depth` is what is left inside an `any`, -1 outside of one.
static bool encode(encoder *e, int index, const ah_schema *s, int64_t depth) {
    if (e->out->count - e->start > outputMax) {
        return ah_schema_say(e->reason, "more than 16 MiB of JSON");
    }
    switch (lua_type(e->L, index)) {
    case LUA_TNIL: return encode_null(e, index, s);
    case LUA_TBOOLEAN:
        if (s->kind != AH_KIND_BOOLEAN && s->kind != AH_KIND_ANY) {
            return ah_schema_mismatch(s, "boolean", e->reason);
        }
        ah_value_write((ah_value){.tag = lua_toboolean(e->L, index) ? AH_TRUE : AH_FALSE}, e->out);
        return true;
    case LUA_TNUMBER: return encode_number(e, index, s);
    case LUA_TSTRING: return encode_text(e, index, s);
    case LUA_TLIGHTUSERDATA:
        if (ah_is_null(e->L, index)) {
            return encode_null(e, index, s);
        }
        break;
    case LUA_TUSERDATA:
        if (!ah_proxy_is(e->L, index)) {
            break;
        }
        // fall through
    case LUA_TTABLE: {
        container c = open_container(e, index);
        bool good = encode_shape(e, &c, s, depth);
        lua_pop(e->L, 1);
        return good;
    }
    default: break;
    }
    return ah_schema_mismatch(s, got(e->L, index), e->reason);
}

bool ah_schema_encode(lua_State *L, int index, const ah_schema *s, ah_buffer *out, ah_buffer *path, ah_buffer *reason) {
    encoder e = {L, out, out->count, path, reason};
    int top = lua_gettop(L);
    bool good = encode(&e, lua_absindex(L, index), s, -1);
    lua_settop(L, top);
    if (!good) {
        out->count = e.start;
    }
    return good;
}
