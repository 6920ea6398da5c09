// A run on a loop of others: what RunPlan (run/session/run_request.h) does, beside more of the same in one process.
//
// Knows no sweep. Nothing of it blocks the loop for longer than files and folders take; it catches no signal, and the
// process must have SIGPIPE ignored. The console is the request's: ConsoleOptions::Silent() shows nothing.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "run/session/run_request.h"
#include "transport/channel.h"
#include "transport/transport.h"

namespace muster {

class Session;

class RunInProgress {
 public:
  using Ended = std::function<void(RunOutcome)>;

  // Fails as RunPlan does, with nothing started; `ended` is not called then. Otherwise it is called once, from the
  // loop, when the run is over and its journal, report and console are done with; the object may be destroyed in it, or
  // at any time after. `io` and `transport` must outlive the object. The plan's processes are started from the loop.
  static Result<std::unique_ptr<RunInProgress>> Begin(boost::asio::io_context& io, RunRequest request,
                                                      Transport& transport, Ended ended);

  // If it has not ended: its agents are given up, which ends what they have started; `ended` is not called any more,
  // and the run directory tells of a head that was lost.
  ~RunInProgress();
  RunInProgress(const RunInProgress&) = delete;
  RunInProgress& operator=(const RunInProgress&) = delete;

  // As `muster stop` asks for it: the run ends with outcome "stopped"; `now` without a grace period. May be asked
  // again.
  void Stop(bool now);
  // Its control socket, which a terse run has after a second, is there from now on.
  void Listen();

 private:
  explicit RunInProgress(std::shared_ptr<Session> session);

  std::shared_ptr<Session> session_;
};

}  // namespace muster
