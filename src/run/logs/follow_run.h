// muster logs --follow: the chosen logs of runs as they are written, new attempts too, until the runs end, the reader
// goes or a signal comes. One loop, no polling.
//
// Knows files and the reader's descriptor. The runs' own heads do not notice it.
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
  std::string prefix = {};                 // before that of the process: "job:3 "
  std::map<std::string, FollowFrom> from;  // by the log's name; others are shown from their beginning
};

// Several runs at once, which may be added while others are followed.
class RunFollower {
 public:
  RunFollower(int out, FollowOptions options);
  ~RunFollower();

  boost::asio::io_context& io() { return io_; }
  // Fails, with nothing of it shown, if the run cannot be watched.
  Result<void> Add(FollowRequest request);
  // While more may be added, Run() does not return although all have ended.
  void ExpectMore(bool more);
  // Until all have ended and been shown: 0, or 128+n if signal n (SIGINT, SIGTERM, SIGHUP) ended it.
  int Run();

 private:
  struct Followed;
  void CatchSignals();
  void StopIfOver();

  boost::asio::io_context io_{1};
  Output out_;
  FollowOptions options_;
  boost::asio::signal_set signals_;
  std::vector<std::unique_ptr<Followed>> runs_;  // those that have ended, too: the output calls them
  std::size_t going_on_ = 0;
  bool more_ = false;
  int exit_code_ = 0;
};

// One run, as RunFollower does it. Fails, with nothing shown, if it cannot be watched.
Result<int> FollowRun(FollowRequest request, int out, FollowOptions options);

}  // namespace muster
