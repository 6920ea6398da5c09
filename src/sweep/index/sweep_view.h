// A reader's view of a sweep, from its index and the rest of its journal, and what a word as SWEEP:12 names in it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"
#include "sweep/index/sweep_index.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

// A reader's view of a sweep: its progress and its rows, from the index and the rest of the journal. Writes nothing
// into the sweep's folder; without a matching index, or with a damaged one, the rows are made from the whole journal in
// a temporary file.
//
// A valid index can still fail while it is read, like any file: every function that reads rows then returns an error
// (kind "sweep"), and the rows passed before are incomplete.

// An attempt, and the state of its trial.
struct AttemptRow {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  TrialStanding trial_standing;
  std::uint32_t latest = 0;  // the latest attempt of the trial
  // The attempts that this one continues, each from a checkpoint of an earlier one; ascending.
  std::vector<std::uint32_t> continued;

  std::string id;
  Point point;
  std::string plan;
  std::string run_id;
  std::vector<std::string> hosts;
  ResumedFrom resumed;
  std::string job;      // its own allocation; may be empty
  std::string warning;  // AttemptBegan::warning
  std::string began;    // UTC
  std::string ended;    // empty: it has not ended
  // The following fields are set once it has ended.
  TrialClass trial_class = TrialClass::kOk;
  bool interrupted = false;
  bool again = false;
  std::string blamed;
  std::string why;
  std::optional<double> loss;  // ResultOf
  std::map<std::string, Value> metrics;
  std::uint64_t ms = 0;

  // The outcome of this attempt, whatever became of the trial: its class, "running", "interrupted" or "lost".
  std::string AttemptState(bool live) const;
  // The run directories of `continued`, and then its own.
  std::vector<std::string> RunDirs(const std::string& sweep_dir) const;
};

class SweepView {
 public:
  // Kind "sweep" if the journal is missing or has no first entry, or there is no space for the rows.
  static Result<SweepView> Open(const std::string& sweep_dir);
  SweepView(SweepView&&) noexcept;
  SweepView& operator=(SweepView&&) noexcept;
  ~SweepView();

  const SweepProgress& progress() const { return loaded_.progress; }
  const std::string& stopped() const { return loaded_.stopped; }  // LoadedSweep
  const std::string& damage() const { return loaded_.damage; }

  // The attempts that trials keep (sweep/record/sweep_progress.h), until `take` returns false; each row is read when it
  // is passed. kNumber: of all trials that have begun. kLoss: of those that have succeeded with a loss, the best first,
  // and of equal ones the one with the smallest number.
  enum class Order : std::uint8_t { kNumber, kLoss };
  [[nodiscard]] Result<void> ForEachTrial(Order order, const std::function<bool(AttemptRow)>& take) const;
  // All attempts, by trial and attempt.
  [[nodiscard]] Result<void> ForEachAttempt(const std::function<bool(AttemptRow)>& take) const;
  Result<std::vector<AttemptRow>> AttemptsOf(TrialNumber trial) const;
  // The attempt that the trial keeps; nothing if none has begun.
  Result<std::optional<AttemptRow>> KeptOf(TrialNumber trial) const;
  // Numbers of trials that have begun, by a prefix of their ids; at most `most`.
  Result<std::vector<TrialNumber>> TrialsOfId(std::string_view prefix, std::size_t most) const;

  // Why points are impossible, grouped by place and by texts that differ in numbers only; the most frequent first.
  struct Reason {
    std::string text;  // of the first one
    std::string place;
    std::uint64_t count = 0;
  };
  Result<std::vector<Reason>> Reasons() const;
  Result<std::optional<Reason>> ReasonOf(TrialNumber trial) const;

  struct Rung {
    std::size_t rung = 0;
    double resource = 0;
    std::uint64_t trials = 0;    // that have reached it
    std::uint64_t stopped = 0;   // that it has stopped
    std::optional<double> best;  // loss
  };
  Result<std::vector<Rung>> Rungs() const;
  // The decisions about one trial, one sentence each.
  Result<std::vector<std::string>> DecisionsOn(TrialNumber trial) const;

  struct Quarantine {
    std::string host;
    std::string why;
    std::string wall;
  };
  Result<std::vector<Quarantine>> Quarantined() const;

  Result<std::string> Began() const;  // UTC, of the first head
  struct LastHead {
    std::string began;       // UTC
    std::uint64_t over = 0;  // trials that were over then
  };
  Result<LastHead> NewestHead() const;
  Result<std::string> Last() const;  // UTC, of the last entry with a time

 private:
  struct Rows;
  SweepView(LoadedSweep loaded, std::unique_ptr<Rows> rows);
  // The attempts of each trial, and the place of the one that it keeps.
  [[nodiscard]] Result<void> ForEachGroup(
      const std::function<bool(std::vector<AttemptRow>, std::size_t kept)>& take) const;
  LoadedSweep loaded_;
  std::unique_ptr<Rows> rows_;
};

// Resolves SWEEP:12, SWEEP:3f9a and SWEEP:best to a trial of a sweep, and SWEEP:12.0 to an attempt.

// ("SWEEP", "12") of "SWEEP:12", split at the last colon; nothing without one, or if nothing follows it.
std::optional<std::pair<std::string, std::string>> SweepAndTrial(std::string_view word);

struct ChosenTrial {
  TrialNumber trial = 0;
  // Omitted: the one that the trial keeps (sweep/record/sweep_progress.h), and its latest one as long as it is not
  // over.
  std::optional<std::uint32_t> attempt;
};

// "best", a number, or a prefix of an id (at least 4 characters, of a trial that has begun), with ".N" for an attempt.
// With a number, the trial need not have begun. Kind "trial": no trial matches, or more than one.
Result<ChosenTrial> ChooseTrial(const SweepView& view, std::string_view word);

// The run directory of that attempt. Kind "trial" if the trial has none, with the reason.
Result<std::string> RunDirectoryOf(const SweepView& view, const std::string& sweep_dir, const ChosenTrial& chosen);

// The attempt of a trial that a run directory belongs to.
struct TrialOfRun {
  std::string name;  // "lr:12", or "lr:12.2" for its second attempt
  std::string sweep_dir;
  std::string objective;  // the metric; may be empty
};
// Nothing if the directory is not that of a trial in its sweep's directory.
std::optional<TrialOfRun> FindTrialOfRun(const std::string& run_dir);

// Chooses between a run and a sweep if a word may name either. Values in, a value out.

struct NamedRunOrSweep {
  std::string folder;
  bool is_sweep = false;

  bool operator==(const NamedRunOrSweep&) const = default;
};

// The run and the sweep that match a word.
struct RunOrSweepMatch {
  std::string folder;
  bool live = false;
  std::string stamp;         // "20261120-120616", from the folder's name; empty for a folder with another name
  std::int64_t made_ns = 0;  // the order within one second
};

enum class Prefer : std::uint8_t {
  kLive,    // for commands that control or follow: finished ones only if nothing is running
  kNewest,  // for commands that report on the past
};

// If both match: the one that is running, for a name that means both or with Prefer::kLive; otherwise, without a name
// the newer one, with a name the run. Nothing if none matches.
std::optional<NamedRunOrSweep> ChooseRunOrSweep(const std::optional<RunOrSweepMatch>& run,
                                                const std::optional<RunOrSweepMatch>& sweep, bool named, Prefer prefer);

}  // namespace muster
