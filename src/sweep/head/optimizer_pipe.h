// An optimizer outside of muster: a program that is asked for the points of a sweep, and gets their results, in lines
// of JSON (docs/sweeps.md, "Optimizers of your own"). What it writes is untrusted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "space/space.h"
#include "space/sweep_description.h"
#include "spawn/start/watched_fd.h"
#include "sweep/record/sweep_events.h"
#include "transport/watched_command.h"

namespace muster {

// What the optimizer hears of entries of the sweep's journal, as lines.
class OptimizerLines {
 public:
  explicit OptimizerLines(const SweepDescription& sweep)
      : objective_(sweep.objective), second_(sweep.second_objective), constraints_(sweep.constraints) {}
  // The lines for the next entry of the journal; empty if there is nothing to say about it. Every entry, in order.
  std::string Take(const SweepEntry& entry);
  // The first line: the space, the objective and the number of trials.
  static std::string Begin(const SweepDescription& sweep, const std::string& sweep_id, std::uint64_t trials);

 private:
  std::string Line(TrialNumber trial, std::string_view state, std::string_view trial_class,
                   const AttemptEnded* ended = nullptr) const;

  std::optional<Objective> objective_;
  std::optional<Objective> second_;
  std::vector<MetricConstraint> constraints_;
  std::map<TrialNumber, Point> points_;
};

// The points of a line that answers a question for at most `count`. Values are those of the space: 1 for an axis of
// floats is 1.0. The error is a sentence for the sweep's user.
tl::expected<std::vector<Point>, std::string> ReadOptimizerAnswer(std::string_view line, std::uint64_t count,
                                                                  const Space& described, const CompiledSpace& space);

// The process, and the conversation with it. Destroying it ends the process and all of its session.
class OptimizerPipe : public std::enable_shared_from_this<OptimizerPipe> {
 public:
  static constexpr std::size_t kMaxAnswer = 1U << 20;    // bytes of a line
  static constexpr std::size_t kMaxUnread = 256U << 20;  // bytes that wait until the process reads them
  static constexpr std::chrono::seconds kPartingTime{2};

  struct Calls {
    // An answer for trials from `first` on; none if it waits for results.
    std::function<void(std::uint64_t first, std::vector<Point> points)> answered;
    // It can give no further points: a sentence with what it said. Once, and the last call.
    std::function<void(const std::string& why)> failed;
  };

  // Kind "optimizer" if the program does not exist.
  static Result<void> Check(const SamplerChoice& choice);
  // `input` is its first lines. `sweep` and `space` must outlive the object. The error is a phrase.
  static tl::expected<std::shared_ptr<OptimizerPipe>, std::string> Start(boost::asio::io_context& io,
                                                                         const SweepDescription& sweep,
                                                                         const CompiledSpace& space, std::string input,
                                                                         Calls calls);
  ~OptimizerPipe();
  OptimizerPipe(const OptimizerPipe&) = delete;
  OptimizerPipe& operator=(const OptimizerPipe&) = delete;

  void Tell(const std::string& lines);
  // False if it answered that it waits for results, and has heard of none since. No effect while a question is open.
  bool Ask(std::uint64_t first, std::uint64_t count);

 private:
  OptimizerPipe(boost::asio::io_context& io, const SweepDescription& sweep, const CompiledSpace& space, Calls calls);

  void Write();
  void AwaitAnswers();
  bool ReadAnswers();
  void TakeLine(const std::string& line);
  void OnEnd();
  void Fail(const std::string& what);
  std::string Name() const;

  struct Question {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };

  const SweepDescription& sweep_;
  const CompiledSpace& space_;
  Calls calls_;
  WatchedFd in_, out_;
  boost::asio::steady_timer deadline_;
  std::string unread_, answer_;
  std::size_t sent_ = 0;  // of unread_
  bool writing_ = false;
  bool waits_for_results_ = false;
  bool failed_ = false;
  std::optional<Question> question_;
  std::shared_ptr<WatchedCommand> command_;
};

}  // namespace muster
