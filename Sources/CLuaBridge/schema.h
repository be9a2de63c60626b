// A compiled schema: what a message, or the parameters of a session, may look like.
//   schema.c           the constants, life, JSON Schema
//   schema_type.c      from a type string
//   schema_compile.c   from the Lua table that the script returned
//   schema_decode.c    JSON text to Lua values
//   schema_encode.c    Lua values to JSON text

#ifndef AH_SCHEMA_H
#define AH_SCHEMA_H

#include "json.h"

enum {
    AH_SCHEMA_TEXT = 500,        // code points of a `string` without bounds
    AH_SCHEMA_ANY_DEPTH = 16,
    AH_SCHEMA_MAP_KEYS = 1000,
    AH_SCHEMA_FIELDS = 256,      // of one object
    AH_SCHEMA_NODES = 10000,     // of one message
    AH_SCHEMA_NESTING = 32,
    AH_SCHEMA_NAME = 64,         // bytes of a field's name
};

typedef enum ah_schema_kind {
    AH_KIND_STRING,   // least…most code points
    AH_KIND_INTEGER,  // least…most
    AH_KIND_NUMBER,   // low…high
    AH_KIND_BOOLEAN,
    AH_KIND_ID,
    AH_KIND_UUID,
    AH_KIND_COLOR,
    AH_KIND_ENUM,     // words
    AH_KIND_ANY,      // most: depth
    AH_KIND_LIST,     // element, most
    AH_KIND_MAP,      // element, most
    AH_KIND_OBJECT,   // fields
} ah_schema_kind;

typedef struct ah_field {
    char *name;
    size_t count;
    ah_schema *schema;
} ah_field;

struct ah_schema {
    ah_schema_kind kind;
    bool optional;
    bool bounded;            // least and most, or low and high, were given
    int64_t least, most;
    double low, high;
    ah_schema *element;
    ah_field *fields;        // sorted by name; of an enum the words, in the order written
    size_t field_count;
};

ah_schema *ah_schema_make(ah_schema_kind kind);
/// Adds a field, or with a NULL schema a word of an enum; copies the name, takes over the schema. [never]
void ah_schema_add_field(ah_schema *s, const char *name, size_t count, ah_schema *schema);
/// Compiles a type string; counts in `nodes` what it makes. NULL and a reason if it is wrong. [never]
ah_schema *ah_schema_parse(const char *text, size_t count, size_t *nodes, ah_buffer *reason);
/// True if a list may be that long. [never]
bool ah_schema_is_limit(int64_t n);
/// Appends `unknown <what> "text", did you mean …`; false. `names` ends with NULL. [never]
bool ah_schema_say_unknown(ah_buffer *reason, const char *what, const char *text, size_t count, const char *const *names);
/// The field of an object by name, -1 if it has none; `hint` is where to look first. [never]
int ah_schema_field(const ah_schema *s, const void *name, size_t count, int hint);
/// Checks a string against a kind that is text; on a mismatch says why in `reason`. [never]
bool ah_schema_check_text(const ah_schema *s, const uint8_t *text, size_t count, ah_buffer *reason);
bool ah_schema_check_integer(const ah_schema *s, int64_t value, ah_buffer *reason);
bool ah_schema_check_number(const ah_schema *s, double value, ah_buffer *reason);
/// "integer", "list", "one of a, b": what is expected, in the words of an error. [never]
void ah_schema_expect(const ah_schema *s, ah_buffer *reason);
/// Appends "<expected> expected, got <got>"; false, for its callers to return. [never]
bool ah_schema_mismatch(const ah_schema *s, const char *got, ah_buffer *reason);
/// Appends formatted text; false. [never]
bool ah_schema_say(ah_buffer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// Puts one step in front of a path that was found from the inside out. [never]
void ah_schema_prepend_key(ah_buffer *path, const uint8_t *key, size_t count);
void ah_schema_prepend_index(ah_buffer *path, uint64_t index);

#endif
