// The matcher: Lua's pattern language, written anew around a step counter. Every single-character test is a step.

#include "pattern.h"

#include <ctype.h>
#include <string.h>

enum { ESCAPE = '%', CHARGE_EVERY = 500 };

static const char *match(ah_match *m, const char *s, const char *p);

void ah_match_settle(ah_match *m) {
    size_t steps = m->steps;
    m->steps = 0;
    ah_charge(m->L, steps);
}

static inline void step(ah_match *m) {
    if (++m->steps >= CHARGE_EVERY) ah_match_settle(m);
}

void ah_match_prepare(ah_match *m, lua_State *L, const char *subject, size_t subject_count, const char *pattern, size_t pattern_count) {
    m->L = L;
    m->subject = subject;
    m->subject_end = subject + subject_count;
    m->pattern_end = pattern + pattern_count;
    m->depth = AH_MATCH_DEPTH;
    m->steps = 1;
    m->level = 0;
}

/// The end of the single-character class that starts at `p`.
static const char *class_end(ah_match *m, const char *p) {
    char c = *p++;
    if (c == ESCAPE) {
        if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (ends with '%%')");
        return p + 1;
    }
    if (c != '[') return p;
    if (p < m->pattern_end && *p == '^') p++;
    do {   // the first character may be ']'
        if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (missing ']')");
        c = *p++;
        if (c == ESCAPE) {
            if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (missing ']')");
            p++;
        }
    } while (p == m->pattern_end || *p != ']');
    return p + 1;
}

static bool in_class(int c, int letter) {
    bool yes;
    switch (tolower(letter)) {
    case 'a': yes = isalpha(c) != 0; break;
    case 'c': yes = iscntrl(c) != 0; break;
    case 'd': yes = isdigit(c) != 0; break;
    case 'g': yes = isgraph(c) != 0; break;
    case 'l': yes = islower(c) != 0; break;
    case 'p': yes = ispunct(c) != 0; break;
    case 's': yes = isspace(c) != 0; break;
    case 'u': yes = isupper(c) != 0; break;
    case 'w': yes = isalnum(c) != 0; break;
    case 'x': yes = isxdigit(c) != 0; break;
    case 'z': yes = c == 0; break;
    default: return letter == c;
    }
    return isupper(letter) ? !yes : yes;
}

/// Whether `c` is in the set from `p` (its '[') to `last` (its ']').
static bool in_set(ah_match *m, int c, const char *p, const char *last) {
    bool found = true;
    p++;
    if (*p == '^') {
        found = false;
        p++;
    }
    for (; p < last; p++) {
        m->steps++;
        if (*p == ESCAPE && p + 1 < last) {
            p++;
            if (in_class(c, (unsigned char)*p)) return found;
        } else if (p + 2 < last && p[1] == '-') {
            if ((unsigned char)*p <= c && c <= (unsigned char)p[2]) return found;
            p += 2;
        } else if ((unsigned char)*p == c) {
            return found;
        }
    }
    return !found;
}

static bool single(ah_match *m, const char *s, const char *p, const char *end) {
    step(m);
    if (s >= m->subject_end) return false;
    int c = (unsigned char)*s;
    switch (*p) {
    case '.': return true;
    case ESCAPE: return in_class(c, (unsigned char)p[1]);
    case '[': return in_set(m, c, p, end - 1);
    default: return (unsigned char)*p == c;
    }
}

static const char *balance(ah_match *m, const char *s, const char *p) {
    if (m->pattern_end - p < 2) luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
    if (s >= m->subject_end || *s != *p) return NULL;
    int depth = 1;
    while (++s < m->subject_end) {
        step(m);
        if (*s == p[1]) {
            if (--depth == 0) return s + 1;
        } else if (*s == p[0]) {
            depth++;
        }
    }
    return NULL;
}

static const char *expand_most(ah_match *m, const char *s, const char *p, const char *end) {
    ptrdiff_t n = 0;
    while (single(m, s + n, p, end)) n++;
    for (; n >= 0; n--) {
        step(m);
        const char *result = match(m, s + n, end + 1);
        if (result != NULL) return result;
    }
    return NULL;
}

static const char *expand_least(ah_match *m, const char *s, const char *p, const char *end) {
    for (;;) {
        const char *result = match(m, s, end + 1);
        if (result != NULL) return result;
        if (!single(m, s, p, end)) return NULL;
        s++;
    }
}

static const char *start_capture(ah_match *m, const char *s, const char *p, ptrdiff_t what) {
    if (m->level >= AH_MAX_CAPTURES) luaL_error(m->L, "too many captures");
    m->captures[m->level] = (ah_capture){s, what};
    m->level++;
    const char *result = match(m, s, p);
    if (result == NULL) m->level--;
    return result;
}

static const char *end_capture(ah_match *m, const char *s, const char *p) {
    int i = m->level - 1;
    while (i >= 0 && m->captures[i].count != AH_CAPTURE_OPEN) i--;
    if (i < 0) luaL_error(m->L, "invalid pattern capture");
    m->captures[i].count = s - m->captures[i].start;
    const char *result = match(m, s, p);
    if (result == NULL) m->captures[i].count = AH_CAPTURE_OPEN;
    return result;
}

static const char *back_reference(ah_match *m, const char *s, char digit) {
    int i = digit - '1';
    if (i < 0 || i >= m->level || m->captures[i].count == AH_CAPTURE_OPEN) luaL_error(m->L, "invalid capture index %%%d", i + 1);
    ptrdiff_t count = m->captures[i].count;
    if (count == AH_CAPTURE_POSITION) return NULL;   // a position has no text to match
    m->steps += (size_t)count / 16;
    step(m);
    if (m->subject_end - s < count || memcmp(m->captures[i].start, s, (size_t)count) != 0) return NULL;
    return s + count;
}

static const char *frontier(ah_match *m, const char *s, const char *p, const char **rest) {
    if (p >= m->pattern_end || *p != '[') luaL_error(m->L, "missing '[' after '%%f' in pattern");
    const char *end = class_end(m, p);
    int before = s == m->subject ? 0 : (unsigned char)s[-1];
    int here = s == m->subject_end ? 0 : (unsigned char)*s;
    *rest = end;
    step(m);
    return !in_set(m, before, p, end - 1) && in_set(m, here, p, end - 1) ? s : NULL;
}

/// One item of the pattern that begins with a class: with its repetition. `*rest` is NULL when the item decided the whole match.
static const char *repeated(ah_match *m, const char *s, const char *p, const char **rest) {
    const char *end = class_end(m, p);
    char mark = end < m->pattern_end ? *end : 0;
    *rest = NULL;
    switch (mark) {
    case '?': {
        if (single(m, s, p, end)) {
            const char *result = match(m, s + 1, end + 1);
            if (result != NULL) return result;
        }
        *rest = end + 1;
        return s;
    }
    case '*': return expand_most(m, s, p, end);
    case '+': return single(m, s, p, end) ? expand_most(m, s + 1, p, end) : NULL;
    case '-': return expand_least(m, s, p, end);
    default:
        if (!single(m, s, p, end)) return NULL;
        *rest = end;
        return s + 1;
    }
}

static const char *match(ah_match *m, const char *s, const char *p) {
    if (m->depth-- == 0) luaL_error(m->L, "pattern too complex");
    while (s != NULL && p < m->pattern_end) {
        step(m);
        const char *rest = NULL;
        if (*p == '(') {
            if (p + 1 < m->pattern_end && p[1] == ')') s = start_capture(m, s, p + 2, AH_CAPTURE_POSITION);
            else s = start_capture(m, s, p + 1, AH_CAPTURE_OPEN);
        } else if (*p == ')') {
            s = end_capture(m, s, p + 1);
        } else if (*p == '$' && p + 1 == m->pattern_end) {
            if (s != m->subject_end) s = NULL;
        } else if (*p == ESCAPE && p + 1 < m->pattern_end && p[1] == 'b') {
            s = balance(m, s, p + 2);
            rest = p + 4;
        } else if (*p == ESCAPE && p + 1 < m->pattern_end && p[1] == 'f') {
            s = frontier(m, s, p + 2, &rest);
        } else if (*p == ESCAPE && p + 1 < m->pattern_end && isdigit((unsigned char)p[1])) {
            s = back_reference(m, s, p[1]);
            rest = p + 2;
        } else {
            s = repeated(m, s, p, &rest);
        }
        if (rest == NULL) break;
        p = rest;
    }
    m->depth++;
    return s;
}

const char *ah_match_at(ah_match *m, const char *s, const char *pattern) {
    m->level = 0;
    m->depth = AH_MATCH_DEPTH;
    return match(m, s, pattern);
}

void ah_match_push(ah_match *m, int i, const char *start, const char *end) {
    if (i >= m->level) {
        if (i != 0) luaL_error(m->L, "invalid capture index %%%d", i + 1);
        lua_pushlstring(m->L, start, (size_t)(end - start));
        return;
    }
    ah_capture c = m->captures[i];
    if (c.count == AH_CAPTURE_OPEN) luaL_error(m->L, "unfinished capture");
    if (c.count == AH_CAPTURE_POSITION) lua_pushinteger(m->L, c.start - m->subject + 1);
    else lua_pushlstring(m->L, c.start, (size_t)c.count);
}

int ah_match_push_all(ah_match *m, const char *start, const char *end) {
    int n = m->level == 0 && start != NULL ? 1 : m->level;
    luaL_checkstack(m->L, n, "too many captures");
    for (int i = 0; i < n; i++) ah_match_push(m, i, start, end);
    return n;
}
