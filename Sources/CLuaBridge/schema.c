// Schemas: checks of single values, and their form as JSON Schema.

#include "schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"

static const ah_schema any = {.kind = AH_KIND_ANY, .most = AH_SCHEMA_ANY_DEPTH};
static const ah_schema view = {.kind = AH_KIND_ANY, .most = AH_MAX_DEPTH};
const ah_schema *const ah_schema_any = &any;
const ah_schema *const ah_schema_view = &view;

void ah_schema_free(ah_schema *s) {
    if (s == NULL) {
        return;
    }
    for (size_t i = 0; i < s->field_count; i++) {
        free(s->fields[i].name);
        ah_schema_free(s->fields[i].schema);
    }
    free(s->fields);
    ah_schema_free(s->element);
    free(s);
}

int ah_schema_field(const ah_schema *s, const void *name, size_t count, int hint) {
    int fields = (int)s->field_count;
    if (hint < fields && s->fields[hint].count == count && memcmp(s->fields[hint].name, name, count) == 0) {
        return hint;
    }
    int low = 0, high = fields - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        const ah_field *f = &s->fields[middle];
        int order = memcmp(f->name, name, f->count < count ? f->count : count);
        order = order != 0 ? order : (f->count > count) - (f->count < count);
        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    return -1;
}

// MARK: Errors

bool ah_schema_say(ah_buffer *out, const char *format, ...) {
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ah_buffer_append(out, text, count < (int)sizeof text ? (size_t)count : sizeof text - 1);
    return false;
}

void ah_schema_expect(const ah_schema *s, ah_buffer *reason) {
    static const char *const names[] = {
        [AH_KIND_STRING] = "string", [AH_KIND_INTEGER] = "integer", [AH_KIND_NUMBER] = "number", [AH_KIND_BOOLEAN] = "boolean",
        [AH_KIND_ID] = "id", [AH_KIND_UUID] = "uuid", [AH_KIND_COLOR] = "color", [AH_KIND_ENUM] = "one of ",
        [AH_KIND_ANY] = "any value", [AH_KIND_LIST] = " list", [AH_KIND_MAP] = "object", [AH_KIND_OBJECT] = "object"};
    if (s->kind == AH_KIND_LIST) {
        ah_schema_expect(s->element, reason);
    }
    ah_schema_say(reason, "%s", names[s->kind]);
    enum { shown = 12 };
    for (size_t i = 0; s->kind == AH_KIND_ENUM && i < s->field_count; i++) {
        if (i == shown) {
            ah_schema_say(reason, ", …");
            break;
        }
        ah_schema_say(reason, "%s%s", i > 0 ? ", " : "", s->fields[i].name);
    }
}

bool ah_schema_mismatch(const ah_schema *s, const char *got, ah_buffer *reason) {
    ah_schema_expect(s, reason);
    return ah_schema_say(reason, " expected, got %s", got);
}

static void prepend(ah_buffer *path, ah_buffer *step) {
    // A key that follows begins without its dot, since its path was empty when it was written.
    if (path->count > 0 && path->base[0] != '[') {
        ah_buffer_byte(step, '.');
    }
    ah_buffer_append(step, path->base, path->count);
    path->count = 0;
    ah_buffer_append(path, step->base, step->count);
    ah_buffer_free(step);
}

void ah_schema_prepend_key(ah_buffer *path, const uint8_t *key, size_t count) {
    ah_buffer step = {0};
    ah_path_key(&step, key, count);
    prepend(path, &step);
}

void ah_schema_prepend_index(ah_buffer *path, uint64_t index) {
    ah_buffer step = {0};
    ah_path_index(&step, index);
    prepend(path, &step);
}

// MARK: Checks

static bool is_hex(uint8_t c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

static bool is_id(const uint8_t *text, size_t count) {
    bool good = count >= 1 && count <= 64;
    for (size_t i = 0; good && i < count; i++) {
        uint8_t c = text[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    }
    return good;
}

static bool is_uuid(const uint8_t *text, size_t count) {
    bool good = count == 36;
    for (size_t i = 0; good && i < count; i++) {
        good = i == 8 || i == 13 || i == 18 || i == 23 ? text[i] == '-' : is_hex(text[i]);
    }
    return good;
}

static bool is_color(const uint8_t *text, size_t count) {
    bool good = count == 7 && text[0] == '#';
    for (size_t i = 1; good && i < count; i++) {
        good = is_hex(text[i]);
    }
    return good;
}

static bool is_word(const ah_schema *s, const uint8_t *text, size_t count) {
    for (size_t i = 0; i < s->field_count; i++) {
        if (s->fields[i].count == count && memcmp(s->fields[i].name, text, count) == 0) {
            return true;
        }
    }
    return false;
}

/// Quotes what came instead, cut short.
static bool mismatch_text(const ah_schema *s, const uint8_t *text, size_t count, ah_buffer *reason) {
    ah_schema_expect(s, reason);
    ah_schema_say(reason, " expected, got ");
    size_t shown = count > 40 ? 40 : count;
    while (shown > 0 && shown < count && (text[shown] & 0xC0) == 0x80) {
        shown--;
    }
    ah_json_string(reason, text, shown);
    return ah_schema_say(reason, "%s", shown < count ? "…" : "");
}

bool ah_schema_check_text(const ah_schema *s, const uint8_t *text, size_t count, ah_buffer *reason) {
    if (count > AH_MAX_STRING) {
        return ah_schema_say(reason, "string longer than 1 MiB");
    }
    switch (s->kind) {
    case AH_KIND_STRING: {
        if ((int64_t)count <= s->most && s->least == 0) {
            return true;
        }
        int64_t points = (int64_t)ah_utf8_count(text, count);
        if (points > s->most) {
            return ah_schema_say(reason, "string of at most %lld characters expected, got %lld", (long long)s->most, (long long)points);
        }
        return points >= s->least ||
               ah_schema_say(reason, "string of at least %lld characters expected, got %lld", (long long)s->least, (long long)points);
    }
    case AH_KIND_ID: return is_id(text, count) || mismatch_text(s, text, count, reason);
    case AH_KIND_UUID: return is_uuid(text, count) || mismatch_text(s, text, count, reason);
    case AH_KIND_COLOR: return is_color(text, count) || mismatch_text(s, text, count, reason);
    case AH_KIND_ENUM: return is_word(s, text, count) || mismatch_text(s, text, count, reason);
    case AH_KIND_ANY: return true;
    default: return ah_schema_mismatch(s, "string", reason);
    }
}

bool ah_schema_check_integer(const ah_schema *s, int64_t value, ah_buffer *reason) {
    if (s->kind == AH_KIND_ANY) {
        return true;
    }
    if (s->kind == AH_KIND_NUMBER) {
        // Converting rounds to the nearest double, which cannot cross a bound that is one.
        return !s->bounded || ah_schema_check_number(s, (double)value, reason);
    }
    if (s->kind != AH_KIND_INTEGER) {
        return ah_schema_mismatch(s, "integer", reason);
    }
    if (!s->bounded || (value >= s->least && value <= s->most)) {
        return true;
    }
    return ah_schema_say(reason, "integer from %lld to %lld expected, got %lld", (long long)s->least, (long long)s->most, (long long)value);
}

bool ah_schema_check_number(const ah_schema *s, double value, ah_buffer *reason) {
    if (s->kind == AH_KIND_ANY || (s->kind == AH_KIND_NUMBER && (!s->bounded || (value >= s->low && value <= s->high)))) {
        return true;
    }
    char text[33];
    text[ah_double_text(value, text)] = 0;
    if (s->kind != AH_KIND_NUMBER) {
        return ah_schema_mismatch(s, s->kind == AH_KIND_INTEGER ? text : "number", reason);
    }
    return ah_schema_say(reason, "number from %.17g to %.17g expected, got %s", s->low, s->high, text);
}

// MARK: JSON Schema

static void write_text(ah_buffer *out, const char *text) { ah_buffer_append(out, text, strlen(text)); }

static void write_object(const ah_schema *s, ah_buffer *out) {
    write_text(out, "\"type\":\"object\",\"properties\":{");
    for (size_t i = 0; i < s->field_count; i++) {
        write_text(out, i > 0 ? "," : "");
        ah_json_string(out, (const uint8_t *)s->fields[i].name, s->fields[i].count);
        ah_buffer_byte(out, ':');
        ah_schema_write(s->fields[i].schema, out);
    }
    write_text(out, "},\"required\":[");
    bool first = true;
    for (size_t i = 0; i < s->field_count; i++) {
        if (!s->fields[i].schema->optional) {
            write_text(out, first ? "" : ",");
            ah_json_string(out, (const uint8_t *)s->fields[i].name, s->fields[i].count);
            first = false;
        }
    }
    write_text(out, "],\"additionalProperties\":false");
}

static void write_number(ah_buffer *out, double value) {
    char text[32];
    ah_buffer_append(out, text, ah_double_text(value, text));
}

static void write_words(const ah_schema *s, ah_buffer *out) {
    switch (s->kind) {
    case AH_KIND_STRING:
        write_text(out, "\"type\":\"string\",");
        if (s->least > 0) {
            ah_schema_say(out, "\"minLength\":%lld,", (long long)s->least);
        }
        ah_schema_say(out, "\"maxLength\":%lld", (long long)s->most);
        break;
    case AH_KIND_INTEGER:
        write_text(out, "\"type\":\"integer\"");
        if (s->bounded) {
            ah_schema_say(out, ",\"minimum\":%lld,\"maximum\":%lld", (long long)s->least, (long long)s->most);
        }
        break;
    case AH_KIND_NUMBER:
        write_text(out, "\"type\":\"number\"");
        if (s->bounded) {
            write_text(out, ",\"minimum\":");
            write_number(out, s->low);
            write_text(out, ",\"maximum\":");
            write_number(out, s->high);
        }
        break;
    case AH_KIND_BOOLEAN: write_text(out, "\"type\":\"boolean\""); break;
    case AH_KIND_ID: write_text(out, "\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_-]{1,64}$\""); break;
    case AH_KIND_UUID: write_text(out, "\"type\":\"string\",\"format\":\"uuid\""); break;
    case AH_KIND_COLOR: write_text(out, "\"type\":\"string\",\"format\":\"color\",\"pattern\":\"^#[0-9A-Fa-f]{6}$\""); break;
    case AH_KIND_ENUM:
        write_text(out, "\"enum\":[");
        for (size_t i = 0; i < s->field_count; i++) {
            write_text(out, i > 0 ? "," : "");
            ah_json_string(out, (const uint8_t *)s->fields[i].name, s->fields[i].count);
        }
        write_text(out, "]");
        break;
    case AH_KIND_ANY: break;
    case AH_KIND_LIST:
        write_text(out, "\"type\":\"array\",\"items\":");
        ah_schema_write(s->element, out);
        ah_schema_say(out, ",\"maxItems\":%lld", (long long)s->most);
        break;
    case AH_KIND_MAP:
        write_text(out, "\"type\":\"object\",\"additionalProperties\":");
        ah_schema_write(s->element, out);
        ah_schema_say(out, ",\"maxProperties\":%lld", (long long)s->most);
        break;
    case AH_KIND_OBJECT: write_object(s, out); break;
    }
}

void ah_schema_write(const ah_schema *s, ah_buffer *out) {
    write_text(out, "{");
    write_words(s, out);
    write_text(out, "}");
}
