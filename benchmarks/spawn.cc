// Measures starting processes: many short ones with 60 variables each, all started and then all reaped, through (a) the
// launcher with a Boost.Process handle and an Asio loop, and (b) the agent's child set on top of that. Baseline: clone,
// execve, epoll and waitid as raw system calls. The variants alternate, since single wall times on a shared machine are
// unreliable.
//
// usage: spawn [COUNT ...]    default 1000 4000
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/processes/child_set.h"
#include "spawn/start/launcher.h"
#include "spawn/start/watched_child.h"

namespace {

using muster::BoostLauncher;
using muster::ChildSet;
using muster::LaunchedProcess;
using muster::Launcher;
using muster::SpawnSpec;
using muster::WatchedFd;

constexpr const char* kProgram = "/bin/true";
constexpr std::size_t kStackBytes = 64U << 10;

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

std::vector<std::string> Variables() {
  std::vector<std::string> variables;
  for (int i = 0; i < 60; ++i) variables.push_back("VARIABLE_" + std::to_string(i) + "=some value of usual length");
  return variables;
}

// --- the floor -------------------------------------------------------------------------------------

struct FloorChild {
  char* const* argv;
  char* const* env;
};

int RunFloorChild(void* argument) {
  const auto* child = static_cast<const FloorChild*>(argument);
  // Closes the parent's descriptors above 2: a copy of a pidfd that lived until execve would keep it in epoll.
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_UNSHARE);
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; ++fd) ::dup2(null, fd);
  ::close(null);
  ::execve(kProgram, child->argv, child->env);
  ::_exit(127);
}

double Floor(std::size_t count, const std::vector<std::string>& variables) {
  std::vector<char*> env;
  for (const std::string& variable : variables) env.push_back(const_cast<char*>(variable.c_str()));
  env.push_back(nullptr);
  std::array<char*, 2> argv = {const_cast<char*>(kProgram), nullptr};
  FloorChild child = {argv.data(), env.data()};
  void* stack = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (stack == MAP_FAILED || epoll < 0) Die("floor");

  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    int pidfd = -1;
    const int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_PIDFD | SIGCHLD;
    if (::clone(RunFloorChild, static_cast<char*>(stack) + kStackBytes, flags, &child, &pidfd) < 0) Die("clone");
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = pidfd;
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, pidfd, &event) != 0) Die("epoll_ctl");
  }
  std::array<epoll_event, 128> events = {};
  for (std::size_t left = count; left > 0;) {
    const int ready = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < ready; ++i) {
      const int pidfd = events[static_cast<std::size_t>(i)].data.fd;
      siginfo_t info = {};
      if (::waitid(static_cast<idtype_t>(3), static_cast<id_t>(pidfd), &info, WEXITED) != 0) Die("waitid");
      ::close(pidfd);
      --left;
    }
  }
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  ::close(epoll);
  ::munmap(stack, kStackBytes);
  return taken.count();
}

// --- ours ------------------------------------------------------------------------------------------

SpawnSpec Spec(const std::vector<std::string>& variables) {
  SpawnSpec spec;
  spec.argv = {kProgram};
  spec.env = muster::EnvPointers(variables);
  spec.grouping = muster::Grouping::kOwnGroup;
  spec.parent_death_signal = SIGKILL;
  return spec;
}

double ThroughLauncher(std::size_t count, const std::vector<std::string>& variables) {
  const auto begin = std::chrono::steady_clock::now();
  boost::asio::io_context io(1);
  Launcher launcher;
  const BoostLauncher launch(launcher);
  const SpawnSpec spec = Spec(variables);
  std::vector<std::unique_ptr<LaunchedProcess>> children;
  children.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto launched = launch(io.get_executor(), spec);
    if (!launched) {
      std::fprintf(stderr, "%s\n", muster::SpawnErrorText(launched.error()).c_str());
      std::exit(1);
    }
    auto& child = children.emplace_back(std::make_unique<LaunchedProcess>(std::move(*launched)));
    if (!child->watched()) std::exit(1);
    child->AwaitEnd([&child](const boost::system::error_code& error) {
      if (error || !muster::HasEnded(child->ref())) std::exit(1);
      if (muster::Reap(child->ref()) != std::nullopt) child->Detach();
      child.reset();
    });
  }
  io.run();
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  return taken.count();
}

double ThroughChildSet(std::size_t count, const std::vector<std::string>& variables) {
  const auto begin = std::chrono::steady_clock::now();
  boost::asio::io_context io(1);
  Launcher launcher;
  std::size_t ended = 0;
  {
    ChildSet children(io, launcher,
                      {.exited = [&ended](const muster::ProcessExited& event) { ended += event.code == 0 ? 1U : 0U; },
                       .signalled = [](const muster::SignalSent&) {}});
    const SpawnSpec spec = Spec(variables);
    for (std::size_t i = 0; i < count; ++i) {
      if (!children.Start(static_cast<muster::ProcessId>(i), 0, spec)) Die("child set");
    }
    io.run();
  }
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  if (ended != count) Die("processes failed");
  return taken.count();
}

struct Variant {
  const char* name;
  double (*measure)(std::size_t, const std::vector<std::string>&);
  std::vector<double> times = {};
};

double Median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void Measure(std::size_t count) {
  const std::vector<std::string> variables = Variables();
  std::array<Variant, 3> variants = {
      {{"floor (clone, epoll)", Floor}, {"launcher + handle", ThroughLauncher}, {"child set", ThroughChildSet}}};
  const int rounds = count <= 1000 ? 9 : 5;
  for (int round = 0; round < rounds; ++round) {
    // Each variant is first in turn, so that none is always affected by the previous one.
    for (std::size_t i = 0; i < variants.size(); ++i) {
      Variant& variant = variants[(i + static_cast<std::size_t>(round)) % variants.size()];
      variant.times.push_back(variant.measure(count, variables));
    }
  }
  std::printf("%zu x %s, %d rounds; ms\n", count, kProgram, rounds);
  std::printf("  %-22s %9s %9s %9s %9s\n", "", "min", "median", "max", "ratio");
  const double floor = Median(variants[0].times);
  for (const Variant& variant : variants) {
    const auto [low, high] = std::minmax_element(variant.times.begin(), variant.times.end());
    const double median = Median(variant.times);
    std::printf("  %-22s %9.1f %9.1f %9.1f %9.2f\n", variant.name, *low, median, *high, median / floor);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> counts;
  for (int i = 1; i < argc; ++i) counts.push_back(std::strtoul(argv[i], nullptr, 10));
  if (counts.empty()) counts = {1000, 4000};

  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  for (const std::size_t count : counts) {
    if (count == 0 || limit.rlim_cur < 2 * count + 64) {
      std::fprintf(stderr,
                   "%zu processes: a number above 0 is needed, and 2 descriptors for each (RLIMIT_NOFILE %llu)\n",
                   count, static_cast<unsigned long long>(limit.rlim_cur));
      return 1;
    }
    Measure(count);
  }
  return 0;
}
