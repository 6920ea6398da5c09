// The points of a sweep's trials: those that users chose, which come first, and those of its sampler.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "space/sampler.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"

namespace muster {

// Passes what an entry of the sweep's journal says about points and results to the sampler, unless that is a sequence.
// `paused`: of the end of an attempt, which a rung has paused.
void Inform(Sampler& sampler, const SweepDescription& sweep, const SweepEntry& entry, bool paused = false);

// The trials of a sampler, and between them those whose points were chosen. A chosen point is a trial when it is
// judged: the next one that was not judged yet. The trials of a sequence that follow have the points that they would
// have had without it; a sampler that learns from results knows the chosen points as trials of its own.
//
// State depends on the entries of the journal alone, so a resumed sweep has the same points.
class TrialPoints {
 public:
  static constexpr std::size_t kMaxChosen = 10'000;  // that wait to be judged

  // Both must outlive it. `edits`: how many entries about edits are among those that it will be given until now; trials
  // of the sampler replace what was added before the last one.
  TrialPoints(Sampler& sampler, const SweepDescription& sweep, std::uint64_t edits = 0)
      : sampler_(&sampler), sweep_(&sweep), edits_(edits) {}

  // Number of trials, and how many there can be.
  std::uint64_t size() const { return SizeWith({}); }
  std::uint64_t limit() const;
  // With these further chosen points.
  std::uint64_t SizeWith(const std::vector<Point>& more) const;
  // Adds trials of the sampler up to this size; a smaller one has no effect.
  void Extend(std::uint64_t size);

  // As those of the sampler (space/sampler.h). Ask() is for trials that are not chosen ones.
  std::vector<Point> Ask(std::uint64_t first, std::uint64_t count);
  Point At(std::uint64_t trial) const;
  bool is_sequence() const { return sampler_->is_sequence(); }

  // As of the sampler.
  std::vector<Sampler::LeftOut> left_out() const { return sampler_->left_out(); }

  // Chosen points that are not judged yet, in order.
  const std::deque<Point>& waiting() const { return waiting_; }
  // Those that are trials.
  const std::map<TrialNumber, Point>& chosen() const { return chosen_; }

  // The trials that Ask() had no points for, since they come from a program; nothing if there are none.
  struct Wanted {
    TrialNumber first = 0;
    std::uint64_t count = 0;
  };
  const std::optional<Wanted>& wanted() const { return wanted_; }
  // The program was asked for them: no chosen point becomes one of these trials.
  void Await() { awaits_ = true; }
  bool awaits() const { return awaits_; }
  // Its answer, which may have fewer points, or none.
  void Offer(TrialNumber first, const std::vector<Point>& points);

  // Of a sampler that is no sequence: trials below it have points, even if they are not judged yet.
  TrialNumber known_to() const { return known_to_; }

  // Called with every entry once it is written; of earlier heads, before the sweep is resumed.
  void Take(const SweepEntry& entry);

 private:
  // The number of the trial among those of a sequence.
  std::uint64_t Among(TrialNumber trial) const;
  // How many of them the space of a sampler that is no sequence does not have: they are trials besides its own.
  std::uint64_t BesidesOf(const std::vector<Point>& points) const;
  // Chosen points that wait are trials of a sampler that is no sequence.
  void ExtendBy(const std::vector<Point>& chosen);

  Sampler* sampler_;
  const SweepDescription* sweep_;
  std::uint64_t edits_ = 0;  // that are yet to come
  std::deque<Point> waiting_;
  std::map<TrialNumber, Point> chosen_;
  TrialNumber known_to_ = 0;
  std::optional<Wanted> wanted_;
  bool awaits_ = false;
  std::set<TrialNumber> pausing_;  // trials that a rung has paused and that have not ended yet
};

}  // namespace muster
