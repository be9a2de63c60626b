// Debian's Lua 5.4: imported by CLuaBridge only.
#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>
