#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "spawn/leftovers/leftovers.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

// In a process of its own, because the list is shared with all that this one forks.
template <class Body>
void InFork(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    FinalCommands::Share();
    body();
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

class FinalCommand : public ::testing::Test {
 protected:
  std::vector<std::string> Making(const std::string& name) const {
    return {"/bin/sh", "-c", "echo \"$1\" >> \"$2\"", "sh", "made", folder_ / name};
  }
  bool Made(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

  TempDir folder_;
};

TEST_F(FinalCommand, RunsOnceIfAProcessThatNeedsItDidNotEndByItself) {
  InFork([&] {
    EXPECT_TRUE(FinalCommands::Begun(Making("a")));
    EXPECT_TRUE(FinalCommands::Begun(Making("a")));
    FinalCommands::Ended(Making("a"));
    EXPECT_EQ(FinalCommands::RunNeeded(), 1U);
    EXPECT_EQ(FinalCommands::RunNeeded(), 0U);
  });
  EXPECT_EQ(std::filesystem::file_size(folder_ / "a"), 5U);
}

TEST_F(FinalCommand, DoesNotRunIfAllHaveEndedByThemselves) {
  InFork([&] {
    EXPECT_TRUE(FinalCommands::Begun(Making("a")));
    FinalCommands::Ended(Making("a"));
    EXPECT_EQ(FinalCommands::RunNeeded(), 0U);
  });
  EXPECT_FALSE(Made("a"));
}

TEST_F(FinalCommand, OfAKilledProcessIsRunByTheOneThatForkedIt) {
  InFork([&] {
    BecomeSubreaper();
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      FinalCommands::Begun(Making("a"));
      static_cast<void>(!::write(ready[1], "x", 1));
      ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(FinalCommands::RunNeeded(), 0U) << "it runs still";
    EXPECT_FALSE(Made("a"));
    KillDescendants({});
    EXPECT_TRUE(Made("a"));
  });
}

TEST_F(FinalCommand, IsGivenUpAfterItsPatience) {
  InFork([&] {
    FinalCommands::Begun({"/bin/sleep", "1000"});
    FinalCommands::Begun(Making("a"));
    EXPECT_EQ(FinalCommands::RunNeeded(std::chrono::milliseconds(1000)), 2U);
  });
  EXPECT_TRUE(Made("a"));
}

TEST_F(FinalCommand, ThatIsTooLongIsRefused) {
  InFork([] {
    EXPECT_FALSE(FinalCommands::Begun({std::string(5000, 'x')}));
    for (int i = 0; i < 64; ++i) EXPECT_TRUE(FinalCommands::Begun({"/bin/true", std::to_string(i)})) << i;
    EXPECT_FALSE(FinalCommands::Begun({"/bin/true", "one too many"}));
    for (int i = 0; i < 64; ++i) FinalCommands::Ended({"/bin/true", std::to_string(i)});
    EXPECT_EQ(FinalCommands::RunNeeded(), 0U);
    EXPECT_TRUE(FinalCommands::Begun({"/bin/true", "one too many"}));
  });
}

}  // namespace
}  // namespace muster::testing
