// A VM: its memory, its ways in and out, and what is kept of an error.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm.h"

enum {
    LARGE_BYTES = 16 << 10,           // blocks from here on bring the hook forward,
    LARGE_TOTAL = 4 << 20,            // each time so many bytes of them were taken
    SMALL_BYTES = 4 << 10,            // blocks up to here may still be taken
    SMALL_RESERVE = 4 << 20,          // so far above the budget: errors need a little memory
    LARGE_RESERVE = 1 << 20,
    TRACE_LEVELS = 12,
};

// MARK: Memory

/// The first refusal spends the budget. Reading where the script stands allocates nothing in Lua.
static void spend(ah_vm *vm, ah_stop stop) {
    if (vm->budget.stop != AH_STOP_NONE) return;
    vm->budget.stop = stop;
    if (vm->running != NULL) ah_vm_locate(vm->running);
}

static bool refuses(ah_vm *vm, size_t more, size_t block, bool fresh_string) {
    if (fresh_string && block > AH_MAX_STRING + 64) {
        spend(vm, AH_STOP_STRING);
        return true;
    }
    size_t reserve = block <= SMALL_BYTES ? SMALL_RESERVE : LARGE_RESERVE;
    if (vm->bytes + more <= vm->limits.vm_bytes + reserve) return false;
    spend(vm, AH_STOP_MEMORY);
    vm->spent = true;
    return true;
}

static void *allocate(void *data, void *block, size_t old_size, size_t new_size) {
    ah_vm *vm = data;
    bool fresh_string = block == NULL && old_size == LUA_TSTRING;
    if (block == NULL) old_size = 0;   // Lua passes a type here
    if (new_size == 0) {
        free(block);
        vm->bytes -= old_size;
        return NULL;
    }
    if (new_size > old_size && refuses(vm, new_size - old_size, new_size, fresh_string)) return NULL;
    void *p = realloc(block, new_size);
    if (p == NULL) return NULL;
    vm->bytes += new_size - old_size;
    bool look = false;
    if (fresh_string && new_size >= AH_LONG_STRING && vm->interval != AH_HOOK_FINE) {
        vm->interval = AH_HOOK_FINE;
        look = true;
    }
    if (new_size >= LARGE_BYTES) {
        vm->heavy += new_size;
        if (vm->heavy > LARGE_TOTAL) {
            vm->heavy = 0;
            look = true;
        }
    }
    // Copying megabytes costs one instruction: look at the clock after the next one. lua_sethook may be called at any time.
    if (look && vm->running != NULL) lua_sethook(vm->running, ah_budget_hook, LUA_MASKCOUNT, 1);
    return p;
}

// MARK: Errors

static bool is_source(const ah_vm *vm, const char *name, size_t count) {
    for (size_t i = 0; i < vm->script->source_count; i++) {
        ah_bytes n = vm->script->sources[i].name;
        if (n.count == count && memcmp(n.base, name, count) == 0) return true;
    }
    return false;
}

void ah_vm_locate(lua_State *L) {
    ah_vm *vm = ah_vm_of(L);
    lua_Debug ar;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline <= 0 || ar.source[0] != '@') continue;
        vm->error.file = ah_arena_clean(&vm->arena, ar.source + 1, ar.srclen - 1);
        vm->error.line = ar.currentline;
        return;
    }
}

/// Splits "file:line: text" when the file is one of the script's.
static void note_message(ah_vm *vm, const char *text, size_t count) {
    const char *colon = memchr(text, ':', count);
    while (colon != NULL) {
        size_t name = (size_t)(colon - text), i = name + 1;
        int32_t line = 0;
        while (i < count && text[i] >= '0' && text[i] <= '9' && line < 100000000) line = line * 10 + (text[i++] - '0');
        if (i > name + 1 && i + 1 < count && text[i] == ':' && text[i + 1] == ' ' && is_source(vm, text, name)) {
            vm->error.file = ah_arena_copy(&vm->arena, text, name);
            vm->error.line = line;
            text += i + 2;
            count -= i + 2;
            break;
        }
        colon = memchr(colon + 1, ':', count - name - 1);
    }
    if (count > AH_MAX_TEXT) count = AH_MAX_TEXT;
    vm->error.message = ah_arena_clean(&vm->arena, text, count);
}

static void note_trace(lua_State *L, ah_vm *vm) {
    ah_buffer *out = &vm->scratch;
    size_t start = out->count;
    lua_Debug ar;
    for (int level = 1, lines = 0; lines < TRACE_LEVELS && lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sln", &ar);
        char line[512];
        const char *what = ar.name != NULL ? ar.name : *ar.what == 'm' ? "main chunk" : "function";
        int n;
        if (ar.currentline > 0) n = snprintf(line, sizeof line, "%.200s:%d: in %.100s\n", ar.source + 1, ar.currentline, what);
        else if (ar.name != NULL && strcmp(ar.namewhat, "metamethod") != 0) n = snprintf(line, sizeof line, "in library function %.100s\n", what);
        else continue;   // functions of the host behind metamethods tell nothing
        ah_buffer_append(out, line, (size_t)n);
        lines++;
    }
    vm->error.trace = ah_arena_clean(&vm->arena, out->base + start, out->count - start);
    out->count = start;
}

static void note_error(lua_State *L, ah_vm *vm, int index) {
    size_t count;
    if (lua_type(L, index) == LUA_TSTRING) {
        const char *text = lua_tolstring(L, index, &count);
        note_message(vm, text, count);
    } else {
        vm->error.message = ah_arena_format(&vm->arena, "the script raised a %s instead of a text", luaL_typename(L, index));
    }
}

/// Message handler of every entry: runs where the error was raised, so that the stack can still be read.
static int on_error(lua_State *L) {
    ah_vm *vm = ah_vm_of(L);
    if (vm->budget.stop == AH_STOP_REFUSED) return 1;
    if (vm->error.line == 0) ah_vm_locate(L);
    note_error(L, vm, 1);
    note_trace(L, vm);
    return 1;
}

static int on_panic(lua_State *L) { longjmp(ah_vm_of(L)->escape, 1); }

bool ah_vm_enter(ah_vm *vm, lua_CFunction body, void *argument) {
    memset(&vm->error, 0, sizeof vm->error);
    if (setjmp(vm->escape) != 0) {
        // The state is in the middle of something: its memory is given up, the process goes on.
        vm->L = NULL;
        vm->spent = true;
        vm->budget.stop = AH_STOP_MEMORY;
        vm->error.message = ah_static("the script used more memory than its budget");
        return false;
    }
    lua_State *L = vm->running = vm->L;
    lua_settop(L, 0);
    lua_pushcfunction(L, on_error);
    lua_pushcfunction(L, body);
    lua_pushlightuserdata(L, argument);
    int status = lua_pcall(L, 1, 0, 1);
    vm->running = L;
    if (status != LUA_OK) {
        if (status == LUA_ERRMEM && vm->budget.stop == AH_STOP_NONE) vm->budget.stop = AH_STOP_MEMORY;
        if (vm->error.message.count == 0) note_error(L, vm, -1);
    }
    lua_settop(L, 0);
    return status == LUA_OK;
}

ah_report ah_vm_report(ah_vm *vm) {
    static const char *const codes[] = {
        [AH_STOP_TIME] = "budget_time", [AH_STOP_INSTRUCTIONS] = "budget_instructions", [AH_STOP_MEMORY] = "budget_memory",
        [AH_STOP_STRING] = "budget_memory",
    };
    static const char *const texts[] = {
        [AH_STOP_TIME] = "ran longer than %llu ms of CPU time", [AH_STOP_INSTRUCTIONS] = "ran more than %llu instructions",
        [AH_STOP_MEMORY] = "used more than %llu bytes of memory", [AH_STOP_STRING] = "made a string longer than %llu bytes",
    };
    ah_report r = {.code = ah_static(vm->loading ? "load_failed" : "script_error"), .file = vm->error.file, .line = vm->error.line,
                   .message = vm->error.message, .trace = vm->error.trace};
    ah_stop stop = vm->budget.stop;
    if (stop == AH_STOP_NONE || stop == AH_STOP_REFUSED) return r;
    unsigned long long limit = stop == AH_STOP_TIME           ? vm->limits.handler_ms
                               : stop == AH_STOP_INSTRUCTIONS ? vm->limits.handler_instructions
                               : stop == AH_STOP_MEMORY       ? vm->limits.vm_bytes
                                                              : AH_MAX_STRING;
    char text[128];
    const char *who = vm->loading || vm->handler.name[0] == 0 ? "the script" : vm->handler.name;
    int n = snprintf(text, sizeof text, texts[stop], limit);
    r.code = ah_static(codes[stop]);
    r.message = ah_arena_format(&vm->arena, "%s %.*s", who, n, text);
    return r;
}

void ah_report_fill(ah_report *out, const char *code, ah_bytes file, int32_t line, ah_bytes message, ah_bytes trace) {
    size_t name = strlen(code);
    uint8_t *p = malloc(name + file.count + message.count + trace.count + 1);
    if (p == NULL) abort();
    *out = (ah_report){.line = line, .storage = p};
    struct { ah_bytes from, *to; } parts[] = {{ah_static(code), &out->code}, {file, &out->file}, {message, &out->message}, {trace, &out->trace}};
    for (size_t i = 0; i < 4; i++) {
        if (parts[i].from.count != 0) memcpy(p, parts[i].from.base, parts[i].from.count);
        *parts[i].to = (ah_bytes){p, parts[i].from.count};
        p += parts[i].from.count;
    }
}

void ah_report_free(ah_report *report) {
    free(report->storage);
    *report = (ah_report){0};
}

// MARK: Life

static int install(lua_State *L) {
    ah_budget_install(L);
    ah_sandbox_install(L);
    return 0;
}

ah_vm *ah_vm_create(const ah_script *script, const ah_limits *limits) {
    ah_vm *vm = calloc(1, sizeof *vm);
    if (vm == NULL) abort();
    vm->script = script;
    vm->limits = *limits;
    vm->loading = true;
    vm->interval = AH_HOOK_INTERVAL;
    for (int i = 0; i < AH_HANDLER_COUNT; i++) vm->handlers[i] = LUA_NOREF;
    vm->on = vm->exports = LUA_NOREF;
    vm->L = lua_newstate(allocate, vm);
    if (vm->L == NULL) {
        ah_vm_free(vm);
        return NULL;
    }
    *(ah_vm **)lua_getextraspace(vm->L) = vm;
    lua_atpanic(vm->L, on_panic);
    // Finished cycles start again at one and a half times what was alive: memory budgets are small, so garbage must be.
    lua_gc(vm->L, LUA_GCINC, 150, 200, 13);
    if (!ah_vm_enter(vm, install, NULL)) {
        ah_vm_free(vm);
        return NULL;
    }
    return vm;
}

static int boot(lua_State *L) {
    ah_load_main(L);
    ah_load_finish(L, lua_gettop(L));
    return 0;
}

ah_vm *ah_vm_new(const ah_script *script, const ah_limits *limits, ah_report *report) {
    ah_vm *vm = ah_vm_create(script, limits);
    if (vm == NULL) {
        ah_report_fill(report, "budget_memory", (ah_bytes){0}, 0, ah_static("the memory budget is too small for any script"), (ah_bytes){0});
        return NULL;
    }
    ah_budget_start(vm, false);
    if (!ah_vm_enter(vm, boot, NULL)) {
        ah_report r = ah_vm_report(vm);
        ah_report_fill(report, vm->budget.stop == AH_STOP_NONE ? "load_failed" : (const char *)r.code.base, r.file, r.line, r.message, r.trace);
        ah_vm_free(vm);
        return NULL;
    }
    vm->loading = false;
    ah_arena_reset(&vm->arena);
    *report = (ah_report){0};
    return vm;
}

void ah_vm_free(ah_vm *vm) {
    if (vm == NULL) return;
    vm->running = NULL;
    if (vm->L != NULL) lua_close(vm->L);
    ah_arena_free(&vm->arena);
    ah_buffer_free(&vm->scratch);
    ah_buffer_free(&vm->path);
    ah_buffer_free(&vm->reason);
    free(vm->handler.sends);
    free(vm->handler.refresh);
    free(vm->handler.logs);
    free(vm);
}

size_t ah_vm_bytes(const ah_vm *vm) { return sizeof *vm + vm->bytes + vm->arena.held; }

bool ah_vm_is_spent(const ah_vm *vm) { return vm->spent; }

ah_limits ah_limits_default(void) {
    return (ah_limits){
        .handler_ms = 50,
        .handler_instructions = 10000000,
        .vm_bytes = 64 << 20,
        .state_bytes = 4 << 20,
        .handler_sends = 1000,
        .timers = 100,
        .message_bytes = 256 << 10,
    };
}
