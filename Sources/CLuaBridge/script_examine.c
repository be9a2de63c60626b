// What an activity's table has to look like, and the manifest that is made of it.

#define _GNU_SOURCE   // strdup

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm.h"

const char *const ah_handler_names[AH_HANDLER_COUNT + 1] = {"start", "join", "leave", "change", "timer", "view", "migrate", NULL};

static bool complain(ah_buffer *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool complain(ah_buffer *error, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    size_t count = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    while (count > 0 && !ah_utf8_valid((uint8_t *)text, count)) count--;
    error->count = 0;
    ah_buffer_append(error, text, count);
    return false;
}

// MARK: Suggestions

static size_t distance(const char *a, const char *b) {
    size_t row[AH_MAX_NAME + 2], n = strlen(b);
    if (n > AH_MAX_NAME || strlen(a) > AH_MAX_NAME) return SIZE_MAX;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; a[i - 1] != 0; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[n];
}

const char *ah_nearest(const char *word, const char *const *candidates) {
    const char *best = NULL;
    size_t least = strlen(word) / 3 + 2;   // more changes than that make another word
    for (size_t i = 0; candidates[i] != NULL; i++) {
        size_t d = distance(word, candidates[i]);
        if (d < least) {
            least = d;
            best = candidates[i];
        }
    }
    return best;
}

// MARK: Fields

/// Pushes field `name` of the table at `index`, raw, and returns its type.
static int field(lua_State *L, int index, const char *name) {
    index = lua_absindex(L, index);
    lua_pushstring(L, name);
    return lua_rawget(L, index);
}

static bool is_text(lua_State *L, size_t most) {
    if (lua_type(L, -1) != LUA_TSTRING) return false;
    size_t count;
    const uint8_t *s = (const uint8_t *)lua_tolstring(L, -1, &count);
    return count > 0 && count <= most && ah_utf8_valid(s, count) && memchr(s, 0, count) == NULL;
}

static bool is_identifier(const char *s) {
    int labels = 1, letters = 0;
    for (; *s != 0; s++) {
        if (*s == '.') {
            if (letters == 0) return false;
            labels++;
            letters = 0;
        } else if ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || ((*s == '-' || *s == '_') && letters > 0)) {
            letters++;
        } else {
            return false;
        }
    }
    return labels >= 2 && letters > 0;
}

bool ah_message_name_valid(ah_bytes name) {
    if (name.count == 0 || name.count > AH_MAX_NAME) return false;
    for (size_t i = 0; i < name.count; i++) {
        uint8_t c = name.base[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '_'))) return false;
    }
    return true;
}

static bool examine_identity(lua_State *L, int index, ah_buffer *error) {
    if (field(L, index, "identifier") == LUA_TNIL) return complain(error, "identifier is missing; give one like \"org.example.quiz\"");
    if (!is_text(L, 200) || !is_identifier(lua_tostring(L, -1))) return complain(error, "identifier: a name like \"org.example.quiz\" expected");
    lua_pop(L, 1);
    if (field(L, index, "aliases") != LUA_TNIL) {
        if (!lua_istable(L, -1)) return complain(error, "aliases: a list of texts expected, got %s", luaL_typename(L, -1));
        lua_Integer n = (lua_Integer)lua_rawlen(L, -1), keys = 0;
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1), keys++) {
            if (!is_text(L, 200)) return complain(error, "aliases: a list of texts expected");
        }
        if (keys != n) return complain(error, "aliases: a list of texts expected");
    }
    lua_pop(L, 1);
    if (field(L, index, "version") != LUA_TNIL) {
        if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 1) return complain(error, "version: a positive integer expected");
    }
    lua_pop(L, 1);
    return true;
}

/// A text for people: a string, or a table from language to string.
static bool examine_localized(lua_State *L, int metadata, const char *name, ah_buffer *error) {
    int kind = field(L, metadata, name);
    bool good = kind == LUA_TNIL || is_text(L, 1000);
    if (kind == LUA_TTABLE) {
        lua_Integer languages = 0;
        good = true;
        for (lua_pushnil(L); good && lua_next(L, -2); lua_pop(L, 1), languages++) good = lua_type(L, -2) == LUA_TSTRING && is_text(L, 1000);
        good = good && languages > 0;
    }
    if (!good) return complain(error, "metadata.%s: a text expected, or a table such as { en = \"Quiz\" }", name);
    lua_pop(L, 1);
    return true;
}

static bool examine_choice(lua_State *L, int metadata, const char *name, const char *const *choices, ah_buffer *error) {
    if (field(L, metadata, name) != LUA_TNIL) {
        bool good = false;
        const char *value = is_text(L, 100) ? lua_tostring(L, -1) : "";
        for (size_t i = 0; choices[i] != NULL; i++) good = good || strcmp(value, choices[i]) == 0;
        const char *near = ah_nearest(value, choices);
        if (!good && near != NULL) return complain(error, "metadata.%s: \"%s\" is unknown, did you mean \"%s\"?", name, value, near);
        if (!good) return complain(error, "metadata.%s: unknown value; \"%s\" is the usual one", name, choices[0]);
    }
    lua_pop(L, 1);
    return true;
}

static bool examine_metadata(lua_State *L, int index, ah_buffer *error) {
    static const char *const types[] = {"generic", "watch_together", "listen_together", "create_together", "explore_together", "learn_together",
                                        "play_together", "read_together", "shop_together", "workout_together", NULL};
    static const char *const lifetimes[] = {"automatic", "ends_when_initiator_leaves", NULL};
    if (field(L, index, "metadata") != LUA_TTABLE) return complain(error, "metadata is missing; give metadata = { title = \"…\" }");
    int metadata = lua_gettop(L);
    if (field(L, metadata, "title") == LUA_TNIL) return complain(error, "metadata.title is missing");
    lua_pop(L, 1);
    if (!examine_localized(L, metadata, "title", error) || !examine_localized(L, metadata, "subtitle", error)) return false;
    if (!examine_choice(L, metadata, "type", types, error) || !examine_choice(L, metadata, "lifetime", lifetimes, error)) return false;
    if (field(L, metadata, "symbol") != LUA_TNIL && !is_text(L, 64)) return complain(error, "metadata.symbol: one emoji expected");
    lua_pop(L, 1);
    if (field(L, metadata, "preview") != LUA_TNIL) {
        bool good = is_text(L, 100) && strpbrk(lua_tostring(L, -1), "/\\:") == NULL && lua_tostring(L, -1)[0] != '.';
        if (!good) return complain(error, "metadata.preview: the name of a file beside the script expected, like \"preview.png\"");
    }
    lua_pop(L, 1);
    if (field(L, metadata, "fallback_url") != LUA_TNIL) {
        const char *url = is_text(L, 2000) ? lua_tostring(L, -1) : "";
        if (strncmp(url, "https://", 8) != 0 && strncmp(url, "http://", 7) != 0) return complain(error, "metadata.fallback_url: an http or https address expected");
    }
    lua_pop(L, 2);
    return true;
}

// MARK: Messages

static int by_name(const void *a, const void *b) { return strcmp(((const ah_message_type *)a)->name, ((const ah_message_type *)b)->name); }

/// Compiles the schema at the top of the stack; `place` is where it stands in the script.
static ah_schema *compile(lua_State *L, const char *place, ah_message_type *words, ah_buffer *error) {
    ah_buffer reason = {0};
    ah_schema *s = ah_schema_compile(L, -1, words, &reason);
    if (s == NULL) {
        // What is wrong begins with the path below `place`, or with a space-free sentence of the whole.
        complain(error, "%s%.*s", place, (int)reason.count, (const char *)reason.base);
    }
    ah_buffer_free(&reason);
    return s;
}

static bool examine_messages(lua_State *L, int index, ah_script *s, ah_buffer *error) {
    int kind = field(L, index, "messages");
    if (kind != LUA_TNIL && kind != LUA_TTABLE) return complain(error, "messages: a table expected, got %s", luaL_typename(L, -1));
    size_t capacity = 0;
    for (bool more = kind == LUA_TTABLE && (lua_pushnil(L), true); more && lua_next(L, -2); lua_pop(L, 1)) {
        bool relay = lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), "*") == 0;
        size_t count = 0;
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tolstring(L, -2, &count) : NULL;
        if (!relay && (name == NULL || !ah_message_name_valid((ah_bytes){(const uint8_t *)name, count}))) {
            return complain(error, "messages: a name of letters, digits and _ expected (64 at most, a letter first), got %s", name == NULL ? luaL_typename(L, -2) : name);
        }
        if (s->message_count == capacity) {
            capacity = capacity == 0 ? 16 : 2 * capacity;
            s->messages = realloc(s->messages, capacity * sizeof *s->messages);
            if (s->messages == NULL) abort();
        }
        ah_message_type type = {0};
        char place[AH_MAX_NAME + 16];
        snprintf(place, sizeof place, "messages.%s", name);
        type.schema = compile(L, place, &type, error);
        if (type.schema == NULL) return false;
        type.name = strdup(name);
        s->messages[s->message_count++] = type;
    }
    lua_pop(L, 1);
    qsort(s->messages, s->message_count, sizeof *s->messages, by_name);
    if (s->message_count > 0 && strcmp(s->messages[0].name, "*") == 0) s->relay = &s->messages[0];   // sorts before all letters
    if (field(L, index, "parameters") == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);   // none declared: none accepted
    }
    s->parameters = compile(L, "parameters", NULL, error);
    lua_pop(L, 1);
    return s->parameters != NULL;
}

// MARK: Handlers

static const ah_message_type *exact_message(const ah_script *s, const char *name) {
    for (size_t i = 0; i < s->message_count; i++) {
        if (strcmp(s->messages[i].name, name) == 0) return &s->messages[i];
    }
    return NULL;
}

static bool unknown_message(const ah_script *s, const char *name, ah_buffer *error) {
    const char *names[257];
    size_t n = s->message_count < 256 ? s->message_count : 256;
    for (size_t i = 0; i < n; i++) names[i] = s->messages[i].name;
    names[n] = NULL;
    const char *near = ah_nearest(name, names);
    if (near != NULL) return complain(error, "on.%s: messages has no %s, did you mean %s?", name, name, near);
    return complain(error, "on.%s: messages has no %s; declare it there", name, name);
}

/// Examines a table of functions; `take` gets each name.
static bool examine_functions(lua_State *L, int index, const char *place, const ah_script *s, ah_buffer *error) {
    int kind = field(L, index, place);
    if (kind != LUA_TNIL && kind != LUA_TTABLE) return complain(error, "%s: a table of functions expected, got %s", place, luaL_typename(L, -1));
    bool on = strcmp(place, "on") == 0;
    for (bool more = kind == LUA_TTABLE && (lua_pushnil(L), true); more && lua_next(L, -2); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) return complain(error, "%s: names expected as keys, got a %s", place, luaL_typename(L, -2));
        const char *name = lua_tostring(L, -2);
        if (lua_type(L, -1) != LUA_TFUNCTION) return complain(error, "%s.%s: a function expected, got %s", place, name, luaL_typename(L, -1));
        if (on && exact_message(s, name) == NULL && ah_script_message(s, ah_static(name)) == NULL) return unknown_message(s, name, error);
        size_t count = strlen(name);
        bool plain = count > 0 && count <= 32 && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == count;
        if (!on && !plain) return complain(error, "export.%s: a name of letters, digits, - and _ expected", name);
    }
    lua_pop(L, 1);
    return true;
}

static bool examine_handlers(lua_State *L, int index, const ah_script *s, ah_buffer *error) {
    for (int i = 0; i < AH_HANDLER_COUNT; i++) {
        int kind = field(L, index, ah_handler_names[i]);
        if (kind != LUA_TNIL && kind != LUA_TFUNCTION) return complain(error, "%s: a function expected, got %s", ah_handler_names[i], luaL_typename(L, -1));
        lua_pop(L, 1);
    }
    return examine_functions(L, index, "on", s, error) && examine_functions(L, index, "export", s, error);
}

// MARK: Manifest

static void put(ah_buffer *out, const char *text) { ah_buffer_append(out, text, strlen(text)); }

/// Appends the value at the top of the stack as JSON and pops it.
static bool put_value(lua_State *L, const char *place, ah_buffer *out, ah_buffer *error) {
    ah_vm *vm = ah_vm_of(L);
    vm->path.count = vm->reason.count = 0;
    bool good = ah_schema_encode(L, -1, ah_schema_any, out, &vm->path, &vm->reason);
    if (!good) {
        const char *dot = vm->path.count > 0 && vm->path.base[0] != '[' ? "." : "";
        complain(error, "%s%s%.*s: %.*s", place, dot, (int)vm->path.count, (const char *)vm->path.base, (int)vm->reason.count, (const char *)vm->reason.base);
    }
    lua_pop(L, 1);
    return good;
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/// Appends the names of the functions in field `place`, sorted, each after `prefix`.
static void put_names(lua_State *L, int index, const char *place, const char *prefix, ah_buffer *out) {
    if (field(L, index, place) == LUA_TTABLE) {
        size_t count = 0;
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) count++;
        const char **names = lua_newuserdatauv(L, (count + 1) * sizeof *names, 0);
        lua_insert(L, -2);
        count = 0;
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) names[count++] = lua_tostring(L, -2);
        qsort(names, count, sizeof *names, by_text);
        for (size_t i = 0; i < count; i++) {
            char name[AH_MAX_NAME + 8];
            int n = snprintf(name, sizeof name, "%s%s", prefix, names[i]);
            if (out->base[out->count - 1] != '[') put(out, ",");
            ah_json_string(out, (uint8_t *)name, (size_t)n);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void put_messages(const ah_script *s, ah_buffer *out) {
    static const char *const deliveries[] = {[AH_DURABLE] = "durable", [AH_TRANSIENT] = "transient", [AH_LATEST] = "latest"};
    static const char *const rights[] = {[AH_PARTICIPANT] = "participant", [AH_MODERATOR] = "moderator", [AH_HOST] = "host",
                                         [AH_INITIATOR] = "initiator", [AH_SCRIPT] = "script"};
    for (size_t i = 0; i < s->message_count; i++) {
        const ah_message_type *m = &s->messages[i];
        char text[256];
        snprintf(text, sizeof text, "%s\"%s\":{\"index\":%zu,\"delivery\":\"%s\",\"targeted\":%s,\"right\":\"%s\",\"schema\":", i == 0 ? "" : ",", m->name, i,
                 deliveries[m->delivery], m->targeted ? "true" : "false", rights[m->right]);
        put(out, text);
        ah_schema_write(m->schema, out);
        put(out, "}");
    }
}

static bool write_manifest(lua_State *L, int index, ah_script *s, ah_buffer *error) {
    ah_buffer *out = &s->manifest;
    put(out, "{\"identifier\":");
    field(L, index, "identifier");
    if (!put_value(L, "identifier", out, error)) return false;
    put(out, ",\"aliases\":");
    if (field(L, index, "aliases") == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
    }
    lua_Integer aliases = (lua_Integer)lua_rawlen(L, -1);
    if (aliases == 0) {
        put(out, "[]");
        lua_pop(L, 1);
    } else if (!put_value(L, "aliases", out, error)) {
        return false;
    }
    put(out, ",\"version\":");
    if (field(L, index, "version") == LUA_TNIL) lua_pushinteger(L, 1);
    if (!put_value(L, "version", out, error)) return false;
    put(out, ",\"metadata\":");
    lua_settop(L, index);
    field(L, index, "metadata");
    if (!put_value(L, "metadata", out, error)) return false;
    put(out, ",\"parameters\":");
    ah_schema_write(s->parameters, out);
    put(out, ",\"messages\":{");
    put_messages(s, out);
    put(out, "},\"handlers\":[");
    for (int i = 0; i < AH_HANDLER_COUNT; i++) {
        if (field(L, index, ah_handler_names[i]) == LUA_TFUNCTION) {
            if (out->base[out->count - 1] != '[') put(out, ",");
            ah_json_string(out, (const uint8_t *)ah_handler_names[i], strlen(ah_handler_names[i]));
        }
        lua_pop(L, 1);
    }
    put_names(L, index, "on", "on.", out);
    put(out, "],\"exports\":[");
    put_names(L, index, "export", "", out);
    put(out, "]}");
    return true;
}

bool ah_script_examine(lua_State *L, int index, ah_script *s, ah_buffer *error) {
    luaL_checkstack(L, 16, NULL);
    return examine_identity(L, index, error) && examine_metadata(L, index, error) && examine_messages(L, index, s, error)
           && examine_handlers(L, index, s, error) && write_manifest(L, index, s, error);
}
