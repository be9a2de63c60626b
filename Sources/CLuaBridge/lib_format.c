// string.format: the conversions of Lua, with texts that show no addresses.

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib_buffer.h"

enum { SPEC_BYTES = 32 };

/// Copies one conversion ("%-5.2") without its letter to `spec`; returns where its letter stands.
static const char *read_spec(lua_State *L, const char *p, const char *end, char *spec) {
    const char *start = p;
    while (p < end && strchr("-+ #0", *p) != NULL && *p != 0) p++;
    for (int digits = 0; p < end && isdigit((unsigned char)*p); p++) {
        if (++digits > 2) luaL_error(L, "invalid conversion: the width has more than two digits");
    }
    if (p < end && *p == '.') {
        p++;
        for (int digits = 0; p < end && isdigit((unsigned char)*p); p++) {
            if (++digits > 2) luaL_error(L, "invalid conversion: the precision has more than two digits");
        }
    }
    if (p >= end || p - start > 12) luaL_error(L, "invalid conversion '%%' in format");
    spec[0] = '%';
    memcpy(spec + 1, start, (size_t)(p - start));
    spec[1 + (p - start)] = 0;
    return p;
}

/// Raises when `spec` has a flag or a precision that its letter does not take: the C library would be free to do anything.
static void check_spec(lua_State *L, const char *spec, char letter) {
    static const struct { const char *letters, *flags; bool precision; } kinds[] = {
        {"c", "-", false}, {"di", "-+0 ", true}, {"u", "-0", true}, {"oxX", "-#0", true}, {"aAeEfgG", "-+#0 ", true}, {"s", "-", true}, {"q", "", false},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strchr(kinds[i].letters, letter) == NULL) continue;
        const char *p = spec + 1 + strspn(spec + 1, kinds[i].flags);
        if (letter != 'q' && *p != '0') p += strspn(p, "0123456789");
        if (*p == '.' && kinds[i].precision) p += 1 + strspn(p + 1, "0123456789");
        if (*p == 0) return;
    }
    luaL_error(L, "invalid conversion '%s%c' in format", spec, letter);
}

static void add_quoted(ah_out *out, const char *s, size_t count) {
    ah_charge(out->L, count / 4);
    ah_out_add(out, "\"", 1);
    for (size_t i = 0; i < count; i++) {
        char c = s[i];
        if (c == '"' || c == '\\' || c == '\n') {
            char pair[2] = {'\\', c};
            ah_out_add(out, pair, 2);
        } else if (iscntrl((unsigned char)c)) {
            char code[8];
            bool digit = i + 1 < count && isdigit((unsigned char)s[i + 1]);
            int n = snprintf(code, sizeof code, digit ? "\\%03d" : "\\%d", (unsigned char)c);
            ah_out_add(out, code, (size_t)n);
        } else {
            ah_out_add(out, &c, 1);
        }
    }
    ah_out_add(out, "\"", 1);
}

static void add_literal(ah_out *out, int index) {
    lua_State *L = out->L;
    char text[64];
    size_t count;
    switch (lua_type(L, index)) {
    case LUA_TSTRING: {
        const char *s = lua_tolstring(L, index, &count);
        add_quoted(out, s, count);
        return;
    }
    case LUA_TNUMBER:
        if (lua_isinteger(L, index)) {
            lua_Integer n = lua_tointeger(L, index);
            count = (size_t)snprintf(text, sizeof text, n == LUA_MININTEGER ? "0x%llx" : "%lld", (long long)n);
        } else {
            double d = lua_tonumber(L, index);
            if (d != d) count = (size_t)snprintf(text, sizeof text, "(0/0)");
            else if (isinf(d)) count = (size_t)snprintf(text, sizeof text, d > 0 ? "1e9999" : "-1e9999");
            else count = (size_t)snprintf(text, sizeof text, "%a", d);
        }
        ah_out_add(out, text, count);
        return;
    case LUA_TNIL:
    case LUA_TBOOLEAN: {
        const char *s = ah_push_text(L, index, &count);
        ah_out_add(out, s, count);
        lua_pop(L, 1);
        return;
    }
    default: luaL_argerror(L, index, "value has no literal form");
    }
}

static void add_text(ah_out *out, int index, char *spec) {
    lua_State *L = out->L;
    size_t count;
    const char *s = ah_push_text(L, index, &count);
    if (spec[1] == 0) {
        ah_out_add(out, s, count);
    } else {
        luaL_argcheck(L, strlen(s) == count, index, "string contains zeros");
        if (strchr(spec, '.') == NULL && count >= 100) {
            ah_out_add(out, s, count);
        } else {
            char text[256];
            strcat(spec, "s");
            int n = snprintf(text, sizeof text, spec, s);
            ah_out_add(out, text, (size_t)n);
        }
    }
    lua_pop(L, 1);
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
static void add_number(ah_out *out, int index, char *spec, char letter) {
    lua_State *L = out->L;
    char text[512];   // "%99.99f" of the largest double has 409
    int n;
    if (letter == 'c') {
        strcat(spec, "c");
        n = snprintf(text, sizeof text, spec, (int)luaL_checkinteger(L, index));
    } else if (strchr("diuoxX", letter) != NULL) {
        char tail[4] = {'l', 'l', letter, 0};
        strcat(spec, tail);
        n = snprintf(text, sizeof text, spec, (long long)luaL_checkinteger(L, index));
    } else {
        char tail[2] = {letter, 0};
        strcat(spec, tail);
        n = snprintf(text, sizeof text, spec, luaL_checknumber(L, index));
    }
    ah_out_add(out, text, (size_t)n);
}
#pragma clang diagnostic pop

int ah_string_format(lua_State *L) {
    size_t count;
    const char *p = luaL_checklstring(L, 1, &count), *end = p + count;
    int top = lua_gettop(L), argument = 1;
    ah_charge(L, 1 + count / 16);
    ah_out out;
    ah_out_begin(&out, L);
    while (p < end) {
        const char *mark = memchr(p, '%', (size_t)(end - p));
        ah_out_add(&out, p, (size_t)((mark == NULL ? end : mark) - p));
        if (mark == NULL) break;
        p = mark + 1;
        if (p < end && *p == '%') {
            ah_out_add(&out, p++, 1);
            continue;
        }
        char spec[SPEC_BYTES];
        p = read_spec(L, p, end, spec);
        char letter = *p++;
        ah_charge(L, 20);
        if (letter == 'p') return luaL_error(L, "string.format: %%p is not available, since addresses differ from run to run");
        if (letter == 0) return luaL_error(L, "invalid conversion '%s' in format", spec);
        check_spec(L, spec, letter);
        if (++argument > top) return luaL_argerror(L, argument, "no value");
        if (letter == 's') add_text(&out, argument, spec);
        else if (letter == 'q') add_literal(&out, argument);
        else add_number(&out, argument, spec, letter);
    }
    ah_out_push(&out);
    return 1;
}
