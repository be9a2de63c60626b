// A growing text on the Lua stack. Unlike the one of the auxiliary library it needs no to-be-closed slot, and it stops at
// the length that a string may have.

#ifndef AH_LIB_BUFFER_H
#define AH_LIB_BUFFER_H

#include "vm.h"

typedef struct ah_out {
    lua_State *L;
    int slot;                         // of the userdata that holds the bytes, once `first` is too small
    char *base;
    size_t count, capacity;
    char first[256];
} ah_out;

/// Takes one stack slot, which stays until the function returns.                                                       [raises]
void ah_out_begin(ah_out *out, lua_State *L);
/// Room for `count` more bytes, to be filled at once.                                                                  [raises]
char *ah_out_room(ah_out *out, size_t count);
void ah_out_add(ah_out *out, const void *bytes, size_t count);       // [raises]
void ah_out_push(ah_out *out);                                       // [raises]

#endif
