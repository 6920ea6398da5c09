// The commands of an engine's page with everything filled in: starting agents, submitting, asking for jobs, cancelling,
// signalling.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/allocation.h"
#include "engine/engine_page.h"
#include "muster/result.h"

namespace muster {

// A command, and which variables of the caller are not in its environment (NAME, PREFIX*).
struct EngineCall {
  std::vector<std::string> words;
  std::vector<std::string> clear;
  std::vector<std::string> jobs = {};  // that it is about

  bool operator==(const EngineCall&) const = default;
};

// "NAME=value" without those that `clear` names.
std::vector<std::string> WithoutVariables(std::vector<std::string> environment, std::span<const std::string> clear);

// When to try a command again that failed with this error, if it has been tried for that long: the controller may be
// restarting. Nothing: it will not help, or it was tried for long enough (kAwayTime).
inline constexpr std::chrono::seconds kAwayTime{60};
std::optional<std::chrono::milliseconds> TryAgainAfter(const EnginePage& page, std::string_view error,
                                                       std::chrono::milliseconds tried_for);

// What one start command starts on each of its hosts.
struct StartedAgent {
  std::string agent;                      // absolute path, the same on all hosts
  std::string dial_file;                  // the same
  std::vector<std::string> options = {};  // further words, without blanks
};

// One command that starts `agent --dial dial_file options…` once on each of these hosts, which are some of the
// allocation's. Kind "engine": a host is not in the allocation; or there are options, and the page has no place for
// them.
Result<EngineCall> StartCall(const EnginePage& page, const Allocation& allocation, std::span<const std::string> hosts,
                             const StartedAgent& agent);

// The command that submits a script. `script` is its path; if the page's command takes it on stdin, `on_stdin` is set.
EngineCall SubmitCall(const EnginePage& page, const std::string& script, bool& on_stdin);
// The job's id in what that printed. Kind "engine".
Result<std::string> SubmittedJob(const EnginePage& page, std::string_view output);

// The commands that ask for the states of the jobs by that query of the page: one, or one for each job.
std::vector<EngineCall> QueryCalls(const EnginePage& page, const EngineQuery& query, std::span<const std::string> jobs);
// The same for cancelling, and for sending a signal ("TERM") to the head of each job; none if the engine cannot.
std::vector<EngineCall> CancelCalls(const EnginePage& page, std::span<const std::string> jobs);
std::vector<EngineCall> SignalCalls(const EnginePage& page, std::span<const std::string> jobs,
                                    const std::string& signal);
// The same for returning them to the queue.
std::vector<EngineCall> RequeueCalls(const EnginePage& page, std::span<const std::string> jobs);

}  // namespace muster
