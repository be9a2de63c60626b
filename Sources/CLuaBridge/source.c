// What a source has to be before Lua may see it: text, not too long, and without shapes that Lua 5.4.4 cannot stand.
//
// When Lua names the culprit of an error ("field 'x'") it follows the expression backwards, one C call for each `.x` or
// `[k]`, and each call scans the function from its start. No hook fires there. So the length of such chains is bounded
// here, where a table index counts with all that stands in its brackets.
//
// The parser runs without a hook as well, and takes time with the square of some things: labels, jumps, branches, operands
// of `and` and `or`, names below nested functions. Their numbers are bounded far above what people write.

#include <stdio.h>
#include <string.h>

#include "vm.h"

enum {
    MAX_NESTING = 250,
    MAX_LABELS = 500,
    MAX_JUMPS = 2000,                 // goto and break
    MAX_BRANCHES = 2000,              // elseif
    MAX_OPERANDS = 500,               // of `and` and `or` in one expression
    MAX_LOOKUPS = 60000000,           // comparisons when each name is looked for among 200 locals of each function around it
};

typedef enum frame_kind { FRAME_GROUP, FRAME_CALL, FRAME_INDEX, FRAME_KEY, FRAME_TABLE } frame_kind;

typedef struct frame {
    frame_kind kind;
    int chain, total, operands;       // of the surroundings
} frame;

typedef struct block {
    bool function;
    int operands;                     // of the surroundings
} block;

typedef struct lexer {
    const uint8_t *start, *at, *end;
    int32_t line;
    bool open;                        // the last token ends an expression that a suffix may continue
    bool named;                       // the last token was the `.` or `:` of a suffix
    int chain;                        // suffixes of the expression that ends here
    int total;                        // suffixes in the innermost brackets
    frame frames[MAX_NESTING];
    int depth;
    block blocks[MAX_NESTING];
    int block_depth, functions, labels, jumps, branches;
    int operands;                     // of `and` and `or` so far in this expression
    long lookups;
    const char *error;
} lexer;

static int peek(const lexer *l, size_t offset) { return (size_t)(l->end - l->at) > offset ? l->at[offset] : -1; }

static bool is_name_start(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_name(int c) { return is_name_start(c) || is_digit(c); }

/// The level of a long bracket that starts here ("[[" 0, "[=[" 1), -1 if none does.
static int long_level(const lexer *l) {
    if (peek(l, 0) != '[') return -1;
    int level = 0;
    while (peek(l, 1 + (size_t)level) == '=') level++;
    return peek(l, 1 + (size_t)level) == '[' ? level : -1;
}

static void skip_long(lexer *l, int level) {
    l->at += level + 2;
    for (; l->at < l->end; l->at++) {
        if (*l->at == '\n') l->line++;
        if (*l->at != ']') continue;
        int n = 0;
        while (peek(l, 1 + (size_t)n) == '=') n++;
        if (n == level && peek(l, 1 + (size_t)n) == ']') {
            l->at += level + 2;
            return;
        }
    }
}

static void skip_comment(lexer *l) {
    l->at += 2;
    int level = long_level(l);
    if (level >= 0) {
        skip_long(l, level);
        return;
    }
    while (l->at < l->end && *l->at != '\n') l->at++;
}

static void skip_string(lexer *l) {
    uint8_t quote = *l->at++;
    while (l->at < l->end && *l->at != quote) {
        if (*l->at == '\\') {
            l->at++;
            if (peek(l, 0) == 'z') {
                while (l->at + 1 < l->end && strchr(" \t\r\n\v\f", l->at[1]) != NULL && l->at[1] != 0) {
                    if (l->at[1] == '\n') l->line++;
                    l->at++;
                }
            } else if (peek(l, 0) == '\n') {
                l->line++;
            }
            if (l->at < l->end) l->at++;
        } else if (*l->at == '\n') {
            return;   // unfinished: the parser says so
        } else {
            l->at++;
        }
    }
    if (l->at < l->end) l->at++;
}

static void closed_expression(lexer *l) {
    l->open = false;
    l->chain = 0;
}

static void literal(lexer *l) {
    bool call = l->open;   // f"text"
    closed_expression(l);
    l->open = call;
}

static void suffix(lexer *l) {
    l->chain++;
    l->total++;
    if (l->chain > AH_MAX_CHAIN) l->error = "an expression has more than 200 fields or indices in a row; use a local variable in between";
}

static void push_frame(lexer *l, frame_kind kind) {
    if (l->depth == MAX_NESTING) {
        l->error = "brackets are nested more than 250 deep";
        return;
    }
    l->frames[l->depth++] = (frame){kind, l->chain, l->total, l->operands};
    l->open = false;
    l->chain = l->total = l->operands = 0;
}

static void pop_frame(lexer *l) {
    if (l->depth == 0) return;   // unbalanced: the parser says so
    frame f = l->frames[--l->depth];
    int inside = l->total;
    l->total = f.total;
    l->operands = f.operands;
    switch (f.kind) {
    case FRAME_GROUP:
        l->total += inside;
        l->open = true;
        break;
    case FRAME_INDEX:
        l->chain = f.chain + inside;
        l->total += inside;
        l->open = true;
        suffix(l);
        break;
    case FRAME_CALL:
        l->chain = 0;
        l->open = true;
        break;
    case FRAME_KEY:
    case FRAME_TABLE: closed_expression(l); break;
    }
}

static void push_block(lexer *l, bool function) {
    if (l->block_depth == MAX_NESTING) {
        l->error = "blocks are nested more than 250 deep";
        return;
    }
    l->blocks[l->block_depth++] = (block){function, l->operands};
    l->functions += function;
    l->operands = 0;
}

static void pop_block(lexer *l) {
    if (l->block_depth == 0) return;   // unbalanced: the parser says so
    block b = l->blocks[--l->block_depth];
    l->functions -= b.function;
    l->operands = b.operands;
}

static bool is_one_of(const char *word, const char *const *words) {
    while (*words != NULL && strcmp(word, *words) != 0) words++;
    return *words != NULL;
}

static void keyword(lexer *l, const char *k) {
    static const char *const closing[] = {"end", "until", NULL};
    static const char *const opening[] = {"if", "do", "repeat", NULL};
    static const char *const inside[] = {"and", "or", "not", "nil", "true", "false", "function", NULL};
    static const char *const jumps[] = {"goto", "break", NULL};
    closed_expression(l);
    if (!is_one_of(k, inside)) l->operands = 0;   // a new expression begins
    if (strcmp(k, "function") == 0) push_block(l, true);
    else if (is_one_of(k, opening)) push_block(l, false);
    else if (is_one_of(k, closing)) pop_block(l);
    else if (is_one_of(k, jumps) && ++l->jumps > MAX_JUMPS) l->error = "there are more than 2000 goto and break";
    else if (strcmp(k, "elseif") == 0 && ++l->branches > MAX_BRANCHES) l->error = "there are more than 2000 elseif";
    else if ((strcmp(k, "and") == 0 || strcmp(k, "or") == 0) && ++l->operands > MAX_OPERANDS) l->error = "an expression has more than 500 of `and` and `or`";
}

static void word(lexer *l) {
    static const char *const keywords[] = {"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if",
                                           "in", "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while"};
    const uint8_t *start = l->at;
    while (is_name(peek(l, 0))) l->at++;
    size_t n = (size_t)(l->at - start);
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        const char *k = keywords[i];
        if (strlen(k) != n || memcmp(start, k, n) != 0) continue;
        keyword(l, k);
        return;
    }
    if (!l->named) {
        l->chain = 0;
        l->lookups += 200L * l->functions;
        if (l->lookups > MAX_LOOKUPS) l->error = "functions are nested too deep for so long a source";
    }
    l->open = true;
}

static void number(lexer *l) {
    while (is_name(peek(l, 0)) || peek(l, 0) == '.' || ((peek(l, 0) == '+' || peek(l, 0) == '-') && strchr("eEpP", l->at[-1]) != NULL)) l->at++;
    closed_expression(l);
}

static void punctuation(lexer *l) {
    int c = *l->at;
    switch (c) {
    case '.':
        if (peek(l, 1) == '.') {
            l->at += peek(l, 2) == '.' ? 3 : 2;
            closed_expression(l);
            return;
        }
        suffix(l);
        l->named = true;
        break;
    case ':':
        if (peek(l, 1) == ':') {
            l->at += 2;
            closed_expression(l);
            if (++l->labels > 2 * MAX_LABELS) l->error = "there are more than 500 labels";
            return;
        }
        suffix(l);
        l->named = true;
        break;
    case '(': push_frame(l, l->open ? FRAME_CALL : FRAME_GROUP); break;
    case '{': push_frame(l, l->open ? FRAME_CALL : FRAME_TABLE); break;
    case '[': push_frame(l, l->open ? FRAME_INDEX : FRAME_KEY); break;
    case ')':
    case '}':
    case ']': pop_frame(l); break;
    case '=':
    case ',':
    case ';':
        if (c != '=' || (peek(l, 1) != '=' && (l->at == l->start || strchr("=~<>", l->at[-1]) == NULL))) l->operands = 0;
        closed_expression(l);
        break;
    default: closed_expression(l);
    }
    l->at++;
}

static void token(lexer *l) {
    int c = *l->at;
    if (c == '\n') l->line++;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f') {
        l->at++;
        return;
    }
    if (c == '-' && peek(l, 1) == '-') {
        skip_comment(l);
        return;
    }
    if (is_name_start(c)) {
        word(l);
        l->named = false;
        return;
    }
    l->named = false;
    int level = long_level(l);
    if (c == '"' || c == '\'') {
        skip_string(l);
        literal(l);
    } else if (level >= 0) {
        skip_long(l, level);
        literal(l);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(l, 1)))) {
        l->at++;
        number(l);
    } else {
        punctuation(l);
    }
}

static bool fail(ah_buffer *error, const char *text) {
    ah_buffer_append(error, text, strlen(text));
    return false;
}

bool ah_source_check(ah_bytes *text, int32_t *line, ah_buffer *error) {
    *line = 1;
    if (text->count > AH_MAX_SOURCE) {
        char message[96];
        int n = snprintf(message, sizeof message, "the source has %zu bytes; at most %d are allowed", text->count, AH_MAX_SOURCE);
        ah_buffer_append(error, message, (size_t)n);
        return false;
    }
    if (text->count >= 3 && memcmp(text->base, "\xEF\xBB\xBF", 3) == 0) *text = (ah_bytes){text->base + 3, text->count - 3};
    if (text->count > 0 && text->base[0] == 0x1B) return fail(error, "this is compiled Lua (it begins with byte 0x1B); only text is accepted");
    if (text->count > 0 && text->base[0] == '#') return fail(error, "a first line that begins with # is not accepted; remove it");
    for (size_t i = 0, start = 0; i <= text->count; i++) {
        if (i < text->count && text->base[i] != '\n') continue;
        if (!ah_utf8_valid(text->base + start, i - start)) return fail(error, "this line is not valid UTF-8");
        start = i + 1;
        *line += i < text->count;
    }
    lexer l = {.start = text->base, .at = text->base, .end = text->base + text->count, .line = 1};
    while (l.at < l.end && l.error == NULL) token(&l);
    *line = l.line;
    return l.error == NULL || fail(error, l.error);
}
