#include "settings/case_file.h"

#include <fstream>
#include <memory>
#include <sstream>

#include <gtest/gtest.h>
#include <lua.hpp>

#include "lua/state/stack.h"
#include "settings/real_schema.h"
#include "support/places.h"

namespace muster {
namespace {

constexpr const char* kNames = R"(
context = { GRAPH_MODE = 0, PYNATIVE_MODE = 1, STRICT = 0, LAX = 2, RELEASE = 0, DEBUG = 1 }
context.ParallelMode = { AUTO_PARALLEL = "auto_parallel", DATA_PARALLEL = "data_parallel" }
)";

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

}  // namespace

std::vector<Release> Between(const std::string& range) {
  const std::size_t dots = range.find("..");
  const auto first = ParseRelease(range.substr(0, dots));
  const auto last = dots == std::string::npos ? first : ParseRelease(range.substr(dots + 2));
  std::vector<Release> releases;
  for (const ReleaseFacts& facts : RealSchema().releases()) {
    if (first && last && *first <= facts.release && facts.release <= *last) releases.push_back(facts.release);
  }
  return releases;
}

std::vector<std::string> ReadLines(const std::string& file) {
  std::ifstream stream(std::string(MUSTER_SOURCE_DIR) + "/tests/settings/cases/" + file);
  EXPECT_TRUE(stream) << file;
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.front() != '#') lines.push_back(line);
  }
  return lines;
}

std::vector<Case> ReadCases(const std::string& file) {
  std::vector<Case> cases;
  for (const std::string& line : ReadLines(file)) {
    const std::size_t arrow = line.find(" => ");
    std::istringstream stream(line.substr(0, arrow));
    std::string releases;
    Case test;
    stream >> releases >> test.api >> test.attribute;
    std::getline(stream >> std::ws, test.value);
    test.setup = Split(releases, '+');
    const std::vector<Release> between = test.setup.empty() ? std::vector<Release>() : Between(test.setup.front());
    if (arrow == std::string::npos || test.attribute.empty() || between.empty()) {
      ADD_FAILURE() << file << ": no case: " << line;
      continue;
    }
    test.setup.erase(test.setup.begin());
    test.outcome = line.substr(arrow + 4);
    test.outcome = test.outcome.substr(0, test.outcome.find("  #"));
    for (const Release& release : between) {
      test.release = release;
      test.where = file + ": " + line + " (" + ReleaseText(release) + ")";
      cases.push_back(test);
    }
  }
  return cases;
}

Value LuaValue(const std::string& expression) {
  static const std::unique_ptr<lua_State, decltype(&lua_close)> lua = [] {
    std::unique_ptr<lua_State, decltype(&lua_close)> state(luaL_newstate(), &lua_close);
    luaL_openlibs(state.get());
    EXPECT_FALSE(luaL_dostring(state.get(), kNames));
    PushNull(state.get());
    lua_setglobal(state.get(), "null");
    return state;
  }();
  Value value;
  std::string why;
  if (luaL_dostring(lua.get(), ("return " + expression).c_str())) {
    ADD_FAILURE() << expression << ": " << lua_tostring(lua.get(), -1);
  } else if (!ToValue(lua.get(), -1, value, why)) {
    ADD_FAILURE() << expression << ": " << why;
  }
  lua_settop(lua.get(), 0);
  return value;
}

Context Prepared(const Case& test) {
  Context context(RealSchema(), test.release);
  for (const std::string& word : test.setup) {
    Value::Map arguments;
    if (word == "graph" || word == "pynative") {
      arguments["mode"] = word == "graph" ? 0 : 1;
    } else if (word == "O0" || word == "O1" || word == "O2") {
      arguments["jit_config"] = Value::Map{{"jit_level", word}};
    } else {
      arguments["device_target"] = word;
    }
    for (const Diagnostic& each : context.Apply("set_context", arguments, At(1))) {
      EXPECT_EQ(each.kind, "deprecated") << test.where << ": " << each.message;
    }
  }
  return context;
}

}  // namespace muster
