// A run on a loop, from the files of its directory to its report.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "run/session/run_request.h"
#include "transport/transport.h"

namespace muster {

// A run on a shared loop: does the same as RunPlan (run/session/run_request.h), but several can be active in one
// process.
//
// Independent of sweeps. It blocks the loop only for accesses to files and folders; it catches no signals, and the
// process must ignore SIGPIPE. The request sets the console: ConsoleOptions::Silent() shows nothing.

class Session;

class RunInProgress {
 public:
  using Ended = std::function<void(RunOutcome)>;

  // Fails as RunPlan does, without having started anything; `ended` is not called then. Otherwise `ended` is called
  // once, from the loop, when the run is over and its journal, report and console are finished; the object may be
  // destroyed in it, or at any time after. `io` and `transport` must outlive the object. The plan's processes are
  // started from the loop.
  static Result<std::unique_ptr<RunInProgress>> Begin(boost::asio::io_context& io, RunRequest request,
                                                      Transport& transport, Ended ended);

  // If the run has not ended, abandons its agents, which then kill everything that they started; `ended` is not called
  // any more, and the run directory is that of a lost head.
  ~RunInProgress();
  RunInProgress(const RunInProgress&) = delete;
  RunInProgress& operator=(const RunInProgress&) = delete;

  // Like `muster stop`: the run ends with outcome "stopped"; `now` without a grace period. May be called
  // again.
  void Stop(bool now);
  // Creates its control socket now; a terse run otherwise creates it after a second.
  void Listen();

 private:
  explicit RunInProgress(std::shared_ptr<Session> session);

  std::shared_ptr<Session> session_;
};

}  // namespace muster
