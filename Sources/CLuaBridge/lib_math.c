// The math library: the C library's own functions, but randomness comes from the session, so that a replay is the same.

#include "vm.h"

static ah_session *random_session(lua_State *L) {
    ah_vm *vm = ah_vm_of(L);
    if (vm->handler.session == NULL) luaL_error(L, "math.random works in handlers only, since its numbers belong to the session");
    if (vm->handler.read_only) luaL_error(L, "math.random is read-only here (%s)", vm->handler.name);
    return vm->handler.session;
}

/// An integer from 0 to `most`, each as likely as the others: numbers beyond `most` are drawn again.
static lua_Unsigned up_to(lua_State *L, ah_session *s, lua_Unsigned most) {
    lua_Unsigned mask = most;
    for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
    for (;;) {
        lua_Unsigned n = ah_session_random(s) & mask;
        if (n <= most) return n;
        ah_charge(L, 1);
    }
}

static int math_random(lua_State *L) {
    ah_session *s = random_session(L);
    lua_Integer low = 1, high;
    switch (lua_gettop(L)) {
    case 0: lua_pushnumber(L, (double)(ah_session_random(s) >> 11) * 0x1p-53); return 1;
    case 1:
        high = luaL_checkinteger(L, 1);
        if (high == 0) {
            lua_pushinteger(L, (lua_Integer)ah_session_random(s));
            return 1;
        }
        break;
    case 2:
        low = luaL_checkinteger(L, 1);
        high = luaL_checkinteger(L, 2);
        break;
    default: return luaL_error(L, "wrong number of arguments");
    }
    luaL_argcheck(L, low <= high, lua_gettop(L), "interval is empty");
    lua_pushinteger(L, (lua_Integer)((lua_Unsigned)low + up_to(L, s, (lua_Unsigned)high - (lua_Unsigned)low)));
    return 1;
}

void ah_lib_math(lua_State *L) {
    static const char *const taken[] = {
        "abs", "acos", "asin", "atan", "ceil", "cos", "deg", "exp", "floor", "fmod", "huge", "log", "max", "maxinteger", "min",
        "mininteger", "modf", "pi", "rad", "sin", "sqrt", "tan", "tointeger", "type", "ult",
    };
    lua_newtable(L);
    luaopen_math(L);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        lua_getfield(L, -1, taken[i]);
        lua_setfield(L, -3, taken[i]);
    }
    lua_pop(L, 1);
    lua_pushcfunction(L, math_random);
    lua_setfield(L, -2, "random");
    lua_setglobal(L, "math");
}
