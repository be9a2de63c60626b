// What the files of apply share.

#ifndef AH_APPLY_H
#define AH_APPLY_H

#include "vm.h"

/// Notes in the outcome that the input is rejected.                                                                   [never]
void ah_reject(ah_vm *vm, const char *code, ah_bytes message);
/// The name of the handler that runs now, for reports.                                                                 [never]
void ah_name_handler(ah_vm *vm, const char *prefix, ah_bytes name);
/// Runs the handlers of vm->handler.input; a C function for ah_vm_enter.                                               [raises]
int ah_run_input(lua_State *L);
/// Runs the handler of a message; the body is decoded, checked and given to it.                                        [raises]
void ah_run_message(lua_State *L);
/// Decodes `json` and pushes it; on a mismatch rejects the input and returns false.                                    [raises]
bool ah_decode(lua_State *L, const ah_schema *schema, ah_bytes json);
/// Encodes the value at `index` into the arena; raises what does not fit, named by `what`.                             [raises]
ah_bytes ah_encode(lua_State *L, int index, const ah_schema *schema, const char *what);
static inline void ah_set_integer(lua_State *L, const char *field, lua_Integer n) {
    lua_pushinteger(L, n);
    lua_setfield(L, -2, field);
}

#endif
