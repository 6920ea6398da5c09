// Tests which files are shipped as code, and which are refused.
#include "code/tree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "code/repository.h"

namespace muster::testing {
namespace {

std::vector<std::string> Paths(const CodeTree& tree) {
  std::vector<std::string> paths;
  for (const CodeEntry& entry : tree.entries) paths.push_back(entry.path);
  return paths;
}

using Names = std::vector<std::string>;

TEST(CodeTree, HoldsTheFilesKnownToGitInTheirCurrentState) {
  SKIP_WITHOUT_GIT();
  const Repository repository;
  repository.Write("train.py", "one");
  repository.Write("lib/a.py", "a");
  repository.Write("gone.py", "gone");
  repository.Write(".gitignore", "*.log\n");
  repository.Commit();
  repository.Write("train.py", "changed, and not committed");
  repository.Write("new.py", "not known");
  repository.Write("run.log", "ignored");
  std::filesystem::remove(repository / "gone.py");
  const auto tree = ReadCodeTree(repository.folder(), repository.environment(), {}, {});
  ASSERT_TRUE(tree) << tree.error().front().message;
  EXPECT_TRUE(tree->by_git);
  EXPECT_EQ(Paths(*tree), (Names{".gitignore", "lib/a.py", "train.py"}));
  EXPECT_EQ(tree->untracked, Names{"new.py"});
  EXPECT_EQ(tree->entries[2].size, 26U);
  // A subfolder is shipped as a tree of its own.
  const auto part = ReadCodeTree(repository / "lib", repository.environment(), {}, {});
  ASSERT_TRUE(part);
  EXPECT_EQ(Paths(*part), Names{"a.py"});
}

TEST(CodeTree, ExcludesFoldersReplacedByALink) {
  SKIP_WITHOUT_GIT();
  const Repository repository;
  const TempDir elsewhere;
  std::ofstream(elsewhere / "id_rsa") << "secret";
  repository.Write("d/id_rsa", "a placeholder");
  repository.Write("e/deep/id_rsa", "another");
  repository.Write("train.py", "code");
  repository.Commit();
  std::filesystem::remove_all(repository / "d");
  std::filesystem::create_directory_symlink(elsewhere.path(), repository / "d");
  std::filesystem::rename(repository / "e/deep", repository / "deep");
  std::filesystem::create_directory_symlink("../deep", repository / "e/deep");
  const auto tree = ReadCodeTree(repository.folder(), repository.environment(), {}, {});
  ASSERT_TRUE(tree) << tree.error().front().message;
  EXPECT_EQ(Paths(*tree), Names{"train.py"});
  EXPECT_EQ(tree->outside, (Names{"d/id_rsa", "e/deep/id_rsa"}));
}

TEST(CodeTree, ExcludesPathsOfTheIndexOutsideTheTree) {
  SKIP_WITHOUT_GIT();
  const Repository repository;
  repository.Write("sub/aa/secret", "a placeholder");
  repository.Write("sub/train.py", "code");
  repository.Commit();
  repository.Write("secret", "outside of what is shipped");
  // A manipulated index: git does not verify a checksum of zero.
  std::ifstream index(repository / ".git/index", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(index), {}};
  ASSERT_NE(bytes.find("sub/aa/secret"), std::string::npos);
  bytes.replace(bytes.find("sub/aa/secret"), 6, "sub/..");
  bytes.replace(bytes.size() - 20, 20, std::string(20, '\0'));
  std::ofstream(repository / ".git/index", std::ios::binary) << bytes;
  const CommandResult known = repository.Git({"ls-files", "sub"});
  if (known.out.find("sub/../secret") == std::string::npos) GTEST_SKIP() << "this git refuses such an index itself";
  const auto tree = ReadCodeTree(repository / "sub", repository.environment(), {}, {});
  ASSERT_TRUE(tree) << tree.error().front().message;
  EXPECT_EQ(Paths(*tree), Names{"train.py"});
  EXPECT_EQ(tree->outside, Names{"../secret"});
}

TEST(CodeTree, IsTheWholeFolderWithoutGitButNoRunsAndNoBytecode) {
  const TempDir folder;
  const std::vector<std::string> environment = {"PATH=" + folder.path()};
  for (const char* path : {"a.py", "lib/__pycache__/a.pyc", "lib/b.py", "runs/job/log", ".git/config"}) {
    std::filesystem::create_directories(std::filesystem::path(folder / path).parent_path());
    std::ofstream(folder / path) << "content";
  }
  ::mkfifo((folder / "pipe").c_str(), 0600);
  std::filesystem::create_symlink("lib/b.py", folder / "inside");
  std::filesystem::create_symlink("../elsewhere", folder / "outside");
  std::filesystem::permissions(folder / "a.py", std::filesystem::perms(0750));
  const auto tree = ReadCodeTree(folder.path(), environment, {}, {"runs"});
  ASSERT_TRUE(tree) << tree.error().front().message;
  EXPECT_FALSE(tree->by_git);
  EXPECT_EQ(Paths(*tree), (Names{"a.py", "inside", "lib/b.py", "outside"}));
  EXPECT_EQ(tree->entries[0].mode, 0750U);
  EXPECT_EQ(tree->entries[1].target, "lib/b.py");
  EXPECT_EQ(tree->leading_out, Names{"outside"});
  EXPECT_EQ(tree->passed_over, Names{"pipe"});
}

TEST(CodeTree, ChangesItsHashWithContentModeOrName) {
  const TempDir folder;
  const std::vector<std::string> environment = {"PATH=" + folder.path()};
  const auto hash = [&] { return ReadCodeTree(folder.path(), environment, {}, {})->hash; };
  std::ofstream(folder / "a.py") << "one";
  const std::string first = hash();
  EXPECT_EQ(hash(), first);
  std::ofstream(folder / "a.py") << "two";
  EXPECT_NE(hash(), first);
  std::ofstream(folder / "a.py") << "one";
  EXPECT_EQ(hash(), first) << "when it was written is nothing to it";
  std::filesystem::permissions(folder / "a.py", std::filesystem::perms(0700));
  EXPECT_NE(hash(), first);
  std::filesystem::permissions(folder / "a.py", std::filesystem::perms(0644));
  std::filesystem::rename(folder / "a.py", folder / "b.py");
  EXPECT_NE(hash(), first);
}

TEST(CodeTree, IsRefusedBeyondItsLimitWithTheLargestFilesNamed) {
  const TempDir folder;
  std::ofstream(folder / "data.bin") << std::string(3'000'000, 'x');
  std::ofstream(folder / "a.py") << "small";
  const auto tree = ReadCodeTree(folder.path(), {"PATH=" + folder.path()}, {.bytes = 2'000'000}, {});
  ASSERT_FALSE(tree);
  EXPECT_NE(tree.error().front().message.find("4 MB in 2 files are more than the 2 MB"), std::string::npos)
      << tree.error().front().message;
  EXPECT_NE(tree.error().front().message.find("data.bin (3 MB)"), std::string::npos);
  EXPECT_NE(tree.error().front().hint.find("--ship-limit"), std::string::npos);
}

TEST(CodeTree, IsRefusedIfItHasNoFiles) {
  const TempDir folder;
  EXPECT_FALSE(ReadCodeTree(folder.path(), {"PATH=" + folder.path()}, {}, {}));
  EXPECT_FALSE(ReadCodeTree(folder / "missing", {"PATH=" + folder.path()}, {}, {}));
}

TEST(CodeTree, KnowsItsFilesAndTheirFolders) {
  const TempDir folder;
  for (const char* path : {"lib/a.py", "lib-2/b.py", "lib.py"}) {
    std::filesystem::create_directories(std::filesystem::path(folder / path).parent_path());
    std::ofstream(folder / path) << "content";
  }
  const auto tree = ReadCodeTree(folder.path(), {"PATH=" + folder.path()}, {}, {});
  ASSERT_TRUE(tree);
  for (const char* path : {"", "lib", "lib/a.py", "lib-2", "lib.py"}) EXPECT_TRUE(tree->Has(path)) << path;
  for (const char* path : {"li", "lib/a", "lib/a.py/x", "b.py"}) EXPECT_FALSE(tree->Has(path)) << path;
}

}  // namespace
}  // namespace muster::testing
