// muster whatif: applies rules of verdicts to the recorded failures of a run, and says what would have been decided.
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/run_argument.h"
#include "run/journal/run_history.h"
#include "run/supervise/verdict.h"

namespace muster {
namespace {

struct WhatifOptions {
  std::string run;
  std::string rules;
};

std::string VerdictWord(RestartVerdict verdict, const std::string& host) {
  if (verdict == RestartVerdict::kExcludeHost) return "exclude " + host;
  return std::string(RestartVerdictName(verdict));
}

std::string NameOfProcess(const Plan& plan, ProcessId process) {
  const Process& named = plan.processes[process];
  return fmt::format("{}.{}", plan.roles[named.role].name, named.index);
}

// The failures of a run by other rules. A verdict on a failure that these rules would have prevented is left out: after
// a stop nothing follows.
Result<int> ReplayVerdicts(const std::string& run_dir, const std::vector<VerdictRule>& rules) {
  const auto recorded = ReadRun(run_dir);
  if (!recorded) return Fail(recorded.error());
  const RunHistory& history = recorded->history;
  if (history.judged.empty()) {
    std::printf("no failure of %s has a verdict\n", Printable(run_dir).c_str());
    return kExitOk;
  }
  const auto seconds = [&](MonotonicNs at) { return static_cast<double>(at - history.first.on_head) / 1e9; };
  std::vector<FailureJudged> failures;
  std::size_t changed = 0;
  std::string text;
  for (const Recorded<FailureJudged>& one : history.judged) {
    failures.push_back(one);
    const GivenVerdict given = GiveVerdict(failures, rules);
    const bool same = given.verdict == one.verdict;
    if (!same) ++changed;
    text +=
        fmt::format("{:>3} after {}: {} on {}: {}: {}, {}{}\n", failures.size(), DurationText(seconds(one.on_head)),
                    NameOfProcess(*recorded->plan, one.process), one.host_name, one.what,
                    VerdictWord(given.verdict, one.host_name), given.evidence,
                    same ? "" : fmt::format(" (it was: {}, {})", VerdictWord(one.verdict, one.host_name), one.rule));
    if (given.verdict != RestartVerdict::kStop) continue;
    const std::size_t left = history.judged.size() - failures.size();
    text +=
        fmt::format("    the job would have ended here: {} before the end of the run, without the {} that followed\n",
                    DurationText(seconds(history.last.on_head) - seconds(one.on_head)), Counted(left, "failure"));
    break;
  }
  text += changed == 0 ? "these rules give the same verdicts\n"
                       : fmt::format("{} of {} verdicts differ\n", changed, failures.size());
  std::fputs(PrintableLines(text).c_str(), stdout);
  return kExitOk;
}

Result<int> Replay(const WhatifOptions& options) {
  const auto run = FindRunOrSweep(options.run, DirectoryUse::kRead, Prefer::kNewest);
  if (!run) return Fail(run.error());
  if (run->is_sweep) {
    return Fail(Error(
        "usage", {}, fmt::format("{} is a sweep, and verdicts are given on the failures of a run", Quoted(options.run)),
        "muster whatif SWEEP:12 is about the run of a trial"));
  }
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  const auto rules = ReadVerdictRules(options.rules.empty() ? site->facts.verdicts : options.rules);
  if (!rules) return Fail(rules.error());
  return ReplayVerdicts(run->folder, *rules);
}

}  // namespace

std::function<int()> SetupWhatif(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<WhatifOptions>();
  AddRunOrSweepArgument(app, options->run);
  app.add_option("--rules", options->rules, "rules of verdicts, instead of those of the site")->type_name("FILE");
  return [options] {
    const Result<int> shown = Replay(*options);
    return shown ? *shown : Refuse(shown.error());
  };
}

}  // namespace muster
