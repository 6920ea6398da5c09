// An evaluator process from the parent's side: how it is started, the socket and the page that it shares with its
// parent, and its end. What is said over the socket is conversation.h's affair.
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

// How an evaluator is started, whatever it is asked then.
struct EvaluatorStart {
  std::string program = {};  // path of muster-evaluator; empty: the one beside this program
  std::string locale = {};   // as setlocale(3) names it; empty: "C"
  Without without = {};
  std::uint64_t memory_bytes = EvaluationLimits{}.memory_bytes;
  std::uint64_t stack_bytes = EvaluationLimits{}.stack_bytes;

  bool operator==(const EvaluatorStart&) const = default;
};

// What both sides of an evaluator's start have in their hands before there is one.
struct EvaluatorEndpoints {
  UniqueFd ours;
  UniqueFd theirs;
  std::shared_ptr<SharedPage> page;

  static Result<EvaluatorEndpoints> Make(std::shared_ptr<SharedPage> page = std::make_shared<SharedPage>());
};

// The program as that (child.h) with these further arguments, limits set, in a process group of its own, ended with
// this process; `socket` is its descriptor kEvaluatorSocket, and `page`, if it is not negative, kEvaluatorPage.
Result<Spawned> SpawnEvaluator(const EvaluatorStart& start, const char* mode, const std::vector<std::string>& words,
                               int socket, int page);

// Killed and reaped at the latest when this object ends.
class EvaluatorProcess {
 public:
  // Starts one; returns once its program runs.
  static Result<std::unique_ptr<EvaluatorProcess>> Start(const EvaluatorStart& start);
  // One that a fork server is about to fork (evaluator_fork_server.h), and that says so itself.
  EvaluatorProcess(EvaluatorEndpoints ends, Mechanisms mechanisms);
  EvaluatorProcess(EvaluatorEndpoints ends, Spawned spawned);
  EvaluatorProcess(const EvaluatorProcess&) = delete;
  EvaluatorProcess& operator=(const EvaluatorProcess&) = delete;
  ~EvaluatorProcess() { End(); }

  enum class Birth : std::uint8_t { kAwaited, kAlive, kFailed };
  // Whether there is a process by now. Until then its socket is not to be used, and becomes readable when this changes.
  Birth AskBirth();

  int socket() const { return ends_.ours.get(); }
  int pidfd() const { return spawned_.pidfd.get(); }
  Place LastReached() const { return ends_.page->Read(); }

  // Kills it if it still runs; returns how it ended. Waits for one that is about to be forked.
  EndedProcess End();
  // So many seconds from now on. SIGXCPU first, which tells this limit from others, and SIGKILL where the parent's own
  // limit is; where the time used so far cannot be told the wall clock alone limits it.
  void AllowProcessorTime(std::uint64_t seconds) const;
  // Whether it has come to an end of its own by the deadline (monotonic).
  bool Ends(std::uint64_t deadline_ns) const { return EndsBy(spawned_.ref(), deadline_ns); }

 private:
  EvaluatorEndpoints ends_;
  Mechanisms mechanisms_;
  Birth birth_ = Birth::kAlive;
  Spawned spawned_;
  std::optional<EndedProcess> ended_;
};

}  // namespace muster
