#include "cli/sweeps/export_tensorboard.h"

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/system/unique_fd.h"
#include "base/system/write_all.h"
#include "base/values/fingerprint.h"
#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "cli/lookup/run_facts.h"
#include "cli/lookup/run_or_sweep.h"
#include "cli/lookup/trial_facts.h"
#include "run/directory/run_directory.h"
#include "run/journal/run_summary.h"
#include "run/metrics/log_history.h"
#include "sweep/trial/trial_history.h"
#include "tensorboard/run_events.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr char kFileName[] = "events.out.tfevents.muster";  // the same each time, so that it can be replaced
constexpr std::size_t kBlockBytes = 1U << 16;

double SecondsOf(const std::string& utc) { return InSeconds(ParseUtc(utc).value_or(0)); }

// Written beside it first and renamed, so that an incomplete file replaces nothing.
Result<WrittenEvents> WriteFile(const RunForTensorboard& run, const std::string& folder) {
  std::error_code error;
  const std::string path = folder + "/" + kFileName;
  const auto failed = [&](int number) { return Fail(SystemError("file", "cannot write " + Quoted(path), number)); };
  fs::create_directories(folder, error);
  if (error) return failed(error.value());
  constexpr std::size_t kSuffixBytes = 6;
  const std::string draft = fmt::format("{}/{}.draft", folder, RandomHex(kSuffixBytes));
  const UniqueFd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return failed(errno);
  std::string buffer;
  int problem = 0;
  const auto flush = [&] {
    problem = WriteAll(file.get(), buffer);
    buffer.clear();
    return problem == 0;
  };
  const WrittenEvents written = WriteRunEvents(run, [&](std::string_view record) {
    buffer += record;
    return buffer.size() < kBlockBytes || flush();
  });
  if (problem == 0) flush();
  if (problem == 0 && ::rename(draft.c_str(), path.c_str()) != 0) problem = errno;
  if (problem == 0) return written;
  fs::remove(draft, error);
  return failed(problem);
}

class Exporter {
 public:
  Exporter(const std::string& folder, const std::string& name, const std::string& id, bool overwrite)
      : overwrite_(overwrite) {
    done_.folder = folder + "/" + FolderName(name) + "-" + FolderName(id);
  }

  // Refuses a folder that exists.
  Result<void> Begin() const {
    std::error_code error;
    if (overwrite_ || !fs::exists(fs::symlink_status(done_.folder, error))) return {};
    return Fail(Error("file", {}, Quoted(done_.folder) + " exists already",
                      "--overwrite replaces the event files that were exported there before"));
  }
  Result<void> Add(const RunForTensorboard& run, const std::string& below) {
    const auto written = WriteFile(run, done_.folder + below);
    if (!written) return Fail(written.error());
    ++done_.runs;
    done_.scalars += written->scalars;
    return {};
  }
  TensorboardExport done() const { return done_; }

 private:
  bool overwrite_;
  TensorboardExport done_;
};

SessionStatus StatusOfRun(const std::string& outcome) {
  if (outcome == "running") return SessionStatus::kRunning;
  return outcome == "ok" || outcome == "stopped" ? SessionStatus::kSuccess : SessionStatus::kFailure;
}

SessionStatus StatusOfTrial(const TrialFacts& trial) {
  const std::string state = trial.AttemptState();
  if (state == "running") return SessionStatus::kRunning;
  return state == "ok" || state == "stopped" ? SessionStatus::kSuccess : SessionStatus::kFailure;
}

Result<TensorboardExport> ExportRun(const std::string& run_dir, const std::string& folder, bool overwrite) {
  auto summary = SummarizeRun(run_dir, false);
  if (!summary) return Fail(summary.error());
  RunFacts facts(*std::move(summary));
  RunForTensorboard run;
  run.run_dirs = {run_dir};
  run.parameters = facts.Parameters();
  run.log = ReadOwnLogHistory(run_dir, facts.summary().outcome != "running", {});
  run.began = SecondsOf(facts.summary().started_at);
  run.status = StatusOfRun(facts.summary().outcome);
  run.ended = run.status == SessionStatus::kRunning ? InSeconds(WallNowNs()) : run.began + facts.summary().seconds;
  Exporter exporter(folder, facts.summary().name, facts.summary().run, overwrite);
  if (auto begun = exporter.Begin(); !begun) return Fail(begun.error());
  if (auto added = exporter.Add(run, ""); !added) return Fail(added.error());
  return exporter.done();
}

Result<TensorboardExport> ExportSweep(const std::string& sweep_dir, const std::string& folder, bool overwrite) {
  const auto sweep = OpenSweepAt(sweep_dir);
  if (!sweep) return Fail(sweep.error());
  Exporter exporter(folder, sweep->file.name, sweep->file.sweep_id, overwrite);
  if (auto begun = exporter.Begin(); !begun) return Fail(begun.error());
  std::optional<Diagnostics> problem;
  const auto read = sweep->view.ForEachTrial(SweepView::Order::kNumber, [&](AttemptRow row) {
    const TrialFacts trial(*sweep, std::move(row));
    RunForTensorboard run;
    run.run_dirs = trial.RunDirs();
    const auto& metrics = sweep->file.metrics;
    if (!metrics.patterns.empty()) {
      const bool over = !trial.row().ended.empty();
      for (ProcessHistory& one : ReadTrialHistory(run.run_dirs, metrics, sweep->file.resource, over)) {
        if (one.role.empty() && !one.history.empty()) run.log = std::move(one);
      }
    }
    run.parameters = trial.row().point;
    run.began = SecondsOf(trial.row().began);
    run.ended = trial.row().ended.empty() ? InSeconds(WallNowNs()) : SecondsOf(trial.row().ended);
    run.status = StatusOfTrial(trial);
    run.results = trial.row().metrics;
    auto added = exporter.Add(run, fmt::format("/{}", trial.row().trial));
    if (!added) problem = std::move(added.error());
    return !problem;
  });
  if (problem) return Fail(*std::move(problem));
  if (!read) return Fail(read.error());
  return exporter.done();
}

}  // namespace

Result<TensorboardExport> ExportTensorboard(const std::string& run_or_sweep, const std::string& folder,
                                            bool overwrite) {
  const auto found = FindRunOrSweep(run_or_sweep, DirectoryUse::kRead, Prefer::kNewest);
  if (!found) return Fail(found.error());
  return found->is_sweep ? ExportSweep(found->folder, folder, overwrite) : ExportRun(found->folder, folder, overwrite);
}

}  // namespace muster
