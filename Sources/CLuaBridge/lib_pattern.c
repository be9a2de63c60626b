// string.find, match, gmatch and gsub over the matcher with a step budget.

#define _GNU_SOURCE   // memmem

#include <string.h>

#include "lib_buffer.h"
#include "pattern.h"

static size_t start_offset(lua_Integer position, size_t count) {
    if (position > 0) return (size_t)position - 1;
    if (position == 0 || position < -(lua_Integer)count) return 0;
    return count - (size_t)-position;
}

static bool has_specials(const char *pattern, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (pattern[i] != 0 && strchr("^$*+?.([%-", pattern[i]) != NULL) return true;
    }
    return false;
}

static int search(lua_State *L, bool find) {
    size_t count, pattern_count;
    const char *s = luaL_checklstring(L, 1, &count), *p = luaL_checklstring(L, 2, &pattern_count);
    size_t start = start_offset(luaL_optinteger(L, 3, 1), count);
    if (start > count) {
        luaL_pushfail(L);
        return 1;
    }
    if (find && (lua_toboolean(L, 4) || !has_specials(p, pattern_count))) {
        ah_charge(L, 1 + (count - start) / 16);
        const char *at = pattern_count == 0 ? s + start : memmem(s + start, count - start, p, pattern_count);
        if (at == NULL) {
            luaL_pushfail(L);
            return 1;
        }
        lua_pushinteger(L, at - s + 1);
        lua_pushinteger(L, at - s + (lua_Integer)pattern_count);
        return 2;
    }
    ah_match m;
    ah_match_prepare(&m, L, s, count, p, pattern_count);
    bool anchored = pattern_count > 0 && *p == '^';
    p += anchored;
    const char *at = s + start;
    do {
        const char *end = ah_match_at(&m, at, p);
        if (end != NULL) {
            ah_match_settle(&m);
            if (!find) return ah_match_push_all(&m, at, end);
            lua_pushinteger(L, at - s + 1);
            lua_pushinteger(L, end - s);
            return ah_match_push_all(&m, NULL, NULL) + 2;
        }
    } while (at++ < m.subject_end && !anchored);
    ah_match_settle(&m);
    luaL_pushfail(L);
    return 1;
}

static int string_find(lua_State *L) { return search(L, true); }
static int string_match(lua_State *L) { return search(L, false); }

/// Upvalues: subject, pattern, where to go on, where the last match ended (so that an empty match there does not count).
static int gmatch_step(lua_State *L) {
    size_t count, pattern_count;
    const char *s = lua_tolstring(L, lua_upvalueindex(1), &count), *p = lua_tolstring(L, lua_upvalueindex(2), &pattern_count);
    lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
    ah_match m;
    ah_match_prepare(&m, L, s, count, p, pattern_count);
    for (const char *at = s + lua_tointeger(L, lua_upvalueindex(3)); at <= m.subject_end; at++) {
        const char *end = ah_match_at(&m, at, p);
        if (end == NULL || end - s == last) continue;
        lua_pushinteger(L, end - s);
        lua_copy(L, -1, lua_upvalueindex(3));
        lua_replace(L, lua_upvalueindex(4));
        ah_match_settle(&m);
        return ah_match_push_all(&m, at, end);
    }
    ah_match_settle(&m);
    lua_pushinteger(L, (lua_Integer)count + 1);
    lua_replace(L, lua_upvalueindex(3));
    return 0;
}

static int string_gmatch(lua_State *L) {
    size_t count;
    luaL_checklstring(L, 1, &count);
    luaL_checkstring(L, 2);
    size_t start = start_offset(luaL_optinteger(L, 3, 1), count);
    lua_settop(L, 2);
    lua_pushinteger(L, (lua_Integer)(start > count ? count + 1 : start));
    lua_pushinteger(L, -1);
    lua_pushcclosure(L, gmatch_step, 4);
    return 1;
}

static void add_template(ah_match *m, ah_out *out, const char *start, const char *end) {
    size_t count;
    const char *t = lua_tolstring(m->L, 3, &count);
    for (size_t i = 0; i < count; i++) {
        const char *mark = memchr(t + i, '%', count - i);
        size_t plain = mark == NULL ? count - i : (size_t)(mark - t) - i;
        ah_out_add(out, t + i, plain);
        i += plain;
        if (i >= count) break;
        i++;   // the '%'
        m->steps++;
        if (i < count && t[i] == '%') {
            ah_out_add(out, "%", 1);
        } else if (i < count && t[i] == '0') {
            ah_out_add(out, start, (size_t)(end - start));
        } else if (i < count && t[i] >= '1' && t[i] <= '9') {
            ah_match_push(m, t[i] - '1', start, end);
            size_t n;
            const char *text = luaL_tolstring(m->L, -1, &n);
            ah_out_add(out, text, n);
            lua_pop(m->L, 2);
        } else {
            luaL_error(m->L, "invalid use of '%%' in replacement string");
        }
    }
}

/// Adds what replaces a match; true if it differs from the match.
static bool add_replacement(ah_match *m, ah_out *out, const char *start, const char *end) {
    lua_State *L = m->L;
    int kind = lua_type(L, 3);
    if (kind == LUA_TSTRING || kind == LUA_TNUMBER) {
        add_template(m, out, start, end);
        return true;
    }
    if (kind == LUA_TFUNCTION) {
        lua_pushvalue(L, 3);
        lua_call(L, ah_match_push_all(m, start, end), 1);
    } else {
        ah_match_push(m, 0, start, end);
        lua_gettable(L, 3);
    }
    bool replaced = lua_toboolean(L, -1);
    if (!replaced) {
        ah_out_add(out, start, (size_t)(end - start));
    } else if (lua_isstring(L, -1)) {
        size_t n;
        const char *text = lua_tolstring(L, -1, &n);
        ah_out_add(out, text, n);
    } else {
        luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    }
    lua_pop(L, 1);
    return replaced;
}

static int string_gsub(lua_State *L) {
    size_t count, pattern_count;
    const char *s = luaL_checklstring(L, 1, &count), *p = luaL_checklstring(L, 2, &pattern_count);
    int kind = lua_type(L, 3);
    bool usable = kind == LUA_TNUMBER || kind == LUA_TSTRING || kind == LUA_TFUNCTION || kind == LUA_TTABLE || ah_proxy_is(L, 3);
    luaL_argexpected(L, usable, 3, "string/function/table");
    lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)count + 1), done = 0;
    lua_settop(L, 4);
    ah_out out;
    ah_out_begin(&out, L);
    ah_match m;
    ah_match_prepare(&m, L, s, count, p, pattern_count);
    bool anchored = pattern_count > 0 && *p == '^', changed = false;
    p += anchored;
    const char *at = s, *last = NULL;
    while (done < most) {
        const char *end = ah_match_at(&m, at, p);
        if (end != NULL && end != last) {
            done++;
            changed = add_replacement(&m, &out, at, end) || changed;
            at = last = end;
        } else if (at < m.subject_end) {
            ah_out_add(&out, at++, 1);
        } else {
            break;
        }
        if (anchored) break;
    }
    ah_match_settle(&m);
    if (changed) {
        ah_out_add(&out, at, (size_t)(m.subject_end - at));
        ah_out_push(&out);
    } else {
        lua_pushvalue(L, 1);
    }
    lua_pushinteger(L, done);
    return 2;
}

void ah_lib_pattern(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"find", string_find}, {"match", string_match}, {"gmatch", string_gmatch}, {"gsub", string_gsub}, {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}
