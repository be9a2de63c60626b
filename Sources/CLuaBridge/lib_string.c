// The string library, but for patterns (lib_pattern.c) and format (lib_format.c). Work in C is charged by length.

#include <ctype.h>
#include <string.h>

#include "lib_buffer.h"

static int string_rep(lua_State *L) {
    size_t count, separator_count;
    const char *s = luaL_checklstring(L, 1, &count);
    lua_Integer n = luaL_checkinteger(L, 2);
    const char *separator = luaL_optlstring(L, 3, "", &separator_count);
    if (n <= 0 || count + separator_count == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if ((lua_Unsigned)n > AH_MAX_STRING + 1 || (size_t)n * count + ((size_t)n - 1) * separator_count > AH_MAX_STRING) {
        return luaL_error(L, "string.rep: the string would be longer than 1 MiB");
    }
    ah_charge(L, 1 + (size_t)n / 4 + (size_t)n * (count + separator_count) / 64);
    ah_out out;
    ah_out_begin(&out, L);
    char *p = ah_out_room(&out, (size_t)n * count + ((size_t)n - 1) * separator_count);
    for (lua_Integer i = 0; i < n; i++) {
        memcpy(p, s, count);
        p += count;
        if (i + 1 < n && separator_count != 0) {
            memcpy(p, separator, separator_count);
            p += separator_count;
        }
    }
    ah_out_push(&out);
    return 1;
}

typedef enum change { CHANGE_LOWER, CHANGE_UPPER, CHANGE_REVERSE } change;

static int changed(lua_State *L, change how) {
    size_t count;
    const char *s = luaL_checklstring(L, 1, &count);
    ah_charge(L, 1 + count / 4);
    ah_out out;
    ah_out_begin(&out, L);
    char *p = ah_out_room(&out, count);
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)s[how == CHANGE_REVERSE ? count - 1 - i : i];
        p[i] = (char)(how == CHANGE_LOWER ? tolower(c) : how == CHANGE_UPPER ? toupper(c) : c);
    }
    ah_out_push(&out);
    return 1;
}

static int string_lower(lua_State *L) { return changed(L, CHANGE_LOWER); }
static int string_upper(lua_State *L) { return changed(L, CHANGE_UPPER); }
static int string_reverse(lua_State *L) { return changed(L, CHANGE_REVERSE); }

static int string_len(lua_State *L) {
    size_t count;
    luaL_checklstring(L, 1, &count);
    lua_pushinteger(L, (lua_Integer)count);
    return 1;
}

/// Reads positions at `index` and the next as a range of `count` bytes: false when it is empty.
static bool range(lua_State *L, int index, size_t count, lua_Integer default_last, lua_Integer *first, lua_Integer *last) {
    lua_Integer n = (lua_Integer)count;
    *first = luaL_optinteger(L, index, 1);
    if (index == 2 && default_last == 0) default_last = *first;
    *last = luaL_optinteger(L, index + 1, default_last);
    if (*first < 0) *first = *first < -n ? 1 : n + *first + 1;
    else if (*first == 0) *first = 1;
    if (*last < 0) *last = *last < -n ? 0 : n + *last + 1;
    else if (*last > n) *last = n;
    return *first <= *last;
}

static int string_sub(lua_State *L) {
    size_t count;
    const char *s = luaL_checklstring(L, 1, &count);
    luaL_checkinteger(L, 2);
    lua_Integer first, last;
    if (!range(L, 2, count, -1, &first, &last)) {
        lua_pushliteral(L, "");
        return 1;
    }
    ah_charge(L, 1 + (size_t)(last - first) / 64);
    lua_pushlstring(L, s + first - 1, (size_t)(last - first + 1));
    return 1;
}

static int string_byte(lua_State *L) {
    size_t count;
    const char *s = luaL_checklstring(L, 1, &count);
    lua_Integer first, last;
    if (!range(L, 2, count, 0, &first, &last)) return 0;
    lua_Integer n = last - first + 1;
    if (n > AH_MAX_RESULTS) return luaL_error(L, "string.byte: at most %d values at a time", AH_MAX_RESULTS);
    ah_charge(L, (size_t)n);
    luaL_checkstack(L, (int)n, NULL);
    for (lua_Integer i = first; i <= last; i++) lua_pushinteger(L, (unsigned char)s[i - 1]);
    return (int)n;
}

static int string_char(lua_State *L) {
    int n = lua_gettop(L);
    ah_charge(L, (size_t)n);
    ah_out out;
    ah_out_begin(&out, L);
    for (int i = 1; i <= n; i++) {
        lua_Integer c = luaL_checkinteger(L, i);
        luaL_argcheck(L, c >= 0 && c <= 255, i, "value out of range");
        *ah_out_room(&out, 1) = (char)c;
    }
    ah_out_push(&out);
    return 1;
}

/// string.pack, packsize, unpack: the C library's own (upvalue 1), once the format promises little work.
static int packed(lua_State *L) {
    size_t count, total = 0;
    const char *format = luaL_checklstring(L, 1, &count);
    luaL_argcheck(L, count <= AH_MAX_RESULTS, 1, "the format is too long");
    for (size_t i = 0; i < count; i++) {
        size_t digits = 0;
        while (i < count && isdigit((unsigned char)format[i]) && digits <= AH_MAX_STRING) digits = digits * 10 + (size_t)(format[i++] - '0');
        total += digits;
        luaL_argcheck(L, total <= AH_MAX_STRING, 1, "the result would be longer than 1 MiB");
    }
    ah_charge(L, 1 + count + total / 16);
    for (int i = 2; i <= lua_gettop(L); i++) {
        if (lua_type(L, i) != LUA_TSTRING) continue;
        total += lua_rawlen(L, i);
        luaL_argcheck(L, total <= 2 * AH_MAX_STRING, i, "the strings are too long");
    }
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

void ah_lib_string(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"rep", string_rep}, {"lower", string_lower}, {"upper", string_upper}, {"reverse", string_reverse}, {"len", string_len},
        {"sub", string_sub}, {"byte", string_byte}, {"char", string_char}, {"format", ah_string_format}, {NULL, NULL},
    };
    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    ah_lib_pattern(L);
    // The C library's own module gives three functions and the metatable of strings (arithmetic on "10"); the rest is dropped.
    luaopen_string(L);
    static const char *const taken[] = {"pack", "packsize", "unpack"};
    for (size_t i = 0; i < 3; i++) {
        lua_getfield(L, -1, taken[i]);
        lua_pushcclosure(L, packed, 1);
        lua_setfield(L, -3, taken[i]);
    }
    lua_pop(L, 1);
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 2);
    lua_setglobal(L, "string");
}
