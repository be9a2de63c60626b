// A merge sort of positions: stable, the same on every machine, and unharmed by comparisons that contradict each other.

#ifndef AH_LIB_SORT_H
#define AH_LIB_SORT_H

#include "vm.h"

/// Whether the element that was at position `a` (from 0) belongs before the one at `b`.                                [raises]
typedef bool (*ah_before)(lua_State *L, const void *context, uint32_t a, uint32_t b);

/// Pushes a userdata with `count` positions in order and returns it.                                                   [raises]
uint32_t *ah_sorted_order(lua_State *L, size_t count, ah_before before, const void *context);

#endif
