// Implements muster logs --follow: shows the chosen logs of runs while they are written, new attempts included, until
// the runs end, the reader closes its end or a signal arrives. One loop, no polling.
//
// Uses files and the reader's descriptor. The runs' heads are not affected.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "muster/result.h"
#include "run/logs/log_choice.h"
#include "run/logs/log_follower.h"
#include "run/loop/output.h"

namespace muster {

struct FollowRequest {
  std::string run_dir;
  LogChoice choice;
  bool prefixed = false;
  std::string prefix = {};                 // before the process's prefix: "job:3 "
  std::map<std::string, FollowFrom> from;  // by the log's name; other logs are shown from their beginning
};

// Follows several runs at once; runs may be added at any time.
class RunFollower {
 public:
  RunFollower(int out, FollowOptions options);
  ~RunFollower();

  boost::asio::io_context& io() { return io_; }
  // Fails, and shows nothing of the run, if it cannot be watched.
  Result<void> Add(FollowRequest request);
  // With `more`, Run() does not return although all runs have ended.
  void ExpectMore(bool more);
  // Runs until all runs have ended and been shown: returns 0, or 128+n if signal n (SIGINT, SIGTERM, SIGHUP) ended it.
  int Run();

 private:
  struct Followed;
  void CatchSignals();
  void StopIfOver();

  boost::asio::io_context io_{1};
  Output out_;
  FollowOptions options_;
  boost::asio::signal_set signals_;
  std::vector<std::unique_ptr<Followed>> runs_;  // ended ones, too: the output still calls them
  std::size_t going_on_ = 0;
  bool more_ = false;
  int exit_code_ = 0;
};

// Follows one run. Fails, and shows nothing, if it cannot be watched.
Result<int> FollowRun(FollowRequest request, int out, FollowOptions options);

}  // namespace muster
