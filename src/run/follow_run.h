// muster logs --follow: the chosen logs of a run as they are written, new attempts too, until the run ends, the reader
// goes or a signal comes. One loop, no polling.
//
// Knows files and the reader's descriptor. The run's own head does not notice it.
#pragma once

#include <map>
#include <string>

#include "muster/result.h"
#include "run/log_choice.h"
#include "run/log_follow.h"

namespace muster {

struct FollowRequest {
  std::string run_dir;
  LogChoice choice;
  bool prefixed = false;
  FollowOptions options;
  std::map<std::string, FollowFrom> from;  // by the log's name; others are shown from their beginning
  int out = 1;
};

// 0, or 128+n if signal n (SIGINT, SIGTERM, SIGHUP) ended it. Fails, with nothing shown, if the run cannot be watched.
Result<int> FollowRun(FollowRequest request);

}  // namespace muster
