// Tests how shell loops that start ranks in the background are converted to one call.
#include "launchers/shell_ranks.h"

#include <gtest/gtest.h>

#include "launchers/read_line.h"

namespace muster::testing {
namespace {

Result<LauncherCall> Script(const std::string& text) {
  return ReadShellRanks({"bash", "-c", text}, TestWorld(), "/base");
}

std::string Refusal(const std::vector<std::string>& words) {
  const auto call = ReadShellRanks(words, TestWorld(), "/base");
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
                                    "name", "8"},
                                   TestWorld(), "/base");
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
  EXPECT_EQ(Refusal({"bash", "-c", "echo a"}), "the script starts no process");
  EXPECT_EQ(Refusal({"bash", "-c", "if [ -f x ]; then python a.py & fi"}),
            "processes are started under a condition that does not follow from the script");
  EXPECT_EQ(Refusal({"bash", "-c", "for i in 1 2; do python a.py $(nproc) & done"}),
            "the value of \"$(nproc)\" does not follow from the script: what `nproc` prints");
  EXPECT_EQ(Refusal({"bash", "-c", "for i in $(nproc); do python a.py & done"}),
            "how often this loop runs does not follow from the script: what `nproc` prints");
  EXPECT_EQ(Refusal({"bash", "-c", "f() {\n f\n}\nf; python a.py &"}), "functions call each other too deeply");
  EXPECT_EQ(Refusal({"bash", "-c", "for i in {1..4000}; do python a.py & python b.py & done"}),
            "more than 4096 processes");
  EXPECT_EQ(Refusal({"bash", "-c", "while true; do :; done"}), "a loop does not end");
  EXPECT_EQ(Refusal({"bash", "-c", "python a.py; python b.py"}),
            "it runs several programs one after the other, the first in line 1");
  EXPECT_EQ(Refusal({"bash", "-c", "mpirun -n 2 ./a & python b.py &"}), "it starts other processes beside a launcher");
  EXPECT_EQ(Refusal({"bash", "-c", "python a.py & kill $!"}), "`kill $!` ends processes while the job runs");
  EXPECT_EQ(Refusal({"bash", "-c", "if true; then python a.py &"}), "\"fi\" is missing");
  EXPECT_EQ(Refusal({"bash", "-c", std::string(300, '(')}), "the script is nested too deeply");
  EXPECT_EQ(Refusal({"bash", "nowhere.sh"}), "shell: the script cannot be read: there is no nowhere.sh");
  EXPECT_EQ(Refusal({"bash"}), "shell: there is no script");
}

// Prevents: a command that has an effect on what is kept disappears.
TEST(ShellRanks, ListEveryCommandThatIsLeftOut) {
  const auto call = Script(
      "set -x\nulimit -n 4096\numask 077\npython prepare.py\ntrap 'kill 0' INT\nfor i in 0 1; do RANK_ID=$i python "
      "t.py & done\n"
      "wait\npython plots.py\ncp a b\n");
  ASSERT_TRUE(call.has_value()) << call.error().front().message;
  std::string all;
  for (const auto& [command, effect] : call->left_out) all += command + "\n";
  for (const char* command :
       {"set -x (line 1)", "ulimit -n 4096 (line 2)", "umask 077 (line 3)", "python prepare.py (line 4)",
        "trap 'kill 0' INT (line 5)", "python plots.py (line 8)", "cp a b (line 9)"})
    EXPECT_NE(all.find(command), std::string::npos) << command << " in\n" << all;
  EXPECT_EQ(all.find("redirections"), std::string::npos);
}

// Prevents: a launcher behind other words becomes a launcher in each process.
TEST(ShellRanks, ContainLaunchersBehindOtherWords) {
  const auto call = Script("export A=1; cd sub; numactl -N 0 torchrun --nproc_per_node 2 train.py &");
  ASSERT_TRUE(call.has_value()) << call.error().front().message;
  EXPECT_EQ(call->framework, "torch");
  EXPECT_EQ(call->per_host, 2);
  EXPECT_EQ(call->cwd, "sub");
  EXPECT_EQ(call->wrap, (std::vector<std::string>{"numactl", "-N", "0"}));
  EXPECT_EQ(VariableWord(*call, "A")->text, "1");
  EXPECT_EQ(Refusal({"bash", "-c", "./start torchrun --nproc_per_node 2 train.py &"}),
            "torchrun is called by \"./start\"");
}

// Prevents: a `wait` within a background group separates the processes after it from those before.
TEST(ShellRanks, WaitOnlyForProcessesOfTheirShell) {
  const auto call = Script("for i in 0 1; do { RANK_ID=$i python t.py & wait; } & done; wait");
  ASSERT_TRUE(call.has_value()) << call.error().front().message;
  EXPECT_EQ(call->per_host, 2);
}

TEST(ShellRanks, ActivateEnvironments) {
  const auto call = Script("source /opt/set_env.sh\nmodule load cuda/12 gcc\nconda activate train\npython t.py &");
  ASSERT_TRUE(call.has_value()) << call.error().front().message;
  std::string all;
  for (const auto& one : call->activations) all += one.field + "=" + one.value + " ";
  EXPECT_EQ(all, "source=/opt/set_env.sh module=cuda/12 module=gcc conda=train ");
}

// Prevents: a rank in the arguments becomes the local rank, and the number of a machine a constant.
TEST(ShellRanks, FollowRanksAndMachines) {
  const auto call =
      ReadShellRanks({"bash", "-c",
                      "export RANK_SIZE=$1 SERVER_ID=$2; for i in 0 1; do export RANK_ID=$((i+SERVER_ID*2)); "
                      "python t.py --server $SERVER_ID --rank $RANK_ID --seed $((RANK_ID*10+1)) & done",
                      "name", "4", "1"},
                     TestWorld(), "/base");
  ASSERT_TRUE(call.has_value()) << call.error().front().message;
  EXPECT_EQ(call->hosts, 2);
  EXPECT_EQ(call->command[3].number, CallWord::Number::kHost);
  EXPECT_EQ(call->command[5].number, CallWord::Number::kRank);
  EXPECT_EQ(call->command[7].number, CallWord::Number::kRank);
  EXPECT_EQ(call->command[7].times, 10);
  EXPECT_EQ(VariableWord(*call, "SERVER_ID")->number, CallWord::Number::kHost);
}

}  // namespace
}  // namespace muster::testing
