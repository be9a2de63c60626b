// JSON text to Lua values in one pass, against a schema. Nothing is allocated but the values themselves.

#include <string.h>

#include "schema.h"

typedef struct decoder {
    lua_State *L;
    ah_json json;
    ah_buffer *path, *reason;
} decoder;

static bool decode(decoder *d, const ah_schema *s);
static bool decode_any(decoder *d, int64_t depth);

static bool syntax(decoder *d) {
    ah_json_describe(&d->json, d->reason);
    return false;
}

static bool at_key(decoder *d, ah_json_text key) {
    // In an error the key stands as it was written, unless it is escaped: then what it means hardly matters.
    ah_schema_prepend_key(d->path, key.raw, key.count);
    return false;
}

// MARK: Strings and numbers

static void push_escaped(lua_State *L, ah_json_text text) {
    luaL_Buffer b;
    uint8_t *out = (uint8_t *)luaL_buffinitsize(L, &b, text.count);
    luaL_pushresultsize(&b, ah_json_unescape(text, out));
}

static void push_text(lua_State *L, ah_json_text text) {
    if (text.escaped) {
        push_escaped(L, text);
    } else {
        lua_pushlstring(L, (const char *)text.raw, text.count);
    }
}

static bool decode_text(decoder *d, const ah_schema *s) {
    ah_json_text text;
    if (!ah_json_scan_string(&d->json, &text)) {
        return syntax(d);
    }
    if (!text.escaped) {
        if (!ah_schema_check_text(s, text.raw, text.count, d->reason)) {
            return false;
        }
        lua_pushlstring(d->L, (const char *)text.raw, text.count);
        return true;
    }
    push_escaped(d->L, text);
    size_t count;
    const char *bytes = lua_tolstring(d->L, -1, &count);
    return ah_schema_check_text(s, (const uint8_t *)bytes, count, d->reason);
}

static bool decode_number(decoder *d, const ah_schema *s) {
    ah_number_kind kind;
    int64_t integer;
    double real;
    if (!ah_json_scan_number(&d->json, &kind, &integer, &real)) {
        return syntax(d);
    }
    if (kind == AH_NUMBER_TOO_LARGE) {
        return ah_schema_say(d->reason, "number too large: integers have 64 bits, others are doubles");
    }
    if (kind == AH_NUMBER_INTEGER) {
        lua_pushinteger(d->L, integer);
        return ah_schema_check_integer(s, integer, d->reason);
    }
    lua_pushnumber(d->L, real);
    return ah_schema_check_number(s, real, d->reason);
}

/// `true`, `false`, `null`.
static bool decode_word(decoder *d, const ah_schema *s, uint8_t c) {
    if (!ah_json_scan_word(&d->json, c == 't' ? "true" : c == 'f' ? "false" : "null")) {
        return syntax(d);
    }
    if (c == 'n') {
        if (s->optional) {
            lua_pushnil(d->L);
            return true;
        }
        if (s->kind == AH_KIND_ANY) {
            ah_push_null(d->L);
            return true;
        }
        return ah_schema_mismatch(s, "null", d->reason);
    }
    lua_pushboolean(d->L, c == 't');
    return s->kind == AH_KIND_BOOLEAN || s->kind == AH_KIND_ANY || ah_schema_mismatch(s, "boolean", d->reason);
}

// MARK: Lists

/// How many elements a list of numbers or booleans has, by its commas; the cursor stands behind the bracket.
static size_t count_ahead(const decoder *d, int64_t most) {
    const uint8_t *at = d->json.at, *end = memchr(at, ']', (size_t)(d->json.end - at));
    size_t count = 1;
    for (; end != NULL && at < end; at++) {
        count += *at == ',';
    }
    return count < (size_t)most ? count : (size_t)most;
}

static bool decode_list(decoder *d, const ah_schema *s) {
    lua_State *L = d->L;
    d->json.at++;
    ah_schema_kind kind = s->element->kind;
    if (ah_json_take(&d->json, ']')) {
        lua_createtable(L, 0, 0);
        ah_mark_list(L, -1);
        return true;
    }
    bool flat = kind == AH_KIND_INTEGER || kind == AH_KIND_NUMBER || kind == AH_KIND_BOOLEAN;
    size_t room = flat ? count_ahead(d, s->most) : 4;
    lua_createtable(L, (int)room, 0);
    ah_mark_list(L, -1);
    bool more = true;
    for (int64_t i = 1; more; i++) {
        if (i > s->most) {
            return ah_schema_say(d->reason, "list of at most %lld elements expected", (long long)s->most);
        }
        if (!decode(d, s->element)) {
            ah_schema_prepend_index(d->path, (uint64_t)i);
            return false;
        }
        lua_rawseti(L, -2, i);
        if (!ah_json_more(&d->json, ']', &more)) {
            return syntax(d);
        }
    }
    return true;
}

// MARK: Objects

/// A key's bytes without escapes, in `space` where it has some; false if it is longer than any field's name.
static bool plain_key(ah_json_text text, uint8_t *space, size_t room, ah_bytes *key) {
    *key = (ah_bytes){text.raw, text.count};
    if (text.escaped) {
        if (text.count > room) {
            return false;
        }
        *key = (ah_bytes){space, ah_json_unescape(text, space)};
    }
    return true;
}

/// Decodes the value of field `at` into the table on top of the stack.
static bool decode_field(decoder *d, const ah_field *field) {
    lua_pushlstring(d->L, field->name, field->count);
    if (!decode(d, field->schema)) {
        ah_schema_prepend_key(d->path, (const uint8_t *)field->name, field->count);
        return false;
    }
    lua_rawset(d->L, -3);
    return true;
}

static bool decode_object(decoder *d, const ah_schema *s) {
    uint64_t seen[AH_SCHEMA_FIELDS / 64] = {0};
    uint8_t space[AH_SCHEMA_NAME * 6];
    d->json.at++;
    lua_createtable(d->L, 0, (int)s->field_count);
    bool more = !ah_json_take(&d->json, '}');
    int hint = 0;
    while (more) {
        ah_json_text text;
        ah_bytes key;
        if (!ah_json_scan_key(&d->json, &text)) {
            return syntax(d);
        }
        int at = plain_key(text, space, sizeof space, &key) ? ah_schema_field(s, key.base, key.count, hint) : -1;
        if (at < 0) {
            ah_schema_say(d->reason, "unknown field");
            return at_key(d, text);
        }
        if (seen[at / 64] >> (at % 64) & 1) {
            ah_schema_say(d->reason, "duplicate key");
            return at_key(d, text);
        }
        seen[at / 64] |= (uint64_t)1 << (at % 64);
        hint = at + 1;
        if (!decode_field(d, &s->fields[at])) {
            return false;
        }
        if (!ah_json_more(&d->json, '}', &more)) {
            return syntax(d);
        }
    }
    for (size_t i = 0; i < s->field_count; i++) {
        if (!(seen[i / 64] >> (i % 64) & 1) && !s->fields[i].schema->optional) {
            ah_schema_expect(s->fields[i].schema, d->reason);
            ah_schema_say(d->reason, " expected, but it is missing");
            ah_schema_prepend_key(d->path, (const uint8_t *)s->fields[i].name, s->fields[i].count);
            return false;
        }
    }
    return true;
}

/// Takes a key and pushes it, refusing one that the table on top of the stack has already.
static bool decode_free_key(decoder *d, ah_json_text *text) {
    if (!ah_json_scan_key(&d->json, text)) {
        return syntax(d);
    }
    if (text->count > AH_MAX_STRING) {
        return ah_schema_say(d->reason, "key longer than 1 MiB");
    }
    push_text(d->L, *text);
    lua_pushvalue(d->L, -1);
    bool repeated = lua_rawget(d->L, -3) != LUA_TNIL;
    lua_pop(d->L, 1);
    if (repeated) {
        ah_schema_say(d->reason, "duplicate key");
        return at_key(d, *text);
    }
    return true;
}

static bool decode_map(decoder *d, const ah_schema *s) {
    d->json.at++;
    lua_createtable(d->L, 0, 0);
    bool more = !ah_json_take(&d->json, '}');
    for (int64_t count = 1; more; count++) {
        ah_json_text key;
        if (!decode_free_key(d, &key)) {
            return false;
        }
        if (count > s->most) {
            return ah_schema_say(d->reason, "object of at most %lld keys expected", (long long)s->most);
        }
        if (!decode(d, s->element)) {
            return at_key(d, key);
        }
        lua_rawset(d->L, -3);
        if (!ah_json_more(&d->json, '}', &more)) {
            return syntax(d);
        }
    }
    return true;
}

// MARK: Any

/// A list or object of any values; `depth` levels are left, this one included.
static bool decode_free(decoder *d, uint8_t open, int64_t depth) {
    lua_State *L = d->L;
    if (depth == 0) {
        return ah_schema_say(d->reason, "too deeply nested");
    }
    bool list = open == '[';
    uint8_t close = list ? ']' : '}';
    d->json.at++;
    lua_createtable(L, 0, 0);
    if (list) {
        ah_mark_list(L, -1);
    }
    bool more = !ah_json_take(&d->json, close);
    for (lua_Integer i = 1; more; i++) {
        ah_json_text key;
        if (!list && !decode_free_key(d, &key)) {
            return false;
        }
        if (!decode_any(d, depth - 1)) {
            if (list) {
                ah_schema_prepend_index(d->path, (uint64_t)i);
            } else {
                at_key(d, key);
            }
            return false;
        }
        if (list) {
            lua_rawseti(L, -2, i);
        } else {
            lua_rawset(L, -3);
        }
        if (!ah_json_more(&d->json, close, &more)) {
            return syntax(d);
        }
    }
    return true;
}

static bool decode_any(decoder *d, int64_t depth) {
    luaL_checkstack(d->L, 8, "nested JSON");
    uint8_t c = ah_json_peek(&d->json);
    switch (c) {
    case '[':
    case '{': return decode_free(d, c, depth);
    case '"': return decode_text(d, ah_schema_any);
    case 't':
    case 'f':
    case 'n': return decode_word(d, ah_schema_any, c);
    default: return decode_number(d, ah_schema_any);
    }
}

// MARK: All kinds

static bool decode(decoder *d, const ah_schema *s) {
    uint8_t c = ah_json_peek(&d->json);
    switch (c) {
    case '"': return decode_text(d, s);
    case 't':
    case 'f':
    case 'n': return decode_word(d, s, c);
    case '[':
    case '{':
        if (s->kind == AH_KIND_ANY) {
            return decode_any(d, s->most);
        }
        luaL_checkstack(d->L, 8, "nested JSON");
        if (c == '[') {
            return s->kind == AH_KIND_LIST ? decode_list(d, s) : ah_schema_mismatch(s, "list", d->reason);
        }
        if (s->kind == AH_KIND_OBJECT) {
            return decode_object(d, s);
        }
        return s->kind == AH_KIND_MAP ? decode_map(d, s) : ah_schema_mismatch(s, "object", d->reason);
    default: return decode_number(d, s);
    }
}

bool ah_schema_decode(lua_State *L, const ah_schema *s, ah_bytes json, ah_buffer *path, ah_buffer *reason) {
    decoder d = {L, ah_json_begin(json), path, reason};
    int top = lua_gettop(L);
    luaL_checkstack(L, 8, "JSON");
    if (!decode(&d, s)) {
        lua_settop(L, top);
        return false;
    }
    if (!ah_json_finish(&d.json)) {
        lua_settop(L, top);
        return syntax(&d);
    }
    return true;
}
