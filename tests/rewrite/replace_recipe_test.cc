// Tests replacing a recipe's file: atomically, with its mode, and only if it is unchanged since it was read.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/command/small_file.h"
#include "support/as_user.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

class ReplaceRecipeTest : public ::testing::Test {
 protected:
  ReplaceRecipeTest() { Write("old"); }

  void Write(const std::string& text) const { std::ofstream(path()) << text; }
  std::string Read() const {
    std::ifstream file(path());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string path() const { return folder_ / "recipe.lua"; }
  std::size_t Files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }

  TempDir folder_;
};

TEST_F(ReplaceRecipeTest, KeepsTheMode) {
  std::filesystem::permissions(path(), std::filesystem::perms(0640));
  ASSERT_TRUE(ReplaceRecipe(path(), "old", "new").has_value());
  EXPECT_EQ(Read(), "new");
  EXPECT_EQ(std::filesystem::status(path()).permissions(), std::filesystem::perms(0640));
  EXPECT_EQ(Files(), 1U) << "no draft is left";
}

TEST_F(ReplaceRecipeTest, KeepsAFileThatHasChanged) {
  Write("edited");
  const auto replaced = ReplaceRecipe(path(), "old", "new");
  ASSERT_FALSE(replaced.has_value());
  EXPECT_EQ(replaced.error().front().kind, "file");
  EXPECT_NE(replaced.error().front().message.find("has been changed while it was rewritten"), std::string::npos);
  EXPECT_EQ(Read(), "edited");
  EXPECT_EQ(Files(), 1U);
}

TEST_F(ReplaceRecipeTest, ReplacesTheTargetOfALink) {
  const std::string link = folder_ / "link.lua";
  std::filesystem::create_symlink("recipe.lua", link);
  ASSERT_TRUE(ReplaceRecipe(link, "old", "new").has_value());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(Read(), "new");
}

TEST_F(ReplaceRecipeTest, IsRefusedWithoutWritePermission) {
  std::filesystem::permissions(path(), std::filesystem::perms(0444));
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0777));
  constexpr uid_t kNobody = 65534;
  Result<void> replaced;
  if (CanBecomeOthers()) {
    const AsUser nobody(kNobody, kNobody);
    ASSERT_TRUE(nobody.became());
    replaced = ReplaceRecipe(path(), "old", "new");
  } else {
    replaced = ReplaceRecipe(path(), "old", "new");
  }
  ASSERT_FALSE(replaced.has_value());
  EXPECT_NE(replaced.error().front().message.find("cannot be written"), std::string::npos);
  EXPECT_EQ(Read(), "old");
  EXPECT_EQ(Files(), 1U);
}

TEST_F(ReplaceRecipeTest, RequiresAFile) {
  EXPECT_FALSE(ReplaceRecipe(folder_ / "none.lua", "old", "new").has_value());
  EXPECT_EQ(Files(), 1U);
}

}  // namespace
}  // namespace muster::testing
