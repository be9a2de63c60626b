// JSON text: the cursor's steps, and strings on the way out.

#include "json.h"

#include <stdio.h>
#include <string.h>

// MARK: UTF-8

/// The length of the valid sequence at `at` (RFC 3629: no overlong forms, no surrogates, U+10FFFF at most), 0 if there is none.
static size_t sequence(const uint8_t *at, const uint8_t *end) {
    size_t left = (size_t)(end - at);
    uint8_t c = at[0];
    if (c < 0x80) {
        return 1;
    }
    if (c >= 0xC2 && c <= 0xDF) {
        return left >= 2 && (at[1] & 0xC0) == 0x80 ? 2 : 0;
    }
    if (c >= 0xE0 && c <= 0xEF) {
        uint8_t low = c == 0xE0 ? 0xA0 : 0x80, high = c == 0xED ? 0x9F : 0xBF;
        return left >= 3 && at[1] >= low && at[1] <= high && (at[2] & 0xC0) == 0x80 ? 3 : 0;
    }
    if (c >= 0xF0 && c <= 0xF4) {
        uint8_t low = c == 0xF0 ? 0x90 : 0x80, high = c == 0xF4 ? 0x8F : 0xBF;
        return left >= 4 && at[1] >= low && at[1] <= high && (at[2] & 0xC0) == 0x80 && (at[3] & 0xC0) == 0x80 ? 4 : 0;
    }
    return 0;
}

static bool ascii8(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return (word & 0x8080808080808080u) == 0;
}

bool ah_utf8_valid(const uint8_t *bytes, size_t count) {
    const uint8_t *at = bytes, *end = bytes + count;
    while (at < end) {
        if (end - at >= 8 && ascii8(at)) {
            at += 8;
            continue;
        }
        size_t n = sequence(at, end);
        if (n == 0) {
            return false;
        }
        at += n;
    }
    return true;
}

size_t ah_utf8_count(const uint8_t *bytes, size_t count) {
    size_t points = 0;
    for (size_t i = 0; i < count; i++) {
        points += (bytes[i] & 0xC0) != 0x80;
    }
    return points;
}

// MARK: Strings out

/// What follows the backslash for a `c` that needs one: a letter, 'u' for the long form.
static char escape_of(uint8_t c) {
    switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 'u';
    }
}

static inline bool is_escaped(uint8_t c) { return c < 0x20 || c == '"' || c == '\\'; }

size_t ah_json_string_count(const uint8_t *bytes, size_t count) {
    size_t total = count + 2;
    for (size_t i = 0; i < count; i++) {
        if (is_escaped(bytes[i])) {
            total += escape_of(bytes[i]) == 'u' ? 5 : 1;
        }
    }
    return total;
}

void ah_json_string(ah_buffer *out, const uint8_t *bytes, size_t count) {
    ah_buffer_reserve(out, count + 2);
    ah_buffer_byte(out, '"');
    size_t from = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_escaped(bytes[i])) {
            continue;
        }
        ah_buffer_append(out, bytes + from, i - from);
        from = i + 1;
        char text[8], escape = escape_of(bytes[i]);
        int length = escape == 'u' ? snprintf(text, sizeof text, "\\u%04x", bytes[i]) : snprintf(text, sizeof text, "\\%c", escape);
        ah_buffer_append(out, text, (size_t)length);
    }
    if (count > from) {
        ah_buffer_append(out, bytes + from, count - from);
    }
    ah_buffer_byte(out, '"');
}

// MARK: Strings in

static int hex4(const uint8_t *at, const uint8_t *end) {
    if (end - at < 4) {
        return -1;
    }
    int value = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t c = at[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

/// Takes the escape that begins at the cursor's backslash.
static bool scan_escape(ah_json *j) {
    if (j->end - j->at < 2) {
        return ah_json_fail(j, "the text ends inside a string");
    }
    uint8_t c = j->at[1];
    if (c != 'u') {
        if (c == 0 || strchr("\"\\/bfnrt", c) == NULL) {
            return ah_json_fail(j, "unknown escape");
        }
        j->at += 2;
        return true;
    }
    int unit = hex4(j->at + 2, j->end);
    if (unit < 0) {
        return ah_json_fail(j, "\\u needs four hexadecimal digits");
    }
    if (unit >= 0xD800 && unit <= 0xDFFF) {
        bool paired = unit < 0xDC00 && j->end - j->at >= 12 && j->at[6] == '\\' && j->at[7] == 'u';
        int low = paired ? hex4(j->at + 8, j->end) : -1;
        if (low < 0xDC00 || low > 0xDFFF) {
            return ah_json_fail(j, "lone surrogate");
        }
        j->at += 6;
    }
    j->at += 6;
    return true;
}

/// Bytes that need a look inside a string: quotes, backslashes, control characters, the beginnings of longer sequences.
static const bool stops[256] = {[0 ... 0x1F] = true, ['"'] = true, ['\\'] = true, [0x80 ... 0xFF] = true};

bool ah_json_scan_string(ah_json *j, ah_json_text *text) {
    if (!ah_json_take(j, '"')) {
        return ah_json_fail(j, "a string is expected");
    }
    text->raw = j->at;
    text->escaped = false;
    for (;;) {
        const uint8_t *at = j->at, *end = j->end;
        while (at < end && !stops[*at]) {
            at++;
        }
        j->at = at;
        if (at == end) {
            break;
        }
        uint8_t c = *at;
        if (c == '"') {
            text->count = (size_t)(at - text->raw);
            j->at++;
            return true;
        }
        if (c == '\\') {
            text->escaped = true;
            if (!scan_escape(j)) {
                return false;
            }
        } else if (c < 0x20) {
            return ah_json_fail(j, "control character in a string");
        } else {
            size_t n = sequence(at, end);
            if (n == 0) {
                return ah_json_fail(j, "invalid UTF-8");
            }
            j->at += n;
        }
    }
    return ah_json_fail(j, "the text ends inside a string");
}

bool ah_json_scan_key(ah_json *j, ah_json_text *text) {
    if (!ah_json_scan_string(j, text)) {
        return false;
    }
    return ah_json_take(j, ':') || ah_json_fail(j, "':' is expected after a key");
}

static size_t put_point(uint32_t point, uint8_t *out) {
    if (point < 0x80) {
        out[0] = (uint8_t)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (uint8_t)(0xC0 | point >> 6);
        out[1] = (uint8_t)(0x80 | (point & 0x3F));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (uint8_t)(0xE0 | point >> 12);
        out[1] = (uint8_t)(0x80 | (point >> 6 & 0x3F));
        out[2] = (uint8_t)(0x80 | (point & 0x3F));
        return 3;
    }
    out[0] = (uint8_t)(0xF0 | point >> 18);
    out[1] = (uint8_t)(0x80 | (point >> 12 & 0x3F));
    out[2] = (uint8_t)(0x80 | (point >> 6 & 0x3F));
    out[3] = (uint8_t)(0x80 | (point & 0x3F));
    return 4;
}

size_t ah_json_unescape(ah_json_text text, uint8_t *out) {
    const uint8_t *at = text.raw, *end = text.raw + text.count;
    size_t count = 0;
    while (at < end) {
        const uint8_t *stop = text.escaped ? memchr(at, '\\', (size_t)(end - at)) : NULL;
        size_t plain = (size_t)((stop == NULL ? end : stop) - at);
        memcpy(out + count, at, plain);
        count += plain;
        at += plain;
        if (at == end) {
            break;
        }
        if (at[1] != 'u') {
            static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
            const char *letter = strchr(letters, at[1]);
            out[count++] = letter == NULL ? at[1] : (uint8_t)meanings[letter - letters];
            at += 2;
            continue;
        }
        uint32_t point = (uint32_t)hex4(at + 2, end);
        at += 6;
        if (point >= 0xD800 && point <= 0xDBFF) {
            point = 0x10000 + ((point - 0xD800) << 10) + ((uint32_t)hex4(at + 2, end) - 0xDC00);
            at += 6;
        }
        count += put_point(point, out + count);
    }
    return count;
}

// MARK: Other values in

bool ah_json_more(ah_json *j, uint8_t close, bool *more) {
    uint8_t c = ah_json_peek(j);
    if (c == ',' || (c == close && j->at < j->end)) {
        j->at++;
        *more = c == ',';
        return true;
    }
    return ah_json_fail(j, c == 0 ? "the text ends too early" : close == ']' ? "',' or ']' is expected" : "',' or '}' is expected");
}

bool ah_json_scan_word(ah_json *j, const char *word) {
    size_t count = strlen(word);
    ah_json_peek(j);
    if ((size_t)(j->end - j->at) < count || memcmp(j->at, word, count) != 0) {
        return ah_json_fail(j, "no JSON value begins like this");
    }
    j->at += count;
    return true;
}

/// True if a number may end before `c`; what looks like more of it ("01", "1.2.3", "0x10") may not follow.
static inline bool ends_number(uint8_t c) { return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool ah_json_scan_number(ah_json *j, ah_number_kind *kind, int64_t *integer, double *real) {
    ah_json_peek(j);
    const uint8_t *after;
    *kind = ah_number_scan(j->at, j->end, &after, integer, real);
    if (*kind == AH_NUMBER_BAD || (after < j->end && !ends_number(*after))) {
        return ah_json_fail(j, j->at == j->end ? "the text ends too early" : "no JSON value begins like this");
    }
    j->at = after;
    return true;
}

bool ah_json_skip(ah_json *j, int depth, ah_bytes *value) {
    uint8_t closing[AH_MAX_JSON_DEPTH];
    int open = 0;
    ah_json_peek(j);
    const uint8_t *from = j->at;
    ah_json_text text;
    for (;;) {
        uint8_t c = ah_json_peek(j);
        if (c == '{' || c == '[') {
            if (open == depth || open == AH_MAX_JSON_DEPTH) {
                return ah_json_fail(j, "too deeply nested");
            }
            j->at++;
            uint8_t close = c == '{' ? '}' : ']';
            if (!ah_json_take(j, close)) {
                closing[open++] = close;
                if (c == '{' && !ah_json_scan_key(j, &text)) {
                    return false;
                }
                continue;
            }
        } else if (c == '"') {
            if (!ah_json_scan_string(j, &text)) {
                return false;
            }
        } else if (c == 't' || c == 'f' || c == 'n') {
            if (!ah_json_scan_word(j, c == 't' ? "true" : c == 'f' ? "false" : "null")) {
                return false;
            }
        } else {
            ah_number_kind kind;
            int64_t integer;
            double real;
            if (!ah_json_scan_number(j, &kind, &integer, &real)) {
                return false;
            }
            if (kind == AH_NUMBER_TOO_LARGE) {
                return ah_json_fail(j, "number too large");
            }
        }
        bool more = false;
        while (open > 0 && !more) {
            if (!ah_json_more(j, closing[open - 1], &more)) {
                return false;
            }
            open -= more ? 0 : 1;
        }
        if (open == 0) {
            *value = (ah_bytes){from, (size_t)(j->at - from)};
            return true;
        }
        if (closing[open - 1] == '}' && !ah_json_scan_key(j, &text)) {
            return false;
        }
    }
}

bool ah_json_finish(ah_json *j) {
    ah_json_peek(j);
    return j->at == j->end || ah_json_fail(j, "something follows the value");
}

void ah_json_describe(const ah_json *j, ah_buffer *out) {
    char text[160];
    int length = snprintf(text, sizeof text, "not valid JSON at byte %zu: %s", (size_t)(j->at - j->start) + 1, j->error);
    ah_buffer_append(out, text, (size_t)length);
}
