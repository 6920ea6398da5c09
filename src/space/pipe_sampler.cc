// Points from a program outside of muster (sweep/head/optimizer_pipe.h). The sampler itself starts nothing: it has the
// points that it was given.
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "space/sampler.h"

namespace muster {
namespace {

constexpr std::uint64_t kMaxPipeTrials = std::uint64_t{1} << 48U;

class PipeSampler final : public Sampler {
 public:
  PipeSampler(const CompiledSpace& space, const SamplerChoice& choice, std::uint64_t all)
      : Sampler(space, choice, all, kMaxPipeTrials) {}

  // Fewer than asked for, until the program has answered.
  std::vector<Point> Ask(std::uint64_t first, std::uint64_t count) override {
    std::vector<Point> points;
    for (auto known = points_.find(first); known != points_.end() && points.size() < count; ++known) {
      if (known->first != first + points.size()) break;
      points.push_back(known->second);
    }
    return points;
  }
  // Empty, which no recipe accepts, if the journal has no point of this trial.
  Point At(std::uint64_t trial) override {
    const auto known = points_.find(trial);
    return known == points_.end() ? Point{} : known->second;
  }
  bool is_sequence() const override { return false; }
  void Recall(std::uint64_t first, const std::vector<Point>& points) override {
    for (std::size_t i = 0; i < points.size(); ++i) points_[first + i] = points[i];
  }

 private:
  std::map<std::uint64_t, Point> points_;
};

}  // namespace

Result<std::unique_ptr<Sampler>> MakePipeSampler(const CompiledSpace& space, const SamplerChoice& choice) {
  if (choice.command.empty() || choice.command.front().empty()) {
    return RefuseSampler(
        choice, "pipe has no command: which program chooses the points?",
        "muster.pipe { command = { \"python3\", \"my.py\" }, trials = 30 }, or --optimizer 'python3 my.py'");
  }
  if (!choice.trials) return RefuseSampler(choice, "missing number of trials", "trials = 30, or --pipe 30");
  if (choice.shards > 1) return RefuseSampler(choice, "points of a program cannot be divided into parts", "");
  return std::make_unique<PipeSampler>(space, choice, *choice.trials);
}

}  // namespace muster
