// From the Lua table of a script to a schema. Access is raw, nothing is pushed that needs memory: so nothing raises, and
// what was built is freed on every way out.

#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "schema.h"

typedef struct compiler {
    lua_State *L;
    ah_message_type *words;   // of the top table, or NULL
    ah_buffer path, reason;
    size_t nodes;
} compiler;

static const char *const wordNames[] = {"transient", "latest", "targeted", "script", "moderator", "host", "initiator", NULL};

static ah_schema *compile(compiler *c, int index, int nesting);

static ah_schema *make(compiler *c, ah_schema_kind kind) {
    c->nodes++;
    return ah_schema_make(kind);
}

/// Frees what was built so far; the reason has been said.
static ah_schema *give_up(ah_schema *s) {
    ah_schema_free(s);
    return NULL;
}

// MARK: Tables

static bool set_right(compiler *c, ah_right right) {
    if (c->words->right != AH_PARTICIPANT && c->words->right != right) {
        return ah_schema_say(&c->reason, "only one of script, moderator, host and initiator can be given");
    }
    c->words->right = right;
    return true;
}

static bool set_delivery(compiler *c, ah_delivery delivery) {
    if (c->words->delivery != AH_DURABLE && c->words->delivery != delivery) {
        return ah_schema_say(&c->reason, "transient and latest exclude each other");
    }
    c->words->delivery = delivery;
    return true;
}

static bool take_word(compiler *c, const char *text, size_t count, bool top) {
    size_t i = 0;
    while (wordNames[i] != NULL && (strlen(wordNames[i]) != count || memcmp(wordNames[i], text, count) != 0)) {
        i++;
    }
    if (wordNames[i] == NULL) {
        return ah_schema_say_unknown(&c->reason, "word", text, count, wordNames);
    }
    if (!top || c->words == NULL) {
        return ah_schema_say(&c->reason, "\"%s\" can stand only at the top of a message", wordNames[i]);
    }
    switch (i) {
    case 0: return set_delivery(c, AH_TRANSIENT);
    case 1: return set_delivery(c, AH_LATEST);
    case 2: c->words->targeted = true; return true;
    case 3: return set_right(c, AH_SCRIPT);
    case 4: return set_right(c, AH_MODERATOR);
    case 5: return set_right(c, AH_HOST);
    default: return set_right(c, AH_INITIATOR);
    }
}

/// Compiles the value on top of the stack as the part of a schema that `key` names, and takes it off.
static ah_schema *compile_part(compiler *c, const char *key, size_t count, int nesting) {
    ah_schema *s = compile(c, lua_gettop(c->L), nesting + 1);
    if (s == NULL) {
        ah_schema_prepend_key(&c->path, (const uint8_t *)key, count);
    }
    lua_pop(c->L, 1);
    return s;
}

/// `{ {…}, max = N }`: the element is on top of the stack.
static ah_schema *compile_list(compiler *c, int index, int nesting) {
    ah_schema *s = make(c, AH_KIND_LIST);
    s->element = compile(c, lua_gettop(c->L), nesting + 1);
    lua_pop(c->L, 1);
    if (s->element == NULL) {
        ah_schema_prepend_index(&c->path, 1);
        return give_up(s);
    }
    if (s->element->optional) {
        ah_schema_say(&c->reason, "the elements of a list cannot be optional");
        return give_up(s);
    }
    lua_pushnil(c->L);
    while (lua_next(c->L, index)) {
        size_t count;
        bool isMax = lua_type(c->L, -2) == LUA_TSTRING && strcmp(lua_tolstring(c->L, -2, &count), "max") == 0;
        if (isMax && lua_isinteger(c->L, -1)) {
            s->most = lua_tointeger(c->L, -1);
        } else if (lua_type(c->L, -2) == LUA_TSTRING) {
            ah_schema_say(&c->reason, isMax ? "max must be an integer" : "a list of objects has one element and max, no other fields");
            lua_pop(c->L, 2);
            return give_up(s);
        }
        lua_pop(c->L, 1);
    }
    if (!ah_schema_is_limit(s->most)) {
        ah_schema_say(&c->reason, "a list needs max = N, from 1 to 1000000");
        return give_up(s);
    }
    return s;
}

static int by_name(const void *left, const void *right) {
    const ah_field *a = left, *b = right;
    int order = memcmp(a->name, b->name, a->count < b->count ? a->count : b->count);
    return order != 0 ? order : (a->count > b->count) - (a->count < b->count);
}

static bool add_part(compiler *c, ah_schema *s, int nesting) {
    size_t count;
    const char *name = lua_tolstring(c->L, -2, &count);
    if (count == 0 || count > AH_SCHEMA_NAME || !ah_utf8_valid((const uint8_t *)name, count) || strlen(name) != count) {
        lua_pop(c->L, 1);
        return ah_schema_say(&c->reason, "a field's name has 1 to %d bytes of UTF-8", AH_SCHEMA_NAME);
    }
    if (s->field_count == AH_SCHEMA_FIELDS) {
        lua_pop(c->L, 1);
        return ah_schema_say(&c->reason, "an object has at most %d fields", AH_SCHEMA_FIELDS);
    }
    ah_schema *part = compile_part(c, name, count, nesting);
    if (part == NULL) {
        return false;
    }
    ah_schema_add_field(s, name, count, part);
    return true;
}

static ah_schema *compile_object(compiler *c, int index, int nesting) {
    ah_schema *s = make(c, AH_KIND_OBJECT);
    size_t length = lua_rawlen(c->L, index);
    lua_pushnil(c->L);
    while (lua_next(c->L, index)) {
        bool element = lua_isinteger(c->L, -2) && lua_tointeger(c->L, -2) >= 1 && (size_t)lua_tointeger(c->L, -2) <= length;
        if (element) {
            lua_pop(c->L, 1);
            continue;
        }
        if (lua_type(c->L, -2) != LUA_TSTRING) {
            ah_schema_say(&c->reason, "a schema has string keys, and words from 1 on");
            lua_pop(c->L, 2);
            return give_up(s);
        }
        if (!add_part(c, s, nesting)) {
            lua_pop(c->L, 1);
            return give_up(s);
        }
    }
    if (s->field_count > 0) {
        qsort(s->fields, s->field_count, sizeof *s->fields, by_name);
    }
    if (ah_schema_field(s, "*", 1, 0) < 0) {
        return s;
    }
    if (s->field_count > 1) {
        ah_schema_say(&c->reason, "[\"*\"] makes a map, which has no other fields");
        return give_up(s);
    }
    ah_schema *map = make(c, AH_KIND_MAP);
    map->element = s->fields[0].schema;
    map->most = AH_SCHEMA_MAP_KEYS;
    s->fields[0].schema = NULL;
    ah_schema_free(s);
    if (map->element->optional) {
        ah_schema_say(&c->reason, "the values of a map cannot be optional");
        return give_up(map);
    }
    return map;
}

static ah_schema *compile_table(compiler *c, int index, int nesting) {
    size_t length = lua_rawlen(c->L, index);
    bool hasElement = false;
    for (size_t i = 1; i <= length; i++) {
        lua_rawgeti(c->L, index, (lua_Integer)i);
        if (lua_type(c->L, -1) == LUA_TTABLE && i == length) {
            hasElement = true;  // stays on the stack
            break;
        }
        size_t count = 0;
        const char *word = lua_type(c->L, -1) == LUA_TSTRING ? lua_tolstring(c->L, -1, &count) : NULL;
        if (word == NULL) {
            ah_schema_say(&c->reason, "words, or as the last element the schema of a list's elements, expected; got %s", luaL_typename(c->L, -1));
        }
        bool good = word != NULL && take_word(c, word, count, nesting == 0);
        lua_pop(c->L, 1);
        if (!good) {
            return NULL;
        }
    }
    return hasElement ? compile_list(c, index, nesting) : compile_object(c, index, nesting);
}

static ah_schema *compile(compiler *c, int index, int nesting) {
    if (nesting > AH_SCHEMA_NESTING || !lua_checkstack(c->L, 8)) {
        ah_schema_say(&c->reason, "a cycle or more than %d levels", AH_SCHEMA_NESTING);
        return NULL;
    }
    if (c->nodes > AH_SCHEMA_NODES) {
        ah_schema_say(&c->reason, "more than %d types in one schema", AH_SCHEMA_NODES);
        return NULL;
    }
    if (lua_type(c->L, index) == LUA_TSTRING) {
        size_t count;
        const char *text = lua_tolstring(c->L, index, &count);
        return ah_schema_parse(text, count, &c->nodes, &c->reason);
    }
    if (lua_type(c->L, index) == LUA_TTABLE) {
        return compile_table(c, index, nesting);
    }
    ah_schema_say(&c->reason, "a type such as \"string\" or a table of fields expected, got %s", luaL_typename(c->L, index));
    return NULL;
}

ah_schema *ah_schema_compile(lua_State *L, int index, ah_message_type *words, ah_buffer *error) {
    compiler c = {.L = L, .words = words};
    if (words != NULL) {
        words->delivery = AH_DURABLE;
        words->right = AH_PARTICIPANT;
        words->targeted = false;
    }
    int top = lua_gettop(L);
    ah_schema *s = compile(&c, lua_absindex(L, index), 0);
    lua_settop(L, top);
    if (s == NULL) {
        if (c.path.count > 0 && c.path.base[0] != '[') {
            ah_buffer_byte(error, '.');
        }
        ah_buffer_append(error, c.path.base, c.path.count);
        ah_buffer_append(error, ": ", 2);
        ah_buffer_append(error, c.reason.base, c.reason.count);
    }
    ah_buffer_free(&c.path);
    ah_buffer_free(&c.reason);
    return s;
}
