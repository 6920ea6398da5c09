// Tests git calls, also on hostile repositories: nothing that a repository configures may be executed.
#include <optional>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "code/git.h"
#include "code/repository.h"

namespace muster::testing {
namespace {

std::optional<GitState> Look(const std::string& folder, const std::vector<std::string>& environment) {
  boost::asio::io_context io;
  std::optional<GitState> seen;
  bool reported = false;
  GitQuery look(io, folder, environment, [&](const std::optional<GitState>& state) {
    EXPECT_FALSE(std::exchange(reported, true)) << "told once";
    seen = state;
  });
  io.run();
  EXPECT_TRUE(reported);
  return seen;
}

TEST(GitQuery, ReportsTheCommitAndTheChangesSince) {
  SKIP_WITHOUT_GIT();
  const Repository repository;
  repository.Write("a.py", "one");
  repository.Write("sub/b.py", "two");
  repository.Commit();
  auto state = Look(repository / "sub", repository.environment());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->commit.size(), 40U);
  EXPECT_EQ(state->branch, "main");
  EXPECT_EQ(state->changed + state->untracked, 0U);
  repository.Write("a.py", "other");
  repository.Write("c.py", "new");
  state = Look(repository / "sub", repository.environment());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->changed, 1U);
  EXPECT_EQ(state->untracked, 1U);
}

TEST(GitQuery, IsEmptyWithoutARepositoryOrGit) {
  const TempDir folder;
  EXPECT_FALSE(
      Look(folder.path(), {"PATH=/usr/bin:/bin", "HOME=" + folder.path(), "GIT_CEILING_DIRECTORIES=" + folder.path()}));
  EXPECT_FALSE(Look(folder.path(), {"PATH=" + folder.path()}));
}

TEST(GitQuery, ExecutesNothingThatARepositoryConfigures) {
  SKIP_WITHOUT_GIT();
  const Repository repository;
  const TempDir marks;
  repository.Write("a.py", "one");
  repository.Write(".gitattributes", "*.py filter=evil filter=a.b diff=evil\n");
  repository.Commit();
  const std::string touch = "touch " + marks.path() + "/";
  repository.Write("touch.sh", "#!/bin/sh\n" + touch + "ran; cat\n");
  for (const char* key : {"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter.a.b.clean",
                          "filter.x=y.clean", "core.fsmonitor", "core.pager", "pager.status", "diff.evil.textconv",
                          "diff.external", "core.sshCommand", "core.editor", "core.askPass"}) {
    repository.Git({"config", key, "sh " + (repository / "touch.sh")});
  }
  repository.Git({"config", "filter.evil.required", "true"});
  repository.Write("hooks/post-index-change", "#!/bin/sh\n" + touch + "hook\n");
  std::filesystem::permissions(repository / "hooks/post-index-change", std::filesystem::perms::owner_all);
  repository.Git({"config", "core.hooksPath", repository / "hooks"});
  repository.Write("a.py", "two");  // same size as before, so that git compares contents

  // Proves that the repository is hostile: an ordinary git call executes its command.
  RunCommand({.argv = {"git", "status"}, .env = repository.environment(), .cwd = repository.folder()});
  ASSERT_FALSE(std::filesystem::is_empty(marks.path()));
  for (const auto& mark : std::filesystem::directory_iterator(marks.path())) std::filesystem::remove(mark);
  repository.Write("a.py", "six");

  const auto state = Look(repository.folder(), repository.environment());
  ASSERT_TRUE(state);
  EXPECT_GE(state->changed, 1U);
  EXPECT_TRUE(std::filesystem::is_empty(marks.path())) << *std::filesystem::directory_iterator(marks.path());
}

TEST(GitCall, KillsGitOnTimeout) {
  const TempDir folder;
  std::ofstream(folder / "git") << "#!/bin/sh\nexec /bin/cat /dev/zero > /dev/null\n";
  std::filesystem::permissions(folder / "git", std::filesystem::perms::owner_all);
  Launcher launcher;
  GitCall call(launcher, folder.path(), {"status"}, {"PATH=" + folder.path()});
  ASSERT_TRUE(call.going());
  EXPECT_EQ(call.Take(std::chrono::milliseconds(20)).exit_code, -1);
}

TEST(GitCall, FindsTheNamesOfFiltersWithAnyCharacters) {
  using namespace std::string_literals;
  const std::string out = "filter.a.b.clean\0filter.x=y.process\0filter.a.b.required\0other\0"s;
  EXPECT_EQ(FiltersIn(out), (std::vector<std::string>{"a.b", "x=y"}));
}

}  // namespace
}  // namespace muster::testing
