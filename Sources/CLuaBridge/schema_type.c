// Type strings, `integer(0,10)?` and the like, and what both ways into a schema share.

#include <stdlib.h>
#include <string.h>

#include "schema.h"
#include "vm.h"

typedef struct parser {
    size_t *nodes;
    ah_buffer *reason;
} parser;

static const char *const typeNames[] = {"string", "integer", "number", "boolean", "id", "uuid", "color", "enum", "any", NULL};

static void *allocate(size_t size) {
    void *result = calloc(1, size);
    if (result == NULL) {
        abort();
    }
    return result;
}

ah_schema *ah_schema_make(ah_schema_kind kind) {
    ah_schema *s = allocate(sizeof *s);
    s->kind = kind;
    return s;
}

static ah_schema *make(parser *c, ah_schema_kind kind) {
    ++*c->nodes;
    return ah_schema_make(kind);
}

/// Frees what was built so far; the reason has been said.
static ah_schema *give_up(ah_schema *s) {
    ah_schema_free(s);
    return NULL;
}

bool ah_schema_say_unknown(ah_buffer *reason, const char *what, const char *text, size_t count, const char *const *names) {
    char word[64] = "";
    if (count < sizeof word && ah_utf8_valid((const uint8_t *)text, count)) {
        memcpy(word, text, count);
    }
    ah_schema_say(reason, "unknown %s ", what);
    ah_json_string(reason, (const uint8_t *)word, strlen(word));
    const char *nearest = ah_nearest(word, names);
    return nearest == NULL ? false : ah_schema_say(reason, ", did you mean \"%s\"?", nearest);
}

/// What is left of a type string.
typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_spaces(cursor *p) {
    while (p->at < p->end && *p->at == ' ') {
        p->at++;
    }
}

static bool take(cursor *p, char c) {
    skip_spaces(p);
    if (p->at < p->end && *p->at == c) {
        p->at++;
        return true;
    }
    return false;
}

static bool take_number(cursor *p, ah_number_kind *kind, int64_t *integer, double *real) {
    skip_spaces(p);
    const uint8_t *after;
    *kind = ah_number_scan((const uint8_t *)p->at, (const uint8_t *)p->end, &after, integer, real);
    p->at = (const char *)after;
    if (*kind == AH_NUMBER_INTEGER) {
        *real = (double)*integer;
    }
    return *kind == AH_NUMBER_INTEGER || *kind == AH_NUMBER_DOUBLE;
}

static bool take_integer(cursor *p, int64_t *integer) {
    ah_number_kind kind;
    double real;
    return take_number(p, &kind, integer, &real) && kind == AH_NUMBER_INTEGER;
}

static bool parse_string(parser *c, cursor *p, ah_schema *s) {
    s->most = AH_SCHEMA_TEXT;
    if (!take(p, '(')) {
        return true;
    }
    bool good = take_integer(p, &s->most);
    if (good && take(p, ',')) {
        s->least = s->most;
        good = take_integer(p, &s->most);
    }
    good = good && take(p, ')') && s->least >= 0 && s->least <= s->most && s->most <= AH_MAX_STRING;
    return good || ah_schema_say(c->reason, "string takes (MAX) or (MIN,MAX), from 0 to %d", AH_MAX_STRING);
}

static bool parse_integer(parser *c, cursor *p, ah_schema *s) {
    if (!take(p, '(')) {
        return true;
    }
    s->bounded = true;
    bool good = take_integer(p, &s->least) && take(p, ',') && take_integer(p, &s->most) && take(p, ')') && s->least <= s->most;
    return good || ah_schema_say(c->reason, "integer takes (MIN,MAX), two integers");
}

static bool parse_number(parser *c, cursor *p, ah_schema *s) {
    if (!take(p, '(')) {
        return true;
    }
    s->bounded = true;
    ah_number_kind kind;
    int64_t integer;
    bool good = take_number(p, &kind, &integer, &s->low) && take(p, ',') && take_number(p, &kind, &integer, &s->high) && take(p, ')') &&
                s->low <= s->high;
    return good || ah_schema_say(c->reason, "number takes (MIN,MAX), two numbers");
}

void ah_schema_add_field(ah_schema *s, const char *name, size_t count, ah_schema *schema) {
    s->fields = realloc(s->fields, (s->field_count + 1) * sizeof *s->fields);
    if (s->fields == NULL) {
        abort();
    }
    char *copy = allocate(count + 1);
    memcpy(copy, name, count);
    s->fields[s->field_count++] = (ah_field){copy, count, schema};
}

static bool parse_enum(parser *c, cursor *p, ah_schema *s) {
    bool more = take(p, '(');
    while (more) {
        skip_spaces(p);
        const char *from = p->at;
        while (p->at < p->end && *p->at != ',' && *p->at != ')') {
            p->at++;
        }
        const char *to = p->at;
        while (to > from && to[-1] == ' ') {
            to--;
        }
        size_t count = (size_t)(to - from);
        bool repeated = false;
        for (size_t i = 0; i < s->field_count; i++) {
            repeated = repeated || ah_schema_field(&(ah_schema){.fields = &s->fields[i], .field_count = 1}, from, count, 0) == 0;
        }
        bool good = count >= 1 && count <= AH_SCHEMA_NAME && ah_utf8_valid((const uint8_t *)from, count);
        if (!good || repeated || s->field_count == AH_SCHEMA_FIELDS || p->at == p->end) {
            break;
        }
        ah_schema_add_field(s, from, count, NULL);
        if (take(p, ')')) {
            return true;
        }
        more = take(p, ',');
    }
    return ah_schema_say(c->reason, "enum takes a list of different words of at most %d bytes, enum(red,green)", AH_SCHEMA_NAME);
}

static ah_schema *parse_base(parser *c, cursor *p) {
    skip_spaces(p);
    const char *from = p->at;
    while (p->at < p->end && ((*p->at >= 'a' && *p->at <= 'z') || (*p->at >= 'A' && *p->at <= 'Z') || *p->at == '_')) {
        p->at++;
    }
    size_t count = (size_t)(p->at - from), kind = 0;
    while (typeNames[kind] != NULL && (strlen(typeNames[kind]) != count || memcmp(typeNames[kind], from, count) != 0)) {
        kind++;
    }
    if (typeNames[kind] == NULL) {
        ah_schema_say_unknown(c->reason, "type", from, count, typeNames);
        return NULL;
    }
    ah_schema *s = make(c, (ah_schema_kind)kind);  // typeNames stand in the order of the kinds
    bool good = true;
    switch (s->kind) {
    case AH_KIND_STRING: good = parse_string(c, p, s); break;
    case AH_KIND_INTEGER: good = parse_integer(c, p, s); break;
    case AH_KIND_NUMBER: good = parse_number(c, p, s); break;
    case AH_KIND_ENUM: good = parse_enum(c, p, s); break;
    case AH_KIND_ANY: s->most = AH_SCHEMA_ANY_DEPTH; break;
    default: break;
    }
    return good ? s : give_up(s);
}

bool ah_schema_is_limit(int64_t n) { return n >= 1 && n <= 1000000; }

ah_schema *ah_schema_parse(const char *text, size_t count, size_t *nodes, ah_buffer *reason) {
    parser parser = {nodes, reason}, *c = &parser;
    cursor p = {text, text + count};
    ah_schema *s = parse_base(c, &p);
    int lists = 0;
    while (s != NULL && take(&p, '[')) {
        ah_schema *list = make(c, AH_KIND_LIST);
        list->element = s;
        s = list;
        if (!take_integer(&p, &s->most) || !take(&p, ']') || !ah_schema_is_limit(s->most) || ++lists > 8) {
            ah_schema_say(c->reason, "a list has a limit, from [1] to [1000000]");
            return give_up(s);
        }
    }
    if (s == NULL) {
        return NULL;
    }
    s->optional = take(&p, '?');
    skip_spaces(&p);
    if (p.at == p.end) {
        return s;
    }
    if (s->optional && *p.at == '[') {
        ah_schema_say(c->reason, "the elements of a list cannot be optional; \"?\" comes last");
    } else {
        ah_schema_say(c->reason, "unexpected ");
        ah_json_string(c->reason, (const uint8_t *)p.at, (uint8_t)*p.at < 0x80 ? 1 : 0);
        ah_schema_say(c->reason, " in a type");
    }
    return give_up(s);
}
