// Tests that generated texts in the tree are up to date. tools/update-goldens regenerates them
// (MUSTER_UPDATE_GOLDENS=1).
#include <memory>

#include <gtest/gtest.h>
#include <lua.hpp>

#include "reference/context_stub.h"
#include "reference/context_topics.h"
#include "reference/own_reference.h"
#include "reference/page.h"
#include "support/golden.h"

namespace muster {
namespace {

TEST(Freshness, TheAttributePageMatchesTheSchema) {
  muster::testing::ExpectGolden(ContextReference(OwnSchemaForTests(), OwnOutlineForTests()), "docs/attributes.md");
}

TEST(Freshness, TheFrameworkPageMatchesTheContracts) {
  muster::testing::ExpectGolden(DocumentMarkdown(DocumentForTests("frameworks")), "docs/frameworks.md");
}

TEST(Frameworks, HaveATopicEach) {
  const Topics& topics = LuaTopicsForTests();
  const Page page = PageOf(topics, "torch");
  EXPECT_EQ(page.title, "`torch`");
  const std::string text = PageText(page, {});
  for (const char* word :
       {"MASTER_ADDR", "rank 0", "TORCHELASTIC_*", "the first worker of each world, at the port master", "1 or more"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  }
  EXPECT_NE(PageText(PageOf(topics, "frameworks"), {}).find("mindspore-ranktable"), std::string::npos);
}

TEST(Freshness, TheEditorsDefinitionsMatchTheSchema) {
  muster::testing::ExpectGolden(ContextStub(OwnSchemaForTests(), OwnOutlineForTests()), "lua/meta/context.lua");
  muster::testing::ExpectGolden(CallStub(OwnSchemaForTests()), "lua/meta/mindspore.lua");
}

TEST(Freshness, TheEditorsDefinitionsMatchTheEngines) {
  muster::testing::ExpectGolden(*DocumentForTests("engines").AsString(), "lua/meta/engines.lua");
}

TEST(Stubs, DescribeFunctionsByPositionAndByName) {
  const std::string stub = CallStub(OwnSchemaForTests());
  for (const char* line : {"function mindspore.set_device(device_target, device_id) end",
                           "---@param device_target \"CPU\"|\"GPU\"|\"Ascend\" Kind of device that computes.",
                           "---@overload fun(names: muster.SetDevice)", "mindspore.device_context.ascend = {}",
                           "function mindspore.parallel(settings) end", "---@field stages? integer",
                           "---@class muster.MindSporeModule : muster.ContextModule"}) {
    EXPECT_NE(stub.find("\n" + std::string(line) + "\n"), std::string::npos) << line;
  }
  EXPECT_NE(stub.find("set_kernel_launch_group"), std::string::npos);
  EXPECT_EQ(stub.find("(called)"), std::string::npos) << "a function without parameters has none";
  const Schema& schema = OwnSchemaForTests();
  for (const auto& [name, function] : schema.calls()) {
    EXPECT_NE(stub.find("\nfunction mindspore." + name + "("), std::string::npos) << name;
  }
}

TEST(Stubs, DescribeReadTypesNotWrittenOnes) {
  const std::string stub = ContextStub(OwnSchemaForTests(), OwnOutlineForTests());
  const auto holds = [&](const std::string& line) { return stub.find("\n---@" + line + "\n") != std::string::npos; };
  EXPECT_TRUE(holds("field max_device_memory? string|number"));
  EXPECT_TRUE(holds("overload fun(attribute: \"max_device_memory\"): number"));
  EXPECT_TRUE(holds("field memory_offload? \"ON\"|\"OFF\""));
  EXPECT_TRUE(holds("overload fun(attribute: \"memory_offload\"): boolean"));
  EXPECT_TRUE(holds("field device_target? \"Ascend\"|\"GPU\"|\"CPU\"|\"Davinci\""));
  EXPECT_TRUE(holds("overload fun(attribute: \"device_target\"): \"Ascend\"|\"GPU\"|\"CPU\"")) << "never an alias";
  EXPECT_EQ(stub.find("enable_options"), std::string::npos) << "only a document has it";
  EXPECT_EQ(stub.find("attribute: \"aoe_config\"): string"), std::string::npos);
}

TEST(Stubs, AreValidLua) {
  const std::unique_ptr<lua_State, decltype(&lua_close)> lua(luaL_newstate(), &lua_close);
  for (const char* file : {"context", "engines", "job", "mindspore", "muster", "sweep"}) {
    const std::string path = std::string(MUSTER_SOURCE_DIR) + "/lua/meta/" + file + ".lua";
    EXPECT_EQ(luaL_loadfile(lua.get(), path.c_str()), 0) << lua_tostring(lua.get(), -1);
  }
}

}  // namespace
}  // namespace muster
