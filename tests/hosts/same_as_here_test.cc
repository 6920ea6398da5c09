// Tests that a job on one host is the same on this machine and through ssh, except for the host's name.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "hosts/hosts_run.h"

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
    EXPECT_EQ(there.environment.at("MUSTER_RUN_DIR"), "(run directory)");
    // Only the variable with the testbed's path may differ.
    EXPECT_EQ(there.environment.erase("MUSTER_SSH"), here[process].environment.erase("MUSTER_SSH"));
    EXPECT_EQ(there.environment, here[process].environment) << process;
    EXPECT_EQ(there.arguments, here[process].arguments) << process;
    EXPECT_EQ(there.folder, here[process].folder) << process;
  }
  EXPECT_EQ(run.Journal("host_reached").size(), 1U);
}

}  // namespace
}  // namespace muster::testing
