// What belongs to no library of Lua's: the author's log, the values of JSON, dates.

#include <stdio.h>
#include <stdlib.h>

#include "lib_buffer.h"

void ah_log_append(ah_vm *vm, const char *level, const char *text, size_t count) {
    ah_handler *h = &vm->handler;
    if (h->log_bytes > AH_LOG_BYTES) return;
    h->log_bytes += count + 16;
    if (h->log_bytes > AH_LOG_BYTES) {
        static const char note[] = "(the log of this handler was cut at 64 KiB)";
        level = "warn";
        text = note;
        count = sizeof note - 1;
    }
    if (h->outcome.log_count == h->log_capacity) {
        size_t capacity = h->log_capacity == 0 ? 16 : 2 * h->log_capacity;
        ah_log_line *lines = realloc(h->logs, capacity * sizeof *lines);
        if (lines == NULL) abort();
        h->logs = lines;
        h->log_capacity = capacity;
    }
    h->logs[h->outcome.log_count++] = (ah_log_line){level, ah_arena_clean(&vm->arena, text, count)};
    h->outcome.logs = h->logs;
}

static int log_line(lua_State *L, const char *level) {
    int n = lua_gettop(L);
    ah_charge(L, 10);
    ah_out out;
    ah_out_begin(&out, L);
    for (int i = 1; i <= n; i++) {
        size_t count;
        const char *text = ah_push_text(L, i, &count);
        if (i > 1) ah_out_add(&out, "\t", 1);
        ah_out_add(&out, text, count);
        lua_pop(L, 1);
    }
    ah_charge(L, out.count / 16);
    ah_log_append(ah_vm_of(L), level, out.base, out.count);
    return 0;
}

static int log_info(lua_State *L) { return log_line(L, "info"); }
static int log_warn(lua_State *L) { return log_line(L, "warn"); }
static int log_error(lua_State *L) { return log_line(L, "error"); }

static int new_list(lua_State *L) {
    lua_newtable(L);
    ah_mark_list(L, -1);
    return 1;
}

/// Year, month and day of a number of days since 1970-01-01, in the proleptic Gregorian calendar.
static void civil_date(int64_t days, int64_t *year, int *month, int *day) {
    days += 719468;   // counted from the 1st of March of year 0
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100), m = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = year_of_era + era * 400 + (*month <= 2);
}

static int iso_time(lua_State *L) {
    lua_Integer ms = luaL_checkinteger(L, 1);
    luaL_argcheck(L, ms >= -62167219200000 && ms <= 253402300799999, 1, "not within the years 0 to 9999");
    int64_t days = ms / 86400000, rest = ms % 86400000, year;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    int month, day;
    civil_date(days, &year, &month, &day);
    char text[64];
    int n = snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (int)year, month, day, (int)(rest / 3600000), (int)(rest / 60000 % 60),
                     (int)(rest / 1000 % 60), (int)(rest % 1000));
    lua_pushlstring(L, text, (size_t)n);
    return 1;
}

void ah_lib_log(lua_State *L) {
    static const luaL_Reg functions[] = {{"print", log_info}, {"list", new_list}, {"iso_time", iso_time}, {"require", ah_lib_require}, {NULL, NULL}};
    static const luaL_Reg levels[] = {{"info", log_info}, {"warn", log_warn}, {"error", log_error}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    ah_push_null(L);
    lua_setfield(L, -2, "null");
    luaL_newlib(L, levels);
    lua_setfield(L, -2, "log");
}
