// Fields of Lua tables as values, for host functions that take a table. Missing fields and those of another type are
// read as empty or 0: the values given by recipes have been checked in Lua.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lua/host/host.h"
#include "lua/state/stack.h"

namespace muster {

// A field of the table at `table`, on the stack during the lifetime of this object.
class Field {
 public:
  Field(lua_State* lua, int table, const char* key) : lua_(lua) {
    lua_getfield(lua, table, key);
    index_ = lua_gettop(lua);
  }
  Field(lua_State* lua, int table, int position) : lua_(lua) {
    lua_rawgeti(lua, table, position);
    index_ = lua_gettop(lua);
  }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;
  ~Field() { lua_pop(lua_, 1); }

  bool given() const { return !lua_isnil(lua_, index_); }
  bool is_table() const { return lua_istable(lua_, index_); }
  int index() const { return index_; }
  std::string text() const {
    std::string text;
    ToExactText(lua_, index_, text);
    return text;
  }
  double number() const { return lua_tonumber(lua_, index_); }
  bool truth() const { return lua_toboolean(lua_, index_) != 0; }

 private:
  lua_State* lua_;
  int index_ = 0;
};

inline std::string TextField(lua_State* lua, int table, const char* key) { return Field(lua, table, key).text(); }

inline std::uint32_t CountField(lua_State* lua, int table, const char* key) {
  return static_cast<std::uint32_t>(Field(lua, table, key).number());
}

inline Place PlaceField(lua_State* lua, int table, const char* key) {
  return Host::Of(lua).PlaceOf(static_cast<int>(Field(lua, table, key).number()));
}

inline std::vector<std::string> TextList(lua_State* lua, int table) {
  std::vector<std::string> texts;
  const auto count = static_cast<int>(lua_objlen(lua, table));
  texts.reserve(static_cast<std::size_t>(count));
  for (int i = 1; i <= count; ++i) texts.push_back(Field(lua, table, i).text());
  return texts;
}

// Replaces `text` by the text at `index`; empty if there is none.
inline void TextAt(lua_State* lua, int index, std::string& text) {
  if (!ToExactText(lua, index, text)) text.clear();
}

}  // namespace muster
