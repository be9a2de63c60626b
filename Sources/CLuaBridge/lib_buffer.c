#include "lib_buffer.h"

#include <string.h>

void ah_out_begin(ah_out *out, lua_State *L) {
    luaL_checkstack(L, 4, NULL);
    lua_pushnil(L);
    out->L = L;
    out->slot = lua_gettop(L);
    out->base = out->first;
    out->count = 0;
    out->capacity = sizeof out->first;
}

char *ah_out_room(ah_out *out, size_t count) {
    if (count > AH_MAX_STRING || out->count + count > AH_MAX_STRING) luaL_error(out->L, "the string would be longer than 1 MiB");
    if (out->count + count > out->capacity) {
        size_t capacity = out->capacity * 2;
        while (capacity < out->count + count) capacity *= 2;
        ah_charge(out->L, capacity / 64);
        char *base = lua_newuserdatauv(out->L, capacity, 0);
        memcpy(base, out->base, out->count);
        lua_replace(out->L, out->slot);
        out->base = base;
        out->capacity = capacity;
    }
    char *p = out->base + out->count;
    out->count += count;
    return p;
}

void ah_out_add(ah_out *out, const void *bytes, size_t count) {
    if (count != 0) memcpy(ah_out_room(out, count), bytes, count);
}

void ah_out_push(ah_out *out) { lua_pushlstring(out->L, out->base, out->count); }
