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

static const char *const typeNames[] = {"string", "integer", "number", "boolean", "id", "uuid", "color", "enum", "any"};
static const char *const wordNames[] = {"transient", "latest", "targeted", "script", "moderator", "host", "initiator"};

static ah_schema *compile(compiler *c, int index, int nesting);

static void *allocate(size_t size) {
    void *result = calloc(1, size);
    if (result == NULL) {
        abort();
    }
    return result;
}

static ah_schema *make(compiler *c, ah_schema_kind kind) {
    c->nodes++;
    ah_schema *s = allocate(sizeof *s);
    s->kind = kind;
    return s;
}

/// Frees what was built so far; the reason has been said.
static ah_schema *give_up(ah_schema *s) {
    ah_schema_free(s);
    return NULL;
}

// MARK: Did you mean

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/// How many letters have to change to make one word the other; words longer than 31 are far from everything.
static size_t distance(const char *a, size_t m, const char *b, size_t n) {
    size_t row[32];
    if (m > 31 || n > 31) {
        return 31;
    }
    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t above = row[j];
            row[j] = least(least(above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[n];
}

static void say_unknown(ah_buffer *reason, const char *what, const char *text, size_t count, const char *const *names, size_t total) {
    ah_schema_say(reason, "unknown %s ", what);
    ah_json_string(reason, (const uint8_t *)text, count > 60 || !ah_utf8_valid((const uint8_t *)text, count) ? 0 : count);
    size_t best = least(3, count);  // at most two letters, and never all of them
    const char *name = NULL;
    for (size_t i = 0; i < total; i++) {
        size_t d = distance(text, count, names[i], strlen(names[i]));
        if (d < best) {
            best = d;
            name = names[i];
        }
    }
    if (name != NULL) {
        ah_schema_say(reason, ", did you mean \"%s\"?", name);
    }
}

// MARK: Type strings

/// What is left of a type string; `whole` is for errors.
typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_spaces(cursor *p) {
    while (p->at < p->end && *p->at == ' ') {
        p->at++;
    }
}

static bool take(cursor *p, char c) {
    skip_spaces(p);
    if (p->at < p->end && *p->at == c) {
        p->at++;
        return true;
    }
    return false;
}

static bool take_number(cursor *p, ah_number_kind *kind, int64_t *integer, double *real) {
    skip_spaces(p);
    const uint8_t *after;
    *kind = ah_number_scan((const uint8_t *)p->at, (const uint8_t *)p->end, &after, integer, real);
    p->at = (const char *)after;
    if (*kind == AH_NUMBER_INTEGER) {
        *real = (double)*integer;
    }
    return *kind == AH_NUMBER_INTEGER || *kind == AH_NUMBER_DOUBLE;
}

static bool take_integer(cursor *p, int64_t *integer) {
    ah_number_kind kind;
    double real;
    return take_number(p, &kind, integer, &real) && kind == AH_NUMBER_INTEGER;
}

static bool parse_string(compiler *c, cursor *p, ah_schema *s) {
    s->most = AH_SCHEMA_TEXT;
    if (!take(p, '(')) {
        return true;
    }
    bool good = take_integer(p, &s->most);
    if (good && take(p, ',')) {
        s->least = s->most;
        good = take_integer(p, &s->most);
    }
    good = good && take(p, ')') && s->least >= 0 && s->least <= s->most && s->most <= AH_MAX_STRING;
    return good || ah_schema_say(&c->reason, "string takes (MAX) or (MIN,MAX), from 0 to %d", AH_MAX_STRING);
}

static bool parse_integer(compiler *c, cursor *p, ah_schema *s) {
    if (!take(p, '(')) {
        return true;
    }
    s->bounded = true;
    bool good = take_integer(p, &s->least) && take(p, ',') && take_integer(p, &s->most) && take(p, ')') && s->least <= s->most;
    return good || ah_schema_say(&c->reason, "integer takes (MIN,MAX), two integers");
}

static bool parse_number(compiler *c, cursor *p, ah_schema *s) {
    if (!take(p, '(')) {
        return true;
    }
    s->bounded = true;
    ah_number_kind kind;
    int64_t integer;
    bool good = take_number(p, &kind, &integer, &s->low) && take(p, ',') && take_number(p, &kind, &integer, &s->high) && take(p, ')') &&
                s->low <= s->high;
    return good || ah_schema_say(&c->reason, "number takes (MIN,MAX), two numbers");
}

static void add_field(ah_schema *s, const char *name, size_t count, ah_schema *schema) {
    s->fields = realloc(s->fields, (s->field_count + 1) * sizeof *s->fields);
    if (s->fields == NULL) {
        abort();
    }
    char *copy = allocate(count + 1);
    memcpy(copy, name, count);
    s->fields[s->field_count++] = (ah_field){copy, count, schema};
}

static bool parse_enum(compiler *c, cursor *p, ah_schema *s) {
    bool more = take(p, '(');
    while (more) {
        skip_spaces(p);
        const char *from = p->at;
        while (p->at < p->end && *p->at != ',' && *p->at != ')') {
            p->at++;
        }
        const char *to = p->at;
        while (to > from && to[-1] == ' ') {
            to--;
        }
        size_t count = (size_t)(to - from);
        bool repeated = false;
        for (size_t i = 0; i < s->field_count; i++) {
            repeated = repeated || ah_schema_field(&(ah_schema){.fields = &s->fields[i], .field_count = 1}, from, count, 0) == 0;
        }
        if (count == 0 || repeated || s->field_count == AH_SCHEMA_FIELDS || p->at == p->end) {
            break;
        }
        add_field(s, from, count, NULL);
        if (take(p, ')')) {
            return true;
        }
        more = take(p, ',');
    }
    return ah_schema_say(&c->reason, "enum takes a list of different words, enum(red,green)");
}

static ah_schema *parse_base(compiler *c, cursor *p) {
    skip_spaces(p);
    const char *from = p->at;
    while (p->at < p->end && ((*p->at >= 'a' && *p->at <= 'z') || (*p->at >= 'A' && *p->at <= 'Z') || *p->at == '_')) {
        p->at++;
    }
    size_t count = (size_t)(p->at - from), kind = 0;
    const size_t total = sizeof typeNames / sizeof *typeNames;
    while (kind < total && (strlen(typeNames[kind]) != count || memcmp(typeNames[kind], from, count) != 0)) {
        kind++;
    }
    if (kind == total) {
        say_unknown(&c->reason, "type", from, count, typeNames, total);
        return NULL;
    }
    ah_schema *s = make(c, (ah_schema_kind)kind);  // typeNames stand in the order of the kinds
    bool good = true;
    switch (s->kind) {
    case AH_KIND_STRING: good = parse_string(c, p, s); break;
    case AH_KIND_INTEGER: good = parse_integer(c, p, s); break;
    case AH_KIND_NUMBER: good = parse_number(c, p, s); break;
    case AH_KIND_ENUM: good = parse_enum(c, p, s); break;
    case AH_KIND_ANY: s->most = AH_SCHEMA_ANY_DEPTH; break;
    default: break;
    }
    return good ? s : give_up(s);
}

static bool is_limit(int64_t n) { return n >= 1 && n <= 1000000; }

static ah_schema *parse_type(compiler *c, const char *text, size_t count) {
    cursor p = {text, text + count};
    ah_schema *s = parse_base(c, &p);
    int lists = 0;
    while (s != NULL && take(&p, '[')) {
        ah_schema *list = make(c, AH_KIND_LIST);
        list->element = s;
        s = list;
        if (!take_integer(&p, &s->most) || !take(&p, ']') || !is_limit(s->most) || ++lists > 8) {
            ah_schema_say(&c->reason, "a list has a limit, from [1] to [1000000]");
            return give_up(s);
        }
    }
    if (s == NULL) {
        return NULL;
    }
    s->optional = take(&p, '?');
    skip_spaces(&p);
    if (p.at == p.end) {
        return s;
    }
    if (s->optional && *p.at == '[') {
        ah_schema_say(&c->reason, "the elements of a list cannot be optional; \"?\" comes last");
    } else {
        ah_schema_say(&c->reason, "unexpected ");
        ah_json_string(&c->reason, (const uint8_t *)p.at, 1 * (size_t)((uint8_t)*p.at < 0x80));
        ah_schema_say(&c->reason, " in a type");
    }
    return give_up(s);
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
    const size_t total = sizeof wordNames / sizeof *wordNames;
    size_t i = 0;
    while (i < total && (strlen(wordNames[i]) != count || memcmp(wordNames[i], text, count) != 0)) {
        i++;
    }
    if (i == total) {
        say_unknown(&c->reason, "word", text, count, wordNames, total);
        return false;
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
    if (!is_limit(s->most)) {
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
    add_field(s, name, count, part);
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
        return parse_type(c, text, count);
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
