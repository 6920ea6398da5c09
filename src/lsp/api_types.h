// The types of the recipe API, as its definitions for editors declare them (lua/meta, annotations of LuaLS): classes
// with their fields and methods, functions, aliases, and expressions of types. Text to text.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/value.h"

namespace muster {

// A field, a method or a function. A method's type is "fun(options: muster.RoleOptions)", without the object itself.
struct ApiMember {
  std::string name;
  std::string type;
  std::string doc;
  bool is_method = false;
};

class ApiTypes {
 public:
  // The records of lua/muster/reference/types.lua.
  static ApiTypes From(const Value& records);

  // The members of all classes and inline tables among the type's alternatives, including those of base classes.
  std::vector<ApiMember> MembersOf(std::string_view type) const;
  // The type of that member, or of all members of a table<K, V>; empty for none.
  std::string MemberType(std::string_view type, std::string_view name) const;
  std::string ElementType(std::string_view type) const;  // of "X[]"; empty for other types
  // The literals among the alternatives, "\"own\"", also those of lists of them; "true" and "false" for boolean.
  std::vector<std::string> WordsOf(std::string_view type) const;

 private:
  struct Class {
    std::vector<std::string> bases;
    std::vector<ApiMember> members;
  };
  std::vector<std::string> AlternativesOf(std::string_view type, int depth = 0) const;

  std::map<std::string, Class, std::less<>> classes_;
  std::map<std::string, std::string, std::less<>> aliases_;
};

// "fun(name: string, options?: muster.PortOptions): string" -> its parameters by name and type, and what it returns.
struct ApiFunction {
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string returned;
};
// Of the function among the alternatives; empty for none.
ApiFunction FunctionOf(std::string_view type);

}  // namespace muster
