// Tests the interpreter alone: missing functions and limits.
#include "lua/state/state.h"

#include <cstring>

#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "lua/state/own_data.h"
#include "lua/state/own_files.h"
#include "lua/state/schema_files.h"
#include "lua/state/stack.h"
#include "settings/schema/schema_records.h"
#include "wire/archive/value_archive.h"

namespace muster::testing {
namespace {

constexpr StateLimits kSmall{std::size_t{16} << 20, 3'000'000};

std::vector<std::string> KindsOf(const std::string& text, const StateLimits& limits = kSmall) {
  std::vector<std::string> kinds;
  for (const Diagnostic& diagnostic : Evaluate({text, {}, {}, {}, limits}).answer.diagnostics)
    kinds.push_back(diagnostic.kind);
  return kinds;
}

TEST(State, StopsEveryLoopDespiteErrorHandlers) {
  for (const char* text : {
           "while true do end",
           "repeat until false",
           "for i = 1, math.huge do end",
           "local function f() return f() end f()",
           "::again:: goto again",
           "while true do pcall(function() while true do end end) end",
           "pcall(function() while true do end end) while true do end",
           "while true do xpcall(function() while true do end end, function() while true do end end) end",
           "local co = coroutine.wrap(function() while true do end end) co()",
           "while true do local co = coroutine.create(function() while true do end end) coroutine.resume(co) end",
           "local t = setmetatable({}, { __index = function(t, k) return t[k + 1] end }) while true do "
           "pcall(function() return t[1] end) end",
           "while true do pcall(error, setmetatable({}, { __tostring = function() while true do end end })) end",
       }) {
    const Evaluated evaluated = Evaluate({text, {}, {}, {}, kSmall});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << text;
    EXPECT_EQ(evaluated.answer.diagnostics[0].kind, "limit") << text << evaluated.answer.diagnostics[0].message;
    EXPECT_EQ(evaluated.answer.diagnostics[0].place, (Place{"recipe.lua", 1})) << text;
    EXPECT_FALSE(evaluated.answer.plan);
  }
}

// Also checks that the bytecode fits the installed interpreter.
TEST(OwnChunks, AreLoadedFromBytecodeWithTheirLines) {
  const State state({}, nullptr);
  lua_State* lua = state.lua();
  ASSERT_GE(EmbeddedLuaBytecode().size(), 9U);
  for (const EmbeddedFile& file : EmbeddedLuaBytecode()) {
    const std::string path(file.path);
    ASSERT_TRUE(EmbeddedSource(path)) << path;
    const auto bytecode = EmbeddedBytecode(path);
    ASSERT_TRUE(bytecode) << path;
    ASSERT_EQ(luaL_loadbufferx(lua, bytecode->data(), bytecode->size(), "=other", "b"), 0) << lua_tostring(lua, -1);
    lua_Debug chunk;
    ASSERT_NE(lua_getinfo(lua, ">SL", &chunk), 0);
    EXPECT_EQ(chunk.source, '=' + path);
    lua_pushnil(lua);
    EXPECT_NE(lua_next(lua, -2), 0) << path << " has lost its lines";
    lua_settop(lua, 0);
  }
  EXPECT_FALSE(LoadOwnChunk(lua, "muster/none.lua"));
  EXPECT_STREQ(lua_tostring(lua, -1), "muster/none.lua is not part of the program");
}

// What the file returns, without an archive.
Value Returned(lua_State* lua, const std::string& path) {
  EXPECT_TRUE(CallOwnFile(lua, path)) << lua_tostring(lua, -1);
  Value returned;
  std::string why;
  EXPECT_TRUE(ToValue(lua, -1, returned, why)) << path << why;
  lua_settop(lua, 0);
  return returned;
}

TEST(Archives, AreWhatTheirFilesReturn) {
  const State state({}, nullptr);
  ASSERT_EQ(EmbeddedDataArchives().size(), 5 + OwnEngineNames().size());
  for (const EmbeddedFile& file : EmbeddedDataArchives()) {
    const std::string path(file.path);
    ASSERT_TRUE(EmbeddedArchive(path)) << path;
    // Made of definitions for editors that are not part of the program; tests/lsp/knowledge_test.cc uses it.
    if (path == "muster/reference/types.lua") continue;
    EXPECT_EQ(Unarchived<Value>(*EmbeddedArchive(path)), Returned(state.lua(), path)) << path;
  }
}

TEST(Archives, OfTheSchemaIsWhatItsFilesSay) {
  const State state({}, nullptr);
  Schema made;
  EXPECT_EQ(AddSchemaFiles(made, [&](const std::string& path) { return Returned(state.lua(), path); }), Diagnostics());
  EXPECT_FALSE(made.rules().empty());
  ASSERT_TRUE(EmbeddedArchive(kSchemaArchive));
  const auto read = SchemaInArchive(*EmbeddedArchive(kSchemaArchive));
  ASSERT_TRUE(read);
  EXPECT_TRUE(*read == made);
}

TEST(Archives, OfASchemaIsRefusedIfItIsNone) {
  const std::string whole(*EmbeddedArchive(kSchemaArchive));
  EXPECT_FALSE(SchemaInArchive(whole + '\0'));
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 4) {
    EXPECT_FALSE(SchemaInArchive(std::string_view(whole).substr(0, size))) << size;
  }
}

TEST(State, EnforcesTheMemoryLimitDespiteErrorHandlers) {
  for (const char* text : {
           "local t = {} for i = 1, 1e9 do t[i] = { i } end",
           "local s = 'x' while true do s = s .. s end",
           "local t = {} while true do t[#t + 1] = ('x'):rep(1e6) .. #t end",
           "local t = {} pcall(function() while true do t[#t + 1] = ('x'):rep(1e6) .. #t end end)",
           "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
           "local t = {} while true do t[#t + 1] = function() return t end end",
       }) {
    const std::vector<std::string> kinds = KindsOf(text, {std::size_t{16} << 20, 1'000'000'000});
    ASSERT_FALSE(kinds.empty()) << text;
    EXPECT_EQ(kinds.back(), "limit") << text;
  }
}

TEST(State, ReportsTheMemoryLimit) {
  const Evaluated evaluated = Evaluate({"local s = 'x'\nwhile true do s = s .. s end", {}, {}, {}, kSmall});
  ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U);
  EXPECT_EQ(evaluated.answer.diagnostics[0].message, "the recipe used more than 16 MiB of memory");
}

TEST(State, BoundsTheResultOfOneCall) {
  EXPECT_EQ(ProblemsOf("local s = ('x'):rep(2 ^ 30)"),
            Lines{"recipe.lua:4 error lua: string.rep would make more than 64 MiB"});
  EXPECT_EQ(ProblemsOf("local s = ('x'):rep(1e300)"),
            Lines{"recipe.lua:4 error lua: string.rep would make more than 64 MiB"});
  EXPECT_EQ(ProblemsOf("local s = (''):rep(1e9, 'x')"),
            Lines{"recipe.lua:4 error lua: string.rep would make more than 64 MiB"});
  EXPECT_EQ(ValueOf("#('x'):rep(1000) + #('x'):rep(-5) + #('ab'):rep(2, ', ') + #('x'):rep(0/0)"), "1006");
}

TEST(State, StopsRecursionWithAnOrdinaryError) {
  EXPECT_EQ(ProblemsOf("local function f() return 1 + f() end f()"),
            Lines{"recipe.lua:4 error lua: the recipe's calls are nested too deeply, or it failed while it handled an "
                  "error of its own"});
}

TEST(State, RecordsItsCurrentLineForItsParent) {
  LastPlace place;
  State state({}, &place);
  lua_State* lua = state.lua();
  const char* text = "for i = 1, 1e5 do\n local x = i\nend";
  ASSERT_EQ(luaL_loadbuffer(lua, text, std::strlen(text), "@some/recipe.lua"), 0);
  ASSERT_EQ(lua_pcall(lua, 0, 0, 0), 0);
  EXPECT_EQ(place.Read().file, "some/recipe.lua");
  EXPECT_GE(place.Read().line, 1U);
  EXPECT_LE(place.Read().line, 2U);
}

// A process that is killed while writing a place leaves the previous one.
TEST(LastPlace, KeepsTheOldPlaceUntilTheNewOneIsComplete) {
  LastPlace place;
  EXPECT_EQ(place.Read().line, 0U);
  for (std::uint32_t line = 1; line < 5; ++line) {
    place.Note("recipe.lua", line);
    LastPlace::Slot& next = place.slots[place.current == 1 ? 1 : 0];
    next.line = 0;
    std::strcpy(next.file, "hal");
    EXPECT_EQ(place.Read().file, "recipe.lua");
    EXPECT_EQ(place.Read().line, line);
  }
}

TEST(LastPlace, RefusesImpossiblePlaces) {
  LastPlace place;
  place.Note("recipe.lua", 3);
  place.current = 77;
  EXPECT_EQ(place.Read().line, 0U);
  place.current = 1;
  std::memset(place.slots[0].file, '\xff', sizeof place.slots[0].file);
  EXPECT_EQ(place.Read().line, 0U);
}

TEST(State, TruncatesAFileNameThatThePageCannotHold) {
  LastPlace place;
  State state({}, &place);
  const std::string name = "@" + std::string(3000, 'n');
  const char* text = "for i = 1, 1e5 do local x = i end";
  ASSERT_EQ(luaL_loadbuffer(state.lua(), text, std::strlen(text), name.c_str()), 0);
  ASSERT_EQ(lua_pcall(state.lua(), 0, 0, 0), 0);
  EXPECT_EQ(place.Read().file.size(), sizeof place.slots[0].file - 1);
}

}  // namespace
}  // namespace muster::testing
