// A sweep directory as a head leaves it behind, written through muster's own writers: many trials with metrics, some of
// which failed, on several hosts.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/unique_fd.h"
#include "space/space.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_journal.h"

namespace muster::testing {

struct WrittenSweep {
  std::uint64_t trials = 100;
  std::uint64_t points = 100;  // reports of each trial
  double best_rate = 1e-3;     // learning rate with the smallest loss
  bool ended = true;           // else the last trial is still running, without a head
  Objective objective = {"loss"};
  std::uint64_t after = 0;  // seconds by which it began later than others
};

inline Value SweepSpace() {
  const auto axis = [](const char* name, const char* kind, double low, double high) {
    return Value(
        Value::Map{{"kind", "axis"}, {"name", name}, {"axis", kind}, {"low", Value(low)}, {"high", Value(high)}});
  };
  const auto choice = [](const char* name, Value::List values) {
    return Value(
        Value::Map{{"kind", "axis"}, {"name", name}, {"axis", "choice"}, {"values", Value(std::move(values))}});
  };
  return Value(Value::Map{
      {"kind", "product"},
      {"parts",
       Value(Value::List{axis("learning_rate", "log_uniform", 1e-5, 1e-1), axis("dropout", "uniform", 0, 0.5),
                         choice("width", {64, 128, 256, 512}), choice("optimizer", {"adam", "sgd", "lion"})})}});
}

// `folder` exists and is empty. Deterministic.
inline void WriteSweep(const std::string& folder, const WrittenSweep& made) {
  constexpr std::uint64_t kBegan = 1'795'176'376'000'000'000;
  SweepFile file;
  file.sweep_id = "0123456789ab";
  file.name = "layout";
  file.doc = "Learning rate & layout <of a small GPT>";
  file.objective = made.objective;
  file.names = {"dropout", "learning_rate", "optimizer", "width"};
  file.trials = made.trials;
  file.words = {"sweep", "layout.lua"};
  std::ofstream(folder + "/sweep.json") << SweepFileText(
      file, Value(Value::Map{{"space", SweepSpace()},
                             {"early_stop", Value(Value::Map{{"kind", "asha"}, {"resource", "step"}})}}));
  const UniqueFd at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  auto writer = SweepJournalWriter::Create(at.get());
  const auto write = [&](SweepEntry entry, double seconds) {
    writer->Append(std::move(entry), kBegan + made.after * 1'000'000'000 + static_cast<std::uint64_t>(seconds * 1e9));
  };
  SweepBegan sweep_began;
  sweep_began.sweep_id = file.sweep_id;
  sweep_began.name = file.name;
  sweep_began.trials = made.trials;
  write(sweep_began, 0);
  PointsJudged judged;
  judged.count = made.trials;
  write(judged, 0);
  for (std::uint64_t trial = 0; trial < made.trials; ++trial) {
    const auto part = [&](std::uint64_t step) { return static_cast<double>(trial * step % 1009) / 1009; };
    const double rate = std::pow(10, -5 + 4 * part(37));
    const double dropout = part(91) / 2;
    const std::int64_t width = std::int64_t{64} << (trial % 4);
    const char* optimizer = trial % 3 == 0 ? "adam" : trial % 3 == 1 ? "sgd" : "lion";
    const std::string host = fmt::format("node{}", trial % 5);
    const bool failed = (host == "node3" && trial % 2 == 0) || (rate > 0.05 && trial % 3 != 0);
    const bool last = trial + 1 == made.trials && !made.ended;
    AttemptBegan began;
    began.trial = trial;
    began.point = {
        {"learning_rate", Value(rate)}, {"dropout", Value(dropout)}, {"width", Value(width)}, {"optimizer", optimizer}};
    began.id = PointId(began.point);
    began.plan = "plan";
    began.run_id = fmt::format("{:012x}", trial);
    began.hosts = {host};
    const double from = static_cast<double>(trial / 5) * 12;
    write(began, from);
    const std::string run = folder + "/" + TrialFolder(began.id, 0);
    std::filesystem::create_directories(run + "/metrics");
    std::ofstream metrics(run + "/metrics/worker.0.0.jsonl");
    const double level = std::abs(std::log10(rate / made.best_rate)) * 0.4 + (trial % 3 == 0 ? 0 : 0.3) + dropout * 0.2;
    double loss = 0;
    const std::uint64_t points = failed ? made.points / 3 : made.points;
    for (std::uint64_t step = 1; step <= points; ++step) {
      loss = 0.3 + level + 2.5 * std::exp(-6.0 * static_cast<double>(step) / static_cast<double>(made.points)) +
             0.02 * std::sin(static_cast<double>(step * 7 + trial));
      if (step == made.points / 2) loss += 3;  // a spike that down-sampling has to keep
      metrics << fmt::format("{{\"step\": {}, \"loss\": {:.5f}}}\n", step, loss);
    }
    if (failed) metrics << fmt::format("{{\"step\": {}, \"loss\": null}}\n", points + 1);
    if (last) continue;
    AttemptEnded ended;
    ended.trial = trial;
    ended.trial_class = !failed ? TrialClass::kOk : host == "node3" ? TrialClass::kOomDevice : TrialClass::kDiverged;
    if (failed) ended.why = host == "node3" ? "<b>out of memory</b> on device 0" : "the objective is not finite";
    if (!failed) ended.loss = made.objective.maximize ? -loss : loss;
    ended.metrics = {{"loss", Value(loss)}, {"step", Value(static_cast<std::int64_t>(points))}};
    ended.ms = failed ? 4'000 : 10'000;
    write(ended, from + static_cast<double>(ended.ms) / 1000);
  }
  if (made.ended)
    write(SweepEnded{.complete = true, .why = "all trials have ended"}, static_cast<double>(made.trials) * 3);
}

}  // namespace muster::testing
