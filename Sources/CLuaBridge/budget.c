// What a handler may spend. Three clocks run together: VM instructions by the count hook, steps of library functions by
// ah_charge, CPU time looked at from both. Memory is watched from the same places, so that scripts normally meet a raised
// error, and the allocator has to refuse only when one step takes a lot at once. A spent budget stays spent until the
// handler has ended: every later look raises again, and pcall and coroutine.resume pass it on.

#define _GNU_SOURCE   // clock_gettime

#include <time.h>

#include "vm.h"

static const char stop_key[6] = {0};

static uint64_t thread_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct ah_vm *ah_vm_of(lua_State *L) { return *(ah_vm **)lua_getextraspace(L); }

bool ah_is_read_only(lua_State *L) { return ah_vm_of(L)->handler.read_only; }

ah_document *ah_vm_document(lua_State *L) {
    ah_session *s = ah_vm_of(L)->handler.session;
    return s == NULL ? NULL : s->document;
}

void ah_budget_start(ah_vm *vm, bool unbounded) { vm->budget = (ah_budget){.unbounded = unbounded}; }

void ah_budget_install(lua_State *L) {
    // Made ahead, because nothing may be allocated when they are needed.
    static const char *const texts[] = {
        "", "the handler ran longer than its time budget", "the handler ran more instructions than its budget",
        "the script used more memory than its budget", "a string grew longer than 1 MiB", "the handler refused the request",
    };
    for (int i = 0; i < 6; i++) {
        lua_pushstring(L, texts[i]);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &stop_key[i]);
    }
    lua_sethook(L, ah_budget_hook, LUA_MASKCOUNT, AH_HOOK_INTERVAL);
}

void ah_budget_raise(lua_State *L) {
    ah_vm *vm = ah_vm_of(L);
    if (vm->error.line == 0) ah_vm_locate(L);
    if (!lua_checkstack(L, 1)) lua_settop(L, 0);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &stop_key[vm->budget.stop]);
    lua_error(L);
    __builtin_unreachable();
}

static void check_memory(lua_State *L, size_t more) {
    ah_vm *vm = ah_vm_of(L);
    if (vm->bytes + vm->arena.held + more <= vm->limits.vm_bytes) return;
    lua_gc(L, LUA_GCCOLLECT, 0);
    if (vm->bytes + vm->arena.held + more > vm->limits.vm_bytes) vm->budget.stop = AH_STOP_MEMORY;
}

static void check(lua_State *L, size_t document) {
    ah_vm *vm = ah_vm_of(L);
    ah_budget *b = &vm->budget;
    b->unchecked = 0;
    if (b->stop == AH_STOP_NONE && !b->unbounded) {
        if (b->steps > vm->limits.handler_instructions) {
            b->stop = AH_STOP_INSTRUCTIONS;
        } else {
            uint64_t now = thread_time();
            if (b->deadline == 0) b->deadline = now + vm->limits.handler_ms * 1000000u;
            else if (now > b->deadline) b->stop = AH_STOP_TIME;
        }
    }
    if (b->stop == AH_STOP_NONE) check_memory(L, document);
    if (b->stop != AH_STOP_NONE) ah_budget_raise(L);
}

void ah_budget_check(lua_State *L) { check(L, 0); }

void ah_budget_hook(lua_State *L, lua_Debug *ar) {
    (void)ar;
    ah_vm_of(L)->budget.steps += (uint64_t)lua_gethookcount(L);
    ah_budget_tune(L);
    check(L, 0);
}

void ah_budget_tune(lua_State *L) {
    int interval = ah_vm_of(L)->interval;
    if (lua_gethookcount(L) != interval) lua_sethook(L, ah_budget_hook, LUA_MASKCOUNT, interval);
}

void ah_charge(lua_State *L, size_t steps) {
    ah_budget *b = &ah_vm_of(L)->budget;
    b->steps += steps;
    b->unchecked += steps;
    if (b->unchecked >= AH_HOOK_INTERVAL || b->stop != AH_STOP_NONE) check(L, 0);
}

void ah_charge_memory(lua_State *L, size_t document_bytes) {
    ah_vm *vm = ah_vm_of(L);
    if (vm->bytes + vm->arena.held + document_bytes > vm->limits.vm_bytes || vm->budget.stop != AH_STOP_NONE) check(L, document_bytes);
}
