// Loading a script: its sources are checked, the main chunk runs once in a VM that is thrown away, and what it returned is
// examined. Later VMs run the same sources again.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm.h"

static const char modules_key = 0;

// MARK: Running chunks

/// Runs a source and pushes its one result.
static void run_source(lua_State *L, const ah_source *source) {
    luaL_checkstack(L, 6, NULL);
    ah_charge(L, source->text.count / 4);
    lua_pushliteral(L, "@");
    lua_pushlstring(L, (const char *)source->name.base, source->name.count);
    lua_concat(L, 2);
    int status = luaL_loadbufferx(L, (const char *)source->text.base, source->text.count, lua_tostring(L, -1), "t");
    if (status != LUA_OK) lua_error(L);
    lua_remove(L, -2);
    lua_call(L, 0, 1);
}

static void push_modules(lua_State *L) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key) == LUA_TTABLE) return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &modules_key);
}

static const ah_source *find_source(const ah_script *s, const char *name, size_t count) {
    for (size_t i = 0; i < s->source_count; i++) {
        ah_bytes n = s->sources[i].name;
        if (n.count == count + 4 && memcmp(n.base, name, count) == 0 && memcmp(n.base + count, ".lua", 4) == 0) return &s->sources[i];
    }
    return NULL;
}

int ah_lib_require(lua_State *L) {
    ah_vm *vm = ah_vm_of(L);
    size_t count;
    const char *name = luaL_checklstring(L, 1, &count);
    lua_settop(L, 1);
    if (!vm->loading) return luaL_error(L, "require works only while the script loads; put it at the top of the file");
    push_modules(L);
    lua_pushvalue(L, 1);
    int kind = lua_rawget(L, 2);
    // While a module runs, its place is taken by a light userdata.
    if (kind == LUA_TLIGHTUSERDATA) return luaL_error(L, "require: \"%s\" requires itself, directly or through others", name);
    if (kind != LUA_TNIL) return 1;
    const ah_source *source = find_source(vm->script, name, count);
    if (source == NULL) return luaL_error(L, "require: there is no file %s.lua beside the script", name);
    lua_pushvalue(L, 1);
    lua_pushlightuserdata(L, (void *)&modules_key);
    lua_rawset(L, 2);
    run_source(L, source);
    if (lua_isnil(L, -1) || lua_islightuserdata(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, 1);
    }
    lua_pushvalue(L, 1);
    lua_pushvalue(L, -2);
    lua_rawset(L, 2);
    return 1;
}

void ah_load_main(lua_State *L) {
    const ah_source *source = &ah_vm_of(L)->script->sources[0];
    push_modules(L);
    lua_pushlstring(L, (const char *)source->name.base, source->name.count - 4);
    lua_pushlightuserdata(L, (void *)&modules_key);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    run_source(L, source);
    if (!lua_istable(L, -1)) luaL_error(L, "the script has to return a table, but returned %s", luaL_typename(L, -1));
}

/// Copies the functions of the table in field `name` of the one at `index` and returns a reference to the copy.
static int take_functions(lua_State *L, int index, const char *name) {
    lua_newtable(L);
    lua_pushstring(L, name);
    if (lua_rawget(L, index) == LUA_TTABLE) {
        for (lua_pushnil(L); lua_next(L, -2);) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            if (lua_type(L, -1) == LUA_TFUNCTION) lua_rawset(L, -5);
            else lua_pop(L, 2);
        }
    }
    lua_pop(L, 1);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

void ah_load_finish(lua_State *L, int index) {
    ah_vm *vm = ah_vm_of(L);
    luaL_checkstack(L, 8, NULL);
    for (int i = 0; i < AH_HANDLER_COUNT; i++) {
        lua_pushstring(L, ah_handler_names[i]);
        if (lua_rawget(L, index) == LUA_TFUNCTION) vm->handlers[i] = luaL_ref(L, LUA_REGISTRYINDEX);
        else lua_pop(L, 1);
    }
    vm->on = take_functions(L, index, "on");
    vm->exports = take_functions(L, index, "export");
    static const char message[] = "this table is read-only after load; keep what must last in session.state";
    ah_freeze(L, index, message);
    push_modules(L);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (lua_type(L, -1) == LUA_TTABLE) ah_freeze(L, -1, message);
    }
    lua_pop(L, 1);
    lua_pushglobaltable(L);
    ah_freeze(L, -1, "globals are read-only after load; keep what must last in session.state");
    lua_pop(L, 1);
}

// MARK: Loading

static void *copy(ah_bytes from) {
    void *p = malloc(from.count + 1);
    if (p == NULL) abort();
    if (from.count != 0) memcpy(p, from.base, from.count);
    return p;
}

typedef struct loading {
    ah_script *script;
    ah_buffer error;
    bool valid;
} loading;

static int load_body(lua_State *L) {
    loading *l = lua_touserdata(L, 1);
    ah_load_main(L);
    int index = lua_gettop(L);
    l->valid = ah_script_examine(L, index, l->script, &l->error);
    if (l->valid) ah_load_finish(L, index);   // what can go wrong there, goes wrong now
    return 0;
}

static bool check_name(const ah_source *s, ah_buffer *error) {
    bool good = s->name.count > 4 && s->name.count < 200 && ah_utf8_valid(s->name.base, s->name.count)
                && memcmp(s->name.base + s->name.count - 4, ".lua", 4) == 0;
    for (size_t i = 0; good && i < s->name.count; i++) good = s->name.base[i] >= 0x20 && s->name.base[i] != 0x7F;
    static const char message[] = "a source has to be named like cards.lua";
    if (!good) ah_buffer_append(error, message, sizeof message - 1);
    return good;
}

static bool copy_sources(ah_script *s, const ah_source *sources, size_t count, ah_report *report) {
    s->sources = calloc(count == 0 ? 1 : count, sizeof *s->sources);
    if (s->sources == NULL) abort();
    ah_buffer error = {0};
    int32_t line = 0;
    bool good = count > 0;
    if (!good) {
        static const char message[] = "there is no source";
        ah_buffer_append(&error, message, sizeof message - 1);
    }
    ah_bytes file = {0};
    for (size_t i = 0; good && i < count; i++) {
        ah_bytes text = sources[i].text;
        file = sources[i].name;
        good = check_name(&sources[i], &error) && ah_source_check(&text, &line, &error);
        if (!good) break;
        s->sources[i].name = (ah_bytes){copy(sources[i].name), sources[i].name.count};
        s->sources[i].text = (ah_bytes){copy(text), text.count};
        s->source_count++;
    }
    if (!good) ah_report_fill(report, "load_failed", file, line, ah_buffer_bytes(&error), (ah_bytes){0});
    ah_buffer_free(&error);
    return good;
}

ah_script *ah_script_load(const ah_source *sources, size_t count, const ah_limits *limits, ah_report *report) {
    *report = (ah_report){0};
    ah_script *s = calloc(1, sizeof *s);
    if (s == NULL) abort();
    if (!copy_sources(s, sources, count, report)) {
        ah_script_free(s);
        return NULL;
    }
    ah_vm *vm = ah_vm_create(s, limits);
    if (vm == NULL) {
        ah_report_fill(report, "budget_memory", (ah_bytes){0}, 0, ah_static("the memory budget is too small for any script"), (ah_bytes){0});
        ah_script_free(s);
        return NULL;
    }
    ah_budget_start(vm, false);
    loading l = {.script = s};
    bool ran = ah_vm_enter(vm, load_body, &l);
    if (!ran) {
        ah_report r = ah_vm_report(vm);
        ah_bytes file = r.file.count != 0 ? r.file : s->sources[0].name;
        ah_report_fill(report, (const char *)r.code.base, file, r.line, r.message, r.trace);
    } else if (!l.valid) {
        ah_report_fill(report, "invalid_script", s->sources[0].name, 0, ah_buffer_bytes(&l.error), (ah_bytes){0});
    }
    ah_buffer_free(&l.error);
    ah_vm_free(vm);
    if (ran && l.valid) return s;
    ah_script_free(s);
    return NULL;
}

void ah_script_free(ah_script *s) {
    if (s == NULL) return;
    for (size_t i = 0; i < s->source_count; i++) {
        free((void *)s->sources[i].name.base);
        free((void *)s->sources[i].text.base);
    }
    free(s->sources);
    for (size_t i = 0; i < s->message_count; i++) {
        free(s->messages[i].name);
        ah_schema_free(s->messages[i].schema);
    }
    free(s->messages);
    ah_schema_free(s->parameters);
    ah_buffer_free(&s->manifest);
    free(s);
}

ah_bytes ah_script_manifest(const ah_script *s) { return ah_buffer_bytes(&s->manifest); }

const ah_message_type *ah_script_message(const ah_script *s, ah_bytes name) {
    size_t low = 0, high = s->message_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *other = s->messages[middle].name;
        size_t n = strlen(other), shorter = n < name.count ? n : name.count;
        int c = shorter == 0 ? 0 : memcmp(other, name.base, shorter);
        if (c == 0) c = n < name.count ? -1 : n > name.count;
        if (c == 0) return &s->messages[middle];
        if (c < 0) low = middle + 1;
        else high = middle;
    }
    return s->relay != NULL && ah_message_name_valid(name) ? s->relay : NULL;
}
