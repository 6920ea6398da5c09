// Measures many hosts over ssh: the time until all agents are up, from a failure on one host to the SIGTERM on all
// others, and the cost of an idle head. Hosts are namespaces of this machine, with an sshd each (tests/hosts/testbed),
// so they share its CPUs and its monotonic clock. Baselines in the same testbed: one concurrent ssh to each host, and
// pdsh, both running true.
//
// usage: hosts [ROUNDS [HOSTS [IDLE_SECONDS]]]    default 5 64 20
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "whole_process.h"

using namespace muster::benchmark;

namespace {

constexpr std::chrono::seconds kLimit{120};

std::vector<nlohmann::json> Journal(const std::string& run_dir) {
  std::vector<nlohmann::json> records;
  std::ifstream journal(run_dir + "/journal.jsonl");
  for (std::string line; std::getline(journal, line);) {
    auto record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_discarded()) records.push_back(std::move(record));
  }
  return records;
}

struct Testbed {
  std::string folder;
  std::size_t hosts = 0;

  std::string HostList() const { return "n[1-" + std::to_string(hosts) + "]"; }
  std::string SshConfig() const { return folder + "/ssh_config"; }
};

std::vector<std::string> MusterRun(const Testbed& testbed, const std::string& part, const std::string& run_dir) {
  return {Program("muster"),
          "run",
          "--quiet",
          "--no-preflight",
          Source("benchmarks/hosts.lua"),
          "--host",
          testbed.HostList(),
          "--run-dir",
          run_dir,
          "part=" + part,
          "program=" MUSTER_BIN_DIR "/../benchmarks/hosts"};
}

// One concurrent ssh to each host, until the last has ended.
double SshFloor(const Testbed& testbed) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  std::vector<pid_t> pids;
  const std::uint64_t began = MonotonicNow();
  for (std::size_t host = 1; host <= testbed.hosts; ++host) {
    std::vector<std::string> words = {"ssh", "-F", testbed.SshConfig(), "n" + std::to_string(host), "true"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = -1;
    if (posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ) == 0) pids.push_back(pid);
  }
  for (const pid_t pid : pids) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  posix_spawn_file_actions_destroy(&actions);
  return SecondsBetween(began, MonotonicNow());
}

void MeasureUp(const Testbed& testbed, std::size_t rounds) {
  setenv("PDSH_SSH_ARGS_APPEND", ("-F " + testbed.SshConfig()).c_str(), 1);
  const std::vector<std::string> pdsh = {
      "pdsh", "-R", "ssh", "-f", std::to_string(testbed.hosts), "-w", testbed.HostList(), "true"};
  std::vector<double> floor;
  std::vector<double> by_pdsh;
  std::vector<double> agents_up;
  std::vector<double> whole;
  std::size_t failures = 0;
  for (std::size_t round = 0; round <= rounds; ++round) {  // the first round warms the caches
    const ScratchFolder scratch;
    const double ssh = SshFloor(testbed);
    const auto pdsh_took = TimeCommand(pdsh, scratch.path(), kLimit);
    const std::uint64_t began = MonotonicNow();
    const auto took = TimeCommand(MusterRun(testbed, "true", scratch.path() + "/run"), scratch.path(), kLimit);
    std::uint64_t last = 0;
    std::size_t connected = 0;
    for (const auto& record : Journal(scratch.path() + "/run")) {
      if (record["event"] != "agent_connected") continue;
      last = record["at"];
      ++connected;
    }
    if (round == 0) continue;
    floor.push_back(ssh);
    if (pdsh_took) by_pdsh.push_back(*pdsh_took);
    if (!took || connected != testbed.hosts) {
      ++failures;
      continue;
    }
    agents_up.push_back(SecondsBetween(began, last));
    whole.push_back(*took);
  }
  std::printf("%zu hosts to all agents up, %zu rounds\n", testbed.hosts, rounds);
  Print("one ssh each, all at once: true", FiguresOf(floor));
  Print("pdsh: true", FiguresOf(by_pdsh));
  if (failures > 0) std::printf("  %zu runs failed\n", failures);
  if (agents_up.empty()) return;
  Print("muster: call -> all agents up", FiguresOf(agents_up));
  Print("muster: a whole run of true", FiguresOf(whole));
  PrintRatio("all agents up / ssh", FiguresOf(agents_up).median / FiguresOf(floor).median, "near 1");
  PrintRatio("all agents up / pdsh", FiguresOf(agents_up).median / FiguresOf(by_pdsh).median, "near 1");
}

// The times that a process has written, or nothing if there are none.
std::optional<std::uint64_t> TimeIn(const std::string& log) {
  std::ifstream file(log);
  std::optional<std::uint64_t> time;
  for (std::string word; file >> word;) {
    if (word != "waiting") time = std::strtoull(word.c_str(), nullptr, 10);
  }
  return time;
}

void MeasureStop(const Testbed& testbed, std::size_t rounds) {
  std::vector<double> delivered;
  std::size_t missing = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    const ScratchFolder scratch;
    // Expected to fail.
    TimeCommand(MusterRun(testbed, "stop", scratch.path() + "/run"), scratch.path(), kLimit);
    const auto failed = TimeIn(scratch.path() + "/run/logs/failing.0.0.log");
    for (std::size_t index = 0; index + 1 < testbed.hosts; ++index) {
      const auto reported = TimeIn(scratch.path() + "/run/logs/worker." + std::to_string(index) + ".0.log");
      if (failed && reported) {
        delivered.push_back(SecondsBetween(*failed, *reported));
      } else {
        ++missing;
      }
    }
  }
  std::printf("a failure on one of %zu hosts -> SIGTERM on each other, %zu rounds\n", testbed.hosts, rounds);
  if (missing > 0) std::printf("  %zu processes told no time\n", missing);
  if (delivered.empty()) return;
  Print("muster: exit -> SIGTERM there", FiguresOf(delivered));
  std::sort(delivered.begin(), delivered.end());
  const auto place = static_cast<std::size_t>(0.99 * static_cast<double>(delivered.size() - 1) + 0.5);
  std::printf("  %-44s %.2f ms   (wanted: at most 50)\n", "99th percentile", delivered[place] * 1e3);
}

// CPU time of the process in seconds: the first number of proc_pid_schedstat.
double ProcessorSeconds(long pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/schedstat");
  std::uint64_t nanoseconds = 0;
  file >> nanoseconds;
  return static_cast<double>(nanoseconds) / 1e9;
}

void MeasureIdle(const Testbed& testbed, unsigned seconds) {
  const ScratchFolder scratch;
  auto command = MusterRun(testbed, "sleep", scratch.path() + "/run");
  command.insert(command.begin() + 2, "--detach");
  std::printf("an idle head with %zu hosts, over %u s\n", testbed.hosts, seconds);
  if (!TimeCommand(command, scratch.path(), kLimit)) {
    std::printf("  the run did not begin\n");
    return;
  }
  long head = 0;
  std::size_t agents = 0;
  for (const auto& record : Journal(scratch.path() + "/run")) {
    if (record["event"] == "run_began") head = record["pid"];
    if (record["event"] == "agent_connected") ++agents;
  }
  sleep(2);  // lets messages arrive that are on their way after the start
  const double before = ProcessorSeconds(head);
  const std::uint64_t began = MonotonicNow();
  sleep(seconds);
  const double used = ProcessorSeconds(head) - before;
  const double share = used / SecondsBetween(began, MonotonicNow());
  std::printf("  %-44s %.3f %%   (wanted: less than 1; %zu agents)\n", "of one core", share * 100, agents);
  if (!TimeCommand({Program("muster"), "stop", scratch.path() + "/run"}, scratch.path(), kLimit))
    std::printf("  the run could not be stopped\n");
}

int AwaitTerm() {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, nullptr);
  std::printf("waiting\n");
  std::fflush(stdout);
  int signal = 0;
  sigwait(&term, &signal);
  std::printf("%llu\n", static_cast<unsigned long long>(MonotonicNow()));
  return 0;
}

// A second after all have started, when all messages about their starts have arrived.
[[noreturn]] void FailSoon() {
  sleep(1);
  std::printf("%llu\n", static_cast<unsigned long long>(MonotonicNow()));
  std::fflush(stdout);
  _exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc == 2 ? argv[1] : "";
  if (word == "--true") return 0;
  if (word == "--term") return AwaitTerm();
  if (word == "--fail") FailSoon();
  if (word == "--sleep") {
    for (;;) pause();
  }
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5;
  const std::size_t hosts = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 64;
  const unsigned idle = argc > 3 ? static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)) : 20;
  const char* testbed = std::getenv("TESTBED");
  if (testbed == nullptr) {  // runs itself again inside a testbed
    const std::string program = Source("tests/hosts/testbed");
    const std::string count = std::to_string(hosts);
    const std::string round_count = std::to_string(rounds);
    const std::string idle_seconds = std::to_string(idle);
    execl(program.c_str(), program.c_str(), "run", "--share", MUSTER_SOURCE_DIR, "--share", MUSTER_BIN_DIR "/..",
          count.c_str(), "--", argv[0], round_count.c_str(), count.c_str(), idle_seconds.c_str(), nullptr);
    std::perror(program.c_str());
    return 1;
  }
  const Testbed own{testbed, hosts};
  setenv("MUSTER_SSH_CONFIG", own.SshConfig().c_str(), 1);
  MeasureUp(own, rounds);
  MeasureStop(own, rounds);
  if (idle > 0) MeasureIdle(own, idle);
  return 0;
}
