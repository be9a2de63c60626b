// What the proxy files share: proxies of document nodes, and plain tables seen as JSON values.

#ifndef AH_PROXY_H
#define AH_PROXY_H

#include "document.h"

/// The keys of a plain map in byte order, the same on every machine. Lives on the Lua stack and the C stack.
enum { AH_INLINE_KEYS = 16 };
typedef struct ah_keys {
    size_t count;
    ah_bytes *list;
    ah_bytes few[AH_INLINE_KEYS];
} ah_keys;

/// How the keys of a plain table look.
typedef enum ah_shape { AH_SHAPE_EMPTY, AH_SHAPE_LIST, AH_SHAPE_MAP, AH_SHAPE_MIXED } ah_shape;

// MARK: proxy_table.c
/// Where the content of the plain table at `index` is: itself, or what was frozen. Pushes one value in any case;
/// returns its absolute index. [raises]
int ah_table_content(lua_State *L, int index);
/// The shape of the plain table at absolute `index` by a walk over all its keys; a list marked as such and empty is a
/// LIST. `count` is its length or number of keys. [raises for budget]
ah_shape ah_table_shape(lua_State *L, int index, size_t *count);
/// Collects the string keys of the plain table at absolute `index`, `count` of them, and sorts them. Pushes one value
/// that keeps their memory. [raises]
void ah_table_keys(lua_State *L, int index, size_t count, ah_keys *keys);
/// Says what a value is, in the words of an error: "a function", "NaN". [never]
const char *ah_value_name(lua_State *L, int index);

// MARK: proxy_copy.c
/// One step of the path below the place of an assignment; lives on the C stack.
typedef struct ah_step {
    const struct ah_step *up;
    ah_bytes key;        // or
    uint64_t index;      // where it is not 0
} ah_step;

/// Raises "session.state.a.b[2]: reason": the path of `n`, then the steps. [raises]
int ah_refuse(lua_State *L, const ah_node *n, const ah_step *step, const char *reason);
/// Copies the Lua value at absolute `index` into the document, for a place one level below `n` that `step` names. A new
/// subtree stays pending: call ah_copy_done, then put it in place, with nothing that raises in between. [raises]
ah_value ah_copy(lua_State *L, int index, ah_node *n, const ah_step *step);
/// The same for a new root. [raises]
ah_node *ah_copy_root(lua_State *L, int index, ah_document *d);
void ah_copy_done(ah_value v);
/// Pushes a value of the document. [raises]
void ah_push_value(lua_State *L, ah_document *d, ah_value v);

#endif
