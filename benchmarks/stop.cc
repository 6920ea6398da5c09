// Measures the reaction to the failure of one of N processes: the time until agent and head know, and until all others
// are reaped. Compared with killing and reaping N idle processes in a loop, and with mpirun, from the failing rank's
// exit to its own. Times are from the journal, whose monotonic clock the failing process uses too.
//
// usage: stop [ROUNDS [N …]]    default 10 256 1000; mpirun at 64 and 256 with at most 3 rounds, 20 s each
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "whole_process.h"

using namespace muster::benchmark;

namespace {

constexpr std::chrono::seconds kLimit{60};
constexpr std::chrono::seconds kMpirunLimit{20};

double Floor(std::size_t count) {
  std::vector<pid_t> pids;
  char program[] = "sleep";
  char forever[] = "1000";
  char* const argv[] = {program, forever, nullptr};
  for (std::size_t i = 0; i < count; ++i) {
    pid_t pid = -1;
    if (posix_spawnp(&pid, program, nullptr, nullptr, argv, environ) == 0) pids.push_back(pid);
  }
  const std::uint64_t began = MonotonicNow();
  for (const pid_t pid : pids) kill(pid, SIGKILL);
  for (const pid_t pid : pids) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return SecondsBetween(began, MonotonicNow());
}

struct Stop {
  double agent_knows = 0;  // from the failing process's last instruction to its exit in the agent
  double head_knows = 0;   // … to its record in the head's journal
  double gone = 0;         // from its exit in the agent to the last exit there
};

std::optional<Stop> ReadStop(const std::string& run_dir) {
  std::uint64_t failed = 0;
  std::ifstream(run_dir + "/logs/failing.0.0.log") >> failed;
  std::ifstream journal(run_dir + "/journal.jsonl");
  std::uint64_t seen = 0;
  std::uint64_t recorded = 0;
  std::uint64_t last = 0;
  bool empty = false;
  for (std::string line; std::getline(journal, line);) {
    const auto record = nlohmann::json::parse(line, nullptr, false);
    if (record.is_discarded()) return std::nullopt;
    if (record["event"] == "agent_empty") empty = true;
    if (record["event"] != "process_exited") continue;
    if (seen == 0) {
      seen = record["on"];
      recorded = record["at"];
    }
    last = std::max(last, record["on"].get<std::uint64_t>());
  }
  if (failed == 0 || seen == 0 || !empty) return std::nullopt;
  return Stop{SecondsBetween(failed, seen), SecondsBetween(failed, recorded), SecondsBetween(seen, last)};
}

double Percentile(std::vector<double> samples, double part) {
  std::sort(samples.begin(), samples.end());
  return samples[static_cast<std::size_t>(part * static_cast<double>(samples.size() - 1) + 0.5)];
}

void Measure(std::size_t rounds, std::size_t count, const std::string& self) {
  std::vector<double> floor;
  std::vector<double> gone;
  std::vector<double> agent_knows;
  std::vector<double> head_knows;
  std::size_t failures = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    floor.push_back(Floor(count));
    const ScratchFolder scratch;
    // Expected to fail: only the journal shows whether it worked.
    TimeCommand({Program("muster"), "run", "--quiet", Source("benchmarks/stop.lua"), "--run-dir",
                 scratch.path() + "/run", "count=" + std::to_string(count), "program=" + self},
                scratch.path(), kLimit);
    if (const auto stop = ReadStop(scratch.path() + "/run")) {
      gone.push_back(stop->gone);
      agent_knows.push_back(stop->agent_knows);
      head_knows.push_back(stop->head_knows);
    } else {
      ++failures;
    }
  }
  std::printf("%zu processes, %zu rounds\n", count, rounds);
  Print("kill and reap in a loop", FiguresOf(floor));
  if (failures > 0) std::printf("  %zu runs did not end as they should\n", failures);
  if (gone.empty()) return;
  Print("muster: failure known -> all gone", FiguresOf(gone));
  Print("muster: exit -> agent knows", FiguresOf(agent_knows));
  Print("muster: exit -> head knows", FiguresOf(head_knows));
  const double median_floor = FiguresOf(floor).median;
  PrintRatio("median / floor", FiguresOf(gone).median / median_floor, "at most 2.5");
  PrintRatio("99th percentile / floor", Percentile(gone, 0.99) / median_floor, "at most 5");
  std::printf("  %-44s %.2f ms   (wanted: at most 5)\n", "exit -> head knows, 99th percentile",
              Percentile(head_knows, 0.99) * 1e3);
  std::fflush(stdout);
}

void MeasureMpirun(std::size_t rounds, std::size_t count, const std::string& self) {
  std::vector<double> gone;
  std::size_t failures = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    const ScratchFolder scratch;
    std::vector<std::string> words = {"mpirun", "-n", std::to_string(count), "--oversubscribe"};
    if (geteuid() == 0) words.push_back("--allow-run-as-root");
    words.insert(words.end(), {self, "--rank", scratch.path() + "/failed"});
    TimeCommand(words, scratch.path(), kMpirunLimit);
    const std::uint64_t ended = MonotonicNow();
    std::uint64_t failed = 0;
    std::ifstream(scratch.path() + "/failed") >> failed;
    const double took = SecondsBetween(failed, ended);
    if (failed != 0 && took < static_cast<double>(kMpirunLimit.count())) {
      gone.push_back(took);
    } else {
      ++failures;
    }
  }
  Print("mpirun -n " + std::to_string(count) + ": exit -> all gone", FiguresOf(gone));
  if (failures > 0) std::printf("  %zu runs of mpirun did not end, or it is not here\n", failures);
}

// A rank of mpirun: rank 0 fails after a second, when all have started.
int Rank(const char* file) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr || std::strcmp(rank, "0") != 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // do not outlive an mpirun that is killed at its time limit
    for (;;) pause();
  }
  sleep(1);
  std::ofstream(file) << MonotonicNow() << std::endl;
  _exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--fail") == 0) {
    std::printf("%llu\n", static_cast<unsigned long long>(MonotonicNow()));
    std::fflush(stdout);
    _exit(1);
  }
  if (argc == 3 && std::strcmp(argv[1], "--rank") == 0) return Rank(argv[2]);
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10;
  std::vector<std::size_t> counts;
  for (int i = 2; i < argc; ++i) counts.push_back(std::strtoul(argv[i], nullptr, 10));
  if (counts.empty()) counts = {256, 1000};
  const std::string self = MUSTER_BIN_DIR "/../benchmarks/stop";
  for (const std::size_t count : counts) Measure(rounds, count, self);
  for (const std::size_t count : {64U, 256U}) MeasureMpirun(std::min<std::size_t>(rounds, 3), count, self);
  return 0;
}
