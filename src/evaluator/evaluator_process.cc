#include "evaluator/evaluator_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "evaluator/child.h"
#include "evaluator/evaluator_frames.h"
#include "spawn/command/find_program.h"
#include "spawn/start/fork_sibling.h"
#include "spawn/start/reap.h"

namespace muster {
namespace {

constexpr std::uint64_t kBirthPatience = 2'000'000'000;  // for a pending fork, at low priority

}  // namespace

Result<EvaluatorEndpoints> EvaluatorEndpoints::Make(std::shared_ptr<SharedPage> page) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return Fail(SystemError("evaluator", "the evaluator cannot be started: socketpair", errno));
  }
  EvaluatorEndpoints ends{UniqueFd(sockets[0]), UniqueFd(sockets[1]), std::move(page)};
  if (!ends.page->ok()) {
    return Fail(SystemError("evaluator", "the evaluator cannot be started: shared page", errno));
  }
  return ends;
}

Result<Spawned> SpawnEvaluator(const EvaluatorStart& start, const char* mode, const std::vector<std::string>& words,
                               int socket, int page) {
  // Memory in huge pages, where the kernel offers them to those that ask: page faults are a sixth of the time of a
  // large evaluation, and a small one takes as long as without (the glibc manual, "Memory Allocation Tunables").
  std::vector<std::string> variables = {"GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};
  for (const char* name : {"MUSTER_LUA_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE"}) {
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
  }
  if (!start.locale.empty()) variables.push_back("LC_ALL=" + start.locale);
  if (!start.without.empty()) variables.push_back(std::string(kWithoutVariable) + "=" + WithoutText(start.without));
  SpawnSpec spec;
  spec.argv = {start.program.empty() ? BesideOwnProgram("muster-evaluator") : start.program, mode, MUSTER_VERSION};
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  spec.env = EnvPointers(variables);
  spec.stderr_fd = STDERR_FILENO;  // only messages of the interpreter or of a sanitizer are written there
  spec.passed = {{socket, kEvaluatorSocket}};
  if (page >= 0) spec.passed.push_back({page, kEvaluatorPage});
  spec.grouping = Grouping::kOwnGroup;  // the parent handles Ctrl-C
  spec.parent_death_signal = SIGKILL;
  const auto limit = [](rlim_t value) { return rlimit{value, value}; };
  spec.limits = {{RLIMIT_CORE, limit(0)}, {RLIMIT_FSIZE, limit(0)}, {RLIMIT_STACK, limit(start.stack_bytes)}};
#ifndef MUSTER_SANITIZED  // sanitizers reserve terabytes of address space
  spec.limits.push_back({RLIMIT_AS, limit(start.memory_bytes)});
#endif
  Launcher launcher(MechanismsBut(start.without));
  auto spawned = launcher.Spawn(spec);
  if (spawned) return *std::move(spawned);
  return Fail(MachineError(
      "evaluator", "the evaluator cannot be started: " + SpawnErrorText(spawned.error()),
      spawned.error().stage == SpawnStage::kExec ? "muster-evaluator belongs into the folder of muster itself" : ""));
}

Result<std::unique_ptr<EvaluatorProcess>> EvaluatorProcess::Start(const EvaluatorStart& start) {
  auto ends = EvaluatorEndpoints::Make();
  if (!ends) return Fail(ends.error());
  auto spawned = SpawnEvaluator(start, kEvaluatorArgument, {}, ends->theirs.get(), ends->page->fd());
  if (!spawned) return Fail(spawned.error());
  ends->theirs.reset();
  return std::make_unique<EvaluatorProcess>(*std::move(ends), *std::move(spawned));
}

EvaluatorProcess::EvaluatorProcess(EvaluatorEndpoints ends, Mechanisms mechanisms)
    : ends_(std::move(ends)), mechanisms_(mechanisms), birth_(Birth::kAwaited) {}

EvaluatorProcess::EvaluatorProcess(EvaluatorEndpoints ends, Spawned spawned)
    : ends_(std::move(ends)), spawned_(std::move(spawned)) {}

EvaluatorProcess::Birth EvaluatorProcess::AskBirth() {
  if (birth_ != Birth::kAwaited) return birth_;
  // Its pid in one piece, sent before it has received any recipe.
  std::int32_t pid = 0;
  const ssize_t got = recv(socket(), &pid, sizeof pid, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return birth_;
  auto child = got == sizeof pid ? AdoptChild(pid, mechanisms_) : std::nullopt;
  birth_ = child ? Birth::kAlive : Birth::kFailed;
  if (child) spawned_ = *std::move(child);
  return birth_;
}

EndedProcess EvaluatorProcess::End() {
  if (ended_) return *ended_;
  const std::uint64_t deadline = MonotonicNowNs() + kBirthPatience;
  while (AskBirth() == Birth::kAwaited && AwaitFrame(socket(), deadline) != ReadStatus::kTimeout) {
  }
  if (birth_ != Birth::kAlive) return EndedProcess{.code = -1};
  KillChild(spawned_.ref());
  ended_ = ReapAtEnd(spawned_.ref());
  return *ended_;
}

void EvaluatorProcess::AllowProcessorTime(std::uint64_t seconds) const {
  clockid_t clock = 0;
  timespec used{};
  rlimit own{};
  if (clock_getcpuclockid(spawned_.pid, &clock) != 0 || clock_gettime(clock, &used) != 0 ||
      getrlimit(RLIMIT_CPU, &own) != 0) {
    return;
  }
  const rlimit limit{std::min<rlim_t>(own.rlim_max, static_cast<rlim_t>(used.tv_sec) + seconds), own.rlim_max};
  prlimit(spawned_.pid, RLIMIT_CPU, &limit, nullptr);
}

}  // namespace muster
