// A document from its JSON. Only snapshots come this way, outside of transactions; each is checked like a stranger's.

#include <stdlib.h>

#include "document.h"

static bool read_value(ah_document *d, ah_json *j, int depth, ah_value *out);

/// A string of the text as a text of the document.
static bool read_text(ah_document *d, ah_json_text raw, bool key, ah_text **out, ah_json *j) {
    if (!raw.escaped) {
        if (raw.count > AH_MAX_STRING) {
            return ah_json_fail(j, "string longer than 1 MiB");
        }
        *out = key ? ah_document_key(d, raw.raw, raw.count) : ah_document_text(d, raw.raw, raw.count);
        return true;
    }
    uint8_t *bytes = malloc(raw.count);
    if (bytes == NULL) {
        abort();
    }
    size_t count = ah_json_unescape(raw, bytes);
    bool fits = count <= AH_MAX_STRING;
    if (fits) {
        *out = key ? ah_document_key(d, bytes, count) : ah_document_text(d, bytes, count);
    }
    free(bytes);
    return fits || ah_json_fail(j, "string longer than 1 MiB");
}

static bool read_members(ah_document *d, ah_json *j, int depth, ah_node *n) {
    bool list = ah_node_is_list(n), more = true;
    uint8_t close = list ? ']' : '}';
    if (ah_json_take(j, close)) {
        return true;
    }
    while (more) {
        ah_text *key = NULL;
        if (!list) {
            ah_json_text raw;
            uint32_t at;
            if (!ah_json_scan_key(j, &raw) || !read_text(d, raw, true, &key, j)) {
                return false;
            }
            if (ah_map_find(n, key->bytes, key->count, &at)) {
                ah_document_release(d, key);
                return ah_json_fail(j, "duplicate key");
            }
        }
        ah_value v;
        if (!read_value(d, j, depth + 1, &v)) {
            if (key != NULL) {
                ah_document_release(d, key);
            }
            return false;
        }
        if (list) {
            ah_list_put(n, n->s.used, v);
        } else {
            ah_map_append(n, key, v);
        }
        if (!ah_json_more(j, close, &more)) {
            return false;
        }
    }
    return true;
}

static bool read_number(ah_json *j, ah_value *out) {
    ah_number_kind kind;
    int64_t integer;
    double real;
    if (!ah_json_scan_number(j, &kind, &integer, &real)) {
        return false;
    }
    if (kind == AH_NUMBER_TOO_LARGE) {
        return ah_json_fail(j, "number too large");
    }
    *out = kind == AH_NUMBER_INTEGER ? ah_value_integer(integer) : ah_value_double(real);
    return true;
}

static bool read_value(ah_document *d, ah_json *j, int depth, ah_value *out) {
    uint8_t c = ah_json_peek(j);
    switch (c) {
    case '{':
    case '[': {
        if (depth > AH_MAX_DEPTH) {
            return ah_json_fail(j, "too deeply nested");
        }
        j->at++;
        ah_node *n = ah_node_new(d, c == '[' ? AH_LIST : AH_MAP, (uint8_t)depth);
        if (!read_members(d, j, depth, n)) {
            ah_node_free_deep(n);
            return false;
        }
        *out = ah_value_node(n);
        return true;
    }
    case '"': {
        ah_json_text raw;
        ah_text *text;
        if (!ah_json_scan_string(j, &raw) || !read_text(d, raw, false, &text, j)) {
            return false;
        }
        *out = ah_value_text(text);
        return true;
    }
    case 't': *out = (ah_value){.tag = AH_TRUE}; return ah_json_scan_word(j, "true");
    case 'f': *out = (ah_value){.tag = AH_FALSE}; return ah_json_scan_word(j, "false");
    case 'n': *out = (ah_value){.tag = AH_NULL}; return ah_json_scan_word(j, "null");
    default: return read_number(j, out);
    }
}

bool ah_document_read_root(ah_document *d, ah_json *j) {
    uint8_t c = ah_json_peek(j);
    if (c != '{' && c != '[') {
        return ah_json_fail(j, "the state must be an object or a list");
    }
    ah_value v;
    bool read = read_value(d, j, 1, &v);
    d->born = NULL;
    if (!read) {
        return false;
    }
    ah_node_free_deep(d->root);
    d->root = v.as.node;
    d->bytes = ah_node_mark(d->root, true);
    return true;
}
