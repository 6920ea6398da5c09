// A reader's view of a sweep: its progress and its rows, from the index and the rest of the journal. Writes nothing
// into the sweep's folder; without a matching index, or with a damaged one, the rows are made from the whole journal in
// a temporary file.
//
// A valid index can still fail while it is read, like any file: every function that reads rows then returns an error
// (kind "sweep"), and the rows passed before are incomplete.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"
#include "sweep/index/sweep_index.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/record/trial_result.h"

namespace muster {

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
  std::string job;    // its own allocation; may be empty
  std::string began;  // UTC
  std::string ended;  // empty: it has not ended
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

  const SweepProgress& account() const { return loaded_.account; }
  const std::string& stopped() const { return loaded_.stopped; }  // LoadedSweep
  const std::string& damage() const { return loaded_.damage; }

  // The attempts that trials keep (sweep/record/trial_result.h), until `take` returns false; each row is read when it
  // is passed. kNumber: of all trials that have begun. kLoss: of those that have succeeded with a loss, the best first.
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

}  // namespace muster
