#include "sweep/record/sweep_status.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "space/space.h"
#include "sweep/record/failure_table.h"

namespace muster {

void ImpossibleReasons::Keep(const PointsJudged& judged) {
  constexpr std::size_t kMax = 3;
  for (const PointsJudged::Reason& reason : judged.impossible) {
    if (reasons_.size() == kMax) return;
    const std::string text = reason.place.empty() ? reason.text : reason.text + " (" + reason.place + ")";
    if (std::find(reasons_.begin(), reasons_.end(), text) == reasons_.end()) reasons_.push_back(text);
  }
}

std::string DeviceHoursText(const DeviceHours& hours) {
  if (!hours.limit) return {};
  std::string text = fmt::format("{:.3g} of {:.3g} device hours spent", hours.spent, *hours.limit);
  if (hours.forecast && *hours.forecast > hours.spent)
    text += fmt::format(", about {:.3g} at the end", *hours.forecast);
  return text;
}

std::string NoGainText(const NoGainExpected& expected) {
  return fmt::format("no gain above the noise is expected: after {} the regret is at most {:.3g}, {} {:.3g}",
                     Counted(expected.results, "result"), expected.bound,
                     expected.repeated ? "the deviation of the best by its repetitions" : "the noise", expected.noise);
}

std::string ImpossibleReasons::Text() const {
  std::string text = "no point is possible";
  const char* separator = ": ";
  for (const std::string& reason : reasons_) {
    text += separator + reason;
    separator = "; ";
  }
  return text + "; `--preview` counts the points that each condition rejects";
}

namespace {

std::string Counts(const SweepProgress& progress) {
  std::string text = fmt::format("{} ok", progress.count(TrialClass::kOk));
  if (const auto infeasible = progress.count(TrialClass::kInfeasible))
    text += fmt::format(", {} infeasible", infeasible);
  for (const auto& [state, count] : StatesOfOver(progress)) {
    if (state == TrialClassName(TrialClass::kStopped)) text += fmt::format(", {} stopped early", count);
    if (state == "paused") text += fmt::format(", {} paused", count);
  }
  if (const auto failed = progress.failed()) text += fmt::format(", {} failed", failed);
  return text;
}

std::string BestText(const SweepStatus& status) {
  const auto& best = status.progress->best();
  if (!best || !status.sweep->objective) return {};
  return fmt::format("trial {}  {} {:.6g}  {}", best->trial, Printable(status.sweep->objective->metric),
                     ObjectiveValue(status.sweep->objective, best->loss), Printable(PointText(best->point))) +
         (best->repeats > 1 ? fmt::format(", ± {:.3g} over {} seeds", best->deviation, best->repeats) : "");
}

}  // namespace

std::optional<double> Forecast(const SweepStatus& status) {
  const std::uint64_t over = status.progress->over().size();
  if (over <= status.over_at_begin || status.seconds <= 0) return std::nullopt;
  double left = TrialsLeft(*status.progress, status.sweep->budget);
  const DeviceHours hours = DeviceHoursOf(*status.progress, status.sweep->budget);
  if (hours.limit && hours.spent > 0) {
    const double most = (*hours.limit - hours.spent) / hours.spent * static_cast<double>(over);
    left = std::min(left, std::max(most, 0.0));
  }
  double seconds = left * status.seconds / static_cast<double>(over - status.over_at_begin);
  if (status.sweep->budget.time_ms) {
    const double most = static_cast<double>(*status.sweep->budget.time_ms) / 1000 - status.seconds;
    seconds = std::min(seconds, std::max(most, 0.0));
  }
  return seconds;
}

std::vector<std::string> StatusRows(const SweepStatus& status, std::size_t columns, std::size_t most) {
  const SweepProgress& progress = *status.progress;
  std::string state = fmt::format("{} of {} trials over: {}", progress.over().size(), CountsOf(progress, true).possible,
                                  Counts(progress));
  const TrialCounts counts = CountsOf(progress, true);
  if (counts.impossible > 0) state += fmt::format("; {} impossible", counts.impossible);
  if (counts.skipped > 0) state += fmt::format("; {} skipped", counts.skipped);
  std::string now = fmt::format("{} running", status.running);
  if (status.devices_in_use > 0) {
    now += fmt::format(" on {} of {} devices", status.devices_in_use, status.devices);
  } else if (status.devices > 0 && status.running > 0) {
    now += " (no devices)";
  }
  if (status.waiting > 0) now += fmt::format(", {} waiting for {}", status.waiting, status.awaited);
  now += ", " + DurationText(status.seconds);
  if (const auto left = Forecast(status)) now += fmt::format(", about {} left", DurationText(*left));
  if (const std::string text = DeviceHoursText(DeviceHoursOf(progress, status.sweep->budget)); !text.empty()) {
    now += ", " + text;
  }
  std::vector<std::string> rows = {std::move(state), std::move(now)};
  if (std::string best = BestText(status); !best.empty()) rows.push_back("best  " + best);
  if (progress.no_gain()) rows.push_back(NoGainText(*progress.no_gain()));
  if (rows.size() > most) rows.resize(most);
  // A character in the last column would make some terminals wrap the line.
  for (std::string& row : rows) row = FirstColumns(row, columns > 1 ? columns - 1 : 1);
  return rows;
}

std::string AttemptLine(const SweepDescription& sweep, const Point& point, const AttemptEnded& ended) {
  std::string line = fmt::format("trial {}", ended.trial);
  if (ended.attempt > 0) line += fmt::format(" (attempt {})", ended.attempt + 1);
  line += fmt::format(" {} in {}", ended.interrupted ? "interrupted" : TrialClassName(ended.trial_class),
                      DurationText(static_cast<double>(ended.ms) / 1000));
  if (ended.loss && sweep.objective) {
    line +=
        fmt::format(": {} {:.6g}", Printable(sweep.objective->metric), ObjectiveValue(sweep.objective, *ended.loss));
  }
  if (!point.empty()) line += " (" + Printable(PointText(point)) + ")";
  if (!ended.why.empty()) line += ": " + Printable(ended.why);
  if (ended.again && !ended.interrupted) line += "; it is retried";
  return line;
}

namespace {

std::uint64_t CountOf(const std::vector<TrialRange>& trials) {
  std::uint64_t count = 0;
  for (const auto& [first, last] : trials) count += last - first + 1;
  return count;
}

std::string SteeredLine(const SweepSteered& steered) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "steered: " : ", ") + part; };
  if (steered.slots) add(Counted(*steered.slots, "trial") + " at a time");
  if (!steered.points.empty()) add(Counted(steered.points.size(), "chosen point") + " next");
  if (steered.trials) add(fmt::format("{} trials", *steered.trials));
  if (steered.device_hours) add(fmt::format("{:.6g} device hours", *steered.device_hours));
  if (steered.max_trials) add(fmt::format("at most {} of them are started", *steered.max_trials));
  return text;
}

}  // namespace

std::string EntryLine(const SweepDescription& sweep, const SweepProgress& progress, const SweepEntry& entry) {
  if (const auto* ended = std::get_if<AttemptEnded>(&entry)) {
    const auto open = progress.open().find(ended->trial);
    return AttemptLine(sweep, open == progress.open().end() ? Point{} : open->second.point, *ended);
  }
  if (const auto* began = std::get_if<AttemptBegan>(&entry)) {
    return began->warning.empty() ? std::string()
                                  : fmt::format("warning: trial {}: {}", began->trial, Printable(began->warning));
  }
  if (const auto* host = std::get_if<HostQuarantined>(&entry)) {
    return fmt::format("host {} is quarantined: {}", Printable(host->host), Printable(host->why));
  }
  if (const auto* promoted = std::get_if<TrialPromoted>(&entry)) {
    return fmt::format("trial {} goes on from rung {}: rank {} of {}, the best {} continue", promoted->trial,
                       promoted->rung + 1, promoted->rank, promoted->results, promoted->threshold);
  }
  if (const auto* edited = std::get_if<SweepEdited>(&entry)) {
    return fmt::format("edited: {} so far keep their results, {} trials in all", Counted(progress.begun(), "trial"),
                       edited->trials);
  }
  if (const auto* expected = std::get_if<NoGainExpected>(&entry)) return NoGainText(*expected);
  if (const auto* skipped = std::get_if<ValueSkipped>(&entry)) {
    return fmt::format("{} ({} so far); to try them: muster steer --unskip {}", Printable(SkipReason(*skipped)),
                       Counted(CountOf(skipped->trials), "point"),
                       ShellQuoted(SkipText(skipped->name, skipped->value)));
  }
  if (const auto* restored = std::get_if<ValueRestored>(&entry)) {
    return fmt::format("{} is no longer skipped: {} more", Printable(SkipText(restored->name, restored->value)),
                       Counted(CountOf(restored->trials), "trial"));
  }
  const auto* steered = std::get_if<SweepSteered>(&entry);
  if (steered == nullptr) return {};
  const bool at_begin = progress.judged_to() == 0 && !steered->slots;  // the chosen points of the description
  return at_begin ? std::string() : SteeredLine(*steered);
}

std::string SummaryText(const SweepStatus& status, const std::string& why) {
  const SweepProgress& progress = *status.progress;
  const std::string state = SweepState(progress, false);
  std::string text =
      fmt::format("{}{}: {}\n", Printable(progress.name()), state == "complete" ? "" : " " + state, Printable(why));
  text += fmt::format("  {} of {} trials over: {}\n", progress.over().size(), CountsOf(progress, true).possible,
                      Counts(progress));
  const TrialCounts counts = CountsOf(progress, true);
  if (counts.impossible > 0) text += fmt::format("  {} impossible\n", Counted(counts.impossible, "point"));
  if (const std::string hours = DeviceHoursText(DeviceHoursOf(progress, status.sweep->budget)); !hours.empty()) {
    text += "  " + hours + "\n";
  }
  for (const auto& [named, skipped] : progress.skipped()) {
    text += fmt::format("  {} ({})\n", Printable(SkipReason(skipped.why)), Counted(skipped.trials.size(), "point"));
  }
  if (counts.raced > 0) text += fmt::format("  {} left out\n", Counted(counts.raced, "repetition"));
  for (std::size_t i = 0; i < kTrialClassNames.size(); ++i) {
    const auto trial_class = static_cast<TrialClass>(i);
    if (IsFailure(trial_class) && progress.count(trial_class) > 0) {
      text += fmt::format("  {} {}\n", progress.count(trial_class), TrialClassName(trial_class));
    }
  }
  for (const auto& [host, stays] : progress.quarantined()) {
    text += fmt::format("  host {} was quarantined\n", Printable(host));
  }
  if (const std::string best = BestText(status); !best.empty()) text += "  best: " + best + "\n";
  if (progress.no_gain()) text += "  " + NoGainText(*progress.no_gain()) + "\n";
  if (status.sweep->objective && progress.count(TrialClass::kOk) > 0 && !progress.best()) {
    text += fmt::format("  no trial reported {}\n", Printable(status.sweep->objective->metric));
  }
  return text;
}

}  // namespace muster
