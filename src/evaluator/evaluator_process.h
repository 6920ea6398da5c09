// An evaluator process from the parent's side: its start, the socket and the page that it shares with its parent, and
// its end. conversation.h defines what is sent over the socket.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/system/unique_fd.h"
#include "base/system/without.h"
#include "evaluator/shared_page.h"
#include "muster/result.h"
#include "spawn/start/launcher.h"

namespace muster {

struct EvaluationLimits {
  std::uint64_t wall_ms = 10'000;
  std::uint64_t cpu_seconds = 10;
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  // address space; the interpreter has its own, lower cap
  std::uint64_t stack_bytes = std::uint64_t{256} << 20;
};

// How to start an evaluator, independent of its requests.
struct EvaluatorStart {
  std::string program = {};  // path of muster-evaluator; empty: the one beside this program
  std::string locale = {};   // as in setlocale(3); empty: "C"
  Without without = {};
  std::uint64_t memory_bytes = EvaluationLimits{}.memory_bytes;
  std::uint64_t stack_bytes = EvaluationLimits{}.stack_bytes;

  bool operator==(const EvaluatorStart&) const = default;
};

// The ends of an evaluator's socket, and its page, created before the process.
struct EvaluatorEndpoints {
  UniqueFd ours;
  UniqueFd theirs;
  std::shared_ptr<SharedPage> page;

  static Result<EvaluatorEndpoints> Make(std::shared_ptr<SharedPage> page = std::make_shared<SharedPage>());
};

// Starts muster-evaluator in this mode (child.h) with limits, in its own process group, killed when this process exits;
// `socket` becomes its descriptor kEvaluatorSocket, and `page`, unless negative, kEvaluatorPage.
Result<Spawned> SpawnEvaluator(const EvaluatorStart& start, const char* mode, const std::vector<std::string>& words,
                               int socket, int page);

// Killed and reaped by the destructor at the latest.
class EvaluatorProcess {
 public:
  // Starts a process; returns once its program runs.
  static Result<std::unique_ptr<EvaluatorProcess>> Start(const EvaluatorStart& start);
  // An evaluator that a fork server is about to fork (evaluator_fork_server.h); it sends its pid itself.
  EvaluatorProcess(EvaluatorEndpoints ends, Mechanisms mechanisms);
  EvaluatorProcess(EvaluatorEndpoints ends, Spawned spawned);
  EvaluatorProcess(const EvaluatorProcess&) = delete;
  EvaluatorProcess& operator=(const EvaluatorProcess&) = delete;
  ~EvaluatorProcess() { End(); }

  enum class Birth : std::uint8_t { kAwaited, kAlive, kFailed };
  // Whether the process exists yet. Its socket must not be used before, and becomes readable when the state changes.
  Birth AskBirth();

  int socket() const { return ends_.ours.get(); }
  int pidfd() const { return spawned_.pidfd.get(); }
  Place LastReached() const { return ends_.page->Read(); }

  // Kills it if it still runs; returns its exit status. Waits for a pending fork.
  EndedProcess End();
  // Limits the processor time from now on, in seconds: SIGXCPU first, which identifies this limit, and SIGKILL at the
  // hard limit of the parent; if the time used so far is unknown, only the wall-clock limit applies.
  void AllowProcessorTime(std::uint64_t seconds) const;
  // Whether it exits by itself before the deadline (monotonic).
  bool Ends(std::uint64_t deadline_ns) const { return EndsBy(spawned_.ref(), deadline_ns); }

 private:
  EvaluatorEndpoints ends_;
  Mechanisms mechanisms_;
  Birth birth_ = Birth::kAlive;
  Spawned spawned_;
  std::optional<EndedProcess> ended_;
};

}  // namespace muster
