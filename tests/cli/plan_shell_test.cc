// muster plan --shell: the line, read by a real shell, starts the process as muster would have.
#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

using nlohmann::json;

CommandResult InShell(const std::string& line, std::vector<std::string> variables = {}) {
  Command command;
  command.argv = {"/bin/sh", "-c", line};
  command.env.insert(command.env.end(), variables.begin(), variables.end());
  return RunCommand(command);
}

const std::string kAwkward = "a 'b' \"c\" $HOME `d` \\ * ~ # & ; é\n=";

class PlanShell : public ::testing::Test {
 protected:
  std::string Shown(std::vector<std::string> words, int exit_code = 0) {
    words.insert(words.begin(), "plan");
    words.push_back("--shell");
    const CommandResult result = Muster(std::move(words), {"MUSTER_HOME=" + runs_.path()});
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return exit_code == 0 ? result.out : result.err;
  }

  OneRecipe recipe_{
      "job:env { AWKWARD = p.word, EMPTY = \"\", GONE = muster.unset, TOKEN = p.token, DIR = job.run_dir .. \"/x y\", "
      "[\"NOT-A-NAME\"] = \"1\" }\n"
      "job:role \"server\" { command = { \"true\" } }\n"
      "job:workers { count = 2, devices = 0, cwd = \"/tmp\", command = { \"" MUSTER_TESTS_DIR
      "/probe\", \"args\", \"env\", \"cwd\", \"print\", p.word, \"print\", "
      "\"at \" .. job:port \"rpc\", \"exit\", 0 } }",
      "framework = \"torch\", params = { word = muster.string { \"\" }, token = muster.secret { from_env = \"HUB\" } "
      "},"};
  TempDir runs_;
};

TEST_F(PlanShell, StartsTheProcessAsItWouldBe) {
  const std::string line = Shown({recipe_.path(), "word=" + kAwkward, "--rank", "1"});
  const CommandResult unset = InShell(line);
  EXPECT_NE(unset.exit_code, 0);
  EXPECT_NE(unset.err.find("muster_"), std::string::npos) << "the shell says what is to be set: " << unset.err;
  // What it wants, set as it says.
  std::string preface;
  for (std::size_t at = line.find("# set first: "); at != std::string::npos; at = line.find("# set first: ", at + 1)) {
    const std::string name = line.substr(at + 13, line.find('=', at) - at - 13);
    preface += name + "='<" + name + ">'\n";
  }
  const CommandResult run = InShell(
      preface + line, {"HUB=se'cret", "GONE=still here", "MASTER_ADDR=elsewhere", "TORCHELASTIC_ZONE=x", "KEPT=1"});
  ASSERT_EQ(run.exit_code, 0) << run.err << line;
  const auto env_at = run.out.find('\n') + 1;
  const json args = json::parse(run.out.substr(0, env_at));
  EXPECT_EQ(args.dump().find("muster:"), std::string::npos);
  json env = json::parse(run.out.substr(env_at, run.out.find('\n', env_at) - env_at));
  if (env.is_object() && env.contains("env")) env = env["env"];
  const auto value = [&](const std::string& name) -> std::string {
    if (env.is_object()) return env.value(name, "(unset)");
    for (const json& one : env) {
      if (one.get<std::string>().starts_with(name + "=")) return one.get<std::string>().substr(name.size() + 1);
    }
    return "(unset)";
  };
  EXPECT_EQ(value("AWKWARD"), kAwkward);
  EXPECT_EQ(value("EMPTY"), "");
  EXPECT_EQ(value("GONE"), "(unset)");
  EXPECT_EQ(value("TORCHELASTIC_ZONE"), "(unset)");
  EXPECT_EQ(value("KEPT"), "1");
  EXPECT_EQ(value("TOKEN"), "se'cret");
  EXPECT_EQ(value("NOT-A-NAME"), "1");
  EXPECT_EQ(value("DIR"), "<muster_run_dir>/x y");
  EXPECT_EQ(value("RANK"), "1");
  EXPECT_NE(run.out.find("/tmp"), std::string::npos);
  EXPECT_EQ(line.find("se'cret"), std::string::npos);
}

TEST_F(PlanShell, GivesTheValuesThatARunHad) {
  const std::string run_dir = runs_ / "one run";
  ASSERT_EQ(Muster({"run", recipe_.path(), "word=" + kAwkward, "--quiet", "--run-dir", run_dir}, {"HUB=x"}).exit_code,
            0);
  const std::string line = Shown({run_dir, "--rank", "0"});
  EXPECT_EQ(line.find("# set first"), std::string::npos) << line;
  const CommandResult again = InShell(line, {"HUB=x"});
  ASSERT_EQ(again.exit_code, 0) << again.err << line;
  std::ifstream log(run_dir + "/logs/worker.0.0.log");
  const std::string before{std::istreambuf_iterator<char>(log), {}};
  // The first line has the words, the last ones what they print; between them is the environment.
  EXPECT_EQ(again.out.substr(0, again.out.find('\n')), before.substr(0, before.find('\n')));
  EXPECT_EQ(again.out.substr(again.out.rfind("at ")), before.substr(before.rfind("at ")));
}

TEST_F(PlanShell, SaysWhichProcessItCouldBe) {
  EXPECT_NE(Shown({recipe_.path()}, 2).find("these are 3"), std::string::npos);
  EXPECT_NE(Shown({recipe_.path(), "--rank", "7"}, 2).find("no process has it"), std::string::npos);
  EXPECT_NE(Shown({recipe_.path(), "--role", "serve"}, 2).find("did you mean \"server\"?"), std::string::npos);
  EXPECT_NE(Shown({recipe_.path(), "--role", "server"}).find("# server.0 on host0"), std::string::npos);
}

}  // namespace
}  // namespace muster::testing
