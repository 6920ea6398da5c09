// A sampler that knows results of another sweep before its first trial: for the sampler that learns they are trials
// before those of this sweep.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "space/sampler.h"

namespace muster {
namespace {

class GivenSampler final : public Sampler {
 public:
  // `size`, `limit`: of trials beside the given results.
  GivenSampler(const CompiledSpace& space, const SamplerChoice& choice, std::unique_ptr<Sampler> learner,
               std::uint64_t size, std::uint64_t limit)
      : Sampler(space, choice, size, limit), learner_(std::move(learner)), given_(choice.given.points.size()) {
    learner_->Recall(0, choice.given.points);
    for (std::uint64_t i = 0; i < given_; ++i) learner_->Tell(i, choice.given.losses[i]);
  }

  std::vector<Point> Ask(std::uint64_t first, std::uint64_t count) override {
    return learner_->Ask(first + given_, count);
  }
  Point At(std::uint64_t trial) override { return learner_->At(trial + given_); }
  bool is_sequence() const override { return false; }
  void Tell(std::uint64_t trial, const TrialResult& result) override { learner_->Tell(trial + given_, result); }
  void TellRung(std::uint64_t trial, std::uint64_t rung, double loss) override {
    learner_->TellRung(trial + given_, rung, loss);
  }
  void TellStopped(std::uint64_t trial, const TrialResult& result) override {
    learner_->TellStopped(trial + given_, result);
  }
  void TellImpossible(std::uint64_t trial) override { learner_->TellImpossible(trial + given_); }
  void Recall(std::uint64_t first, const std::vector<Point>& points) override {
    learner_->Recall(first + given_, points);
  }
  SuggestedPoint Explain(std::uint64_t trial) override {
    SuggestedPoint suggested = learner_->Explain(trial + given_);
    for (SuggestedPoint::Near& near : suggested.near) {
      near.trial = *near.trial < given_ ? std::nullopt : std::optional(*near.trial - given_);
    }
    return suggested;
  }

 private:
  std::unique_ptr<Sampler> learner_;
  std::uint64_t given_;
};

}  // namespace

Result<std::unique_ptr<Sampler>> MakeGivenSampler(const CompiledSpace& space, const SamplerChoice& choice) {
  const std::uint64_t given = choice.given.points.size();
  const char* const name = KindOf(choice).name;
  if (!KindOf(choice).learns || KindOf(choice).pipes) {
    return RefuseSampler(choice, std::string(name) + " does not learn from results, those of another sweep included",
                         "--tpe N or --gp N learn from them");
  }
  if (choice.shards > 1) return RefuseSampler(choice, "parts of a sweep do not learn from another sweep", "");
  if (choice.given.losses.size() != given) return RefuseSampler(choice, "results without points", "");
  SamplerChoice all = choice;
  all.given = {};
  if (all.trials) *all.trials += given;
  auto learner = KindOf(choice).make(space, all);
  if (!learner) return learner;
  const std::uint64_t size = (*learner)->size();
  const std::uint64_t limit = (*learner)->limit();
  if (size <= given) {
    return RefuseSampler(choice, "all " + std::to_string(size) + " points of the space have results in the other sweep",
                         "");
  }
  return std::make_unique<GivenSampler>(space, choice, *std::move(learner), size - given, limit - given);
}

}  // namespace muster
