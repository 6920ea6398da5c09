#include "run/session/run_in_progress.h"

#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <fmt/format.h>

#include "base/system/host_name.h"
#include "plan/check/plan_check.h"
#include "run/loop/output.h"
#include "run/session/session.h"

namespace muster {
namespace {

// Conditions that must hold before anything is created.
Diagnostics Refusals(const RunRequest& request, const Transport& transport) {
  Diagnostics refusals = ValidatePlan(request.plan);
  const std::size_t hosts = request.plan.hosts.size();
  if (hosts > 1 && transport.name() == "local") {
    refusals.push_back(MachineError("hosts",
                                    fmt::format("the plan needs {} hosts, and this run has only this machine", hosts),
                                    "set hosts = 1, or name them: --host n[01-04] or --hostfile FILE"));
  } else if (!request.spares.empty() && (request.hosts.empty() || transport.name() == "local")) {
    refusals.push_back(MachineError("hosts", "a run on this machine alone cannot use spare hosts"));
  } else if (!request.hosts.empty() && request.hosts.size() != hosts) {
    refusals.push_back(
        MachineError("hosts", fmt::format("the plan needs {} hosts, {} are named", hosts, request.hosts.size())));
  } else if (transport.name() == "local" && hosts == 1 && !request.hosts.empty() &&
             !IsThisMachine(request.hosts.front().name)) {
    refusals.push_back(MachineError("hosts",
                                    fmt::format("{} is not this machine, {}, and this run has only this one",
                                                request.hosts.front().name, OwnHostName()),
                                    "name localhost, or no host"));
  }
  return refusals;
}

}  // namespace

Result<std::unique_ptr<RunInProgress>> RunInProgress::Begin(boost::asio::io_context& io, RunRequest request,
                                                            Transport& transport, Ended ended) {
  // A session requires a valid plan from its construction on.
  if (Diagnostics refusals = Refusals(request, transport); HasErrors(refusals)) return Fail(std::move(refusals));
  request.catch_signals = false;
  auto session = std::make_shared<Session>(io, std::make_shared<const RunRequest>(std::move(request)), transport,
                                           std::move(ended));
  if (Result<void> begun = session->Begin(); !begun) return Fail(std::move(begun.error()));
  return std::unique_ptr<RunInProgress>(new RunInProgress(std::move(session)));
}

RunInProgress::RunInProgress(std::shared_ptr<Session> session) : session_(std::move(session)) {}

RunInProgress::~RunInProgress() = default;

void RunInProgress::Stop(bool now) { session_->Stop(now); }

void RunInProgress::Listen() { session_->ListenNow(); }

Result<RunOutcome> RunPlan(const RunRequest& request, Transport& transport) {
  if (Diagnostics refusals = Refusals(request, transport); HasErrors(refusals)) return Fail(std::move(refusals));
  const PipeSignalIgnored no_pipe_signal;
  boost::asio::io_context io;
  RunOutcome outcome;
  // Does not own the request, which belongs to the caller and outlives the session.
  const auto session = std::make_shared<Session>(
      io, std::shared_ptr<const RunRequest>(std::shared_ptr<void>(), &request), transport, [&](RunOutcome ended) {
        outcome = std::move(ended);
        io.stop();
      });
  if (Result<void> begun = session->Begin(); !begun) return Fail(std::move(begun.error()));
  const auto until_ended = boost::asio::make_work_guard(io);
  io.run();
  return outcome;
}

}  // namespace muster
