#include "sweep/index/trial_choice.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "sweep/record/sweep_directory.h"

namespace muster {
namespace {

constexpr std::size_t kShortestPrefix = 4;

auto None(std::string message, std::string hint = {}) {
  return Fail(Error("trial", {}, std::move(message), std::move(hint)));
}

Result<TrialNumber> Named(const SweepView& view, std::string_view name) {
  const SweepProgress& account = view.account();
  if (name == "best") {
    if (account.best()) return account.best()->trial;
    return None(
        "no trial has succeeded with a value of the objective",
        "muster show SWEEP names the objective and the trials that failed; a sweep without one has no best trial");
  }
  const auto number = ParseNumber<TrialNumber>(name);
  if (number && *number < account.trials()) return *number;
  const auto found = name.size() < kShortestPrefix ? std::vector<TrialNumber>() : view.TrialsOfId(name, 2);
  if (!found) return Fail(found.error());
  if (found->size() == 1) return found->front();
  if (found->size() > 1) {
    return None(fmt::format("{} begins the ids of trials {} and {}", Quoted(name), (*found)[0], (*found)[1]));
  }
  if (number)
    return None(fmt::format("the sweep has {} trials, counted from 0: there is no {}", account.trials(), name));
  return None(fmt::format("the sweep has no trial {}", Quoted(name)),
              "a trial is named by its number, by at least 4 characters of its id once it has begun, or as best");
}

}  // namespace

std::optional<std::pair<std::string, std::string>> SweepAndTrial(std::string_view word) {
  const std::size_t colon = word.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == word.size()) return std::nullopt;
  if (word.find('/', colon) != std::string_view::npos) return std::nullopt;
  return std::pair{std::string(word.substr(0, colon)), std::string(word.substr(colon + 1))};
}

Result<ChosenTrial> ChooseTrial(const SweepView& view, std::string_view word) {
  ChosenTrial chosen;
  if (const std::size_t dot = word.rfind('.'); dot != std::string_view::npos) {
    const auto attempt = ParseNumber<std::uint32_t>(word.substr(dot + 1));
    if (attempt.value_or(0) == 0) {
      return None(fmt::format("{} names no attempt", Quoted(word)),
                  "attempts count from 1: 12.1 is the first of trial 12");
    }
    chosen.attempt = *attempt - 1;
    word = word.substr(0, dot);
  }
  const Result<TrialNumber> trial = Named(view, word);
  if (!trial) return Fail(trial.error());
  chosen.trial = *trial;
  // The best attempt need not be the last one.
  const auto& best = view.account().best();
  if (word == "best" && !chosen.attempt && best) chosen.attempt = best->attempt;
  return chosen;
}

Result<std::string> RunDirectoryOf(const SweepView& view, const std::string& sweep_dir, const ChosenTrial& chosen) {
  const Result<std::vector<AttemptRow>> attempts = view.AttemptsOf(chosen.trial);
  const Result<std::optional<AttemptRow>> kept = view.KeptOf(chosen.trial);
  if (!attempts) return Fail(attempts.error());
  if (!kept) return Fail(kept.error());
  for (const AttemptRow& attempt : *attempts) {
    const std::uint32_t meant =
        chosen.attempt.value_or(attempt.trial_standing.over ? (*kept)->attempt : attempt.latest);
    if (attempt.attempt == meant) return sweep_dir + "/" + TrialFolder(attempt.id, attempt.attempt);
  }
  if (!attempts->empty()) {
    return None(fmt::format("trial {} has no attempt {}", chosen.trial, chosen.attempt.value_or(0) + 1),
                fmt::format("it has had {}", attempts->size()));
  }
  const auto reason = view.ReasonOf(chosen.trial);
  if (!reason) return Fail(reason.error());
  if (*reason) {
    return None(fmt::format("trial {} was not tried: it is impossible", chosen.trial),
                ((*reason)->place.empty() ? "" : (*reason)->place + ": ") + (*reason)->text);
  }
  return None(fmt::format("trial {} has not begun", chosen.trial), "see muster show SWEEP");
}

std::optional<TrialOfRun> FindTrialOfRun(const std::string& run_dir) {
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::canonical(run_dir, error);
  if (error) return std::nullopt;
  const std::string path = canonical;
  const std::string folder = canonical.filename();
  const std::size_t dot = folder.rfind('.');
  const auto attempt = ParseNumber<std::uint32_t>(dot == std::string::npos ? "" : folder.substr(dot + 1));
  if (!attempt || dot < kShortestPrefix) return std::nullopt;
  const std::string below = "/" + TrialFolder(folder.substr(0, dot), *attempt);
  if (!path.ends_with(below)) return std::nullopt;
  const std::string sweep_dir = path.substr(0, path.size() - below.size());
  const auto file = ReadSweepFile(sweep_dir);
  if (!file) return std::nullopt;
  const auto view = SweepView::Open(sweep_dir);
  if (!view) return std::nullopt;
  const auto trials = view->TrialsOfId(folder.substr(0, dot), 1);
  if (!trials || trials->empty()) return std::nullopt;
  return TrialOfRun{fmt::format("{}:{}{}", file->name, trials->front(),
                                *attempt == 0 ? std::string() : fmt::format(".{}", *attempt + 1)),
                    sweep_dir, file->objective ? file->objective->metric : ""};
}

}  // namespace muster
