// Coroutines. resume and wrap pass the end of a budget on, and keep track of who runs; there is no close.

#include "vm.h"

static lua_State *create(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    ah_charge(L, 100);
    lua_State *co = lua_newthread(L);   // takes the budget's hook over from its maker
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    return co;
}

/// Resumes with `count` arguments from the top: the number of results pushed, or -1 with an error value pushed.
static int resume(lua_State *L, lua_State *co, int count) {
    ah_vm *vm = ah_vm_of(L);
    ah_charge(L, 10);
    if (!lua_checkstack(co, count)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, count);
    lua_State *before = vm->running;
    vm->running = co;
    ah_budget_tune(co);
    int results;
    int status = lua_resume(co, L, count, &results);
    vm->running = before;
    ah_budget_tune(L);
    if (status == LUA_OK || status == LUA_YIELD) {
        if (lua_checkstack(L, results + 1)) {
            lua_xmove(co, L, results);
            return results;
        }
        lua_pop(co, results);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    if (vm->budget.stop != AH_STOP_NONE) ah_budget_raise(L);
    ah_budget_check(L);
    lua_xmove(co, L, 1);
    return -1;
}

static int coroutine_create(lua_State *L) {
    create(L);
    return 1;
}

static int coroutine_resume(lua_State *L) {
    lua_State *co = lua_tothread(L, 1);
    luaL_argexpected(L, co != NULL, 1, "coroutine");
    int n = resume(L, co, lua_gettop(L) - 1);
    lua_pushboolean(L, n >= 0);
    if (n < 0) n = 1;
    lua_insert(L, -(n + 1));
    return n + 1;
}

static int wrap_step(lua_State *L) {
    int n = resume(L, lua_tothread(L, lua_upvalueindex(1)), lua_gettop(L));
    return n < 0 ? lua_error(L) : n;
}

static int coroutine_wrap(lua_State *L) {
    create(L);
    lua_pushcclosure(L, wrap_step, 1);
    return 1;
}

void ah_lib_coroutine(lua_State *L) {
    static const luaL_Reg functions[] = {{"create", coroutine_create}, {"resume", coroutine_resume}, {"wrap", coroutine_wrap}, {NULL, NULL}};
    static const char *const taken[] = {"yield", "status", "isyieldable", "running"};
    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    luaopen_coroutine(L);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        lua_getfield(L, -1, taken[i]);
        lua_setfield(L, -3, taken[i]);
    }
    lua_pop(L, 1);
    lua_setglobal(L, "coroutine");
}
