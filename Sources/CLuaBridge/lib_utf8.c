// The utf8 library, strict: no surrogates, nothing beyond U+10FFFF, no overlong forms, no stray continuation bytes.

#include "lib_buffer.h"

static bool is_continuation(int c) { return (c & 0xC0) == 0x80; }

/// Decodes the sequence at `s`; its length, or 0 if it is not valid.
static size_t decode(const uint8_t *s, size_t count, uint32_t *point) {
    if (count == 0) return 0;
    if (s[0] < 0x80) {
        *point = s[0];
        return 1;
    }
    size_t n = s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    if (n == 0 || n > count || !ah_utf8_valid(s, n)) return 0;
    uint32_t c = s[0] & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++) c = (c << 6) | (s[i] & 0x3Fu);
    *point = c;
    return n;
}

static size_t encode(uint32_t c, char *out) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    out[0] = (char)((0xF00u >> n) | c);
    return n;
}

static lua_Integer position(lua_Integer i, size_t count) {
    if (i >= 0) return i;
    return (size_t)-i > count ? 0 : (lua_Integer)count + i + 1;
}

static int utf8_char(lua_State *L) {
    int n = lua_gettop(L);
    ah_charge(L, (size_t)n);
    ah_out out;
    ah_out_begin(&out, L);
    for (int i = 1; i <= n; i++) {
        lua_Integer c = luaL_checkinteger(L, i);
        luaL_argcheck(L, c >= 0 && c <= 0x10FFFF && !(c >= 0xD800 && c <= 0xDFFF), i, "not a Unicode character");
        char bytes[4];
        ah_out_add(&out, bytes, encode((uint32_t)c, bytes));
    }
    ah_out_push(&out);
    return 1;
}

static int utf8_codepoint(lua_State *L) {
    size_t count;
    const uint8_t *s = (const uint8_t *)luaL_checklstring(L, 1, &count);
    lua_Integer first = position(luaL_optinteger(L, 2, 1), count), last = position(luaL_optinteger(L, 3, first), count);
    luaL_argcheck(L, first >= 1, 2, "out of bounds");
    luaL_argcheck(L, last <= (lua_Integer)count, 3, "out of bounds");
    int results = 0;
    for (size_t at = (size_t)first - 1; first <= last && at < (size_t)last;) {
        uint32_t c;
        size_t n = decode(s + at, count - at, &c);
        if (n == 0) return luaL_error(L, "invalid UTF-8 code");
        if (++results > AH_MAX_RESULTS) return luaL_error(L, "utf8.codepoint: at most %d values at a time", AH_MAX_RESULTS);
        luaL_checkstack(L, 1, NULL);
        lua_pushinteger(L, (lua_Integer)c);
        ah_charge(L, 1);
        at += n;
    }
    return results;
}

static int utf8_len(lua_State *L) {
    size_t count;
    const uint8_t *s = (const uint8_t *)luaL_checklstring(L, 1, &count);
    lua_Integer first = position(luaL_optinteger(L, 2, 1), count), last = position(luaL_optinteger(L, 3, -1), count), n = 0;
    luaL_argcheck(L, first >= 1 && first - 1 <= (lua_Integer)count, 2, "initial position out of bounds");
    luaL_argcheck(L, last <= (lua_Integer)count, 3, "final position out of bounds");
    for (size_t at = (size_t)first - 1; (lua_Integer)at < last;) {
        uint32_t c;
        size_t k = decode(s + at, count - at, &c);
        if (k == 0) {
            luaL_pushfail(L);
            lua_pushinteger(L, (lua_Integer)at + 1);
            return 2;
        }
        at += k;
        if (++n % 64 == 0) ah_charge(L, 64);
    }
    lua_pushinteger(L, n);
    return 1;
}

static int utf8_offset(lua_State *L) {
    size_t count;
    const uint8_t *s = (const uint8_t *)luaL_checklstring(L, 1, &count);
    lua_Integer n = luaL_checkinteger(L, 2), size = (lua_Integer)count;
    lua_Integer at = position(luaL_optinteger(L, 3, n >= 0 ? 1 : size + 1), count) - 1;
    luaL_argcheck(L, at >= 0 && at <= size, 3, "position out of bounds");
    lua_Integer start = at;
    if (n == 0) {
        while (at > 0 && at < size && is_continuation(s[at])) at--;
    } else if (at < size && is_continuation(s[at])) {
        return luaL_error(L, "initial position is a continuation byte");
    } else if (n < 0) {
        while (n < 0 && at > 0) {
            do at--;
            while (at > 0 && is_continuation(s[at]));
            n++;
        }
    } else {
        for (n--; n > 0 && at < size; n--) {
            do at++;
            while (at < size && is_continuation(s[at]));
        }
    }
    ah_charge(L, 1 + (size_t)(at > start ? at - start : start - at) / 2);
    if (n == 0) lua_pushinteger(L, at + 1);
    else luaL_pushfail(L);
    return 1;
}

static int codes_step(lua_State *L) {
    size_t count;
    const uint8_t *s = (const uint8_t *)luaL_checklstring(L, 1, &count);
    lua_Integer i = luaL_checkinteger(L, 2);
    uint32_t c;
    size_t at = i <= 0 ? 0 : (size_t)i - 1;
    if (i > 0 && at < count) {
        size_t n = decode(s + at, count - at, &c);
        if (n == 0) return luaL_error(L, "invalid UTF-8 code");
        at += n;
    }
    if (at >= count) return 0;
    if (decode(s + at, count - at, &c) == 0) return luaL_error(L, "invalid UTF-8 code");
    lua_pushinteger(L, (lua_Integer)at + 1);
    lua_pushinteger(L, (lua_Integer)c);
    return 2;
}

static int utf8_codes(lua_State *L) {
    luaL_checkstring(L, 1);
    lua_pushcfunction(L, codes_step);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

void ah_lib_utf8(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"char", utf8_char}, {"codepoint", utf8_codepoint}, {"len", utf8_len}, {"offset", utf8_offset}, {"codes", utf8_codes}, {NULL, NULL},
    };
    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    lua_pushliteral(L, "[\0-\x7F\xC2-\xFD][\x80-\xBF]*");
    lua_setfield(L, -2, "charpattern");
    lua_setglobal(L, "utf8");
}
