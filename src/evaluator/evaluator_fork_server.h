// The fork server of evaluators: a process that has loaded the interpreter and muster's own Lua files, knows no recipe,
// and forks each requested evaluator. A forked evaluator is as fresh as one that was started, has the same lockdown and
// limits, and is a child of this process; loading is paid once.
//
// The fork server and its evaluators run at a lower priority (nice 10), because they work ahead of the running
// processes. This is the parent's side. Without a fork server evaluators are started directly.
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
  // Nothing is started before the first evaluator is requested. `schema_too`: also loads the schema of the context API,
  // which saves time for recipes with a context (Plan::mindspore) and costs a little for others.
  explicit EvaluatorForkServer(EvaluatorStart start, bool schema_too = false)
      : start_(std::move(start)), schema_too_(schema_too) {}
  EvaluatorForkServer(const EvaluatorForkServer&) = delete;
  EvaluatorForkServer& operator=(const EvaluatorForkServer&) = delete;
  ~EvaluatorForkServer();  // evaluators that it forked keep running

  const EvaluatorStart& start() const { return start_; }

  // An evaluator that may not exist yet (EvaluatorProcess::AskBirth). Does not wait for it.
  Result<std::unique_ptr<EvaluatorProcess>> Fork();

  // Pid of the fork server; -1 if there is none.
  pid_t pid() const { return process_ ? process_->pid : -1; }

 private:
  bool Ask(const EvaluatorEndpoints& ends);
  void Lose();

  // Limits restarts: a fork server that has crashed may crash again.
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
