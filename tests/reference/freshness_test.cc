// Texts that are made from the schema and kept in the tree: they are what would be made now. tools/update-goldens
// writes them anew (MUSTER_UPDATE_GOLDENS=1).
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include <gtest/gtest.h>
#include <lua.hpp>

#include "reference/context_reference.h"
#include "reference/context_stub.h"
#include "reference/own_reference.h"

namespace muster {
namespace {

void ExpectFresh(const std::string& made, const std::string& file) {
  const std::string path = std::string(MUSTER_SOURCE_DIR) + "/" + file;
  if (std::getenv("MUSTER_UPDATE_GOLDENS") != nullptr) {
    std::ofstream(path, std::ios::binary) << made;
    return;
  }
  std::ifstream stream(path, std::ios::binary);
  const std::string kept(std::istreambuf_iterator<char>(stream), {});
  EXPECT_TRUE(made == kept) << file << " is not what the schema gives now (tools/update-goldens rewrites it)";
}

TEST(Freshness, TheAttributePageIsWhatTheSchemaSays) {
  ExpectFresh(ContextReference(OwnSchemaForTests(), OwnOutlineForTests()), "docs/attributes.md");
}

TEST(Freshness, TheEditorsDefinitionsAreWhatTheSchemaSays) {
  ExpectFresh(ContextStub(OwnSchemaForTests(), OwnOutlineForTests()), "lua/meta/context.lua");
}

TEST(Stubs, AreLua) {
  const std::unique_ptr<lua_State, decltype(&lua_close)> lua(luaL_newstate(), &lua_close);
  for (const char* file : {"context", "mindspore", "muster"}) {
    const std::string path = std::string(MUSTER_SOURCE_DIR) + "/lua/meta/" + file + ".lua";
    EXPECT_EQ(luaL_loadfile(lua.get(), path.c_str()), 0) << lua_tostring(lua.get(), -1);
  }
}

}  // namespace
}  // namespace muster
