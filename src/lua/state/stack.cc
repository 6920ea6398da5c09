#include "lua/state/stack.h"

#include <cmath>
#include <cstdint>
#include <map>

namespace muster {
namespace {

constexpr int kMaxDepth = 32;                       // limit of a plan
constexpr std::size_t kMaxElements = 1'000'000;     // tables that share tables can be short and expand to billions
constexpr double kExactLimit = 9007199254740992.0;  // 2^53

Value NumberValue(lua_Number number) {
  if (number == std::floor(number) && std::abs(number) <= kExactLimit) return Value(static_cast<std::int64_t>(number));
  return Value(number);
}

constexpr const char* kListMeta = "muster.list";

// Whether the metatable at `index` is the one that marks empty lists.
bool IsListMeta(lua_State* lua, int index) {
  if (index < 0) index = lua_gettop(lua) + index + 1;
  lua_getfield(lua, LUA_REGISTRYINDEX, kListMeta);
  const bool same = lua_istable(lua, -1) && lua_rawequal(lua, -1, index) != 0;
  lua_pop(lua, 1);
  return same;
}

// Sets that metatable on the empty table on top of the stack. Recipes can change the table, but not the metatable.
void MarkAsList(lua_State* lua) {
  lua_getfield(lua, LUA_REGISTRYINDEX, kListMeta);
  if (!lua_istable(lua, -1)) {
    lua_pop(lua, 1);
    lua_newtable(lua);
    lua_pushliteral(lua, "list");
    lua_setfield(lua, -2, "__metatable");
    lua_pushvalue(lua, -1);
    lua_setfield(lua, LUA_REGISTRYINDEX, kListMeta);
  }
  lua_setmetatable(lua, -2);
}

// Calls the hook of a table of parameters: all of it is being read.
void AnnounceReader(lua_State* lua, int table) {
  if (lua_getmetatable(lua, table) == 0) return;
  lua_pushliteral(lua, "__muster_reads");
  lua_rawget(lua, -2);
  if (lua_isfunction(lua, -1)) {
    lua_call(lua, 0, 0);
  } else {
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
}

constexpr const char* kNumberKinds = "muster.number_kinds";

// Pushes what the table at `table` remembers of its numbers, { [key] = is a float }; nothing if it has none and `make`
// is false. The entries are in a table of the registry with weak keys.
bool PushNumberKinds(lua_State* lua, int table, bool make) {
  if (table < 0) table = lua_gettop(lua) + table + 1;
  lua_getfield(lua, LUA_REGISTRYINDEX, kNumberKinds);
  if (!lua_istable(lua, -1)) {
    lua_pop(lua, 1);
    if (!make) return false;
    lua_newtable(lua);
    lua_newtable(lua);
    lua_pushliteral(lua, "k");
    lua_setfield(lua, -2, "__mode");
    lua_setmetatable(lua, -2);
    lua_pushvalue(lua, -1);
    lua_setfield(lua, LUA_REGISTRYINDEX, kNumberKinds);
  }
  lua_pushvalue(lua, table);
  lua_rawget(lua, -2);
  if (!lua_istable(lua, -1)) {
    lua_pop(lua, 1);
    if (!make) {
      lua_pop(lua, 1);
      return false;
    }
    lua_newtable(lua);
    lua_pushvalue(lua, table);
    lua_pushvalue(lua, -2);
    lua_rawset(lua, -4);
  }
  lua_remove(lua, -2);
  return true;
}

// The table at `table` remembers whether the number at the key on top of the stack, which is popped, is a float.
void MarkNumber(lua_State* lua, int table, bool is_float) {
  const int key = lua_gettop(lua);
  if (table < 0) table = key + table + 1;
  PushNumberKinds(lua, table, true);
  lua_pushvalue(lua, key);
  lua_pushboolean(lua, is_float ? 1 : 0);
  lua_rawset(lua, -3);
  lua_settop(lua, key - 1);
}

// What a conversion is for: a text of another program, whose readers tell 1 from 1.0, or a value of muster's own.
struct Conversion {
  std::size_t elements = 0;
  const std::set<std::string, std::less<>>* float_keys = nullptr;  // only for texts
};

// Makes the number at the key at `key` a double if it is a float there.
void Type(lua_State* lua, int table, int key, Value& element, const Conversion& conversion) {
  const std::int64_t* const whole = element.AsInt();
  if (conversion.float_keys == nullptr || whole == nullptr) return;
  bool is_float = false;
  if (const auto marked = IsMarkedFloat(lua, table, key)) {
    is_float = *marked;
  } else if (lua_type(lua, key) == LUA_TSTRING) {
    is_float = conversion.float_keys->contains(std::string_view(lua_tostring(lua, key)));
  }
  if (is_float) element = Value(static_cast<double>(*whole));
}

bool Convert(lua_State* lua, int index, Value& value, std::string& why, int depth, Conversion& conversion) {
  if (++conversion.elements > kMaxElements) {
    why = "it holds more than a million elements";
    return false;
  }
  switch (lua_type(lua, index)) {
    case LUA_TNIL:
      value = Value();
      return true;
    case LUA_TBOOLEAN:
      value = Value(lua_toboolean(lua, index) != 0);
      return true;
    case LUA_TNUMBER:
      value = NumberValue(lua_tonumber(lua, index));
      if (std::isfinite(lua_tonumber(lua, index))) return true;
      why = NumberText(lua_tonumber(lua, index)) + " is not a finite number";
      return false;
    case LUA_TSTRING: {
      std::size_t size = 0;
      const char* text = lua_tolstring(lua, index, &size);
      value = Value(std::string_view(text, size));
      return true;
    }
    case LUA_TLIGHTUSERDATA:
      if (IsNull(lua, index)) {
        value = Value();
        return true;
      }
      break;
    case LUA_TTABLE:
      break;
    default:
      break;
  }
  if (lua_type(lua, index) != LUA_TTABLE) {
    why = std::string("a ") + lua_typename(lua, lua_type(lua, index)) + " is no plain value";
    return false;
  }
  if (depth >= kMaxDepth) {
    why = "tables are nested too deeply, or contain themselves";
    return false;
  }
  luaL_checkstack(lua, 8, "tables are nested too deeply");
  if (index < 0) index = lua_gettop(lua) + index + 1;
  // A view of a table of muster's own, such as p, is converted as that table; other metatables are ignored.
  bool empty_list = false;
  if (lua_getmetatable(lua, index) != 0) {
    empty_list = IsListMeta(lua, -1);
    lua_pushliteral(lua, "__muster_pairs");
    lua_rawget(lua, -2);
    lua_remove(lua, -2);
    if (lua_istable(lua, -1)) {
      AnnounceReader(lua, index);
      const bool converted = Convert(lua, -1, value, why, depth + 1, conversion);
      lua_pop(lua, 1);
      return converted;
    }
    lua_pop(lua, 1);
  }

  Value::Map map;
  std::map<double, Value> list;  // by position
  lua_pushnil(lua);
  while (lua_next(lua, index) != 0) {
    Value element;
    if (!Convert(lua, -1, element, why, depth + 1, conversion)) {
      lua_pop(lua, 2);
      return false;
    }
    Type(lua, index, lua_gettop(lua) - 1, element, conversion);
    if (lua_type(lua, -2) == LUA_TNUMBER) {
      list.emplace_hint(list.end(), lua_tonumber(lua, -2), std::move(element));
    } else if (lua_type(lua, -2) == LUA_TSTRING) {
      std::size_t size = 0;
      const char* key = lua_tolstring(lua, -2, &size);
      map.emplace(std::string(key, size), std::move(element));
    } else {
      why = std::string("a table has a key that is a ") + lua_typename(lua, lua_type(lua, -2));
      lua_pop(lua, 2);
      return false;
    }
    lua_pop(lua, 1);
  }
  double expected = 0;
  for (const auto& [position, unused] : list) {
    if (position == ++expected) continue;
    why = position < 1 || position != std::floor(position)
              ? "a list has an element number " + NumberText(position) + "; they count from 1"
              : "a list has a hole (a nil) before element " + ToText(NumberValue(position));
    return false;
  }
  if (map.empty() && (!list.empty() || empty_list)) {
    Value::List plain;
    plain.reserve(list.size());
    for (auto& [position, element] : list) plain.push_back(std::move(element));
    value = Value(std::move(plain));
    return true;
  }
  for (auto& [position, element] : list) {
    if (map.emplace(ToText(NumberValue(position)), std::move(element)).second) continue;
    why = "a table has the key " + ToText(NumberValue(position)) + " both as a number and as a text";
    return false;
  }
  value = Value(std::move(map));
  return true;
}

}  // namespace

bool IsNull(lua_State* lua, int index) {
  return lua_islightuserdata(lua, index) && lua_touserdata(lua, index) == nullptr;
}

void PushText(lua_State* lua, std::string_view text) { lua_pushlstring(lua, text.data(), text.size()); }

namespace {

void Push(lua_State* lua, const Value& value, bool typed) {
  luaL_checkstack(lua, 8, "value is nested too deeply");
  struct Visitor {
    lua_State* lua;
    bool typed;
    void operator()(const Null&) const { PushNull(lua); }
    void operator()(bool boolean) const { lua_pushboolean(lua, boolean ? 1 : 0); }
    void operator()(std::int64_t integer) const { lua_pushnumber(lua, static_cast<lua_Number>(integer)); }
    void operator()(double number) const { lua_pushnumber(lua, number); }
    void operator()(const std::string& text) const { PushText(lua, text); }
    void operator()(const Value::List& list) const {
      lua_createtable(lua, static_cast<int>(list.size()), 0);
      if (list.empty()) MarkAsList(lua);
      for (std::size_t i = 0; i < list.size(); ++i) {
        lua_pushinteger(lua, static_cast<lua_Integer>(i) + 1);
        Element(list[i]);
      }
    }
    void operator()(const Value::Map& map) const {
      lua_createtable(lua, 0, static_cast<int>(map.size()));
      for (const auto& [key, mapped] : map) {
        PushText(lua, key);
        Element(mapped);
      }
    }
    // Below the top of the stack are the table and the key.
    void Element(const Value& value) const {
      if (typed && value.IsNumber()) {
        lua_pushvalue(lua, -1);
        MarkNumber(lua, -3, value.AsDouble() != nullptr);
      }
      Push(lua, value, typed);
      lua_rawset(lua, -3);
    }
  };
  std::visit(Visitor{lua, typed}, value.data());
}

}  // namespace

void PushValue(lua_State* lua, const Value& value) { Push(lua, value, false); }

void PushTypedValue(lua_State* lua, const Value& value) { Push(lua, value, true); }

void MarkFloat(lua_State* lua, int table) { MarkNumber(lua, table, true); }

std::optional<bool> IsMarkedFloat(lua_State* lua, int table, int key) {
  if (key < 0) key = lua_gettop(lua) + key + 1;
  if (!PushNumberKinds(lua, table, false)) return std::nullopt;
  lua_pushvalue(lua, key);
  lua_rawget(lua, -2);
  const std::optional<bool> is_float =
      lua_isboolean(lua, -1) ? std::optional(lua_toboolean(lua, -1) != 0) : std::nullopt;
  lua_pop(lua, 2);
  return is_float;
}

bool ToValue(lua_State* lua, int index, Value& value, std::string& why) {
  Conversion conversion;
  return Convert(lua, index, value, why, 0, conversion);
}

bool ToTypedValue(lua_State* lua, int index, const std::set<std::string, std::less<>>& float_keys, Value& value,
                  std::string& why) {
  Conversion conversion{0, &float_keys};
  return Convert(lua, index, value, why, 0, conversion);
}

bool ToExactText(lua_State* lua, int index, std::string& text) {
  if (lua_type(lua, index) == LUA_TSTRING) {
    std::size_t size = 0;
    const char* bytes = lua_tolstring(lua, index, &size);
    text.assign(bytes, size);
    return true;
  }
  if (lua_type(lua, index) == LUA_TNUMBER) {
    text = ToText(NumberValue(lua_tonumber(lua, index)));
    return true;
  }
  return false;
}

std::string RawStringField(lua_State* lua, int table, const char* key) {
  if (table < 0) table = lua_gettop(lua) + table + 1;
  lua_pushstring(lua, key);
  lua_rawget(lua, table);
  std::string text;
  if (lua_type(lua, -1) == LUA_TSTRING) ToExactText(lua, -1, text);
  lua_pop(lua, 1);
  return text;
}

}  // namespace muster
