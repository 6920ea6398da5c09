// What readers see of a sweep: its account and its rows, by the index and what the journal has besides. Writes nothing
// into the sweep's folder; without an index that fits, or with a damaged one, rows are made of the whole journal in a
// file of their own.
//
// An index that was found sound can still fail to be read, as any file can: then every function that reads rows says so
// (kind "sweep"), and what it gave before is not all.
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

namespace muster {

struct AttemptRow {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  bool last = false;  // of its trial
  bool over = false;  // and nothing follows
  std::string id;
  Point point;
  std::string plan;
  std::string run_id;
  std::vector<std::string> hosts;
  ResumedFrom resumed;
  std::string began;  // UTC
  std::string ended;  // empty: it has not
  // From here on of what has ended.
  TrialClass trial_class = TrialClass::kOk;
  bool interrupted = false;
  bool again = false;
  std::string blamed;
  std::string why;
  std::optional<double> loss;
  std::map<std::string, Value> metrics;
  std::uint64_t ms = 0;
};

class SweepView {
 public:
  // Kind "sweep" if there is no journal with a beginning, or no room for the rows.
  static Result<SweepView> Open(const std::string& sweep_dir);
  SweepView(SweepView&&) noexcept;
  SweepView& operator=(SweepView&&) noexcept;
  ~SweepView();

  const SweepProgress& account() const { return loaded_.account; }
  const std::string& stopped() const { return loaded_.stopped; }  // LoadedSweep
  const std::string& damage() const { return loaded_.damage; }

  // By number: the last attempts of all trials that have begun. By loss: of each trial that has ended well with one its
  // best attempt, whatever became of it when it was tried again; the best first. Until `take` says false. Every row is
  // read when it is its turn.
  enum class Order : std::uint8_t { kNumber, kLoss };
  [[nodiscard]] Result<void> ForEachTrial(Order order, const std::function<bool(AttemptRow)>& take) const;
  // All attempts, by trial and attempt.
  [[nodiscard]] Result<void> ForEachAttempt(const std::function<bool(AttemptRow)>& take) const;
  Result<std::vector<AttemptRow>> AttemptsOf(TrialNumber trial) const;
  // Numbers of trials that have begun whose id begins so; at most `most`.
  Result<std::vector<TrialNumber>> TrialsOfId(std::string_view prefix, std::size_t most) const;

  // Why points cannot be: those of one place, and of texts that differ in numbers only, together; the most first.
  struct Reason {
    std::string text;  // of the first
    std::string place;
    std::uint64_t count = 0;
  };
  Result<std::vector<Reason>> Reasons() const;
  Result<std::optional<Reason>> ReasonOf(TrialNumber trial) const;

  struct Rung {
    std::size_t rung = 0;
    double resource = 0;
    std::uint64_t reports = 0;
    std::uint64_t stopped = 0;
    std::optional<double> best;  // loss
  };
  Result<std::vector<Rung>> Rungs() const;
  // What was decided about one trial, a sentence each.
  Result<std::vector<std::string>> DecisionsOn(TrialNumber trial) const;

  struct Quarantine {
    std::string host;
    std::string why;
    std::string wall;
  };
  Result<std::vector<Quarantine>> Quarantined() const;

  Result<std::string> Began() const;  // UTC, of the first head
  Result<std::string> Last() const;   // of the last entry that tells a time

 private:
  struct Rows;
  SweepView(LoadedSweep loaded, std::unique_ptr<Rows> rows);
  LoadedSweep loaded_;
  std::unique_ptr<Rows> rows_;
};

}  // namespace muster
