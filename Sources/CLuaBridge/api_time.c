// session:after, cancel, finish, now and uuid: time and identity, which belong to the session and are the same on replay.

#include <math.h>
#include <stdio.h>

#include "vm.h"

enum { LEAST_DELAY = 50 };
static const double most_delay = 3650.0 * 86400000.0;   // ten years

static int session_after(lua_State *L) {
    ah_handler *h = ah_api_check_writable(L, "after");
    ah_vm *vm = ah_vm_of(L);
    if (lua_type(L, 2) != LUA_TNUMBER) return luaL_error(L, "session:after: milliseconds expected, got %s", luaL_typename(L, 2));
    double ms = ceil(lua_tonumber(L, 2));
    if (!(ms <= most_delay && ms >= -most_delay)) return luaL_error(L, "session:after: at most ten years ahead");
    if (ms < LEAST_DELAY) ms = LEAST_DELAY;
    lua_settop(L, 4);
    ah_bytes name = ah_api_text(L, 3, "session:after: name", AH_MAX_NAME, NULL);
    ah_bytes data = ah_api_json(L, 4, "session:after: data");
    if (h->session->timer_count >= vm->limits.timers) {
        return luaL_error(L, "session:after: more than %d timers (the limit timers)", (int)vm->limits.timers);
    }
    lua_pushinteger(L, (lua_Integer)ah_session_add_timer(h->session, h->now + (int64_t)ms, name, data));
    return 1;
}

static int session_cancel(lua_State *L) {
    ah_handler *h = ah_api_check_writable(L, "cancel");
    if (lua_isnil(L, 2)) {
        lua_pushboolean(L, 0);   // a timer that was never set, as `session:cancel(state.timer)`
        return 1;
    }
    int is_integer;
    lua_Integer id = lua_tointegerx(L, 2, &is_integer);
    if (!is_integer || lua_type(L, 2) != LUA_TNUMBER) return luaL_error(L, "session:cancel: the id that session:after gave expected, got %s", luaL_typename(L, 2));
    lua_pushboolean(L, id > 0 && ah_session_cancel_timer(h->session, (uint64_t)id));
    return 1;
}

static int session_finish(lua_State *L) {
    ah_handler *h = ah_api_check_writable(L, "finish");
    lua_settop(L, 2);
    h->outcome.finish_reason = ah_api_text(L, 2, "session:finish: reason", AH_MAX_TEXT, "");
    h->outcome.finished = true;
    return 0;
}

static int session_now(lua_State *L) {
    lua_pushinteger(L, ah_api_check(L, "now")->now);
    return 1;
}

static int session_uuid(lua_State *L) {
    ah_session *s = ah_api_check_writable(L, "uuid")->session;
    // Random like the rest of the session, and apart from all its earlier ones by the counter's low bits.
    uint64_t high = ah_session_random(s), low = ah_session_random(s);
    high = (high & ~(uint64_t)0xFFFF) | 0x4000 | (s->next_id++ & 0x0FFF);
    low = (low & ~((uint64_t)3 << 62)) | ((uint64_t)1 << 63);
    char text[40];
    int n = snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xFFFF), (unsigned)(high & 0xFFFF),
                     (unsigned)(low >> 48), (unsigned long long)(low & 0xFFFFFFFFFFFF));
    lua_pushlstring(L, text, (size_t)n);
    return 1;
}

void ah_api_add_times(lua_State *L) {
    static const luaL_Reg methods[] = {
        {"after", session_after}, {"cancel", session_cancel}, {"finish", session_finish}, {"now", session_now}, {"uuid", session_uuid}, {NULL, NULL},
    };
    luaL_setfuncs(L, methods, 0);
}
