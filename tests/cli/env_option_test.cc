// Tests --env: variables of all processes, for every recipe and every command that takes one.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

class EnvOption : public ::testing::Test {
 protected:
  OneRecipe recipe_{
      "job:env { A = 'job' } job:workers { count = 2, command = { 'sh', '-c', 'echo $A $B' }, env = { B = 'role' } }"};
  TempDir folder_;
};

TEST_F(EnvOption, SetsAVariableOfAllProcessesOverTheRecipes) {
  const CommandResult run = Muster(
      {"run", recipe_.path(), "-q", "--run-dir", folder_ / "run", "--env", "A=1", "--env", "B=x y=${muster:port:a}"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Muster({"logs", folder_ / "run", "--rank", "1"}).out, "1 x y=${muster:port:a}\n");
  const auto planned =
      nlohmann::json::parse(Muster({"plan", recipe_.path(), "--env", "A=1", "--env", "worker:1", "--json"}).out);
  for (const auto& variable : planned["variables"]) {
    const std::string name = variable["name"];
    if (name != "A" && name != "B") continue;
    EXPECT_EQ(variable["layer"], name == "A" ? "command line" : "role") << variable;
  }
  const CommandResult shown = Muster({"plan", recipe_.path(), "--env", "A=1", "--env", "worker:1"});
  EXPECT_NE(shown.out.find("  command line      A=1\n"), std::string::npos) << shown.out;
  // A run of the stored recipe has it, too, and may have another value.
  EXPECT_EQ(Muster({"run", folder_ / "run", "-q", "--run-dir", folder_ / "again", "--env", "B=2"}).exit_code, 0);
  EXPECT_EQ(Muster({"logs", folder_ / "again", "--rank", "0"}).out, "1 2\n");
}

TEST_F(EnvOption, IsTakenByAllThatTakeARecipe) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"plan"}, {"check"}, {"params"}, {"sweep", "--preview", "--grid", "hosts=1,2"}}) {
    std::vector<std::string> all = {words.front(), recipe_.path(), "--env", "A=1"};
    all.insert(all.end(), words.begin() + 1, words.end());
    const CommandResult result = Muster(all);
    EXPECT_EQ(result.exit_code, 0) << words.front() << result.err;
  }
  const CommandResult explained = Muster({"explain", recipe_.path(), "A", "--env", "A=1"});
  EXPECT_NE(explained.out.find("command line"), std::string::npos) << explained.out << explained.err;
}

TEST_F(EnvOption, IsRefusedForVariablesOfTheContract) {
  const OneRecipe torch("job:workers { count = 2, command = { 'true' } }", "framework = 'torch',");
  const CommandResult refused =
      Muster({"check", torch.path(), "--env", "RANK=3", "--env", "MUSTER_RANK=1", "--env", "OK=1"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("--env: RANK belongs to contract torch, which sets it\nhint: leave it out\n"),
            std::string::npos)
      << refused.err;
  EXPECT_NE(refused.err.find("--env: MUSTER_RANK belongs to muster, which sets it"), std::string::npos) << refused.err;
  EXPECT_EQ(Muster({"check", torch.path(), "--env", "=1"}).exit_code, 2);
  EXPECT_NE(Muster({"check", torch.path(), "--env", "A"}).err.find("--env \"A\" is not NAME=VALUE"), std::string::npos);
}

TEST_F(EnvOption, IsTheParameterOfARecipeThatHasOne) {
  const OneRecipe own("job:workers { count = 1, command = { 'echo', p.env.A or 'none', p.env.B or 'none' } }",
                      "params = { env = muster.map { { B = 'default' } } },");
  ASSERT_EQ(Muster({"run", own.path(), "-q", "--run-dir", folder_ / "own", "--env", "A=1"}).exit_code, 0);
  EXPECT_EQ(Muster({"logs", folder_ / "own"}).out, "1 none\n") << "the value of the parameter, and no variable";
  ASSERT_EQ(Muster({"run", "@torch", "-q", "--run-dir", folder_ / "torch", "--env", "A=2", "--", "sh", "-c", "echo $A"})
                .exit_code,
            0);
  EXPECT_EQ(Muster({"logs", folder_ / "torch"}).out, "2\n");
  // A parameter of another type leaves --env to the environment.
  const OneRecipe text("job:workers { count = 1, command = { 'sh', '-c', 'echo $A ' .. p.env } }",
                       "params = { env = muster.string { 'prod' } },");
  ASSERT_EQ(Muster({"run", text.path(), "-q", "--run-dir", folder_ / "text", "--env", "A=3"}).exit_code, 0);
  EXPECT_EQ(Muster({"logs", folder_ / "text"}).out, "3 prod\n");
}

}  // namespace
}  // namespace muster::testing
