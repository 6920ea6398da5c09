// muster ps: lists running runs and sweeps, with the running trials of sweeps.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/values/json_text.h"
#include "base/values/shell_quote.h"
#include "cli/command/command.h"
#include "cli/command/print_diagnostics.h"
#include "cli/jobs/queued_runs.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_list.h"
#include "cli/runs/run_commands.h"
#include "cli/runs/sweep_list.h"
#include "run/directory/live_heads.h"
#include "run/directory/newest_metrics.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

struct PsOptions {
  std::vector<std::string> folders;
  bool all = false;
  bool json = false;
};

struct Listed {
  RunList runs;
  SweepList sweeps;
  std::vector<QueuedRun> queued;
};

// Removes duplicates of a folder that was given twice, or found in two ways.
void DropTwins(std::vector<RunSummary>& runs) {
  std::set<std::filesystem::path> seen;
  std::erase_if(runs, [&](const RunSummary& run) {
    std::error_code error;
    return !seen.insert(std::filesystem::weakly_canonical(run.run_dir, error)).second;
  });
}

Result<Listed> List(const PsOptions& options) {
  std::vector<std::string> of_runs = options.folders;
  std::vector<std::string> of_sweeps = options.folders;
  if (options.all && options.folders.empty()) {
    auto runs = DefaultRunsFolder();
    if (!runs) return Fail(runs.error());
    auto sweeps = DefaultSweepsFolder();
    if (!sweeps) return Fail(sweeps.error());
    of_runs.push_back(*std::move(runs));
    of_sweeps.push_back(*std::move(sweeps));
    for (const std::string& folder : FoldersOfLiveHeads(OwnLiveHeadsFolder())) {
      std::error_code error;
      const bool is_sweep = std::filesystem::is_regular_file(folder + "/sweep.json", error);
      (is_sweep ? of_sweeps : of_runs).push_back(folder);
    }
  }
  auto runs = ListRuns(of_runs, !options.all, true);
  if (!runs) return Fail(runs.error());
  auto sweeps = ListSweeps(of_sweeps, !options.all);
  if (!sweeps) return Fail(sweeps.error());
  DropTwins(runs->runs);
  if (of_runs.empty()) {
    auto folder = DefaultRunsFolder();
    if (!folder) return Fail(folder.error());
    of_runs.push_back(*std::move(folder));
  }
  JobsOfRuns jobs = AskAboutJobs(MayBeQueued(of_runs));
  std::set<std::filesystem::path> suspended;
  for (const std::string& run_dir : jobs.suspended) {
    std::error_code error;
    suspended.insert(std::filesystem::weakly_canonical(run_dir, error));
  }
  for (RunSummary& run : runs->runs) {
    std::error_code error;
    if (suspended.contains(std::filesystem::weakly_canonical(run.run_dir, error))) run.phase = "suspended";
  }
  return Listed{*std::move(runs), *std::move(sweeps), std::move(jobs.queued)};
}

std::vector<std::string> Row(const std::string& name, const RunSummary& run, const std::string& metrics) {
  return {Printable(name),
          Printable(run.run),
          TimeText(run.started_at),
          run.outcome != "running" ? run.outcome
          : run.waits.empty()      ? run.phase
                                   : "waiting for devices",
          std::to_string(run.running),
          std::to_string(run.ended),
          std::to_string(run.restarts),
          metrics,
          Printable(run.run_dir)};
}

RoleReports MetricsOf(const RunSummary& run) {
  return run.outcome == "running" ? NewestReports(run.run_dir) : RoleReports();
}

void PrintTables(const Listed& listed) {
  PrintSweepTable(listed.sweeps.sweeps);
  std::vector<std::vector<std::string>> rows = {
      {"NAME", "RUN", "STARTED", "PHASE", "RUNNING", "ENDED", "RESTARTS", "METRICS", "FOLDER"}};
  std::vector<std::pair<std::string, std::string>> waiting;
  for (const ListedSweep& sweep : listed.sweeps.sweeps) {
    for (const RunningTrial& trial : sweep.look.running) {
      rows.push_back(Row(sweep.NameOf(trial), trial.run, trial.About()));
    }
    if (!sweep.look.waits.empty()) waiting.emplace_back(sweep.word, sweep.look.waits);
  }
  for (const QueuedRun& run : listed.queued) {
    rows.push_back({Printable(run.name), Printable(run.run), TimeText(run.submitted_at), QueueText(run), "0", "0",
                    std::to_string(run.attempt - 1), "", Printable(run.run_dir)});
  }
  for (const RunSummary& run : listed.runs.runs) {
    rows.push_back(Row(run.name, run, MetricsText(MetricsOf(run))));
    if (run.outcome == "running" && !run.waits.empty()) waiting.emplace_back(run.run, run.waits);
  }
  if (!listed.sweeps.sweeps.empty()) std::puts("");
  PrintTable(rows);
  for (const auto& [name, holders] : waiting) {
    std::printf("%s waits for devices: %s\n", Printable(name).c_str(), Printable(holders).c_str());
  }
}

void PrintJson(const Listed& listed) {
  nlohmann::json runs = nlohmann::json::array();
  for (const RunSummary& run : listed.runs.runs) {
    nlohmann::json one = RunJson(run, true);
    one["metrics"] = MetricsJson(MetricsOf(run));
    runs.push_back(std::move(one));
  }
  nlohmann::json queued = nlohmann::json::array();
  for (const QueuedRun& run : listed.queued) queued.push_back(QueuedJson(run));
  const nlohmann::json object = {{"format", 1},
                                 {"runs", std::move(runs)},
                                 {"queued", std::move(queued)},
                                 {"sweeps", SweepListJson(listed.sweeps.sweeps)}};
  std::printf("%s\n", SerializedJson(object, 2).c_str());
}

int RunPs(const PsOptions& options) {
  auto listed = List(options);
  if (!listed) return Refuse(listed.error());
  options.json ? PrintJson(*listed) : PrintTables(*listed);
  Diagnostics unreadable = std::move(listed->runs.unreadable);
  unreadable.insert(unreadable.end(), listed->sweeps.unreadable.begin(), listed->sweeps.unreadable.end());
  return ExitListed(unreadable);
}

}  // namespace

std::function<int()> SetupPs(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<PsOptions>();
  app.add_option("FOLDERS", options->folders,
                 "folders of runs or sweeps, or their directories; default: below $MUSTER_HOME or here");
  app.add_flag("--all,-a", options->all, "include those that ended and, without FOLDERS, all of yours on this machine");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return RunPs(*options); };
}

}  // namespace muster
