// Measures a run among thousands, as in a sweep: no-op runs with an existing plan, two at a time in one head over one
// standing agent. Baseline: the same program spawned and waited for, two at a time. CPU time is that of this process
// and its ended children; that of the standing agent is printed separately.
//
// The location of $TMPDIR determines the cost of files: a file system that has just deleted thousands of files (ext4)
// is slower at creating new ones.
//
// usage: trials [COUNT [AT_A_TIME]]    default 1000 2
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/session/session.h"
#include "transport/host_agents.h"
#include "transport/local_transport.h"

extern char** environ;

namespace {

using namespace muster;

constexpr const char* kProgram = "/bin/true";

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double Used(int who) {
  rusage usage = {};
  ::getrusage(who, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

// CPU time in seconds of a process and of the children that it has waited for (proc(5), fields 14 to 17).
double UsedBy(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t at = text.rfind(") ");
  if (at == std::string::npos) return 0;
  std::istringstream fields(text.substr(at + 2));
  std::string word;
  for (int i = 3; i < 14; ++i) fields >> word;
  double ticks = 0;
  for (int i = 14; i <= 17; ++i) {
    double one = 0;
    fields >> one;
    ticks += one;
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void Print(const char* what, int count, double wall, double head, double below) {
  std::printf("%-22s %7.3f ms of time, %7.3f ms of processor: %.3f here, %.3f below\n", what, wall / count * 1e3,
              (head + below) / count * 1e3, head / count * 1e3, below / count * 1e3);
}

void Floor(int count, int at_a_time) {
  const double begun = Now();
  const double head = Used(RUSAGE_SELF);
  const double below = Used(RUSAGE_CHILDREN);
  int running = 0;
  for (int i = 0; i < count; ++i) {
    char* argv[] = {const_cast<char*>(kProgram), nullptr};
    pid_t pid = 0;
    if (::posix_spawn(&pid, kProgram, nullptr, nullptr, argv, environ) != 0) std::abort();
    if (++running < at_a_time) continue;
    ::wait(nullptr);
    --running;
  }
  while (::wait(nullptr) > 0) {
  }
  Print("posix_spawn", count, Now() - begun, Used(RUSAGE_SELF) - head, Used(RUSAGE_CHILDREN) - below);
}

Plan NoOpPlan() {
  Plan plan;
  plan.name = "noop";
  plan.framework = "none";
  plan.params = {{"lr", Value(0.5)}, {"layers", Value(12)}};
  plan.hosts.push_back({"host0", 0});
  Role role;
  role.name = role.plays = role.world = "worker";
  role.command = {Text(kProgram)};
  plan.roles.push_back(std::move(role));
  Process process;
  process.rank = 0;
  process.world_size = 1;
  plan.processes.push_back(std::move(process));
  return plan;
}

class Runs {
 public:
  Runs(int count, int at_a_time, std::string folder)
      : count_(count), at_a_time_(at_a_time), folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_ + "/recipe");
    std::ofstream(folder_ + "/recipe/noop.lua") << "-- a recipe\n";
    for (char** variable = environ; *variable != nullptr; ++variable) environment_.emplace_back(*variable);
  }

  void Run() {
    LocalTransport local(std::string(MUSTER_BIN_DIR) + "/muster-agent");
    HostAgents agents(io_, local, {"localhost"}, "sweep",
                      {.ready = [this](std::uint32_t, const AgentReady& ready) { Begin(ready.pid); },
                       .refused = [](std::uint32_t, const AgentUnreachable&) { std::abort(); },
                       .lost = [](std::uint32_t, const AgentLost&) { std::abort(); }});
    agents_ = &agents;
    agents.ConnectAll();
    io_.run();
    Print("a run among many", count_, wall_, head_, below_);
    std::printf("%-22s %d of %d succeeded\n", "", well_, count_);
    if (well_ != count_) std::exit(1);
  }

 private:
  void Begin(pid_t agent) {
    agent_ = agent;
    wall_ = -Now();
    head_ = -Used(RUSAGE_SELF);
    below_ = -UsedBy(agent_);
    for (int i = 0; i < at_a_time_; ++i) Next();
  }

  void Next() {
    if (begun_ == count_) return;
    const int number = begun_++;
    RunRequest request;
    request.plan = NoOpPlan();
    request.environment = environment_;
    request.cwd = folder_;
    request.sources = {{"noop.lua", "-- a recipe\n"}};
    request.linked_sources = folder_ + "/recipe";
    request.run_dir = folder_ + "/" + std::to_string(number);
    request.terse = true;
    request.console = ConsoleOptions::Silent();
    One& one = runs_[number];
    one.transport = agents_->TransportFor({0});
    auto run = RunInProgress::Begin(io_, std::move(request), *one.transport, [this, number](const RunOutcome& outcome) {
      if (outcome.outcome == "ok") ++well_;
      runs_.erase(number);
      Next();
      if (++ended_ == count_) End();
    });
    if (!run) {
      std::fprintf(stderr, "%s\n", run.error().front().message.c_str());
      std::exit(1);
    }
    one.run = std::move(*run);
  }

  void End() {
    wall_ += Now();
    head_ += Used(RUSAGE_SELF);
    below_ += UsedBy(agent_);
    agents_->Finish([] {});
  }

  struct One {
    std::unique_ptr<Transport> transport;
    std::unique_ptr<RunInProgress> run;
  };

  const int count_;
  const int at_a_time_;
  const std::string folder_;
  boost::asio::io_context io_;
  std::vector<std::string> environment_;
  HostAgents* agents_ = nullptr;
  std::map<int, One> runs_;
  pid_t agent_ = 0;
  int begun_ = 0;
  int ended_ = 0;
  int well_ = 0;
  double wall_ = 0;
  double head_ = 0;
  double below_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int at_a_time = argc > 2 ? std::atoi(argv[2]) : 2;
  if (count < 1 || at_a_time < 1) return std::fputs("usage: trials [COUNT [AT_A_TIME]]\n", stderr), 2;
  std::signal(SIGPIPE, SIG_IGN);
  Floor(count, at_a_time);
  std::string folder = std::filesystem::temp_directory_path() / "muster-trials-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  Runs(count, at_a_time, folder).Run();
  std::filesystem::remove_all(folder);
  return 0;
}
