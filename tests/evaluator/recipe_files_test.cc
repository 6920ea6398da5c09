// Tests that files are read only below the recipe's folder, and that every file read is an input.
#include "evaluator/recipe_files.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/values/fingerprint.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

class RecipeFilesTest : public ::testing::Test {
 protected:
  RecipeFilesTest() {
    fs::create_directories(folder_ / "recipes/lib");
    Write("recipes/recipe.lua", "return 1");
    Write("recipes/lib/a.lua", "return 'a'");
    Write("outside.lua", "secret");
  }
  void Write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  RecipeFiles Open() {
    auto files = RecipeFiles::Open(folder_ / "recipes/recipe.lua");
    EXPECT_TRUE(files);
    return *std::move(files);
  }
  // Returns the content, or the reason why the file cannot be read.
  static std::string Read(RecipeFiles& files, const std::string& name) {
    const auto content = files.Read(name);
    return content ? *content : "refused: " + content.error();
  }

  testing::TempDir folder_;
};

TEST_F(RecipeFilesTest, TakesUnsavedTextsOnlyForFilesOfTheFolder) {
  auto unsaved = std::make_shared<UnsavedTexts>();
  (*unsaved)[folder_ / "recipes/recipe.lua"] = "return 2";
  (*unsaved)[folder_ / "recipes/lib/a.lua"] = "return 'b'";
  (*unsaved)[folder_ / "outside.lua"] = "unsaved secret";
  auto files = RecipeFiles::Open(folder_ / "recipes/recipe.lua", {}, RecipeFiles::Link::kInside, unsaved);
  ASSERT_TRUE(files);
  EXPECT_EQ(files->recipe_text(), "return 2");
  EXPECT_EQ(Read(*files, "lib/../lib/a.lua"), "return 'b'");
  EXPECT_EQ(files->sources().at("lib/a.lua"), "return 'b'");
  EXPECT_TRUE(Read(*files, "../outside.lua").starts_with("refused: "));
  EXPECT_TRUE(Read(*files, folder_ / "outside.lua").starts_with("refused: "));
  EXPECT_TRUE(Read(*files, "lib/b.lua").starts_with("refused: "));
}

TEST_F(RecipeFilesTest, BoundsUnsavedTextsLikeFiles) {
  auto unsaved = std::make_shared<UnsavedTexts>();
  (*unsaved)[folder_ / "recipes/lib/a.lua"] = std::string(kMaxRecipeBytes + 1, ' ');
  auto files = RecipeFiles::Open(folder_ / "recipes/recipe.lua", {}, RecipeFiles::Link::kInside, unsaved);
  ASSERT_TRUE(files);
  EXPECT_TRUE(Read(*files, "lib/a.lua").starts_with("refused: "));
  EXPECT_TRUE(files->exceeded());
}

TEST_F(RecipeFilesTest, ReadsBelowTheFolderAndRecordsInputs) {
  RecipeFiles files = Open();
  EXPECT_EQ(files.recipe_text(), "return 1");
  EXPECT_EQ(files.folder(), folder_ / "recipes");
  EXPECT_EQ(Read(files, "lib/a.lua"), "return 'a'");
  EXPECT_EQ(Read(files, "./lib/../lib/a.lua"), "return 'a'");
  EXPECT_EQ(files.sources(),
            (std::map<std::string, std::string>{{"lib/a.lua", "return 'a'"}, {"recipe.lua", "return 1"}}));
  EXPECT_EQ(files.inputs(), (std::vector<Input>{{"recipe", folder_ / "recipes/recipe.lua", Sha256Hex("return 1")},
                                                {"file", "lib/a.lua", Sha256Hex("return 'a'")}}))
      << "each input once";
}

TEST_F(RecipeFilesTest, RefusesPathsOutOfTheFolder) {
  const fs::path recipes = folder_ / "recipes";
  fs::create_symlink("../outside.lua", recipes / "link.lua");
  fs::create_symlink(folder_ / "outside.lua", recipes / "absolute.lua");
  fs::create_directory_symlink("..", recipes / "up");
  fs::create_directory_symlink("/", recipes / "root");
  fs::create_symlink("/proc/self/fd/0", recipes / "magic.lua");
  RecipeFiles files = Open();
  for (const std::string name :
       {"../outside.lua", "lib/../../outside.lua", "link.lua", "absolute.lua", "up/outside.lua",
        "up/recipes/recipe.lua", "root/etc/hostname", "/etc/hostname", "magic.lua"}) {
    EXPECT_EQ(Read(files, name), "refused: it is not below the recipe's folder") << name;
    EXPECT_FALSE(files.Exists(name)) << name;
  }
  EXPECT_EQ(files.inputs().size(), 1U);
}

TEST_F(RecipeFilesTest, NeverReturnsARecipesFileForALibrarys) {
  fs::create_directories(folder_ / "recipes/@rules/sub");
  fs::create_directories(folder_ / "site/sub");
  Write("recipes/@rules/policy.lua", "mine");
  Write("site/policy.lua", "the site's");
  auto files = RecipeFiles::Open(folder_ / "recipes/recipe.lua",
                                 {{"rules", {folder_ / "site"}}, {"acme", {folder_ / "recipes"}}});
  ASSERT_TRUE(files);
  for (const std::string name : {"./@rules/policy.lua", "lib/../@rules/policy.lua", ".//@rules/sub/../policy.lua"}) {
    EXPECT_EQ(Read(*files, name),
              "refused: names that begin with '@' are those of libraries: rename the file beside the recipe");
  }
  EXPECT_EQ(Read(*files, "@rules/policy.lua"), "the site's");
  for (const std::string name :
       {"@acme/../@rules/policy.lua", "@acme/lib/../../@rules/policy.lua", "@acme//etc/hostname"}) {
    EXPECT_EQ(Read(*files, name), "refused: it is not below the library's folder") << name;
  }
  EXPECT_EQ(Read(*files, "@acme/@rules/policy.lua"), "mine");
  EXPECT_TRUE(Read(*files, "@zoo/../lib/a.lua").starts_with("refused: there is no library @zoo"));
  EXPECT_EQ(Read(*files, "@rules/./sub/../policy.lua"), "the site's");
  EXPECT_EQ(files->sources().size(), 3U);
}

TEST_F(RecipeFilesTest, FollowsLinksThatStayInside) {
  fs::create_symlink("lib/a.lua", fs::path(folder_ / "recipes") / "inside.lua");
  RecipeFiles files = Open();
  EXPECT_EQ(Read(files, "inside.lua"), "return 'a'");
}

TEST_F(RecipeFilesTest, ReadsOnlyRegularFilesOfLimitedSize) {
  ASSERT_EQ(::mkfifo((folder_ / "recipes/fifo").c_str(), 0600), 0);
  Write("recipes/large", std::string((16U << 20) + 1, 'x'));
  Write("recipes/largest", std::string(16U << 20, 'x'));
  RecipeFiles files = Open();
  EXPECT_EQ(Read(files, "fifo"), "refused: it is not a regular file");
  EXPECT_EQ(Read(files, "lib"), "refused: it is a directory");
  EXPECT_EQ(Read(files, "large"), "refused: it is larger than 16 MiB");
  EXPECT_EQ(Read(files, "largest").size(), 16U << 20);
  EXPECT_EQ(Read(files, "missing"), "refused: No such file or directory");
  EXPECT_EQ(Read(files, ""), "refused: No such file or directory");
  EXPECT_EQ(Read(files, std::string("lib/a.lua\0x", 11)), "refused: the name holds a NUL byte");
}

TEST_F(RecipeFilesTest, ReadsNothingOfProcfs) {
  auto files = RecipeFiles::Open(folder_ / "recipes/recipe.lua", {{"p", {"/proc/self"}}});
  ASSERT_TRUE(files);
  for (const char* name : {"@p/environ", "@p/status"}) {
    EXPECT_EQ(Read(*files, name), "refused: it is a file of procfs, and these are never read") << name;
  }
}

TEST_F(RecipeFilesTest, TheRecipeMayBeALinkOnlyWithinItsFolder) {
  fs::create_symlink("lib/a.lua", fs::path(folder_ / "recipes") / "inside.lua");
  fs::create_symlink("../outside.lua", fs::path(folder_ / "recipes") / "out.lua");
  const auto inside = RecipeFiles::Open(folder_ / "recipes/inside.lua");
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->recipe_text(), "return 'a'");
  const auto out = RecipeFiles::Open(folder_ / "recipes/out.lua");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().front().message, "the recipe is a link that leads out of its folder");
  EXPECT_EQ(out.error().front().hint,
            "name the file itself: " + fs::canonical(std::string(folder_ / "outside.lua")).string());
  const auto on_purpose = RecipeFiles::Open(folder_ / "recipes/out.lua", {}, RecipeFiles::Link::kAnywhere);
  ASSERT_TRUE(on_purpose);
  EXPECT_EQ(on_purpose->recipe_text(), "secret");
}

TEST_F(RecipeFilesTest, TheFileReadIsTheFileShown) {
  fs::create_directories(folder_ / "recipes/sub/deep");
  fs::create_directory_symlink("sub/deep", fs::path(folder_ / "recipes") / "l");
  Write("recipes/sub/x", "of the folder sub");
  fs::create_symlink("../outside.lua", fs::path(folder_ / "recipes") / "x");
  RecipeFiles files = Open();
  // "l/.." is sub, because l is a link; but the path is shown as x beside the recipe, which leads outside.
  EXPECT_EQ(Read(files, "l/../x"), "refused: it is not below the recipe's folder");
  EXPECT_EQ(Read(files, "sub/x"), "of the folder sub");
}

// One large file under ever new names.
class LinkedFiles : public RecipeFilesTest {
 protected:
  LinkedFiles() {
    fs::create_directory_symlink(".", fs::path(folder_ / "recipes") / "l");
    Write("recipes/large", std::string(16U << 20, 'x'));
  }
  // Returns how many of those names can be read.
  static int Readable(RecipeFiles& files, std::string& link) {
    for (int read = 0; read < 100; ++read) {
      if (!files.Read(link + "large")) return read;
      link += "l/";
    }
    return 100;
  }
};

TEST_F(LinkedFiles, CountAgainstTheLimitOfOneEvaluation) {
  RecipeFiles files = Open();
  std::string link;
  EXPECT_EQ(Readable(files, link), 3) << "64 MiB, with their names";
  ASSERT_TRUE(files.exceeded());
  EXPECT_EQ(files.exceeded()->kind, "limit");
  EXPECT_EQ(files.exceeded()->message, "the recipe reads more than 64 MiB of files");
  EXPECT_EQ(files.sources().size(), 4U) << "with the recipe";
  EXPECT_FALSE(files.Read("lib/a.lua")) << "nothing is read any more";
  EXPECT_EQ(files.sources().size(), 4U);
}

TEST_F(LinkedFiles, CountAgainstTheLimitOfAllPlansOfARecipe) {
  const RecipeFiles first = Open();
  std::string link;
  int read = 0;
  for (int plan = 0; plan < 10; ++plan) {
    RecipeFiles files = first.Again();
    read += Readable(files, link);
    if (plan < 9) continue;
    EXPECT_EQ(files.exceeded()->message, "the plans of the recipe read more than 256 MiB of files");
  }
  EXPECT_EQ(read, 15);
  RecipeFiles again = first.Again();
  EXPECT_TRUE(again.Read("large")) << "what is shared already costs nothing more";
}

TEST_F(RecipeFilesTest, NamesCountAgainstTheLimit) {
  RecipeFiles files = Open();
  const std::string name(4095, 'n');
  EXPECT_EQ(Read(files, name + "x"), "refused: the name is longer than 4095 bytes");
  EXPECT_EQ(files.Exists(name + "x").error(), "the name is longer than 4095 bytes");
  int known = 0;
  while (known < 100'000 && !files.exceeded()) {
    files.RecordVariable(std::to_string(known) + std::string(60'000, 'v'), nullptr);
    ++known;
  }
  EXPECT_TRUE(files.exceeded()) << known;
  EXPECT_LT(files.inputs().size(), 1'200U);
}

TEST_F(RecipeFilesTest, DetectsExistingFiles) {
  RecipeFiles files = Open();
  for (const char* name : {"lib/a.lua", "lib", ".", "recipe.lua"}) EXPECT_TRUE(files.Exists(name)) << name;
  EXPECT_EQ(files.Exists("nope").error(), "No such file or directory");
  EXPECT_EQ(files.inputs().size(), 1U) << "what was not read is no input";
}

TEST_F(RecipeFilesTest, RecordsSetAndUnsetVariables) {
  RecipeFiles files = Open();
  files.RecordVariable("A", "value");
  files.RecordVariable("B", nullptr);
  files.RecordVariable("A", "value");
  ASSERT_EQ(files.inputs().size(), 3U);
  EXPECT_EQ(files.inputs()[1], (Input{"variable", "A", Sha256Hex("value")}));
  EXPECT_EQ(files.inputs()[2], (Input{"variable", "B", ""}));
  const Value shown = InputsValue(files.inputs());
  EXPECT_EQ(shown.AsList()->at(2),
            Value(Value::Map{{"kind", Value("variable")}, {"name", Value("B")}, {"sha256", Value()}}));
}

TEST_F(RecipeFilesTest, FindsTheFolderOfARecipeNamedInAnyWay) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_ / "recipes");
  for (const std::string name : {"recipe.lua", "./recipe.lua", "../recipes/recipe.lua", "lib/../recipe.lua"}) {
    auto files = RecipeFiles::Open(name);
    ASSERT_TRUE(files) << name;
    EXPECT_EQ(Read(*files, "lib/a.lua"), "return 'a'") << name;
  }
  fs::current_path(before);
}

}  // namespace
}  // namespace muster
