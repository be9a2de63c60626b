// Lua patterns with a step budget: the C library's matcher runs for minutes without a hook (see architecture).

#ifndef AH_PATTERN_H
#define AH_PATTERN_H

#include "vm.h"

enum { AH_MAX_CAPTURES = 32, AH_MATCH_DEPTH = 200 };

typedef struct ah_capture {
    const char *start;
    ptrdiff_t count;                  // or one of the two below
} ah_capture;
enum { AH_CAPTURE_OPEN = -1, AH_CAPTURE_POSITION = -2 };

typedef struct ah_match {
    lua_State *L;
    const char *subject, *subject_end, *pattern_end;
    int depth;
    size_t steps;                     // not yet charged
    int level;                        // captures
    ah_capture captures[AH_MAX_CAPTURES];
} ah_match;

/// Begins a match of a pattern against a subject; both must stay on the Lua stack.                                    [never]
void ah_match_prepare(ah_match *m, lua_State *L, const char *subject, size_t subject_count, const char *pattern, size_t pattern_count);
/// The end of the match that starts at `s`, or NULL.                                                                  [raises]
const char *ah_match_at(ah_match *m, const char *s, const char *pattern);
/// Pushes capture `i`, or the whole match when there are no captures and `i` is 0.                                     [raises]
void ah_match_push(ah_match *m, int i, const char *start, const char *end);
/// Pushes all captures, or the whole match when there are none and `start` is not NULL; returns how many.              [raises]
int ah_match_push_all(ah_match *m, const char *start, const char *end);
/// Charges the steps that were counted and not yet charged.                                                            [raises]
void ah_match_settle(ah_match *m);

#endif
