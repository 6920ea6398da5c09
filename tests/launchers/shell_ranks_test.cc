// Tests how shell loops that start ranks in the background are converted to one call.
#include "launchers/shell_ranks.h"

#include <gtest/gtest.h>

#include "launchers/read_line.h"

namespace muster::testing {
namespace {

Result<LauncherCall> Script(const std::string& text) { return ReadShellRanks({"bash", "-c", text}, TestWorld(), "/work"); }

std::string Refusal(const std::vector<std::string>& words) {
  const auto call = ReadShellRanks(words, TestWorld(), "/work");
  return call ? "taken" : call.error().front().message;
}

const CallWord* VariableWord(const LauncherCall& call, const std::string& name) {
  for (const auto& [variable, value] : call.env) {
    if (variable == name) return &value;
  }
  return nullptr;
}

TEST(ShellRanks, AreCountedFromTheLoop) {
  for (const char* loop : {"for i in 0 1 2 3", "for i in {0..3}", "for i in $(seq 0 3)", "N=4; for ((i=0;i<N;i++))",
                           "for((i=0; i<=3; i++))"}) {
    const auto call = Script(std::string("export RANK_SIZE=4;") + loop +
                             "; do RANK_ID=$i DEVICE_ID=$((i+4)) python3 train.py --rank $i & done; wait");
    ASSERT_TRUE(call.has_value()) << loop << call.error().front().message;
    EXPECT_EQ(call->per_host, 4) << loop;
    EXPECT_EQ(call->framework, "none");
    EXPECT_EQ(VariableWord(*call, "RANK_ID")->number, CallWord::Number::kRank);
    EXPECT_EQ(VariableWord(*call, "DEVICE_ID")->number, CallWord::Number::kLocalRank);
    EXPECT_EQ(VariableWord(*call, "DEVICE_ID")->added, 4);
    EXPECT_EQ(VariableWord(*call, "RANK_SIZE")->number, CallWord::Number::kWorldSize);
    EXPECT_EQ(call->command.back().number, CallWord::Number::kLocalRank);
  }
}

// Prevents: rank 0, which such scripts start last and in the foreground, is omitted.
TEST(ShellRanks, IncludeTheForegroundProcess) {
  const auto call = Script("for i in 1 2 3; do export RANK_ID=$i; pytest t.py & done\nexport RANK_ID=0\npytest t.py\n");
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->per_host, 4);
  EXPECT_EQ(VariableWord(*call, "RANK_ID")->added, 0);
}

TEST(ShellRanks, OfSeveralHostsAreThoseOfOneHost) {
  const auto call = ReadShellRanks({"bash", "-c",
                                    "export RANK_SIZE=16; START=$1; for((i=0;i<8;i++)); do export RANK_ID=$[i+START] "
                                    "DEVICE_ID=$i; python n.py & done",
                                    "8"},
                                   TestWorld(), "/work");
  ASSERT_TRUE(call.has_value()) << call.error().front().message;
  EXPECT_EQ(call->hosts, 2);
  EXPECT_EQ(call->per_host, 8);
  EXPECT_EQ(VariableWord(*call, "RANK_ID")->added, 0);
}

TEST(ShellRanks, FollowFunctions) {
  const auto call = Script(
      "table_8() {\n export RANK_SIZE=2\n}\nN=8\ntable_${N}\nfor i in 0 1; do RANK=$i WORLD_SIZE=2 python t.py & done");
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->framework, "torch");
  EXPECT_EQ(VariableWord(*call, "RANK"), nullptr);
}

TEST(ShellRanks, RefuseUnsupportedScripts) {
  EXPECT_EQ(Refusal({"bash", "-c", "python a.py"}), "no processes are started in the background");
  EXPECT_EQ(Refusal({"bash", "-c", "if true; then python a.py & fi"}),
            "processes are started under a condition, which is not followed");
  EXPECT_EQ(Refusal({"bash", "-c", "for i in 1 2; do python a.py $(nproc) & done"}),
            "the value of \"$(nproc)\" does not follow from the script");
  EXPECT_EQ(Refusal({"bash", "-c", "for i in $1; do python a.py & done"}),
            "how often this loop runs does not follow from the script");
  EXPECT_EQ(Refusal({"bash", "-c", "for i in a b; do python $i.py & done"}),
            "the processes differ in \"a.py\" and \"b.py\", and not by a number that counts them");
  EXPECT_EQ(Refusal({"bash", "-c", "for i in a b; do X=$i python t.py & done"}),
            "X is \"a\" for one process and \"b\" for the next, and does not count them");
  EXPECT_EQ(Refusal({"bash", "-c", "f() {\n f\n}\nf; python a.py &"}), "functions call each other too deeply");
  EXPECT_EQ(Refusal({"bash", "-c", "for i in {1..5000}; do python a.py & done"}),
            "how often this loop runs does not follow from the script");
  EXPECT_EQ(Refusal({"bash", "nowhere.sh"}), "shell: the script cannot be read: there is no nowhere.sh");
  EXPECT_EQ(Refusal({"bash"}), "shell: there is no script");
}

}  // namespace
}  // namespace muster::testing
