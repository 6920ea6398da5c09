// Tests that a job on one host is the same on this machine and through ssh, except for the host's name.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "conformance/process_environment.h"
#include "hosts/hosts_run.h"
#include "plan/environment/inherited_environment.h"

namespace muster::testing {
namespace {

json PlanOf(const std::string& recipe, const std::vector<std::string>& options) {
  Command command;
  command.argv = {MusterProgram(), "plan", recipe, "--json"};
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  command.cwd = MUSTER_SOURCE_DIR;
  const CommandResult result = RunCommand(command);
  EXPECT_EQ(result.exit_code, 0) << recipe << ": " << result.err;
  return json::parse(result.out, nullptr, false);
}

TEST(NamedHosts, AddOnlyTheirNamesToAPlan) {
  std::size_t recipes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MUSTER_SOURCE_DIR "/recipes")) {
    if (entry.path().extension() != ".lua") continue;
    ++recipes;
    const std::string recipe = entry.path();
    const json here = PlanOf(recipe, {});
    ASSERT_TRUE(here.is_object()) << recipe;
    const std::string last = std::to_string(here["hosts"].size());
    json named = PlanOf(recipe, {"--host", "n[1-" + last + "]"});
    for (std::size_t i = 0; i < named["hosts"].size(); ++i) {
      EXPECT_EQ(named["hosts"][i]["name"], "n" + std::to_string(i + 1));
      named["hosts"][i].erase("name");
    }
    EXPECT_EQ(here, named) << recipe;
  }
  EXPECT_GE(recipes, 10U);
}

// A process's environment, arguments and folder, with texts specific to the run replaced by placeholders.
struct Found {
  std::map<std::string, std::string> environment;
  json arguments;
  json folder;

  bool operator==(const Found&) const = default;
};

Found FoundBy(HostsRun& run, const std::string& process) {
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().err;
  const json bound = run.Journal("plan_bound").at(0);
  std::vector<std::pair<std::string, std::string>> own = {
      {run.run_dir(), "(run directory)"},
      {std::filesystem::path(run.run_dir()).parent_path(), "(folder of the test)"},
      {run.Journal("run_began").at(0)["run"].get<std::string>(), "(run)"}};
  for (const auto& [name, number] : bound["ports"].items()) own.emplace_back(number.dump(), "(port " + name + ")");
  for (const json& host : bound["hosts"]) {
    own.emplace_back(host["address"].get<std::string>(), "(address)");
    own.emplace_back(host["name"].get<std::string>(), "(host)");
  }
  const auto reported = [&own](std::string text) {
    for (const auto& [from, to] : own) {
      for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
      }
    }
    return text;
  };
  const std::vector<std::string> lines = LinesOf(run.run_dir() + "/logs/" + process + ".0.log");
  Found found;
  if (lines.size() != 3) {
    ADD_FAILURE() << process << " wrote " << lines.size() << " lines";
    return found;
  }
  for (const json& variable : json::parse(lines[0])) {
    const auto text = variable.get<std::string>();
    const std::size_t equals = text.find('=');
    found.environment[text.substr(0, equals)] = reported(text.substr(equals + 1));
  }
  found.arguments = json::parse(reported(lines[1]));
  found.folder = json::parse(lines[2]);
  return found;
}

TEST(OneHost, GivesProcessesTheSameHereAndThroughSsh) {
  SKIP_WITHOUT_TESTBED();
  const std::string probe = MUSTER_TESTS_DIR "/probe";
  const std::string recipe =
      "local muster = require 'muster'\nreturn muster.recipe { name = 'job', framework = 'torch',\n"
      "  cluster = { hosts = 1, devices_per_host = 2 },\n"
      "  plan = function(p, job)\n"
      "    local note = job:file { 'note.txt', text = 'for all' }\n"
      "    job:env { GREETING = 'größe → 東京', TWO = 'line one\\nline two', EMPTY = '' }\n"
      "    job:workers { count = 2, cwd = '/', env = { NOTE = note }, devices = 1,\n"
      "      command = { '" +
      probe +
      "', 'env', 'args', 'cwd', '--', '', [[a 'b' \"c\" $d\\e]], note, job.run_dir, job:port 'extra' } }\n"
      "    job:role 'watch' { cwd = '/tmp', command = { '" +
      probe + "', 'env', 'args', 'cwd' } }\n  end }\n";
  const auto erase_host_variables = [](Found& found) {
    for (const std::string_view name : HostVariableNames()) {
      if (name != "CUDA_VISIBLE_DEVICES") found.environment.erase(std::string(name));
    }
  };
  std::map<std::string, Found> here;
  const std::vector<std::string> processes = {"worker.0", "worker.1", "watch.0"};
  {
    HostsTestbed testbed(1);
    ASSERT_TRUE(testbed.Up());
    HostsRun run(testbed, recipe, {});
    for (const std::string& process : processes) here[process] = FoundBy(run, process);
    EXPECT_TRUE(run.Journal("host_reached").empty()) << "no ssh for this machine alone";
  }
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  HostsRun run(testbed, recipe, {"--host", "n1:2"});
  for (const std::string& process : processes) {
    Found there = FoundBy(run, process);
    erase_host_variables(there);
    erase_host_variables(here[process]);
    EXPECT_EQ(there.environment.at("MUSTER_RUN_DIR"), "(run directory)");
    // Only the variable with the testbed's path may differ.
    EXPECT_EQ(there.environment.erase("MUSTER_SSH"), here[process].environment.erase("MUSTER_SSH"));
    EXPECT_EQ(there.environment, here[process].environment) << process;
    EXPECT_EQ(there.arguments, here[process].arguments) << process;
    EXPECT_EQ(there.folder, here[process].folder) << process;
  }
  EXPECT_EQ(run.Journal("host_reached").size(), 1U);
}

std::string LogOf(HostsRun& run, const std::string& process) {
  run.Result();
  return ContentOf(run.run_dir() + "/logs/" + process + ".0.log");
}

TEST(OtherHosts, DoNotGetWhatDescribesTheHostOfTheCaller) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  std::ofstream(testbed.own_folder() + "/d.lua")
      << "local muster = require 'muster'\nreturn muster.recipe { name = 'job', cluster = { device_kind = 'cuda' },\n"
         "  plan = function(p, job)\n    job:workers { per_host = 2, cwd = '/', command = muster.shell\n"
         "      'echo $CUDA_VISIBLE_DEVICES ${ROCR_VISIBLE_DEVICES-none} ${TMPDIR-none} ${KEPT-none}' }\n"
         "    job:role 'watch' { per_host = 1, cwd = '/', command = muster.shell 'echo ${CUDA_VISIBLE_DEVICES-none}' "
         "}\n"
         "  end }\n";
  HostsRun run(testbed,
               RecipeFile{testbed.own_folder() + "/d.lua",
                          {"CUDA_VISIBLE_DEVICES=1", "ROCR_VISIBLE_DEVICES=3", "TMPDIR=/only/here", "KEPT=yes"}},
               {"--host", "n1:2,n2:2"});
  ASSERT_EQ(run.Result().exit_code, 0) << run.Result().err;
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(LogOf(run, "worker." + std::to_string(rank)), "0,1 none none yes\n");
  }
  EXPECT_EQ(LogOf(run, "watch.0") + LogOf(run, "watch.1"), "none\nnone\n");
}

// Each host grants other devices, as a scheduler does.
TEST(OtherHosts, ShowProcessesTheirOwnDevicesOfEveryKind) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  for (const auto& [kind, variable] :
       {std::pair("cuda", "CUDA_VISIBLE_DEVICES"), std::pair("ascend", "ASCEND_RT_VISIBLE_DEVICES"),
        std::pair("hip", "HIP_VISIBLE_DEVICES")}) {
    const std::map<std::string, std::string> granted = {{"n1", "2,3"}, {"n2", "4,7"}};
    for (const auto& [host, devices] : granted) {
      const std::string line = std::string("echo export ") + variable + "=" + devices + " > /root/.bashrc";
      ASSERT_EQ(RunCommand({.argv = testbed.On(host, {"sh", "-c", line})}).exit_code, 0);
    }
    const std::string folder = testbed.own_folder() + "/" + kind;
    HostsRun run(testbed,
                 "local muster = require 'muster'\nreturn muster.recipe { name = 'job', cluster = { device_kind = '" +
                     std::string(kind) +
                     "' },\n  plan = function(p, job)\n    job:workers { per_host = 2, cwd = '/', command = "
                     "muster.shell 'echo $" +
                     variable + " $MUSTER_DEVICES' }\n  end }\n",
                 {"--host", "n1:2,n2:2"}, folder);
    ASSERT_EQ(run.Result().exit_code, 0) << run.Result().err;
    const json bound = json::parse(ContentOf(folder + "/binding.json"), nullptr, false);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      const std::string& devices = granted.at(rank < 2 ? "n1" : "n2");
      const std::string own = devices.substr(rank % 2 * 2, 1);
      EXPECT_EQ(LogOf(run, "worker." + std::to_string(rank)), devices + " " + own + "\n") << kind;
      EXPECT_EQ(bound["hosts"][rank / 2]["devices"][rank % 2], own) << bound;
    }
  }
}

TEST(OtherHosts, GiveProcessesTheEnvironmentOfThePlan) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  const std::string recipe = testbed.own_folder() + "/layers.lua";
  const std::string site = testbed.own_folder() + "/site.lua";
  std::ofstream(site) << kLayersSite;
  std::ofstream(recipe)
      << "local muster = require 'muster'\nreturn muster.recipe { name = 'job', framework = 'torch',\n"
         "  cluster = { device_kind = 'cuda' }, plan = function(p, job)\n"
      << kLayersBody << "\n  end }\n";
  HostsRun run(testbed, RecipeFile{recipe, kLayersCaller}, WithLayers({"--host", "n1:2", "--site", site}));
  ASSERT_EQ(run.Result().exit_code, 0) << run.Result().err;
  Command plan;
  plan.argv =
      WithLayers({MusterProgram(), "plan", recipe, "--host", "n1:2", "--site", site, "--env", "worker:1", "--json"});
  ExpectAsPlanned(RunCommand(plan).out, LogOf(run, "worker.1"));
  ExpectInherited(LogOf(run, "worker.1"), true);
}

}  // namespace
}  // namespace muster::testing
