// A cursor over JSON text that is known to come from a host under test: it finds members without building values,
// and says so when the text is not JSON.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A piece of the text; it does not own the bytes.
typedef struct {
    const char *start;
    size_t length;
} span;

/// Where a walk over one array or object stands. `failed` stays set once the text turned out not to be JSON.
typedef struct {
    const char *at;
    const char *end;
    bool started;
    bool failed;
} json_walk;

/// Starts a walk over the elements of the array, or the members of the object, that `text` holds and nothing else.
json_walk json_array(span text);
json_walk json_object(span text);

/// The next element of an array. False at its end, or when the walk failed.
bool json_next_element(json_walk *walk, span *element);

/// The next member of an object; the key comes without its quotes and with its escapes as written.
bool json_next_member(json_walk *walk, span *key, span *value);

/// The value of one member of the object `text`. False when it is not there.
bool json_member(span text, const char *key, span *value);

/// Whether the span is the string `text`, quotes left out of `text`.
bool json_is_string(span value, const char *text);

/// Copies a string value without its quotes. False when it is no string, has escapes, or does not fit.
bool json_copy_string(span value, char *into, size_t capacity);

/// Reads an integer. False when it is none.
bool json_integer(span value, int64_t *number);

/// Whether two pieces are the same bytes.
bool span_equals(span piece, const char *text);
