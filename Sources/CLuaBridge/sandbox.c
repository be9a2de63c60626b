// What scripts find: built up from the libraries of this folder, name by name. Nothing is opened and then taken away.

#include "vm.h"

void ah_sandbox_install(lua_State *L) {
    ah_proxy_install(L);
    lua_pushglobaltable(L);
    ah_lib_base(L);
    ah_lib_iterate(L);
    ah_lib_meta(L);
    ah_lib_log(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "_G");
    lua_pushliteral(L, LUA_VERSION);
    lua_setfield(L, -2, "_VERSION");
    ah_lib_string(L);
    ah_lib_table(L);
    ah_lib_math(L);
    ah_lib_utf8(L);
    ah_lib_coroutine(L);
    ah_api_install(L);
    lua_settop(L, 0);
}
