// Tests that the definitions for editors match the names in recipes. Those of muster.lua are written by hand and could
// become outdated; those of context.lua are generated from the schema.
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <lua.hpp>

#include "base/values/value_json.h"
#include "lua/state/own_data.h"
#include "reference/own_reference.h"
#include "reference/page.h"
#include "settings/values/parameter.h"
#include "space/sampler.h"
#include "support/places.h"

namespace muster {
namespace {

using NameSet = std::set<std::string>;

// Returns fields and functions of all these files by class ("muster.Job"), and those of a module under its name.
std::map<std::string, NameSet> NamesInStubs(const std::vector<std::string>& files) {
  std::stringstream stream;
  for (const std::string& file : files) {
    stream << std::ifstream(std::string(MUSTER_SOURCE_DIR) + "/lua/meta/" + file).rdbuf() << '\n';
  }
  static const std::regex kClass(R"(---@class ([\w.]+).*)");
  static const std::regex kField(R"(---@field \[?([\w]+)\]?\??.*)");
  static const std::regex kTable(R"(local (\w+) = \{\})");
  static const std::regex kFunction(R"(function (\w+)[.:](\w+)\(.*)");
  static const std::regex kValue(R"((\w+)\.(\w+) = .*)");
  std::map<std::string, NameSet> names;
  std::map<std::string, std::string> class_of;
  std::string current;
  std::smatch match;
  for (std::string line; std::getline(stream, line);) {
    if (std::regex_match(line, match, kClass)) {
      current = match[1];
      names[current];
    } else if (std::regex_match(line, match, kField)) {
      names[current].insert(match[1]);
    } else if (std::regex_match(line, match, kTable)) {
      class_of[match[1]] = current.empty() ? match[1].str() : current;
    } else if (std::regex_match(line, match, kFunction) || std::regex_match(line, match, kValue)) {
      const auto owner = class_of.find(match[1]);
      names[owner == class_of.end() ? match[1].str() : owner->second].insert(match[2]);
    }
    if (line.empty()) current.clear();
  }
  return names;
}

// Loads muster's own Lua with a host that answers every request, and finds the tables that its functions use.
constexpr const char* kLookInside = R"lua(
local root, samplers = ...
local host = setmetatable({ samplers = samplers }, { __index = function() return function() return {} end end })
local prelude = { read_only = function(table) return table end, folder = function() return "" end }
local function load(name, ...) return assert(loadfile(root .. "/lua/muster/" .. name .. ".lua"))(host, ...) end
local sections = load "recipe_fields"
local muster = load("muster", prelude, sections)
local parameters = load("parameters", muster)
local recipes = load("recipe", prelude, muster, parameters)
local sweeps = load("sweep", prelude, muster, parameters, recipes)
local fields = load("fields", muster, parameters)
local policies = load("policy", muster, fields)
local addresses = load("address", muster, fields)
local jobs = load("job", prelude, muster, fields, policies, addresses)
local contracts = load("contract", prelude, muster, fields)
local layout = load("layout", prelude, muster, fields, policies, jobs, contracts, load "rendezvous", parameters, recipes)
local job = jobs.new({ hosts = 1, devices_per_host = 1, devices = 1, host_memory = 0 }, {}, { roles = {} }).object

-- The upvalue of that name of the function, or of one that it reaches.
local function inside(f, wanted, seen)
  seen = seen or {}
  if seen[f] then return nil end
  seen[f] = true
  for i = 1, 255 do
    local name, value = debug.getupvalue(f, i)
    if not name then break end
    if name == wanted then return value end
    local found = type(value) == "function" and inside(value, wanted, seen)
    if found then return found end
  end
end
local function keys(table)
  local list = {}
  for key in pairs(table) do list[#list + 1] = tostring(key) end
  return list
end
local function with(list, ...)
  local all = { ... }
  for _, name in ipairs(list) do all[#all + 1] = name end
  return all
end

-- The keys that each table of options is checked for, by what the table is called.
local asked_for = {}
local function remember(_, known, what) asked_for[what] = known end
muster.check_keys = remember
muster.api.recipe { cluster = {}, limits = {} }
muster.seal = function(_, contents) return contents end
local SWEEP_OPTIONS = inside(muster.api.sweep, "OPTIONS")
policies.read({ ready = {}, restart = {}, limits = {}, stop = {} }, { name = "x", ports = {} }, "here")

local contract_keys = {}
for _, key in ipairs(keys(inside(muster.api.contract, "KEYS"))) do
  if key ~= "arrange" and key ~= "launcher" then contract_keys[#contract_keys + 1] = key end
end

local methods = inside(debug.getmetatable(job).__index, "object")
return {
  ["muster"] = keys(muster.api),
  ["context"] = keys(load("context", prelude)("context")),
  ["muster.Recipe"] = inside(muster.api.recipe, "RECIPE_KEYS"),
  ["muster.Extension"] = inside(muster.api.recipe, "RECIPE_KEYS"),
  ["muster.RecipeValue"] = keys(inside(muster.api.recipe, "methods")),
  ["muster.Sweep"] = inside(muster.api.sweep, "SWEEP_KEYS"),
  ["muster.SweepMetrics"] = SWEEP_OPTIONS.metrics,
  ["muster.SweepRetry"] = SWEEP_OPTIONS.retry,
  ["muster.SweepBudget"] = SWEEP_OPTIONS.budget,
  ["muster.Asha"] = inside(muster.api.asha, "known"),
  ["muster.Hyperband"] = inside(muster.api.hyperband, "known"),
  ["muster.MedianRule"] = inside(muster.api.median, "known"),
  ["muster.Job"] = with(keys(methods), "args", "checkpoint", "resume"),
  ["muster.RoleOptions"] = inside(jobs.new, "ROLE_OPTIONS"),
  ["muster.PortOptions"] = inside(jobs.new, "PORT_OPTIONS"),
  ["muster.AddressOptions"] = inside(addresses.ask, "OPTIONS"),
  ["muster.ClusterDefaults"] = asked_for.cluster,
  ["muster.Limits"] = asked_for.limits,
  ["muster.Ready"] = asked_for["ready of role x"],
  ["muster.Restart"] = asked_for["restart of role x"],
  ["muster.RoleLimits"] = asked_for["limits of role x"],
  ["muster.Stop"] = asked_for["stop of x"],
  ["muster.NamedRoleOptions"] = muster.field_names("role", "only"),
  ["muster.Process"] = inside(layout.make_plan, "KNOWN"),
  ["muster.Contract"] = contract_keys,
  ["muster.ContractRole"] = keys(inside(muster.api.contract, "ROLE_KEYS")),
  ["muster.Mesh"] = keys(methods.mesh(job, {})),
}
)lua";

std::map<std::string, NameSet> NamesOffered() {
  std::map<std::string, NameSet> names;
  const std::unique_ptr<lua_State, decltype(&lua_close)> state(luaL_newstate(), &lua_close);
  lua_State* lua = state.get();
  luaL_openlibs(lua);
  lua_settop(lua, 0);
  const bool loaded = luaL_loadstring(lua, kLookInside) == 0;
  lua_pushstring(lua, MUSTER_SOURCE_DIR);
  lua_newtable(lua);
  for (const SamplerKind& kind : kSamplers) {
    lua_newtable(lua);
    lua_setfield(lua, -2, kind.name);
  }
  if (!loaded || lua_pcall(lua, 2, 1, 0) != 0) {
    ADD_FAILURE() << lua_tostring(lua, loaded ? -1 : -2);
    return names;
  }
  for (lua_pushnil(lua); lua_next(lua, 1) != 0; lua_pop(lua, 1)) {
    NameSet& set = names[lua_tostring(lua, 2)];
    for (int i = 1; lua_istable(lua, 3); ++i) {
      lua_rawgeti(lua, 3, i);
      const bool more = lua_isstring(lua, -1) != 0;
      if (more) set.insert(lua_tostring(lua, -1));
      lua_pop(lua, 1);
      if (!more) break;
    }
  }
  return names;
}

// The files that are written by hand.
std::map<std::string, NameSet> NamesByHand() { return NamesInStubs({"muster.lua", "job.lua", "sweep.lua"}); }

TEST(Stubs, NameEverythingInRecipes) {
  const auto written = NamesByHand();
  auto offered = NamesOffered();
  offered.erase("context");
  ASSERT_EQ(offered.size(), 26U);
  for (const auto& [name, names] : offered) {
    ASSERT_TRUE(written.contains(name)) << name;
    EXPECT_FALSE(names.empty()) << name;
    EXPECT_EQ(written.at(name), names) << "lua/meta: " << name;
  }
}

// The functions and values of the module: what it exports, what editors complete, what `muster docs` describes.
TEST(Stubs, DescribeEveryFunctionOfTheModule) {
  NameSet described;
  const auto definitions = OwnData("muster/reference/definitions.lua");
  ASSERT_TRUE(definitions) << definitions.error().front().message;
  const Topics& topics = LuaTopicsForTests();
  for (const Value& function : ListField(*definitions, "functions")) {
    const std::string name = TextField(function, "name");
    described.insert(name.substr(std::string("muster.").size()));
    EXPECT_FALSE(TextField(function, "doc").empty()) << name;
    EXPECT_EQ(TopicsNamed(topics, name).size(), 1U) << name;
  }
  EXPECT_EQ(described, NamesOffered().at("muster"));
  // Every class and field is read as NamesInStubs reads it.
  for (const auto& [name, names] : NamesInStubs({"muster.lua", "sweep.lua"})) {
    NameSet read;
    const Value& fields = ValueField(ValueField(*definitions, "classes"), name);
    for (const Value& field : ListField(fields, "fields")) {
      const std::string of = TextField(field, "name");
      read.insert(of.starts_with('[') ? of.substr(1, of.size() - 2) : of);
      EXPECT_FALSE(TextField(field, "type").empty()) << name << "." << of;
    }
    if (!fields.IsNull()) {
      EXPECT_EQ(read, names) << name;
    }
  }
}

// Names in the reference of recipes, by their class in the definitions for editors.
TEST(RecipeFields, NameEverythingInRecipes) {
  const std::map<std::string, std::string> sections = {{"muster.Recipe", "recipe"},
                                                       {"muster.ClusterDefaults", "cluster"},
                                                       {"muster.Limits", "limits"},
                                                       {"muster.Logs", "logs"},
                                                       {"muster.Checkpoints", "checkpoint"},
                                                       {"muster.Job", "job"},
                                                       {"muster.Activation", "job:activate"},
                                                       {"muster.PortOptions", "job:port"},
                                                       {"muster.AddressOptions", "job:address"},
                                                       {"muster.RoleOptions", "role"},
                                                       {"muster.Ready", "ready"},
                                                       {"muster.Restart", "restart"},
                                                       {"muster.RoleLimits", "role.limits"},
                                                       {"muster.Stop", "stop"},
                                                       {"muster.Process", "process"},
                                                       {"muster.ParameterDeclaration", "options"}};
  auto written = NamesByHand();
  written["muster.RoleOptions"].merge(written["muster.NamedRoleOptions"]);
  const auto fields = OwnData("muster/recipe_fields.lua");
  ASSERT_TRUE(fields) << fields.error().front().message;
  std::map<std::string, NameSet> described;
  for (const Value& section : *fields->AsList()) {
    for (const Value& field : ListField(section, "fields")) {
      const Value& name = ValueField(field, "name");
      described[TextField(section, "name")].insert(name.IsNumber() ? "1" : *name.AsString());
    }
  }
  for (const auto& [name, section] : sections)
    EXPECT_EQ(described[section], written.at(name)) << name << ", " << section;
  // The checks' methods of job are listed with their object, not in the record.
  EXPECT_EQ(described["job"], NamesOffered().at("muster.Job"));
}

TEST(Stubs, NameTheFunctionsAndConstantsOfTheContextModule) {
  const NameSet offered = NamesOffered()["context"];
  EXPECT_FALSE(offered.empty());
  EXPECT_EQ(NamesInStubs({"context.lua"}).at("muster.ContextModule"), offered);
}

TEST(Stubs, NameTheOptionsOfAParameter) {
  const auto refused =
      ParameterFromValue("x", Value(Value::Map{{"type", Value("int")}, {"not an option at all", Value(1)}}), {});
  ASSERT_FALSE(refused);
  std::string hint = refused.error().front().hint;
  ASSERT_TRUE(hint.starts_with("known: ")) << hint;
  ASSERT_EQ(hint.find("…"), std::string::npos) << "the hint no longer has all of them";
  std::istringstream words(hint.substr(7));
  NameSet options = {"1"};
  for (std::string word; std::getline(words, word, ',');) options.insert(word.substr(word.find_first_not_of(' ')));
  EXPECT_EQ(NamesByHand().at("muster.ParameterDeclaration"), options);
}

}  // namespace
}  // namespace muster
