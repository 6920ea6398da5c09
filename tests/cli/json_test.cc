// Tests that the keys and types of every --json output are stable.
#include <set>
#include <sstream>
#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

using nlohmann::json;

std::set<std::string> KeysOf(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, unused] : object.items()) keys.insert(key);
  return keys;
}
using Keys = std::set<std::string>;

TEST(CheckJson, HasDiagnosticsWithPlacesHintsAndNotes) {
  const CommandResult result =
      Muster({"check", "recipes/pipeline.lua", "pipeline_stages=3", "micro_batches=0", "--json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "") << "a program reads one stream";
  const json whole = json::parse(result.out);
  EXPECT_EQ(KeysOf(whole), (Keys{"format", "ok", "diagnostics"}));
  EXPECT_EQ(whole["format"], 1);
  EXPECT_EQ(whole["ok"], false);
  ASSERT_EQ(whole["diagnostics"].size(), 1U);
  const json& first = whole["diagnostics"][0];
  EXPECT_EQ(KeysOf(first), (Keys{"severity", "kind", "file", "line", "message", "hint", "notes"}));
  EXPECT_EQ(first["severity"], "error");
  EXPECT_EQ(first["kind"], "parameter_value");
  EXPECT_TRUE(first["file"].is_null()) << "the command line is not a file";
  EXPECT_TRUE(first["line"].is_null());
  EXPECT_EQ(KeysOf(first["notes"][0]), (Keys{"message", "file", "line"}));
  EXPECT_EQ(first["notes"][0]["file"], "recipes/pipeline.lua");
  EXPECT_TRUE(first["notes"][0]["line"].is_number_unsigned());
}

TEST(CheckJson, ReportsSuccessWithWarnings) {
  EXPECT_EQ(json::parse(Muster({"check", "recipes/hello.lua", "--json"}).out),
            (json{{"format", 1}, {"ok", true}, {"diagnostics", json::array()}}));
  const OneRecipe recipe("job:workers { count = p.n, command = { 'x' } }",
                         "params = { n = muster.int { 1, was = 'old' } },");
  const json whole = json::parse(Muster({"check", recipe.path(), "old=2", "--json"}).out);
  EXPECT_EQ(whole["ok"], true);
  EXPECT_EQ(whole["diagnostics"][0]["severity"], "warning");
  EXPECT_TRUE(whole["diagnostics"][0]["hint"].is_null());
}

TEST(CheckJson, OfADeepCheckListsLeaksProfilesAndUnusedParameters) {
  const OneRecipe recipe(
      "job:workers { count = p.n, command = { 'x' } }",
      "cluster = { devices_per_host = 0 }, params = { n = muster.int { 1, from_env = 'MUSTER_TEST_N' }, "
      "m = muster.int { 1 } }, profiles = { two = { n = 2 } },");
  const CommandResult result = Muster({"check", "--deep", recipe.path(), "--json"});
  EXPECT_EQ(result.exit_code, 0) << "a warning is no error";
  EXPECT_EQ(result.err, "");
  const json whole = json::parse(result.out);
  EXPECT_EQ(KeysOf(whole), (Keys{"format", "ok", "diagnostics", "leaks", "profiles", "no_effect", "locales", "plans"}));
  ASSERT_EQ(whole["leaks"].size(), 1U);
  EXPECT_EQ(whole["leaks"][0]["kind"], "leak");
  EXPECT_EQ(whole["no_effect"], json::array({"m"}));
  ASSERT_EQ(whole["profiles"].size(), 1U);
  EXPECT_EQ(KeysOf(whole["profiles"][0]), (Keys{"profile", "ok", "plan", "diagnostics"}));
  EXPECT_EQ(Muster({"check", "--deep", "--mindspore", "2.3", recipe.path()}).exit_code, 2) << "one after the other";
}

TEST(CheckJson, IsValidForAnyFileName) {
  const TempDir folder;
  const std::string path = folder / "\xff\n\"x.lua";
  std::ofstream(path) << "return 1";
  const CommandResult result = Muster({"check", path, "--json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(json::parse(result.out)["ok"], false);
}

// The commands of `muster --help` that have an option --json.
std::vector<std::string> CommandsWithJson() {
  std::vector<std::string> names;
  std::istringstream overview(Muster({"--help"}).out);
  for (std::string line; std::getline(overview, line);) {
    if (!line.starts_with("  ")) continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    if (Muster({name, "--help"}).out.find("--json") != std::string::npos) names.push_back(name);
  }
  return names;
}

// Prevents: a program that asked for JSON finds nothing on stdout if the command line is refused.
TEST(RefusalsAsJson, ArePrintedByEveryCommandThatHasTheOption) {
  const std::vector<std::string> names = CommandsWithJson();
  EXPECT_GT(names.size(), 20U);
  for (const std::string& name : names) {
    const CommandResult result = Muster({name, "--json", "--no-such-option"});
    EXPECT_EQ(result.exit_code, 2) << name;
    const json whole = json::parse(result.out, nullptr, false);
    ASSERT_TRUE(whole.is_object()) << name << ": " << result.out;
    EXPECT_EQ(whole["ok"], false) << name;
    EXPECT_EQ(whole["diagnostics"][0]["kind"], "usage") << name;
    EXPECT_NE(result.err.find(whole["diagnostics"][0]["message"].get<std::string>()), std::string::npos) << name;
  }
}

TEST(RefusalsAsJson, HaveWhatIsPrintedAsText) {
  const TempDir home;
  for (const auto& [words, exit_code, message] : std::vector<std::tuple<std::vector<std::string>, int, std::string>>{
           {{"best", "-n", "0"}, 2, "--number: \"0\" is not a number from 1 on"},
           {{"sweep", "recipes/hello.lua"}, 2, "--json requires --preview"},
           {{"ls", "-n", "-1"}, 2, "-n takes N, got \"-1\""},
           {{"ls", "nosuch"}, 1, "no run in \"nosuch\" (no such folder)"},
           {{"explain"}, 2, "missing argument RECIPE"},
           {{"best", "a", "b", "c"}, 2, "too many words: c b"},
           {{"dump", "nosuch"}, 2, "there are no runs in "},
           {{"watch", "nosuch"}, 2, "there are no runs in "},
           {{"report", "nosuch"}, 2, "there are no runs in "},
           {{"top", "nosuch"}, 2, "there are no runs in "},
           {{"clean", "--older-than", "x"}, 2, "--older-than \"x\" is not a duration"},
           {{"clean", "--grace", "x"}, 2, "--grace \"x\" is not a time up to an hour"},
           {{"nosuch"}, 2, "there is no command \"nosuch\""},
       }) {
    std::vector<std::string> call = words;
    call.emplace_back("--json");
    const CommandResult result = Muster(call, {"MUSTER_HOME=" + home.path()});
    EXPECT_EQ(result.exit_code, exit_code) << words[0];
    const json whole = json::parse(result.out, nullptr, false);
    ASSERT_TRUE(whole.is_object()) << words[0] << ": " << result.out;
    EXPECT_EQ(whole["ok"], false) << words[0];
    EXPECT_EQ(whole["diagnostics"][0]["message"].get<std::string>().substr(0, message.size()), message);
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_EQ(Muster(words, {"MUSTER_HOME=" + home.path()}).out, "") << "only if it was asked for";
  }
  const CommandResult other = Muster({"plan", "nosuch.lua", "--", "train.py", "--json"});
  EXPECT_EQ(other.out, "") << "words behind -- are not muster's";
}

TEST(PlanJson, ListsEveryProcessInFull) {
  const CommandResult result = Muster({"plan", "recipes/parameter_server.lua", "workers=8", "servers=3", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json whole = json::parse(result.out);
  for (const char* key : {"format", "id", "name", "processes", "derived", "inputs"})
    EXPECT_TRUE(whole.contains(key)) << key;
  EXPECT_EQ(whole["format"], 1);
  EXPECT_EQ(whole["id"].get<std::string>() + "\n",
            Muster({"plan", "recipes/parameter_server.lua", "workers=8", "servers=3", "--id"}).out);
  ASSERT_EQ(whole["processes"].size(), 12U);
  for (const json& process : whole["processes"]) {
    for (const char* key : {"role", "index", "rank", "local_rank", "host", "devices", "command", "cwd", "env", "unset",
                            "context", "stage"})
      EXPECT_TRUE(process.contains(key)) << key;
    EXPECT_TRUE(process["command"].is_array());
    EXPECT_TRUE(process["env"].is_object());
    EXPECT_TRUE(process["unset"].is_array());
    EXPECT_EQ(process["context"]["set_context"]["device_target"], "CPU");
  }
  EXPECT_TRUE(whole["processes"][0]["rank"].is_null()) << "a scheduler has no rank";
  const json& last = whole["processes"][11];
  EXPECT_EQ(last["role"], "worker");
  EXPECT_TRUE(last["rank"].is_null()) << "MindSpore 1.6 assigns ranks in the order of arrival";
  Keys framework;
  for (const auto& [name, unused] : last["env"].items()) {
    if (!name.starts_with("MUSTER_")) framework.insert(name);
  }
  EXPECT_EQ(framework, (Keys{"LOCAL_RANK", "LOCAL_RANK_SIZE", "MS_NODE_ID", "MS_ROLE", "MS_SCHED_HOST", "MS_SCHED_PORT",
                             "MS_SERVER_NUM", "MS_WORKER_NUM", "RANK_ID", "RANK_SIZE"}));
  EXPECT_EQ(last["env"]["MS_WORKER_NUM"], "8");
  EXPECT_EQ(whole["inputs"][0]["kind"], "recipe");
  EXPECT_EQ(whole["inputs"][0]["sha256"].get<std::string>().size(), 64U);
}

TEST(PlanJson, OfAFailureIsTheDiagnostics) {
  const CommandResult result = Muster({"plan", "recipes/pipeline.lua", "pipeline_stages=3", "--json"});
  EXPECT_EQ(result.exit_code, 2);
  const json whole = json::parse(result.out);
  EXPECT_EQ(whole["ok"], false);
  EXPECT_EQ(whole["diagnostics"][0]["kind"], "division");
  EXPECT_NE(result.err.find("error: "), std::string::npos);
}

TEST(ParamsJson, ListsTypesLimitsAndOrigins) {
  const OneRecipe recipe("", R"(doc = 'd"q', params = {
    e = muster.enum { 'a', one_of = { 'a', 'b' }, doc = 'choose', was = 'x' }, n = muster.int { min = 1, from_env = 'N' }, y = muster.bytes { '1GiB' }, s = muster.secret {} },)");
  const CommandResult result = Muster({"params", recipe.path(), "e=b", "--json"}, {"N=3"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json whole = json::parse(result.out);
  EXPECT_EQ(KeysOf(whole), (Keys{"format", "name", "doc", "params", "profiles"}));
  EXPECT_EQ(whole["doc"], "d\"q");
  ASSERT_EQ(whole["params"].size(), 4U);
  const json& choice = whole["params"][0];
  EXPECT_EQ(choice, (json{{"name", "e"},
                          {"type", "enum"},
                          {"range", "one of \"a\", \"b\""},
                          {"doc", "choose"},
                          {"origin", "command line"},
                          {"profile", nullptr},
                          {"set_in", nullptr},
                          {"active", true},
                          {"when", json::object()},
                          {"value", "b"},
                          {"given", true},
                          {"default", "a"},
                          {"was", "x"},
                          {"from_env", nullptr},
                          {"file", recipe.path()},
                          {"line", 3}}));
  EXPECT_EQ(whole["params"][1]["origin"], "environment");
  EXPECT_EQ(whole["params"][1]["value"], 3);
  EXPECT_TRUE(whole["params"][1]["default"].is_null());
  EXPECT_EQ(whole["params"][2]["given"], false) << "a secret without a source";
  EXPECT_EQ(whole["params"][3]["value"], 1073741824);
}

TEST(Params, ArePrintedAsATable) {
  const OneRecipe recipe("",
                         "doc = 'what it does', params = { lr = muster.float { 0.5, above = 0, doc = 'learning rate' "
                         "}, batch = muster.int {}, key = muster.secret {} },");
  const CommandResult result = Muster({"params", recipe.path(), "lr=0.1"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "t: what it does\n"
            "  batch = (missing)  int\n"
            "  key   = (missing)  secret\n"
            "  lr    = 0.1        float > 0 [command line]  learning rate\n");
}

TEST(PlanEnv, NamesTheSourceOfEachVariableOfOneProcess) {
  const OneRecipe recipe(
      "job:activate { conda = 'train' }\n"
      "job:env { OF_JOB = 1, GONE = muster.unset }\n"
      "job:workers { count = 2, command = { 'x' }, env = { OF_ROLE = 2 },\n"
      "each = function(process) if process.index == 1 then process.env.OF_EACH = 3 end end }",
      "framework = 'mindspore',");
  const CommandResult text = Muster({"plan", recipe.path(), "--env", "worker:1"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  const std::string at = "  (" + recipe.path() + ":";
  for (const std::string& line :
       {std::string("environment of worker.1, over what it inherits\n"),
        std::string("  activation        conda train\n"), "  job:env           OF_JOB=1" + at + "5)\n",
        "  role              OF_ROLE=2" + at + "6)\n", "  each              OF_EACH=3" + at + "7)\n",
        std::string("  contract          RANK_ID=1\n"), std::string("  muster            MUSTER_INDEX=1\n"),
        std::string("removed from what it inherits\n"), std::string("  contract          OMPI_*\n"),
        "  job:env           GONE" + at + "5)\n"}) {
    EXPECT_NE(text.out.find(line), std::string::npos) << line << "is not in\n" << text.out;
  }
  EXPECT_EQ(Muster({"plan", recipe.path(), "--env", "worker"}).out.find("OF_EACH"), std::string::npos);

  const json whole = json::parse(Muster({"plan", recipe.path(), "--env", "worker:1", "--json"}).out);
  EXPECT_EQ(KeysOf(whole), (Keys{"format", "process", "activation", "variables", "removed"}));
  EXPECT_EQ(whole["process"], "worker.1");
  EXPECT_EQ(whole["activation"], json({{{"kind", "conda"}, {"what", "train"}}}));
  bool found = false;
  for (const json& variable : whole["variables"]) {
    EXPECT_EQ(KeysOf(variable), (Keys{"name", "value", "layer", "file", "line"}));
    if (variable["name"] != "OF_EACH") continue;
    found = true;
    EXPECT_EQ(variable["value"], "3");
    EXPECT_EQ(variable["layer"], "each");
    EXPECT_EQ(variable["file"], recipe.path());
    EXPECT_EQ(variable["line"], 7);
  }
  EXPECT_TRUE(found);
  for (const json& removed : whole["removed"]) EXPECT_EQ(KeysOf(removed), (Keys{"name", "layer", "file", "line"}));
}

TEST(PlanEnv, SelectsByRankLikeOtherOptions) {
  const OneRecipe recipe(
      "job:role 'a' { as = 'worker', count = 2, command = { 'x' } }\n"
      "job:role 'b' { as = 'worker', count = 2, command = { 'x' },\n"
      "each = function(process) process.env['OF_' .. process.rank] = 1 end }",
      "framework = 'torch',");
  const CommandResult text = Muster({"plan", recipe.path(), "--env", "b:03"});
  EXPECT_EQ(text.out.rfind("environment of b.1,", 0), 0U) << text.out << text.err;
  EXPECT_NE(text.out.find("each              OF_3=1"), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("OF_2"), std::string::npos) << text.out;
}

TEST(PlanEnv, RefusesAnUnknownProcess) {
  const OneRecipe recipe("job:workers { count = 2, command = { 'x' } }");
  for (const auto& [process, says] :
       {std::pair{"worker:2", "--env \"worker:2\": the plan has no such process"},
        std::pair{"wrker", "did you mean \"worker\"?"}, std::pair{"worker:x", "what follows the colon is not a rank"},
        std::pair{"", "the plan has no such process"}}) {
    const CommandResult result = Muster({"plan", recipe.path(), "--env", process});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace muster::testing
