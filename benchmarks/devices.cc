// Measures idle time of devices: two sweeps and three consecutive series of runs share four simulated devices; a device
// is idle while another process waits that could use it. Idle time is counted from the last line of one process to the
// first line of the next one, so it includes the end of one and the start of the other.
//
// usage: devices [TRIALS [RUNS]]    default 200 200, of each sweep and of each of the three
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>

#include "whole_process.h"

extern char** environ;

using namespace muster::benchmark;

namespace {

struct Span {
  double from = 0;
  double to = 0;
};

pid_t Start(const std::string& shell, const std::string& err) {
  const std::vector<std::string> words = {"/bin/sh", "-c", shell};
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  pid_t pid = 0;
  if (::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ) != 0) std::abort();
  ::posix_spawn_file_actions_destroy(&actions);
  return pid;
}

// "2026-11-22T02:30:12.123456Z"
double SecondsOf(const std::string& utc) {
  std::tm time = {};
  const char* rest = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  return rest == nullptr ? 0 : static_cast<double>(::timegm(&time)) + std::strtod(rest, nullptr);
}

// From the start of waiting until the devices were available, for every run below the folder.
std::vector<Span> WaitsBelow(const std::string& folder) {
  std::vector<Span> waits;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != "journal.jsonl") continue;
    std::ifstream journal(entry.path());
    std::string awaited;
    for (std::string line; std::getline(journal, line);) {
      const auto record = nlohmann::json::parse(line, nullptr, false);
      if (!record.is_object()) continue;
      if (record["event"] == "devices_awaited") awaited = record["wall"];
      if (record["event"] == "plan_bound" && !awaited.empty())
        waits.push_back({SecondsOf(awaited), SecondsOf(record["wall"])});
    }
  }
  return waits;
}

// The times in which nobody had a device, for each device.
std::vector<Span> FreeTimes(const std::string& records) {
  std::map<std::string, std::vector<std::pair<double, std::string>>> by_device;
  std::ifstream file(records);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::string device;
    double ns = 0;
    if (words >> word >> device >> ns) by_device[device].emplace_back(ns / 1e9, word);
  }
  std::vector<Span> free;
  for (auto& [device, lines] : by_device) {
    std::sort(lines.begin(), lines.end());
    for (std::size_t i = 1; i < lines.size(); ++i) {
      if (lines[i - 1].second == lines[i].second) {
        std::printf("device %s was used twice at a time\n", device.c_str());
        std::exit(1);
      }
      if (lines[i].second == "began") free.push_back({lines[i - 1].first, lines[i].first});
    }
  }
  return free;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string trials = argc > 1 ? argv[1] : "200";
  const std::string runs = argc > 2 ? argv[2] : "200";
  const ScratchFolder scratch;
  const std::string& folder = scratch.path();
  const std::string call =
      "MUSTER_HOST_DEVICES=4 MUSTER_LEASES=" + folder + "/leases MUSTER_HOME=" + folder + " " + Program("muster");
  const std::string recipe = Source("benchmarks/device.lua") + " records=" + folder + "/records --quiet";
  std::vector<pid_t> started;
  for (const char* name : {"one", "two"}) {
    started.push_back(Start(call + " sweep " + recipe + " --grid x=1.." + trials + " --name " + name, folder + "/err"));
  }
  for (int i = 0; i < 3; ++i) {
    started.push_back(Start("i=0; while [ $i -lt " + runs + " ]; do " + call + " run " + recipe +
                                " --devices free --wait || exit 1; i=$((i+1)); done",
                            folder + "/err"));
  }
  bool well = true;
  for (const pid_t pid : started) {
    int status = 0;
    well = ::waitpid(pid, &status, 0) == pid && status == 0 && well;
  }
  if (!well) {
    std::ifstream err(folder + "/err");
    std::string line;
    while (std::getline(err, line)) std::printf("%s\n", line.c_str());
    return 1;
  }
  const std::vector<Span> free = FreeTimes(folder + "/records");
  std::vector<double> idle;
  for (const Span& wait : WaitsBelow(folder)) {
    double longest = 0;
    for (const Span& gap : free) longest = std::max(longest, std::min(wait.to, gap.to) - std::max(wait.from, gap.from));
    idle.push_back(longest);
  }
  std::printf("two sweeps of %s trials and three times %s runs, over 4 devices; wanted: under 100 ms\n", trials.c_str(),
              runs.c_str());
  if (idle.empty()) {
    std::printf("  nobody waited\n");
    return 1;
  }
  Print("waited beside a free device", FiguresOf(idle));
  return 0;
}
