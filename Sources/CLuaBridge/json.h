// Reading JSON text: a cursor that its users drive along what they expect. Strict RFC 8259; nothing here recurses.

#ifndef AH_JSON_H
#define AH_JSON_H

#include "internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A place in JSON text. After a failure `error` is a static sentence part and `at` the place it is about.
typedef struct ah_json {
    const uint8_t *start, *at, *end;
    const char *error;
} ah_json;

/// A string as it stands in the text, between its quotes; checked (UTF-8, escapes), not yet unescaped.
typedef struct ah_json_text {
    const uint8_t *raw;
    size_t count;
    bool escaped;
} ah_json_text;

static inline ah_json ah_json_begin(ah_bytes text) {
    return (ah_json){text.base, text.base, text.base + text.count, NULL};
}

static inline bool ah_json_fail(ah_json *j, const char *error) {
    j->error = error;
    return false;
}

/// Skips white space; returns the byte there without taking it, 0 at the end (a NUL byte is no JSON either).
static inline uint8_t ah_json_peek(ah_json *j) {
    while (j->at < j->end) {
        uint8_t c = *j->at;
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
            return c;
        }
        j->at++;
    }
    return 0;
}

/// Takes `byte` if it is the next one after white space.
static inline bool ah_json_take(ah_json *j, uint8_t byte) {
    if (ah_json_peek(j) != byte || j->at == j->end) {
        return false;
    }
    j->at++;
    return true;
}

/// What follows an element: takes a comma (`more` becomes true) or `close` (false); anything else fails.
bool ah_json_more(ah_json *j, uint8_t close, bool *more);
/// Takes a string, the cursor standing before it or before white space.
bool ah_json_scan_string(ah_json *j, ah_json_text *text);
/// Takes an object's key and the colon after it.
bool ah_json_scan_key(ah_json *j, ah_json_text *text);
/// Writes the meaning of `text` to `out`, which has room for `text.count` bytes (never longer than the raw form); returns its length.
size_t ah_json_unescape(ah_json_text text, uint8_t *out);
/// Takes `true`, `false` or `null`.
bool ah_json_scan_word(ah_json *j, const char *word);
/// Takes a number; `kind` is never AH_NUMBER_BAD on success (but may be AH_NUMBER_TOO_LARGE).
bool ah_json_scan_number(ah_json *j, ah_number_kind *kind, int64_t *integer, double *real);
/// Takes one value of any kind, at most `depth` levels deep (64 at most), and says where it stands. Keys may repeat.
bool ah_json_skip(ah_json *j, int depth, ah_bytes *value);
/// True if only white space is left; fails otherwise.
bool ah_json_finish(ah_json *j);
/// Appends "not valid JSON at byte N: <error>".
void ah_json_describe(const ah_json *j, ah_buffer *out);

/// Takes the longest prefix that is a JSON number; number.cc. `after` is where it ends.
ah_number_kind ah_number_scan(const uint8_t *at, const uint8_t *end, const uint8_t **after, int64_t *integer, double *real);
/// Length of what ah_double_text writes.
size_t ah_double_digits(double value);
size_t ah_integer_digits(int64_t value);

#ifdef __cplusplus
}
#endif

#endif
