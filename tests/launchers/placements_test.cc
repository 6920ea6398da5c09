// Compares how launchers and muster distribute processes over hosts: the lines of placements.txt, and Open MPI itself.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "launchers/read_line.h"
#include "plan/hosts/host_list.h"
#include "plan/hosts/placement.h"
#include "support/command.h"
#include "support/file_content.h"
#include "support/golden.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

constexpr const char* kKept = "tests/launchers/placements.txt";

std::vector<std::string> PlacementLines() {
  std::istringstream file(ContentOf(std::string(MUSTER_SOURCE_DIR) + "/" + kKept));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("  ")) lines.push_back(line);
  }
  return lines;
}

// The hosts of the words that the recipe has for `muster run`; without such words as many as the recipe has.
std::vector<SiteHost> HostsOfRecipe(const LauncherCall& call) {
  constexpr std::string_view kWords = "`muster run … ";
  for (const auto& [option, what] : call.left_out) {
    const std::size_t at = what.find(std::string(kWords) + "--host ");
    if (at == std::string::npos) continue;
    const std::size_t begin = at + kWords.size();
    const auto words = *ShellWords(what.substr(begin, what.rfind('`') - begin));
    return *ParseHostList(words[1], "--host");
  }
  std::vector<SiteHost> hosts;
  for (int i = 0; i < call.hosts; ++i) hosts.push_back({"host" + std::to_string(i), {}, {}});
  return hosts;
}

std::string PlacementOfPlan(const std::string& line) {
  const auto call = ReadDocumentedLine(line);
  if (!call) return call.error().front().message;
  const std::vector<SiteHost> named = HostsOfRecipe(*call);
  std::vector<PlanHost> hosts;
  std::vector<std::uint32_t> slots;
  for (const SiteHost& host : named) {
    hosts.push_back({host.name, host.devices.value_or(1)});
    if (host.devices) slots.push_back(*host.devices);
  }
  RoleLayout role;
  role.name = role.plays = "worker";
  if (call->total) role.count = static_cast<std::uint64_t>(*call->total);
  if (call->per_host) role.per_host = static_cast<std::uint64_t>(*call->per_host);
  if (slots.size() != hosts.size()) slots.clear();
  const auto placed = PlaceProcesses({role}, hosts, slots);
  if (!placed) return placed.error().front().message;
  std::vector<int> here(hosts.size());
  for (const Placed& process : *placed) ++here[process.host];
  std::string text;
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (here[i] > 0) text += (text.empty() ? "" : ", ") + named[i].name + " " + std::to_string(here[i]);
  }
  return text;
}

// Prevents: a translated recipe has other processes on its hosts than the launcher would have had.
TEST(Placements, AreThoseOfTheLaunchers) {
  std::string said;
  for (const std::string& line : PlacementLines()) {
    said += line + "\n";
    if (line.starts_with("$ ")) said += "  " + PlacementOfPlan(line.substr(2)) + "\n";
  }
  ExpectGolden(said, kKept);
}

// Open MPI maps processes to hosts that do not exist, and starts nothing.
TEST(Placements, OfMpirunAreThoseOfOpenMpi) {
  if (!std::filesystem::exists("/usr/bin/mpirun.openmpi")) GTEST_SKIP() << "mpirun of Open MPI is missing";
  for (const std::string& line : PlacementLines()) {
    if (!line.starts_with("$ mpirun ")) continue;
    auto words = *ShellWords(line.substr(2));
    words.front() = "/usr/bin/mpirun.openmpi";
    words.back() = "true";
    words.insert(words.begin() + 1, {"--novm", "--do-not-launch", "--display-devel-map", "--bind-to", "none"});
    Command command{words};
    command.cwd = std::string(MUSTER_SOURCE_DIR) + "/tests/launchers/files";
    command.env.insert(command.env.end(), {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
    const CommandResult result = RunCommand(command);
    // "Data for node: n1 …", then "Num slots: 8 Slots in use: 2".
    std::istringstream output(result.out + result.err);
    std::string map, node;
    for (std::string word, last, before; output >> word; before = last, last = word) {
      if (last == "node:" && before == "for") node = word;
      if (last == "use:" && word != "0") map += (map.empty() ? "" : ", ") + node + " " + word;
    }
    EXPECT_EQ(PlacementOfPlan(line.substr(2)), map) << line << "\n" << result.err;
  }
}

// MPICH starts a proxy for each host with the launcher's command. This one stays here and tells the processes the host.
// They wait for each other: mpiexec fails if a proxy ends before all others have connected.
TEST(Placements, OfHydraAreThoseOfMpich) {
  if (!std::filesystem::exists("/usr/bin/mpiexec.hydra")) GTEST_SKIP() << "mpiexec.hydra of MPICH is missing";
  const TempDir folder;
  const std::string launcher = folder / "launcher";
  std::ofstream(launcher) << "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\n"
                             "export ON_HOST=\"$1\"\nshift\nexec sh -c \"$*\"\n";
  std::filesystem::permissions(launcher, std::filesystem::perms::owner_all);
  int lines = 0;
  for (const std::string& line : PlacementLines()) {
    if (!line.starts_with("$ mpiexec.hydra ")) continue;
    auto words = *ShellWords(line.substr(2));
    words.front() = "/usr/bin/mpiexec.hydra";
    words.pop_back();
    words.insert(words.begin() + 1, {"-launcher", "ssh", "-launcher-exec", launcher});
    const std::string expected = PlacementOfPlan(line.substr(2));
    int all = 0;  // processes
    std::istringstream parts(expected);
    for (std::string host; parts >> host;) {
      int here = 0;
      parts >> here;
      parts.ignore();
      all += here;
    }
    const std::string started = folder / std::to_string(++lines);
    words.insert(words.end(), {"sh", "-c",
                               "echo $ON_HOST >> $0\n"
                               "for i in $(seq 600); do [ $(wc -l < $0) -lt $1 ] || exit 0; sleep 0.05; done",
                               started, std::to_string(all)});
    Command command{words};
    command.cwd = std::string(MUSTER_SOURCE_DIR) + "/tests/launchers/files";
    const CommandResult result = RunCommand(command);
    std::map<std::string, int> processes;
    std::ifstream output(started);
    for (std::string host; output >> host;) ++processes[host];
    std::string map;
    for (const auto& [host, number] : processes) map += (map.empty() ? "" : ", ") + host + " " + std::to_string(number);
    EXPECT_EQ(expected, map) << line << "\n" << result.err;
  }
}

}  // namespace
}  // namespace muster::testing
