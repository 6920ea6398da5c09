// Tests the environment of a recipe: it contains exactly these names, and none of them can be changed.
#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "lua/state/own_files.h"
#include "space/sampler.h"

namespace muster::testing {
namespace {

// Visits everything reachable, including metatables, and prints one line per function or value.
constexpr const char* kWalk = R"lua(
local seen = {}
local function walk(value, path)
  local kind = type(value)
  if kind ~= "table" then
    print(path, kind)
    return
  end
  if seen[value] then return end
  seen[value] = true
  for key, inner in pairs(value) do
    if type(key) == "string" and key:sub(1, 2) == "__" then print(path, "has " .. key) end
    walk(inner, path .. "." .. tostring(key))
  end
  local meta = getmetatable(value)
  if meta then walk(meta, path .. "<meta>") end
end
)lua";

std::vector<std::string> Reached(const std::string& what) {
  const Evaluated evaluated = Evaluate({kWalk + ("walk(" + what + ")")});
  return evaluated.printed;
}

std::vector<std::string> Stored(const char* text) {
  std::istringstream words(text);
  std::vector<std::string> lines;
  for (std::string word; words >> word;) {
    const std::size_t colon = word.find(':');
    lines.push_back(word.substr(0, colon) + "\t" + (colon == std::string::npos ? "function" : word.substr(colon + 1)));
  }
  return lines;
}

TEST(World, HasExactlyTheseGlobals) {
  EXPECT_EQ(Reached("_G, '_G'"), Stored(R"(
    _G._VERSION:string _G.assert
    _G.coroutine.create _G.coroutine.isyieldable _G.coroutine.resume _G.coroutine.running _G.coroutine.status
    _G.coroutine.wrap _G.coroutine.yield
    _G.error _G.getmetatable _G.ipairs
    _G.math.abs _G.math.acos _G.math.asin _G.math.atan _G.math.atan2 _G.math.ceil _G.math.cos _G.math.cosh _G.math.deg
    _G.math.exp _G.math.floor _G.math.fmod _G.math.frexp _G.math.huge:number _G.math.ldexp _G.math.log _G.math.log10
    _G.math.max _G.math.min _G.math.modf _G.math.pi:number _G.math.pow _G.math.rad _G.math.sin _G.math.sinh _G.math.sqrt
    _G.math.tan _G.math.tanh
    _G.next _G.pairs _G.pcall _G.print _G.rawequal _G.rawget _G.rawset _G.require _G.select _G.setmetatable
    _G.string.byte _G.string.char _G.string.find _G.string.format _G.string.gmatch _G.string.gsub _G.string.len
    _G.string.lower _G.string.match _G.string.rep _G.string.reverse _G.string.sub _G.string.upper
    _G.table.concat _G.table.insert _G.table.maxn _G.table.move _G.table.remove _G.table.sort
    _G.tonumber _G.tostring _G.type _G.unpack _G.xpcall)"));
}

TEST(World, OffersExactlyTheseFunctionsOfMuster) {
  std::vector<std::string> functions = Stored(R"(
    muster.asha muster.bool muster.bytes muster.choice muster.contract muster.duration muster.enum muster.exact_div muster.file
    muster.flags muster.float muster.here muster.hyperband muster.int muster.int_log_uniform muster.int_uniform muster.list muster.load
    muster.log_uniform muster.map muster.maximize muster.median muster.minimize muster.null:userdata muster.override muster.path muster.product
    muster.quantised muster.range muster.read_json muster.read_yaml muster.recipe muster.secret muster.shell
    muster.site muster.size muster.string muster.sweep muster.uniform muster.union muster.variant
    muster.when muster.zip)");
  for (const SamplerKind& kind : kSamplers) functions.push_back("muster." + std::string(kind.name) + "\tfunction");
  std::sort(functions.begin(), functions.end());
  EXPECT_EQ(Reached("require 'muster', 'muster'"), functions);
}

TEST(World, OffersTheContextApiUnderItsOwnNames) {
  const std::vector<std::string> reached = Reached("require 'muster.context', 'context'");
  for (const char* name : {"set_context", "get_context", "set_auto_parallel_context", "get_auto_parallel_context",
                           "reset_auto_parallel_context", "set_ps_context", "get_ps_context", "reset_ps_context"}) {
    EXPECT_EQ(std::count(reached.begin(), reached.end(), std::string("context.") + name + "\tfunction"), 1) << name;
  }
  EXPECT_EQ(
      ValueOf("context.GRAPH_MODE, context.PYNATIVE_MODE, context.STRICT, context.LAX, context.RELEASE, context.DEBUG"),
      "0\t1\t0\t2\t0\t1");
  EXPECT_EQ(ValueOf("context.ParallelMode.MODE_LIST[5], context.ParallelMode.SEMI_AUTO_PARALLEL"),
            "auto_parallel\tsemi_auto_parallel");
  EXPECT_EQ(ValueOf("require('muster.mindspore').set_context == context.set_context"), "true");
}

TEST(World, StringsOfferTheStringLibrary) {
  EXPECT_EQ(
      ValueOf("(''):rep(1) == '' and ('').rep == string.rep and ('').dump == nil and ('').format == string.format"),
      "true");
  EXPECT_EQ(ValueOf("getmetatable('')"), "false");
}

TEST(World, CannotBeChanged) {
  const std::pair<const char*, const char*> attempts[] = {
      {"string.rep = nil", "read_only"},
      {"table.concat = 1", "read_only"},
      {"math.new = 1", "read_only"},
      {"rawset(string, 'rep', nil)", "read_only"},
      {"rawset(_G, 'pairs', nil)", "read_only"},
      {"table.insert(string, 'x')", "read_only"},
      {"table.remove(string)", "read_only"},
      {"table.sort(_G, function() return true end)", "read_only"},
      {"setmetatable(string, {})", "lua"},
      {"setmetatable(_G, nil)", "lua"},
      {"_G.answer = 42", "global"},
      {"answer = 42", "global"},
      {"require('muster').int = nil", "read_only"},
      {"rawset(require('muster'), 'int', nil)", "read_only"},
      {"require('muster.context').GRAPH_MODE = 7", "read_only"},
      {"local f = muster.int { 4 } f.fields = 1", "read_only"},
      {"rawset(muster.int { 4 }, 'fields', 1)", "read_only"},
      {"p.x = 1", "read_only"},
      {"rawset(p, 'x', 1)", "read_only"},
      {"job.workers = 1", "read_only"},
      {"rawset(job, 'workers', 1)", "read_only"},
      {"job.cluster.hosts = 9", "read_only"},
      {"setmetatable(p, {})", "lua"},
      {"job:derive { a = 1 }.a = 2", "read_only"},
      {"muster.unset.text = 'x'", "read_only"},
  };
  for (const auto& [code, kind] : attempts) {
    const Evaluated evaluated = Evaluate({Recipe(code)});
    ASSERT_FALSE(evaluated.answer.diagnostics.empty()) << code;
    EXPECT_EQ(evaluated.answer.diagnostics[0].kind, kind) << code;
    EXPECT_EQ(evaluated.answer.diagnostics[0].place, (Place{"recipe.lua", kBodyLine})) << code;
  }
}

TEST(World, HidesTheInternalsOfConstructedValues) {
  EXPECT_EQ(ProblemsOf("local f = muster.int { 4 }.fields"),
            Lines{"recipe.lua:4 error unknown_key: a parameter has no field \"fields\" that a recipe could read"});
  EXPECT_EQ(ValueOf("tostring(muster.int { 4 }), tostring(muster.shell 'x'), tostring(muster.unset)"),
            "a parameter\ta shell command\tmuster.unset");
}

// Changes of a recipe table after its checks have no effect.
TEST(World, IgnoresChangesOfARecipeAfterItsChecks) {
  const Evaluated evaluated = Evaluate({R"lua(
local muster = require "muster"
local fields = { name = "good", params = { n = muster.int { 1 } }, cluster = { hosts = 1 },
                 plan = function(p, job) job:workers { count = p.n, command = { "x" } } end }
local recipe = muster.recipe(fields)
fields.name, fields.params.n, fields.cluster.hosts, fields.plan = "../../evil", 7, "x", 3
return recipe)lua"});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.plan().name, "good");
}

TEST(World, ListsEveryBuiltInContract) {
  // The list of names serves "did you mean"; a missing contract would never be suggested.
  for (const EmbeddedFile& file : EmbeddedLua()) {
    constexpr std::string_view kFolder = "muster/frameworks/";
    if (!file.path.starts_with(kFolder) || file.path.starts_with("muster/frameworks/parts/")) continue;
    std::string name(file.path.substr(kFolder.size()));
    name.resize(name.size() - std::string_view(".lua").size());
    const Evaluated evaluated = Evaluate({Recipe("job:workers { count = 1, command = { 'x' } }",
                                                 "framework = \"" + name.substr(0, name.size() - 1) + "\",")});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U);
    EXPECT_EQ(evaluated.answer.diagnostics[0].hint, "did you mean \"" + name + "\"?");
  }
}

}  // namespace
}  // namespace muster::testing
