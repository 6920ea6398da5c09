#include "engine/ending_cause.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "engine/command_template.h"

namespace muster {
namespace {

constexpr std::size_t kLongestText = 200;
constexpr std::uint64_t kMargin = 60;  // seconds; engines check time limits once a minute

std::string_view Bare(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string_view FirstLine(const JobAnswer& answer) {
  if (answer.exit_code != 0) return {};
  const std::string_view text = Bare(answer.out);
  return text.substr(0, text.find('\n'));
}

}  // namespace

namespace {

std::string JobPhrase(const EnginePage& page, const std::string& job, JobState state) {
  const auto reported = [&](std::string_view what) { return fmt::format("{} job {} {}", page.name, job, what); };
  switch (state) {
    case JobState::kCancelled:
      return reported("was cancelled");
    case JobState::kTimeLimit:
      return reported("reached its time limit");
    case JobState::kPreempted:
      return reported("was preempted");
    case JobState::kNodeFailed:
      return reported("lost a node");
    case JobState::kOutOfMemory:
      return reported("ran out of memory");
    case JobState::kEnding:
      return EndingPhrase(page, job);
    default:
      return {};
  }
}

}  // namespace

std::string EndingPhrase(const EnginePage& page, const std::string& job) {
  if (page.ending != JobState::kEnding) return JobPhrase(page, job, page.ending);
  return fmt::format("{} is ending job {}", page.name, job);
}

namespace {

void AskForState(const EnginePage& page, const std::string& job, std::vector<EngineQuestion>& questions) {
  if (page.queries.empty()) return;
  const EngineQuery& query = page.queries.front();
  const std::vector<std::string> jobs = {job};
  for (EngineCall& call : QueryCalls(page, query, jobs)) {
    const auto state = [&page, &query, job](const JobAnswer& answer) -> std::optional<JobState> {
      const std::vector<std::string> one = {job};
      const auto states = JobStates(page, query, one, answer);
      return states ? std::optional(states->at(job).state) : std::nullopt;
    };
    questions.push_back({std::move(call),
                         [&page, job, state](const JobAnswer& answer) {
                           const auto found = state(answer);
                           return found ? JobPhrase(page, job, *found) : std::string();
                         },
                         [&page, job, state](const JobAnswer& answer) -> std::optional<JobState> {
                           const auto found = state(answer);
                           return found && !JobPhrase(page, job, *found).empty() ? found : std::nullopt;
                         }});
  }
}

}  // namespace

std::optional<std::uint64_t> SecondsInClock(std::string_view text) {
  std::array<std::uint64_t, 4> parts = {};  // seconds first
  constexpr std::array<std::uint64_t, 4> kSeconds = {1, 60, 3'600, 86'400};
  std::size_t count = 0;
  std::string_view rest = Bare(text);
  while (!rest.empty()) {
    if (count == parts.size()) return std::nullopt;
    const std::size_t at = rest.find_last_of(":-");
    const std::string_view part = at == std::string_view::npos ? rest : rest.substr(at + 1);
    if (at != std::string_view::npos && (rest[at] == '-') != (count == 2)) return std::nullopt;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), parts[count]);
    if (error != std::errc() || end != part.data() + part.size()) return std::nullopt;
    if (parts[count] > (count < 2 ? 59U : 1'000'000U)) return std::nullopt;
    ++count;
    if (at == std::string_view::npos) break;
    rest = rest.substr(0, at);
    if (rest.empty()) return std::nullopt;
  }
  if (count < 2) return std::nullopt;
  std::uint64_t seconds = 0;
  for (std::size_t i = 0; i < count; ++i) seconds += parts[i] * kSeconds[i];
  return seconds;
}

std::vector<EngineQuestion> QuestionsAboutHost(const EnginePage& page, const std::string& job,
                                               const std::string& host) {
  std::vector<EngineQuestion> questions;
  if (page.host_query) {
    TemplateValues values;
    values.texts["host"] = host;
    questions.push_back({{FilledCommand(page.host_query->command, values), page.query_clear},
                         [&page, host](const JobAnswer& answer) -> std::string {
                           const std::string_view line = FirstLine(answer);
                           const EngineHostQuery& query = *page.host_query;
                           const std::size_t at = line.find(query.separator);
                           const std::string state(Bare(line.substr(0, at)));
                           const bool usual =
                               std::find(query.usual.begin(), query.usual.end(), state) != query.usual.end();
                           if (state.empty() || usual) return {};
                           const std::string_view reason = at == std::string_view::npos
                                                               ? std::string_view()
                                                               : Bare(line.substr(at + query.separator.size()));
                           std::string phrase = fmt::format("{} reports {} as {}", page.name, host,
                                                            Printable(std::string_view(state).substr(0, kLongestText)));
                           // Slurm's mark of a node that does not answer, behind a state that says nothing of it.
                           const bool marked = state.ends_with('*') &&
                                               std::find(query.usual.begin(), query.usual.end(),
                                                         state.substr(0, state.size() - 1)) != query.usual.end();
                           if (marked) phrase = fmt::format("{} reports that {} does not respond", page.name, host);
                           if (!reason.empty() && reason != "none") {
                             phrase += fmt::format(" ({})", Printable(reason.substr(0, kLongestText)));
                           }
                           return phrase;
                         }});
  }
  AskForState(page, job, questions);
  return questions;
}

namespace {

// In the grace time of a preemption the state of the job does not say so yet.
EngineQuestion QuestionAboutPreemption(const EnginePage& page, const std::string& job) {
  TemplateValues values;
  values.texts["job"] = job;
  const auto preempted = [&page](const JobAnswer& answer) {
    if (answer.exit_code != 0) return false;
    const EnginePreemptQuery& query = *page.preempted;
    const std::size_t at = answer.out.find(query.after);
    if (at == std::string::npos) return false;
    std::string_view value = std::string_view(answer.out).substr(at + query.after.size());
    value = value.substr(0, value.find_first_of(" \t\r\n"));
    return !value.empty() && std::find(query.unset.begin(), query.unset.end(), value) == query.unset.end();
  };
  return {{FilledCommand(page.preempted->command, values), page.query_clear},
          [&page, job, preempted](const JobAnswer& answer) {
            return preempted(answer) ? JobPhrase(page, job, JobState::kPreempted) : std::string();
          },
          [preempted](const JobAnswer& answer) {
            return preempted(answer) ? std::optional(JobState::kPreempted) : std::nullopt;
          }};
}

}  // namespace

std::vector<EngineQuestion> QuestionsAboutNotice(const EnginePage& page, const std::string& job) {
  std::vector<EngineQuestion> questions;
  if (page.preempted) questions.push_back(QuestionAboutPreemption(page, job));
  return questions;
}

std::optional<EngineQuestion> QuestionAboutPause(const EnginePage& page, const std::string& job) {
  if (page.queries.empty()) return std::nullopt;
  const EngineQuery& query = page.queries.front();
  const std::vector<std::string> jobs = {job};
  std::vector<EngineCall> calls = QueryCalls(page, query, jobs);
  if (calls.size() != 1) return std::nullopt;
  const auto state = [&page, &query, job](const JobAnswer& answer) -> std::optional<JobState> {
    const std::vector<std::string> one = {job};
    const auto states = JobStates(page, query, one, answer);
    return states ? std::optional(states->at(job).state) : std::nullopt;
  };
  return EngineQuestion{std::move(calls.front()),
                        [&page, job, state](const JobAnswer& answer) {
                          return state(answer) == JobState::kSuspended
                                     ? fmt::format("{} job {} is suspended", page.name, job)
                                     : std::string();
                        },
                        state};
}

std::vector<EngineQuestion> QuestionsAboutStop(const EnginePage& page, const std::string& job) {
  std::vector<EngineQuestion> questions;
  AskForState(page, job, questions);
  if (page.preempted) questions.push_back(QuestionAboutPreemption(page, job));
  if (page.time_left.empty()) return questions;
  TemplateValues values;
  values.texts["job"] = job;
  questions.push_back(
      {{FilledCommand(page.time_left, values), page.query_clear}, [&page, job](const JobAnswer& answer) -> std::string {
         const auto left = SecondsInClock(FirstLine(answer));
         const std::uint64_t notice = page.notice ? page.notice->seconds : 0;
         if (!left || *left > notice + kMargin) return {};
         return fmt::format("{} job {} reaches its time limit in {}", page.name, job,
                            DurationText(static_cast<double>(*left)));
       }});
  return questions;
}

std::optional<JobState> StateOfWords(const EnginePage& page, std::string_view words) {
  for (const auto& [text, state] : page.aborts) {
    if (words.find(text) != std::string_view::npos) return state;
  }
  return std::nullopt;
}

std::string PhraseOfWords(const EnginePage& page, const std::string& job, std::string_view words) {
  const auto state = StateOfWords(page, words);
  return state ? JobPhrase(page, job, *state) : std::string();
}

}  // namespace muster
