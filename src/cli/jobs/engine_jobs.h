// The jobs of one engine: runs the commands of its page that submit, query, signal and cancel them.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine_calls.h"
#include "engine/engine_page.h"
#include "muster/result.h"

namespace muster {

struct EngineCall;

class EngineJobs {
 public:
  explicit EngineJobs(EnginePage page) : page_(std::move(page)) {}

  const EnginePage& page() const { return page_; }

  // Submits the script, which is the file `path` with that text; returns the job's id. Kind "engine".
  Result<std::string> Submit(const std::string& path, const std::string& text) const;
  // The states of all these jobs. The first query of the page is asked about all of them at once, a later one about
  // those that the earlier ones do not know. Kind "engine": the first got no answer, so nothing is known.
  Result<std::map<std::string, JobStatus>> States(std::span<const std::string> jobs) const;
  // Kind "engine": a command failed.
  Result<void> Cancel(std::span<const std::string> jobs) const;
  // "TERM" and others, to the head of each job. Where the engine cannot, the jobs are cancelled.
  Result<void> Signal(std::span<const std::string> jobs, const std::string& signal) const;
  // Returns them to the queue, also the job that this is called in.
  Result<void> Requeue(std::span<const std::string> jobs) const;

 private:
  Result<void> Call(const std::vector<EngineCall>& calls) const;

  EnginePage page_;
};

// When to ask an engine for states again: soon at first and after a change, then less and less often. The controller of
// an engine is shared by all users.
class JobPolling {
 public:
  static constexpr std::chrono::milliseconds kFirst{1'000};
  static constexpr std::chrono::milliseconds kLongest{30'000};

  // How long to wait after an answer; without one longer than before.
  std::chrono::milliseconds After(bool changed, bool answered);

 private:
  std::chrono::milliseconds next_ = kFirst;
};

// Whether a job is over, by states that were asked for one after the other: a job that the engine does not know may
// just not be known yet, or not any more after a restart of the controller, so that has to be said for half a minute.
class OverTest {
 public:
  bool Has(JobState state);

 private:
  std::optional<std::chrono::steady_clock::time_point> vanished_;
};

// "queued: Resources", "running on n[1-4]", "time_limit": a status in words.
std::string StatusText(const JobStatus& status);

}  // namespace muster
