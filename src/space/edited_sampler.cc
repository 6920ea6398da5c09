// The sampler of a sweep that was edited: the trials until then keep their numbers and points, and those of the sampler
// as it is now follow, without the points that were tried.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "space/sampler.h"

namespace muster {
namespace {

constexpr std::uint64_t kMaxCompared = 100'000;  // points of a sequence; of longer ones tried points are judged again

class EditedSampler final : public Sampler {
 public:
  // `fresh`: of a sequence, the numbers of its points below its size that were not tried.
  EditedSampler(const CompiledSpace& space, const SamplerChoice& choice, std::unique_ptr<Sampler> now,
                std::optional<std::vector<std::uint64_t>> fresh, std::uint64_t size, std::uint64_t limit)
      : Sampler(space, choice, size, limit), kept_(choice.kept), now_(std::move(now)), fresh_(std::move(fresh)) {
    if (now_->is_sequence()) return;
    for (std::uint64_t trial = 0; trial < kept_.size(); ++trial) {
      if (!kept_[trial].empty()) now_->Recall(trial, {kept_[trial]});
    }
    now_->LeaveOutside();
  }

  // A sampler that learns gives points as long as it is asked; one that repeats points counts them.
  void Extend(std::uint64_t size) override {
    if (choice().seeds && size > this->size()) now_->Extend(now_->size() + (size - this->size()));
    Sampler::Extend(size);
  }

  std::vector<Point> Ask(std::uint64_t first, std::uint64_t count) override {
    return now_->is_sequence() ? Sampler::Ask(first, count) : now_->Ask(first, count);
  }
  Point At(std::uint64_t trial) override {
    if (trial < kept_.size()) return kept_[trial];
    if (!now_->is_sequence()) return now_->At(trial);
    const std::uint64_t number = trial - kept_.size();
    if (!fresh_) return now_->At(number);
    return now_->At(number < fresh_->size() ? (*fresh_)[number] : now_->size() + (number - fresh_->size()));
  }
  bool is_sequence() const override { return now_->is_sequence(); }
  void Tell(std::uint64_t trial, const TrialResult& result) override {
    if (IsKnown(trial)) now_->Tell(trial, result);
  }
  void TellRung(std::uint64_t trial, std::uint64_t rung, double loss) override {
    if (IsKnown(trial)) now_->TellRung(trial, rung, loss);
  }
  void TellStopped(std::uint64_t trial, const TrialResult& result) override {
    if (IsKnown(trial)) now_->TellStopped(trial, result);
  }
  std::vector<LeftOut> left_out() const override { return now_->left_out(); }
  // What was refused before says nothing about the checks of now.
  void TellImpossible(std::uint64_t trial) override {
    if (trial >= kept_.size()) now_->TellImpossible(trial);
  }
  void Recall(std::uint64_t first, const std::vector<Point>& points) override {
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (first + i >= kept_.size()) now_->Recall(first + i, {points[i]});
    }
  }
  void RecallChosen(std::uint64_t first, const std::vector<Point>& points) override {
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (first + i >= kept_.size()) now_->RecallChosen(first + i, {points[i]});
    }
  }
  void Widen(std::uint64_t trials) override {
    now_->Widen(trials);
    Sampler::Widen(trials);
  }
  SuggestedPoint Explain(std::uint64_t trial) override {
    return now_->is_sequence() ? Sampler::Explain(trial) : now_->Explain(trial);
  }

 private:
  // To a sampler that learns.
  bool IsKnown(std::uint64_t trial) const {
    return !now_->is_sequence() && (trial >= kept_.size() || !kept_[trial].empty());
  }

  std::vector<Point> kept_;
  std::unique_ptr<Sampler> now_;
  std::optional<std::vector<std::uint64_t>> fresh_;
};

}  // namespace

Result<std::unique_ptr<Sampler>> MakeEditedSampler(const CompiledSpace& space, const SamplerChoice& choice) {
  if (choice.shards > 1) return RefuseSampler(choice, "a part of a sweep cannot be edited", "");
  SamplerChoice alone = choice;
  alone.kept.clear();
  alone.edited_at = 0;
  auto now = Sampler::Of(space, alone);
  if (!now) return now;
  const std::uint64_t first = choice.kept.size();
  const std::uint64_t size = (*now)->size();
  const std::uint64_t beyond = (*now)->limit() - size;
  std::unordered_set<std::string> tried;  // points of the space
  for (const Point& point : choice.kept) {
    if (!point.empty() && space.Locate(point)) tried.insert(PointText(point));
  }
  if (!(*now)->is_sequence()) {
    const std::uint64_t left = size - std::min<std::uint64_t>(size, tried.size());
    return std::make_unique<EditedSampler>(space, choice, *std::move(now), std::nullopt, first + left,
                                           first + left + beyond);
  }
  std::optional<std::vector<std::uint64_t>> fresh;
  if (size <= kMaxCompared) {
    fresh.emplace();
    for (std::uint64_t number = 0; number < size; ++number) {
      if (!tried.contains(PointText((*now)->At(number)))) fresh->push_back(number);
    }
  }
  const std::uint64_t left = fresh ? fresh->size() : size;
  return std::make_unique<EditedSampler>(space, choice, *std::move(now), std::move(fresh), first + left,
                                         first + left + beyond);
}

}  // namespace muster
