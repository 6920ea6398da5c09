// Reads tables of variables into the layers of an environment. The order in which layers are merged is in
// plan/environment/environment.h.
#pragma once

#include <string>
#include <string_view>

#include "lua/host/field.h"
#include "lua/host/host.h"
#include "lua/state/stack.h"
#include "plan/environment/environment.h"

namespace muster {

// The name of a variable at `index`, valid while it is on the stack or until `buffer` changes; a key from lua_next must
// not be converted in place.
inline std::string_view NameAt(lua_State* lua, int index, std::string& buffer) {
  if (lua_type(lua, index) != LUA_TSTRING) {
    ToExactText(lua, index, buffer);
    return buffer;
  }
  std::size_t size = 0;
  const char* name = lua_tolstring(lua, index, &size);
  return {name, size};
}

// Reads the table of variables at `table`: { [name] = { text = …, unset = …, override = …, place = … } }. `variable_of`
// returns the variable for a name.
template <class VariableOf>
void ReadVariables(lua_State* lua, int table, const std::string& what, const VariableOf& variable_of) {
  std::string buffer;
  lua_pushnil(lua);
  while (lua_next(lua, table) != 0) {
    const std::string_view name = NameAt(lua, -2, buffer);
    const int variable = lua_gettop(lua);
    LayerVariable& read = variable_of(name);
    read.place = PlaceField(lua, variable, "place");
    read.override = Field(lua, variable, "override").truth();
    if (Field(lua, variable, "unset").truth()) {
      read.value.reset();
    } else {
      if (!read.value) read.value.emplace();
      TextAt(lua, Field(lua, variable, "text").index(), read.value->marked);
      if (NeedsCheck(read.value->marked)) {
        CheckPlanText(Host::Of(lua), read.value->marked, what + ": " + std::string(name), read.place, true);
      }
    }
    lua_pop(lua, 1);
  }
}

// Reads the texts in the table at field `key` of the table at 1. `text_of` returns the string to fill for a name.
template <class TextOf>
void ReadTexts(lua_State* lua, const char* key, const TextOf& text_of) {
  const Field texts(lua, 1, key);
  if (!texts.is_table()) return;
  std::string buffer;
  lua_pushnil(lua);
  while (lua_next(lua, texts.index()) != 0) {
    TextAt(lua, -1, text_of(NameAt(lua, -2, buffer)));
    lua_pop(lua, 1);
  }
}

}  // namespace muster
