#include "engine/job_status.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/values/shell_quote.h"

namespace muster {
namespace {

constexpr int kSignalBase = 128;

std::string_view WithoutBlanks(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// The parts of a line; with blanks as separator, several of them are one.
std::vector<std::string_view> Parts(std::string_view line, std::string_view separator) {
  std::vector<std::string_view> parts;
  if (!separator.empty()) {
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find(separator, begin), line.size());
      parts.push_back(WithoutBlanks(line.substr(begin, end - begin)));
      begin = end + separator.size();
    }
    return parts;
  }
  constexpr std::string_view kBlank = " \t\r";
  for (std::size_t begin = line.find_first_not_of(kBlank); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlank, begin), line.size());
    parts.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlank, end);
  }
  return parts;
}

using Record = std::map<JobField, std::string>;

std::vector<Record> RecordsOf(const EngineQuery& query, std::string_view text) {
  std::vector<Record> records;
  for (const std::string_view line : Lines(text)) {
    if (query.form == JobAnswerForm::kStanzas) {
      if (!query.head.empty() && line.starts_with(query.head)) {
        records.push_back({{JobField::kJob, std::string(WithoutBlanks(line.substr(query.head.size())))}});
        continue;
      }
      const std::string_view stripped = WithoutBlanks(line);
      const std::size_t at = stripped.find(query.separator.empty() ? " " : query.separator);
      const auto field = query.names.find(std::string(WithoutBlanks(stripped.substr(0, at))));
      if (field == query.names.end() || at == std::string_view::npos) continue;
      if (field->second == JobField::kJob) records.emplace_back();
      if (records.empty()) continue;
      records.back()[field->second] =
          WithoutBlanks(stripped.substr(at + std::max<std::size_t>(query.separator.size(), 1)));
      continue;
    }
    Record record;
    if (query.form == JobAnswerForm::kColumns) {
      const std::vector<std::string_view> parts = Parts(line, query.separator);
      for (std::size_t i = 0; i < parts.size() && i < query.columns.size(); ++i) {
        if (query.columns[i] != JobField::kNone) record[query.columns[i]] = parts[i];
      }
    } else {
      for (const std::string_view pair : Parts(line, "")) {
        const std::size_t equals = pair.find('=');
        const auto field = query.names.find(std::string(pair.substr(0, equals)));
        if (field != query.names.end() && equals != std::string_view::npos)
          record[field->second] = pair.substr(equals + 1);
      }
    }
    if (record.contains(JobField::kJob)) records.push_back(std::move(record));
  }
  return records;
}

std::string_view FirstWord(std::string_view text) {
  return text.substr(0, std::min(text.find_first_of(" \t:;,+"), text.size()));
}

std::optional<int> NumberIn(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// As a shell has it: 128 and the signal's number for a process that a signal killed.
std::optional<int> ExitCodeIn(const EnginePage& page, std::string_view text) {
  if (page.exit_has_signal) {
    const auto code = NumberIn(text.substr(0, text.find(':')));
    const auto signal =
        text.find(':') == std::string_view::npos ? std::nullopt : NumberIn(text.substr(text.find(':') + 1));
    if (signal && *signal > 0) return kSignalBase + *signal;
    return code;
  }
  const auto code = NumberIn(text.substr(0, text.find_first_of(" \t")));
  if (!code) return std::nullopt;
  const int base = static_cast<int>(page.signal_base);
  if (*code > base) return kSignalBase + (*code - base);
  return *code;
}

bool IsFinal(JobState state) { return state >= JobState::kEnded && state <= JobState::kOutOfMemory; }

JobStatus StatusOf(const EnginePage& page, const Record& record) {
  const auto text = [&](JobField field) {
    const auto found = record.find(field);
    return found == record.end() ? std::string() : found->second;
  };
  JobStatus status;
  status.word = FirstWord(text(JobField::kState));
  status.reason = text(JobField::kReason);
  if (status.reason == "None" || status.reason == "-") status.reason.clear();
  status.hosts = text(JobField::kHosts);
  if (status.hosts == "(null)" || status.hosts == "None assigned") status.hosts.clear();
  const std::string exit = text(JobField::kExit);
  const auto known = page.states.find(status.word);
  if (known != page.states.end()) {
    status.state = known->second;
  } else if (status.word.empty() && !exit.empty()) {
    status.state = JobState::kEnded;  // accounting has only jobs that ended
  }
  const bool never = status.state == JobState::kQueued &&
                     std::find(page.never.begin(), page.never.end(), status.reason) != page.never.end();
  if (never) status.reason += ", so that it cannot start as it was requested";
  if (!IsFinal(status.state)) return status;
  status.exit_code = ExitCodeIn(page, exit);
  if (status.state != JobState::kEnded && status.state != JobState::kFailed) return status;
  const auto by = [&](const std::map<std::string, JobState>& words, std::string_view word) {
    const auto found = words.find(std::string(word));
    if (found != words.end()) status.state = found->second;
    return found != words.end();
  };
  if (by(page.reasons, FirstWord(status.reason)) || by(page.exits, FirstWord(exit))) return status;
  if (status.state == JobState::kEnded) {
    // Without an exit code it was never started.
    status.state = !status.exit_code        ? JobState::kCancelled
                   : *status.exit_code == 0 ? JobState::kSucceeded
                                            : JobState::kFailed;
  }
  return status;
}

}  // namespace

bool IsOver(JobState state) { return IsFinal(state) || state == JobState::kVanished; }

Result<std::map<std::string, JobStatus>> JobStates(const EnginePage& page, const EngineQuery& query,
                                                   std::span<const std::string> jobs, const JobAnswer& answer) {
  const bool none_known = std::any_of(query.absent.begin(), query.absent.end(), [&](const std::string& words) {
    return answer.err.find(words) != std::string::npos;
  });
  if (answer.exit_code != 0 && !none_known) {
    const std::string_view why = WithoutBlanks(answer.err);
    return Fail(MachineError("engine",
                             page.name + " does not answer: " + query.command.front() + " exited with " +
                                 std::to_string(answer.exit_code) +
                                 (why.empty() ? "" : ": " + Printable(why.substr(0, why.find('\n')).substr(0, 200)))));
  }
  std::map<std::string, JobStatus> states;
  for (const std::string& job : jobs) states[job].state = JobState::kVanished;
  for (const Record& record : RecordsOf(query, answer.out)) {
    const auto job = states.find(record.at(JobField::kJob));
    if (job != states.end()) job->second = StatusOf(page, record);
  }
  return states;
}

std::optional<JobState> EndInOutput(const EnginePage& page, std::string_view output) {
  std::optional<JobState> end;
  for (const std::string_view line : Lines(output)) {
    const auto said = std::find_if(page.aborts.begin(), page.aborts.end(),
                                   [&](const auto& abort) { return line.find(abort.first) != std::string_view::npos; });
    if (said != page.aborts.end()) end = said->second;
  }
  return end;
}

JobStatus CombinedStatus(const JobStatus& first, const JobStatus& second) {
  const auto knows = [](const JobStatus& status) {
    if (status.state == JobState::kVanished) return 0;
    if (status.state == JobState::kUnknown) return 1;
    return IsFinal(status.state) ? 3 : 2;
  };
  JobStatus combined = knows(second) >= knows(first) ? second : first;
  const JobStatus& other = knows(second) >= knows(first) ? first : second;
  if (combined.reason.empty()) combined.reason = other.reason;
  if (combined.hosts.empty()) combined.hosts = other.hosts;
  if (!combined.exit_code && IsFinal(combined.state) && IsFinal(other.state)) combined.exit_code = other.exit_code;
  return combined;
}

}  // namespace muster
