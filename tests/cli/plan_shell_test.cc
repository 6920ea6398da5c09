// Tests muster plan --shell: a real shell that executes its output starts the process as muster would.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;
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

TEST_F(PlanShell, StartsTheSameProcess) {
  const std::string line = Shown({recipe_.path(), "word=" + kAwkward, "--rank", "1"});
  const CommandResult unset = InShell(line, {"HUB=x"});
  EXPECT_NE(unset.exit_code, 0);
  EXPECT_NE(unset.err.find("muster_"), std::string::npos) << "the shell says what is to be set: " << unset.err;
  // Sets the variables that the output requires.
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

// Puts an env that records its arguments before the usual one.
TEST_F(PlanShell, ExposesNoSecretToOtherUsers) {
  const std::string record = runs_ / "record";
  const std::string env = runs_ / "env";
  std::ofstream(env) << "#!/bin/sh\nprintf '%s\\n' \"$@\" >> '" << record << "'\nexec /usr/bin/env \"$@\"\n";
  fs::permissions(env, fs::perms::owner_all);
  const OneRecipe recipe(
      "job:workers { count = 1, devices = 0, env = { TOKEN = p.token, HUB = p.token, PLAIN = \"seen\", "
      "[\"MINE_*\"] = muster.unset, MINE_TOO = p.token }, command = { \"/usr/bin/env\" } }",
      "params = { token = muster.secret { from_env = \"HUB\" } },");
  const std::string line =
      "for one in run_id run_dir host_name_0; do export muster_$one=x; done\n" + Shown({recipe.path(), "--rank", "0"});
  const CommandResult run =
      InShell(line, {"PATH=" + runs_.path() + ":/usr/bin:/bin", "HUB=se'cret *\nMINE_KEY==", "MINE_OWN=se'cret *"});
  ASSERT_EQ(run.exit_code, 0) << run.err << line;
  for (const std::string name : {"TOKEN", "HUB", "MINE_TOO"}) {
    EXPECT_NE(("\n" + run.out).find("\n" + name + "=se'cret *\n"), std::string::npos) << name << "\n"
                                                                                      << run.out << line;
  }
  EXPECT_EQ(run.out.find("MINE_OWN"), std::string::npos) << run.out;
  std::ifstream stream(record);
  const std::string seen{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_NE(seen.find("PLAIN=seen\n"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("se'cret"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("MINE_KEY"), std::string::npos) << "no line of it either: " << seen;
  EXPECT_NE(InShell(line).exit_code, 0) << "without its secret nothing starts";
}

class PlanShellAtSite : public PlanShell {
 protected:
  // Returns the variables of the process, one per line, when a shell that has `variables` executes the output.
  std::string Environment(const std::string& site, const std::string& role, std::vector<std::string> variables,
                          const std::string& fields = "", const std::string& before = "") {
    const std::string file = runs_ / "site.lua";
    std::ofstream(file) << "return require(\"muster\").site { environment = { " << site << " } }\n";
    const OneRecipe recipe(
        before + "job:workers { count = 1, devices = 0, " + role + " command = { \"/usr/bin/env\" } }", fields);
    line_ = Shown({recipe.path(), "--site", file, "--rank", "0"});
    std::string preface;
    for (const char* name : {"run_id", "run_dir", "host_name_0"}) preface += "muster_" + std::string(name) + "=x\n";
    const CommandResult run = InShell(preface + line_, std::move(variables));
    EXPECT_EQ(run.exit_code, 0) << run.err << line_;
    return "\n" + run.out;
  }
  static bool Has(const std::string& text, const std::string& line) {
    return text.find("\n" + line + "\n") != std::string::npos;
  }

  std::string line_;
};

TEST_F(PlanShellAtSite, AppliesTheSitesEnvironmentBeforeTheRoles) {
  const std::string env =
      Environment("set = { A = \"of 'site'\", B = \"of site\", C = \"of site\" }, unset = { \"GONE\", \"OMPI_*\" }",
                  "env = { B = \"of role\", C = muster.unset, "
                  "OMPI_X = \"of role\" },",
                  {"A=x", "B=x", "C=x", "GONE=x", "OMPI_X=x", "OMPI_Y=x", "KEPT=x"});
  for (const char* line : {"A=of 'site'", "B=of role", "OMPI_X=of role", "KEPT=x"}) {
    EXPECT_TRUE(Has(env, line)) << line << env << line_;
  }
  for (const char* name : {"\nC=", "\nGONE=", "\nOMPI_Y="}) EXPECT_EQ(env.find(name), std::string::npos) << name << env;
}

TEST_F(PlanShellAtSite, InheritsOnlyPassedVariables) {
  const std::string env = Environment(
      "pass = { \"LC_*\", \"HERE\" }, set = { S = \"1\" }",
      "env = { LC_GONE = muster.unset, [\"LC_X*\"] = muster.unset, T = p.token },",
      {"LC_ALL=C", "LC_GONE=x", "LC_X1=x", "HERE=x", "HEREBY=x", "OTHER=x", "HUB=se'cret", "MANY=1\nT=2\nS=3"},
      "params = { token = muster.secret { from_env = \"HUB\" } },");
  for (const char* line : {"LC_ALL=C", "HERE=x", "S=1", "T=se'cret"}) {
    EXPECT_TRUE(Has(env, line)) << line << env << line_;
  }
  EXPECT_NE(env.find("\nPATH="), std::string::npos) << env;
  for (const char* name : {"\nLC_GONE=", "\nLC_X1=", "\nHEREBY=", "\nOTHER=", "\nHUB=", "\nMANY="}) {
    EXPECT_EQ(env.find(name), std::string::npos) << name << env << line_;
  }
}

TEST_F(PlanShellAtSite, KeepsOnlySecretsIfTheRoleRemovesEverything) {
  const std::string env =
      Environment("set = { S = \"1\" }", "env = { [\"*\"] = muster.unset, T = p.token, U = \"2\" },",
                  {"OTHER=x", "HUB=se'cret"}, "params = { token = muster.secret { from_env = \"HUB\" } },");
  EXPECT_TRUE(Has(env, "T=se'cret")) << env << line_;
  EXPECT_TRUE(Has(env, "U=2")) << env;
  for (const char* name : {"\nS=", "\nOTHER=", "\nHUB=", "\nPATH="})
    EXPECT_EQ(env.find(name), std::string::npos) << name << env;
}

TEST_F(PlanShellAtSite, ExtendsThePathThatTheSiteLeaves) {
  const OneRecipe recipe(
      "require(\"muster.context\").set_context { device_target = \"Ascend\" }\n"
      "job:workers { count = 1, command = { \"python3\", \"x.py\" } }",
      "framework = \"mindspore\", mindspore = \"2.3\",");
  const auto path = [&](const std::string& site) {
    std::ofstream(runs_ / "site.lua") << "return require(\"muster\").site { environment = { " << site << " } }\n";
    const std::string line = Shown({recipe.path(), "--site", runs_ / "site.lua", "--rank", "0"});
    const std::size_t at = line.find("PYTHONPATH=");
    return at == std::string::npos ? line : line.substr(at, line.find(" \\\n", at) - at);
  };
  const std::string inherited = "\"${PYTHONPATH:+:$PYTHONPATH}\"";
  EXPECT_TRUE(path("set = { A = \"1\" }").ends_with(inherited)) << path("set = { A = \"1\" }");
  EXPECT_TRUE(path("pass = { \"PYTHON*\" }").ends_with(inherited));
  const std::string set = path("set = { PYTHONPATH = \"/of site\" }");
  EXPECT_TRUE(set.ends_with("/python':/of site'")) << set;
  EXPECT_TRUE(path("pass = { \"HOME\" }").ends_with("/python"));
  EXPECT_TRUE(path("unset = { \"PYTHONPATH\" }").ends_with("/python"));
}

// The output cannot apply it: that would undo the activation.
TEST_F(PlanShellAtSite, ListsTheSitesSettingsBeforeAnActivation) {
  const std::string env = Environment("set = { S = \"1\" }, pass = { \"LC_*\" }, unset = { \"LC_X\" }", "",
                                      {"S=2", "OTHER=x"}, "", "job:activate { source = \"/dev/null\" }\n");
  EXPECT_TRUE(Has(env, "S=2") && Has(env, "OTHER=x")) << env << line_;
  EXPECT_TRUE(Has(line_, "#   before it, the site inherits only PATH LC_*")) << line_;
  EXPECT_TRUE(Has(line_, "#   before it, the site unsets LC_X")) << line_;
  EXPECT_TRUE(Has(line_, "#   before it, the site sets S=1")) << line_;
}

TEST_F(PlanShell, UsesTheValuesOfARun) {
  const std::string run_dir = runs_ / "one run";
  ASSERT_EQ(Muster({"run", recipe_.path(), "word=" + kAwkward, "--quiet", "--run-dir", run_dir}, {"HUB=x"}).exit_code,
            0);
  const std::string line = Shown({run_dir, "--rank", "0"});
  EXPECT_EQ(line.find("# set first"), std::string::npos) << line;
  const CommandResult again = InShell(line, {"HUB=x"});
  ASSERT_EQ(again.exit_code, 0) << again.err << line;
  std::ifstream log(run_dir + "/logs/worker.0.0.log");
  const std::string before{std::istreambuf_iterator<char>(log), {}};
  // The first line holds the words and the last ones their output; the environment is in between.
  EXPECT_EQ(again.out.substr(0, again.out.find('\n')), before.substr(0, before.find('\n')));
  EXPECT_EQ(again.out.substr(again.out.rfind("at ")), before.substr(before.rfind("at ")));
}

TEST_F(PlanShell, ListsProcessesIfTheChoiceIsAmbiguous) {
  EXPECT_NE(Shown({recipe_.path()}, 2).find("these are 3"), std::string::npos);
  EXPECT_NE(Shown({recipe_.path(), "--rank", "7"}, 2).find("no process has it"), std::string::npos);
  EXPECT_NE(Shown({recipe_.path(), "--role", "serve"}, 2).find("did you mean \"server\"?"), std::string::npos);
  const CommandResult both = Muster({"plan", recipe_.path(), "--role", "server", "--shell", "--env", "server"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_NE(both.err.find("nothing else is printed beside it"), std::string::npos) << both.err;
  EXPECT_NE(Shown({recipe_.path(), "--role", "server"}).find("# server.0 on host0"), std::string::npos);
}

}  // namespace
}  // namespace muster::testing
