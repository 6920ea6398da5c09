#include "sweep/scheduler/trial_planning.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/values/text_parts.h"
#include "plan/text/plan_text.h"
#include "space/space.h"
#include "sweep/record/failure_table.h"

namespace muster {
namespace {

// All devices, then all processes.
std::pair<std::uint32_t, std::uint32_t> SizeOf(const TrialNeeds& needs) {
  std::pair<std::uint32_t, std::uint32_t> size{0, 0};
  for (const HostShare& share : needs) {
    size.first += share.devices;
    size.second += share.processes;
  }
  return size;
}

}  // namespace

void TrialQueue::Add(TrialNumber trial, TrialNeeds needs, std::set<std::uint32_t> avoid, std::uint64_t turn) {
  Insert({trial, std::move(needs), std::move(avoid), 0, turn});
}

void TrialQueue::Insert(Waiting waiting) {
  const auto behind = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& other) {
    if (waiting.turn != other.turn) return waiting.turn < other.turn;
    return SizeOf(other.needs) < SizeOf(waiting.needs);
  });
  waiting_.insert(behind, std::move(waiting));
}

void TrialQueue::Move(TrialNumber trial, std::uint64_t turn) {
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) { return waiting.trial == trial; });
  if (found == waiting_.end()) return;
  Waiting moved = std::move(*found);
  waiting_.erase(found);
  moved.turn = turn;
  Insert(std::move(moved));
}

void TrialQueue::Remove(TrialNumber trial) {
  std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.trial == trial; });
}

std::vector<TrialNumber> TrialQueue::trials() const {
  std::vector<TrialNumber> numbers;
  for (const Waiting& waiting : waiting_) numbers.push_back(waiting.trial);
  return numbers;
}

std::optional<TrialQueue::Start> TrialQueue::Next(HostPool& pool) {
  std::set<std::uint32_t> kept;  // reserved for trials that were overtaken too often
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    std::set<std::uint32_t> avoided = waiting_[i].avoid;
    avoided.insert(kept.begin(), kept.end());
    auto hosts = pool.Place(waiting_[i].needs, avoided);
    if (!hosts && !waiting_[i].avoid.empty()) hosts = pool.Place(waiting_[i].needs, kept);
    if (!hosts) {
      if (waiting_[i].overtaken < kMaxOvertaken) continue;
      if (const auto later = pool.PlaceWhenEmpty(waiting_[i].needs)) kept.insert(later->begin(), later->end());
      continue;
    }
    Start start{waiting_[i].trial, std::move(waiting_[i].needs), *std::move(hosts)};
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t passed = 0; passed < i; ++passed) ++waiting_[passed].overtaken;
    pool.Take(start.needs, start.hosts);
    return start;
  }
  return std::nullopt;
}

std::vector<std::pair<TrialNumber, std::string>> TrialQueue::TakeHopeless(const HostPool& pool) {
  std::vector<std::pair<TrialNumber, std::string>> hopeless;
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    std::string why = pool.WhyNever(waiting.needs);
    if (why.empty()) return false;
    hopeless.emplace_back(waiting.trial, std::move(why));
    return true;
  });
  return hopeless;
}

TrialPlanning::TrialPlanning(const SweepDescription& sweep, TrialPoints& points, RecordedProgress& record,
                             TrialHosts& hosts)
    : sweep_(sweep), points_(points), record_(record), hosts_(hosts) {}

std::uint64_t TrialPlanning::PointNumberOf(TrialNumber trial) const {
  return PointNumber(PointId(points_.At(trial))).value_or(0);
}

std::optional<std::uint64_t> TrialPlanning::MostTrials() const {
  return muster::MostTrials(record_.progress(), sweep_.budget);
}

bool TrialPlanning::budget_used_up() const {
  const auto most = MostTrials();
  return most && record_.progress().begun() >= *most;
}

void TrialPlanning::Resume() {
  // Trials to be retried are in `to_plan_` already.
  std::set<TrialNumber> waiting(to_plan_.begin(), to_plan_.end());
  for (const auto& [trial, open] : record_.progress().open()) {
    if (open.running) continue;
    if (waiting.insert(trial).second && open.id.empty()) waiting_points_.emplace(PointNumberOf(trial), trial);
    if (sweep_.early_stop && sweep_.early_stop->promote && open.attempts > 0) promoted_.insert(trial);
  }
  to_plan_.assign(waiting.begin(), waiting.end());
  std::vector<TrialNumber> first;
  for (const auto& [trial, point] : points_.chosen()) {
    // The trial itself, or an earlier one that waited with the same point.
    const auto found = waiting_points_.find(PointNumber(PointId(point)).value_or(0));
    if (found != waiting_points_.end()) first.push_back(found->second);
  }
  MoveFirst(first);
}

void TrialPlanning::Edited() {
  judging_ = judging_chosen_ = false;
  waiting_points_.clear();
  first_.clear();
  promoted_.clear();
  to_plan_.clear();
  planning_.clear();
  planned_.clear();
  queue_ = {};
  plans_.clear();
  Resume();
}

void TrialPlanning::MoveFirst(const std::vector<TrialNumber>& trials) {
  auto place =
      std::find_if_not(to_plan_.begin(), to_plan_.end(), [this](TrialNumber one) { return first_.contains(one); });
  std::ptrdiff_t index = place - to_plan_.begin();
  for (const TrialNumber trial : trials) {
    if (!first_.emplace(trial, next_turn_).second) continue;
    queue_.Move(trial, next_turn_++);
    if (auto planned = planned_.extract(trial); !planned.empty()) Enqueue(trial, std::move(planned.mapped()));
    const auto found = std::find(to_plan_.begin() + index, to_plan_.end(), trial);
    if (found == to_plan_.end()) continue;
    to_plan_.erase(found);
    to_plan_.insert(to_plan_.begin() + index++, trial);
  }
}

bool TrialPlanning::has_asked() const {
  return !points_.is_sequence() && (points_.known_to() > record_.progress().judged_to() || points_.awaits());
}

void TrialPlanning::RecordLeftOut() {
  if (judging_ || record_.stopping() || has_asked()) return;
  PointsJudged judged{record_.progress().judged_to(), 0, {}};
  judged.raced = true;
  for (Sampler::LeftOut& left : points_.left_out()) {
    const TrialNumber trial = judged.first + judged.count;
    if (trial >= points_.size()) break;  // the sweep has no trials for them
    ++judged.count;
    judged.points.push_back(std::move(left.point));
    if (judged.impossible.empty() || judged.impossible.back().text != left.why) {
      judged.impossible.push_back({std::move(left.why), "", {{trial, trial}}});
    } else {
      judged.impossible.back().trials.back().second = trial;
    }
  }
  if (judged.count > 0) record_.Record(judged);
}

std::optional<TrialPlanning::ToJudge> TrialPlanning::NextToJudge() {
  RecordLeftOut();
  const TrialNumber first = record_.progress().judged_to();
  if (judging_ || record_.stopping() || budget_used_up() || first >= points_.size()) return std::nullopt;
  if (const auto& chosen = points_.waiting(); !chosen.empty() && !has_asked()) {
    const auto count = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(kJudgedAtOnce, chosen.size()));
    judging_ = judging_chosen_ = true;
    return ToJudge{first, {chosen.begin(), chosen.begin() + count}};
  }
  if (to_plan_.size() >= kJudgedAtOnce / 2) return std::nullopt;
  std::uint64_t count = kJudgedAtOnce;
  if (!points_.is_sequence()) {
    // As late as possible, when it knows the most.
    if (!to_plan_.empty() || !planning_.empty()) return std::nullopt;
    count = FurtherStarts();
    if (count == 0) return std::nullopt;
  }
  auto points = points_.Ask(first, std::min(count, points_.size() - points_.waiting().size() - first));
  if (points.empty()) return std::nullopt;  // it waits for results
  judging_ = true;
  return ToJudge{first, std::move(points)};
}

void TrialPlanning::Promote(TrialNumber trial) {
  to_plan_.push_front(trial);
  MoveFirst({trial});
  promoted_.insert(trial);
}

bool TrialPlanning::HasRoomToPromote() const {
  HostPool pool = hosts_.pool();
  const TrialNeeds needs = LeastNeeds();
  for (std::size_t i = 0; i <= promoted_.size(); ++i) {
    const auto placed = pool.Place(needs);
    if (!placed) return false;
    pool.Take(needs, *placed);
  }
  return true;
}

TrialNeeds TrialPlanning::LeastNeeds() const {
  if (least_needs_) return *least_needs_;
  const auto& hosts = hosts_.pool().hosts();
  const bool with_devices =
      std::any_of(hosts.begin(), hosts.end(), [](const PoolHost& host) { return host.devices > 0; });
  return {{with_devices ? 1U : 0U, 1}};
}

std::uint64_t TrialPlanning::FurtherStarts() const {
  if (plans_.size() >= kMaxReady) return 0;
  TrialQueue queue = queue_;
  HostPool pool = hosts_.pool();
  while (queue.Next(pool)) {
  }
  const bool idle = pool.running() == 0;
  const TrialNeeds needs = LeastNeeds();
  std::uint64_t count = 0;
  for (; count < kMaxReady; ++count) {
    const auto placed = pool.Place(needs);
    if (!placed) break;
    pool.Take(needs, *placed);
  }
  return idle ? std::max<std::uint64_t>(count, 1) : count;
}

void TrialPlanning::Judged(PointsJudged judged) {
  judging_ = false;
  judged.chosen = std::exchange(judging_chosen_, false) && judged.count > 0;
  if (record_.stopping()) return;  // it will be judged again
  const auto& chosen = points_.waiting();
  if (judged.chosen) {
    judged.points.assign(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(judged.count));
  } else if (!points_.is_sequence()) {
    judged.points = points_.Ask(judged.first, judged.count);
  }
  TrialSet impossible;
  for (const PointsJudged::Reason& reason : judged.impossible) {
    for (const TrialRange& range : reason.trials) impossible.Add(range);
  }
  PointsJudged::Reason twice{"the same point as one before it", "", {}};
  std::map<std::string, PointsJudged::Reason> skipped;  // by value
  const auto add = [](TrialNumber trial, PointsJudged::Reason& to) {
    if (!to.trials.empty() && to.trials.back().second + 1 == trial) {
      to.trials.back().second = trial;
    } else {
      to.trials.emplace_back(trial, trial);
    }
  };
  std::vector<TrialNumber> possible;
  std::vector<TrialNumber> first;
  for (TrialNumber trial = judged.first; trial < judged.first + judged.count; ++trial) {
    if (impossible.Has(trial)) continue;
    if (!judged.chosen && !record_.progress().skipped().empty()) {
      if (const SkippedValue* value = SkippedOf(points_.At(trial))) {
        const std::string text = SkipText(value->why.name, value->why.value);
        PointsJudged::Reason& reason = skipped[text];
        reason.text = SkipReason(value->why);
        reason.skipped = text;
        add(trial, reason);
        continue;
      }
    }
    const std::uint64_t point =
        judged.chosen ? PointNumber(PointId(judged.points[trial - judged.first])).value_or(0) : PointNumberOf(trial);
    const bool is_new = !record_.progress().Knows(point) && waiting_points_.emplace(point, trial).second;
    if (const auto waits = waiting_points_.find(point); judged.chosen && waits != waiting_points_.end()) {
      first.push_back(waits->second);
    }
    if (is_new) {
      possible.push_back(trial);
    } else {
      add(trial, twice);
    }
  }
  for (auto& [text, reason] : skipped) judged.impossible.push_back(std::move(reason));
  if (!twice.trials.empty()) judged.impossible.push_back(std::move(twice));
  if (!record_.Record(judged)) return;
  to_plan_.insert(to_plan_.end(), possible.begin(), possible.end());
  MoveFirst(first);
}

bool TrialPlanning::IsWithinBudget(TrialNumber trial) const {
  const auto most = MostTrials();
  if (!most) return true;
  const auto& open_trials = record_.progress().open();
  const auto is_new = [&](TrialNumber one) {
    const auto open = open_trials.find(one);
    return open != open_trials.end() && open->second.attempts == 0;
  };
  if (!is_new(trial)) return true;  // it was new when it began
  std::uint64_t due = record_.progress().begun();
  for (const TrialNumber one : planning_) due += is_new(one) ? 1 : 0;
  for (const auto& [one, plan] : plans_) due += is_new(one) ? 1 : 0;
  return due < *most;
}

std::optional<TrialNumber> TrialPlanning::NextToPlan() {
  if (record_.stopping() || to_plan_.empty() || planning_.size() >= kPlansAtOnce) return std::nullopt;
  const TrialNumber trial = to_plan_.front();
  const std::size_t most = first_.contains(trial) ? 2 * kMaxReady : kMaxReady;
  if (plans_.size() >= most || !IsWithinBudget(trial)) return std::nullopt;
  to_plan_.pop_front();
  planning_.insert(trial);
  return trial;
}

std::vector<TrialNumber> TrialPlanning::Following(std::size_t most) const {
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, to_plan_.size()));
  return {to_plan_.begin(), to_plan_.begin() + count};
}

Result<void> TrialPlanning::Planned(TrialNumber trial, const std::string& plan_id, TrialNeeds needs) {
  const auto& open_trials = record_.progress().open();
  const auto open = open_trials.find(trial);
  if (open == open_trials.end()) {  // it was skipped meanwhile
    NoLongerPlanned(trial);
    return {};
  }
  if (!open->second.plan.empty() && open->second.plan != plan_id) {
    NoLongerPlanned(trial);
    return Fail(Error("plan_changed", {},
                      fmt::format("trial {} ({}) has another plan than at its first attempt: {}, not {}", trial,
                                  PointText(points_.At(trial)), ShortPlanId(plan_id), ShortPlanId(open->second.plan)),
                      "what the recipe reads has changed, or it is not pure: muster check --deep RECIPE"));
  }
  plans_[trial] = plan_id;
  if (!least_needs_ || SizeOf(needs) < SizeOf(*least_needs_)) least_needs_ = needs;
  if (first_.contains(trial)) {
    Enqueue(trial, std::move(needs));
  } else {
    planned_[trial] = std::move(needs);
  }
  NoLongerPlanned(trial);
  return {};
}

const SkippedValue* TrialPlanning::SkippedOf(const Point& point) const {
  for (const auto& [text, skipped] : record_.progress().skipped()) {
    const auto value = point.find(skipped.why.name);
    if (value != point.end() && value->second == skipped.why.value) return &skipped;
  }
  return nullptr;
}

std::vector<TrialRange> TrialPlanning::WaitingWith(const std::string& name, const Value& value) const {
  std::vector<TrialNumber> waiting = queue_.trials();
  waiting.insert(waiting.end(), to_plan_.begin(), to_plan_.end());
  waiting.insert(waiting.end(), planning_.begin(), planning_.end());
  for (const auto& [trial, needs] : planned_) waiting.push_back(trial);
  TrialSet found;
  for (const TrialNumber trial : waiting) {
    const auto open = record_.progress().open().find(trial);
    if (first_.contains(trial) || open == record_.progress().open().end() || open->second.attempts > 0) continue;
    const Point point = points_.At(trial);
    const auto its_value = point.find(name);
    if (its_value != point.end() && its_value->second == value) found.Add(trial);
  }
  return found.ranges();
}

void TrialPlanning::Skip(const std::vector<TrialRange>& trials) {
  TrialSet skipped;
  for (const TrialRange& range : trials) skipped.Add(range);
  std::erase_if(to_plan_, [&](TrialNumber trial) { return skipped.Has(trial); });
  std::erase_if(waiting_points_, [&](const auto& one) { return skipped.Has(one.second); });
  std::erase_if(planned_, [&](const auto& one) { return skipped.Has(one.first); });
  for (const TrialNumber trial : queue_.trials()) {
    if (skipped.Has(trial)) queue_.Remove(trial);
  }
  std::erase_if(plans_, [&](const auto& one) { return skipped.Has(one.first); });
}

void TrialPlanning::Restore(const std::vector<TrialRange>& trials) {
  for (const auto& [first, last] : trials) {
    for (TrialNumber trial = first; trial <= last; ++trial) {
      if (!record_.progress().open().contains(trial)) continue;
      waiting_points_.emplace(PointNumberOf(trial), trial);
      if (!planning_.contains(trial)) to_plan_.push_back(trial);
    }
  }
}

std::uint64_t TrialPlanning::TurnOf(TrialNumber trial) const {
  const auto turn = first_.find(trial);
  return turn == first_.end() ? TrialQueue::kNoTurn : turn->second;
}

void TrialPlanning::Enqueue(TrialNumber trial, TrialNeeds needs) {
  queue_.Add(trial, std::move(needs), hosts_.MovedFrom(trial), TurnOf(trial));
}

// A planned trial is ready once no earlier one is being planned, so that the start order does not depend on the speed
// of evaluators.
void TrialPlanning::NoLongerPlanned(TrialNumber trial) {
  planning_.erase(trial);
  while (!planned_.empty() && (planning_.empty() || planned_.begin()->first < *planning_.begin())) {
    auto next = planned_.extract(planned_.begin());
    Enqueue(next.key(), std::move(next.mapped()));
  }
}

void TrialPlanning::MarkImpossible(TrialNumber trial, const std::string& why, const std::string& place) {
  promoted_.erase(trial);
  NoLongerPlanned(trial);
  record_.Record(PointsJudged{trial, 1, {{why, place, {{trial, trial}}}}});
}

std::optional<TrialQueue::Start> TrialPlanning::TakeNext() {
  if (!queue_.empty() && !budget_used_up()) {
    const std::uint64_t next = queue_.first_turn();
    const auto is_before = [&](TrialNumber trial) { return TurnOf(trial) < next; };
    if (std::any_of(planning_.begin(), planning_.end(), is_before)) return std::nullopt;
    if (next == TrialQueue::kNoTurn) {
      if (judging_chosen_ || (!points_.waiting().empty() && !has_asked())) return std::nullopt;
      if (!to_plan_.empty() && is_before(to_plan_.front()) && IsWithinBudget(to_plan_.front())) return std::nullopt;
    }
  }
  return queue_.Next(hosts_.pool());
}

void TrialPlanning::Abandoned(TrialNumber trial) { NoLongerPlanned(trial); }

void TrialPlanning::Began(TrialNumber trial) {
  plans_.erase(trial);
  first_.erase(trial);
  promoted_.erase(trial);
  waiting_points_.erase(PointNumberOf(trial));
}

std::string TrialPlanning::Hopeless() const {
  TrialQueue left = queue_;
  const auto hopeless = left.TakeHopeless(hosts_.pool());
  if (hopeless.empty()) return {};
  return fmt::format("{} cannot be started: {}", Counted(hopeless.size(), "trial"), hopeless.front().second);
}

bool TrialPlanning::exhausted() const {
  if (judging_ || !planning_.empty()) return false;
  if (!queue_.empty()) return !Hopeless().empty();  // nothing runs, so everything that fits has been started
  if (!to_plan_.empty()) return !IsWithinBudget(to_plan_.front());
  return budget_used_up() || record_.progress().judged_to() >= points_.size();
}

}  // namespace muster
