// What the files about metatables share.

#ifndef AH_LIB_META_H
#define AH_LIB_META_H

/// Key, as a light userdata, under which a metatable made by the script's setmetatable keeps the script's own table.
extern const char ah_original_key;

#endif
