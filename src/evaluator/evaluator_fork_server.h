// A stem: a process that has loaded the interpreter and muster's own Lua files, knows nothing of any recipe, and copies
// itself for each evaluator that is wanted. Such an evaluator is as fresh as one of a program of its own, locked down
// and limited as that is, and a child of this process; what loading costs was paid once.
//
// Stem and copies run at a lower priority (nice 10): they work ahead of what runs. This is the parent's side. If the
// stem cannot be had or is gone, evaluators are started in the ordinary way.
#pragma once

#include <memory>
#include <optional>

#include "base/system/unique_fd.h"
#include "evaluator/evaluator_process.h"
#include "evaluator/shared_pages.h"
#include "muster/result.h"

namespace muster {

class EvaluatorForkServer {
 public:
  // Nothing is started before the first evaluator is wanted. `schema_too`: it loads the schema of the context API as
  // well, which pays where the recipe uses a context (Plan::mindspore) and costs a little where it does not.
  explicit EvaluatorForkServer(EvaluatorStart start, bool schema_too = false)
      : start_(std::move(start)), schema_too_(schema_too) {}
  EvaluatorForkServer(const EvaluatorForkServer&) = delete;
  EvaluatorForkServer& operator=(const EvaluatorForkServer&) = delete;
  ~EvaluatorForkServer();  // evaluators that it forked go on

  const EvaluatorStart& start() const { return start_; }

  // An evaluator, which may be yet to be born (EvaluatorProcess::AskBirth). Does not wait for it.
  Result<std::unique_ptr<EvaluatorProcess>> Fork();

  // Of the stem's process; -1 if there is none.
  pid_t pid() const { return process_ ? process_->pid : -1; }

 private:
  bool Ask(const EvaluatorEndpoints& ends);
  void Lose();

  // One that ended by itself may do so again.
  static constexpr int kMostForkServers = 3;

  EvaluatorStart start_;
  bool schema_too_;
  Mechanisms mechanisms_ = MechanismsBut(start_.without);
  UniqueFd control_;
  std::optional<Spawned> process_;
  SharedPages pages_;
  int started_ = 0;
};

}  // namespace muster
