#include <gtest/gtest.h>

#include "code/git.h"

namespace muster {
namespace {

using namespace std::string_literals;

const std::string kHead = "# branch.oid 9f3c1d20a1b2c3d4e5f60718293a4b5c6d7e8f90\0# branch.head main\0"s;

TEST(GitState, IsParsedFromPorcelainOutput) {
  const auto state = ReadGitStatus(kHead +
                                   "1 .M N... 100644 100644 100644 aaaa bbbb src/a b.py\0"
                                   "2 R. N... 100644 100644 100644 aaaa bbbb R100 new.py\0old.py\0"
                                   "u UU N... 100644 100644 100644 100644 aaaa bbbb cccc both.py\0"
                                   "? notes/\0"s);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->branch, "main");
  EXPECT_EQ(state->changed, 3U);
  EXPECT_EQ(state->untracked, 1U);
  EXPECT_EQ(state->names, (std::vector<std::string>{"src/a b.py", "new.py", "both.py", "notes/"}));
  EXPECT_EQ(GitStateText(*state), "9f3c1d20a1b2 (main), 3 files changed, 1 untracked");
}

TEST(GitState, RecognisesAnUnbornBranchAndADetachedHead) {
  const auto fresh = ReadGitStatus("# branch.oid (initial)\0# branch.head main\0? a.py\0"s);
  ASSERT_TRUE(fresh);
  EXPECT_EQ(GitStateText(*fresh), "no commit yet (main), 1 untracked");
  const auto detached = ReadGitStatus("# branch.oid 9f3c1d20a1b2c3d4\0# branch.head (detached)\0"s);
  ASSERT_TRUE(detached);
  EXPECT_EQ(GitStateText(*detached), "9f3c1d20a1b2, clean");
}

TEST(GitState, IsNoneForTruncatedOrForeignOutput) {
  EXPECT_FALSE(ReadGitStatus(""));
  EXPECT_FALSE(ReadGitStatus("fatal: not a git repository\n"));
  EXPECT_FALSE(ReadGitStatus(kHead + "1 .M N... 100644"));
  EXPECT_FALSE(ReadGitStatus("\0\0"s));
  EXPECT_TRUE(ReadGitStatus(kHead + "2 R. cut\0"s)) << "no old name, and nothing behind it is read";
}

TEST(GitState, CountsMoreFilesThanItNames) {
  std::string bytes = kHead;
  for (int i = 0; i < 50; ++i) bytes += "? f" + std::to_string(i) + '\0';
  const auto state = ReadGitStatus(bytes);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->untracked, 50U);
  EXPECT_EQ(state->names.size(), GitState::kMaxNames);
}

}  // namespace
}  // namespace muster
