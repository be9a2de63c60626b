// Which of the known faults the linked Lua has. What gives a wrong result only is tried out; what can crash is concluded
// from the version that the library itself names.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm.h"

extern const char lua_ident[];

static const char *const versions[] = {"Lua 5.4.0", "Lua 5.4.1", "Lua 5.4.2", "Lua 5.4.3", "Lua 5.4.4", "Lua 5.4.5", "Lua 5.4.6", "Lua 5.4.7", "Lua 5.4.8"};
enum { VERSION_COUNT = sizeof versions / sizeof *versions };

/// The release of the linked library, which may be another than that of the headers; VERSION_COUNT if it is unknown.
static int release(void) {
    int i = 0;
    while (i < VERSION_COUNT && strstr(lua_ident, versions[i]) == NULL) i++;
    return i;
}

const char *ah_lua_version(void) {
    int r = release();
    return r < VERSION_COUNT ? versions[r] : LUA_RELEASE;
}

/// Runs a chunk that returns whether a fault is there.
static bool shows(lua_State *L, const char *chunk) {
    bool fault = luaL_dostring(L, chunk) != LUA_OK || lua_toboolean(L, -1);
    lua_settop(L, 0);
    return fault;
}

static bool constants_fault(lua_State *L) {
    // More than 256 constants in one function, then a bitwise operator with a constant.
    ah_buffer chunk = {0};
    ah_buffer_append(&chunk, "local t = {", 11);
    for (int i = 0; i < 300; i++) {
        char item[32];
        int n = snprintf(item, sizeof item, "%d.5,", i);
        ah_buffer_append(&chunk, item, (size_t)n);
    }
    static const char tail[] = "} return (1 ~ (2 or 3)) ~= 3 or (1 | (2 or 3)) ~= 3";
    ah_buffer_append(&chunk, tail, sizeof tail);
    bool fault = shows(L, (const char *)chunk.base);
    ah_buffer_free(&chunk);
    return fault;
}

void ah_self_test(ah_buffer *out) {
    lua_State *L = luaL_newstate();
    if (L == NULL) abort();
    luaL_openlibs(L);
    int r = release();
    struct { const char *name; bool present; const char *answer; } faults[] = {
        {"bitwise_operators_with_many_constants", constants_fault(L), "wrong results in functions with more than 256 constants"},
        {"index_by_comparison", shows(L, "local t = {[true] = 1} return not pcall(function() return t[1 < 2] == 1 or error() end)"), "wrong code for t[a < b]"},
        {"utf8_accepts_stray_bytes", shows(L, "return (pcall(function() for _ in utf8.codes('ab\\x80') do end end))"), "answered: own utf8 library"},
        {"concat_metamethod_moves_stack", r == 4, "answered: scripts have no __concat"},
        {"nested_coroutine_close", r < 5, "answered: scripts have no coroutine.close"},
        {"break_closes_wrong_level", r < 5, "answered: scripts have no __close"},
        {"weak_metatable_used_after_free", r < 8, "answered: scripts have no __mode and no collectgarbage"},
        {"culprit_of_long_chains", r < 7, "answered: the length of chains is bounded"},
        {"damaged_bytecode_crashes", r < 5, "answered: text sources only"},
        {"error_object_out_of_memory", r < 8, "answered: memory is kept in reserve; a panic ends the VM only"},
        {"hooks_pause_in_patterns", true, "answered: own matcher with a step budget"},
        {"hooks_pause_in_finalizers", true, "answered: scripts have no __gc"},
    };
    lua_close(L);
    static const char head[] = "{\"lua\":";
    ah_buffer_append(out, head, sizeof head - 1);
    ah_json_string(out, (const uint8_t *)ah_lua_version(), strlen(ah_lua_version()));
    ah_buffer_append(out, ",\"faults\":[", 11);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char line[256];
        int n = snprintf(line, sizeof line, "%s{\"name\":\"%s\",\"present\":%s,\"note\":\"%s\"}", i == 0 ? "" : ",", faults[i].name,
                         faults[i].present ? "true" : "false", faults[i].answer);
        ah_buffer_append(out, line, (size_t)n);
    }
    ah_buffer_append(out, "]}", 2);
}
