#include "engine/engine_calls.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "plan/hosts/host_list.h"

namespace muster {
namespace {

bool IsAbout(const std::vector<std::string>& command, std::string_view placeholder) {
  return std::any_of(command.begin(), command.end(),
                     [&](const std::string& word) { return word.find(placeholder) != std::string::npos; });
}

// One call for all jobs, or one for each if the command names a single one.
std::vector<EngineCall> CallsFor(const std::vector<std::string>& command, const std::vector<std::string>& clear,
                                 std::span<const std::string> jobs, TemplateValues values) {
  std::vector<EngineCall> calls;
  if (command.empty() || jobs.empty()) return calls;
  const auto add = [&](std::span<const std::string> some) {
    values.texts["job"] = some.front();
    values.texts["jobs"] = fmt::format("{}", fmt::join(some, ","));
    values.lists["each_job"].assign(some.begin(), some.end());
    calls.push_back({FilledCommand(command, values), clear, {some.begin(), some.end()}});
  };
  if (!IsAbout(command, "{job}")) {
    add(jobs);
  } else {
    for (std::size_t i = 0; i < jobs.size(); ++i) add(jobs.subspan(i, 1));
  }
  return calls;
}

}  // namespace

std::vector<std::string> WithoutVariables(std::vector<std::string> environment, std::span<const std::string> clear) {
  std::erase_if(environment, [&](const std::string& variable) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    return std::any_of(clear.begin(), clear.end(), [&](const std::string& pattern) {
      return pattern.ends_with('*') ? name.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1))
                                    : name == pattern;
    });
  });
  return environment;
}

std::optional<std::chrono::milliseconds> TryAgainAfter(const EnginePage& page, std::string_view error,
                                                       std::chrono::milliseconds tried_for) {
  constexpr std::chrono::milliseconds kPause{2'000};
  const bool away = std::any_of(page.away.begin(), page.away.end(),
                                [&](const std::string& words) { return error.find(words) != std::string_view::npos; });
  if (!away || tried_for + kPause > kAwayTime) return std::nullopt;
  return kPause;
}

Result<EngineCall> StartCall(const EnginePage& page, const Allocation& allocation, std::span<const std::string> hosts,
                             const StartedAgent& agent) {
  if (!agent.options.empty() && !IsAbout(page.start, "{options}") && !IsAbout(page.start, "{each_option}")) {
    return Fail(MachineError("engine",
                             page.name + ": its start command has no place for options of the agent: " +
                                 fmt::format("{}", fmt::join(agent.options, " ")),
                             "start = { …, \"--dial\", \"{dial_file}\", \"{each_option}\" }"));
  }
  std::map<std::string_view, const AllocatedHost*> known;
  for (const AllocatedHost& host : allocation.hosts) known[host.name] = &host;
  std::vector<std::uint32_t> positions;
  std::vector<SiteHost> named;
  TemplateValues values;
  for (const std::string& host : hosts) {
    const auto found = known.find(host);
    if (found == known.end()) {
      return Fail(MachineError("engine",
                               "host " + host + " is not in the allocation of " + page.name + " job " + allocation.job,
                               "its hosts are " + HostListText(HostsOf(allocation))));
    }
    positions.push_back(found->second->position);
    named.push_back({host, {}, {}});
    values.lists["each_host"].push_back(host);
    values.lists["each_position"].push_back(std::to_string(found->second->position));
  }
  std::sort(positions.begin(), positions.end());
  values.lists["each_option"] = agent.options;
  values.texts = {{"agent", agent.agent},
                  {"dial_file", agent.dial_file},
                  {"options", fmt::format("{}", fmt::join(agent.options, " "))},
                  {"count", std::to_string(hosts.size())},
                  {"hosts", fmt::format("{}", fmt::join(hosts, ","))},
                  {"host_list", HostListText(named)},
                  {"spaced_hosts", fmt::format("{}", fmt::join(hosts, " "))},
                  {"positions", NumberListText(positions)},
                  {"job", allocation.job}};
  return EngineCall{FilledCommand(page.start, values), page.clear};
}

EngineCall SubmitCall(const EnginePage& page, const std::string& script, bool& on_stdin) {
  on_stdin = !IsAbout(page.submit.command, "{script}");
  TemplateValues values;
  values.texts["script"] = script;
  return {FilledCommand(page.submit.command, values), {}};
}

Result<std::string> SubmittedJob(const EnginePage& page, std::string_view output) {
  const auto unreadable = [&] {
    return Fail(MachineError(
        "engine", page.name + ": no job id in the answer to the submission: " + Quoted(output.substr(0, 200))));
  };
  std::string_view rest = output;
  if (!page.submit.after.empty()) {
    const std::size_t at = rest.find(page.submit.after);
    if (at == std::string_view::npos) return unreadable();
    rest.remove_prefix(at + page.submit.after.size());
  }
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  rest = rest.substr(0, rest.find_first_of(" \t\r\n"));
  if (!page.submit.before.empty()) rest = rest.substr(0, rest.find(page.submit.before));
  if (rest.empty() || rest.size() > 256) return unreadable();
  return std::string(rest);
}

std::vector<EngineCall> QueryCalls(const EnginePage& page, const EngineQuery& query,
                                   std::span<const std::string> jobs) {
  return CallsFor(query.command, page.query_clear, jobs, {});
}

std::vector<EngineCall> CancelCalls(const EnginePage& page, std::span<const std::string> jobs) {
  return CallsFor(page.cancel, {}, jobs, {});
}

std::vector<EngineCall> SignalCalls(const EnginePage& page, std::span<const std::string> jobs,
                                    const std::string& signal) {
  TemplateValues values;
  values.texts["signal"] = signal;
  return CallsFor(page.signal, {}, jobs, std::move(values));
}

std::vector<EngineCall> RequeueCalls(const EnginePage& page, std::span<const std::string> jobs) {
  if (!page.requeue) return {};
  return CallsFor(page.requeue->command, {}, jobs, {});
}

std::vector<EngineCall> ExcludeCalls(const EnginePage& page, std::span<const std::string> jobs,
                                     std::span<const std::string> hosts) {
  if (!page.requeue || page.requeue->exclude.empty()) return {};
  TemplateValues values;
  values.texts["hosts"] = fmt::format("{}", fmt::join(hosts, ","));
  return CallsFor(page.requeue->exclude, {}, jobs, std::move(values));
}

namespace {

constexpr std::size_t kMaxName = 64;

bool HasLineEnd(std::string_view text) {
  return text.find_first_of(std::string_view("\n\r\0", 3)) != std::string_view::npos;
}

// The lines of one option: of a list one for each text.
std::vector<std::string> LinesOf(const EngineOption& option, const Value& value) {
  std::vector<std::string> texts;
  if (value.AsBool() != nullptr) {
    if (!*value.AsBool()) return {};
    texts.emplace_back();
  } else if (value.AsList() != nullptr) {
    for (const Value& text : *value.AsList()) texts.push_back(*text.AsString());
  } else {
    texts.push_back(value.AsString() != nullptr ? *value.AsString() : ToText(value));
  }
  std::vector<std::string> lines;
  for (std::string& text : texts) {
    TemplateValues values;
    values.texts["value"] = std::move(text);
    lines.push_back(Filled(option.line, values));
  }
  return lines;
}

}  // namespace

std::vector<std::string> SettingLines(const EnginePage& page, const EngineSettings& settings, std::uint32_t nodes,
                                      std::map<std::string, std::string, std::less<>>& into) {
  std::vector<std::string> lines;
  for (const EngineOption& option : page.options) {
    if (!option.into.empty()) into[option.into];
    const auto set = settings.find(option.name);
    Value value;
    if (option.name == "nodes") {
      value = Value(std::int64_t{nodes});
    } else if (set != settings.end()) {
      value = set->second.value;
    } else if (option.default_value) {
      value = *option.default_value;
    } else {
      continue;
    }
    if (option.line.empty()) continue;  // the number of nodes, where another line has it; requeue; each_trial
    for (std::string& line : LinesOf(option, value)) {
      if (option.into.empty()) {
        lines.push_back(std::move(line));
      } else {
        into[option.into] += line;
      }
    }
  }
  return lines;
}

std::string BatchJobName(std::string_view name) {
  std::string sound;
  for (const char c : name.substr(0, kMaxName)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    sound += plain && static_cast<unsigned char>(c) < 0x80 ? c : '_';
  }
  if (sound.empty() || std::isalpha(static_cast<unsigned char>(sound.front())) == 0) sound.insert(0, "m");
  return sound;
}

Result<std::string> BatchScript(const EnginePage& page, const EngineSettings& settings, const BatchJob& job) {
  if (HasLineEnd(job.output) || HasLineEnd(job.folder) ||
      std::any_of(job.command.begin(), job.command.end(), HasLineEnd)) {
    return Fail(Error("format", {}, "a batch script cannot hold a word with a line end",
                      "give the value in a file: name@=file, or in the recipe"));
  }
  TemplateValues values;
  values.texts = {{"name", BatchJobName(job.name)}, {"nodes", std::to_string(job.nodes)}};
  const std::string notice = !page.notice || !job.notice.empty() ? job.notice : page.notice->signal;
  const auto lead = NoticeOf(page, settings, job.stop_seconds);
  if (!lead) return Fail(lead.error());
  if (*lead) {
    values.texts["notice_signal"] = notice;
    values.texts["notice_seconds"] = std::to_string((*lead)->seconds);
    values.texts["notice_minutes"] = std::to_string(((*lead)->seconds + 59) / 60);
  }
  const std::vector<std::string> own_lines = SettingLines(page, settings, job.nodes, values.texts);
  std::string script = "#!/bin/sh\n";
  for (const std::string& line : page.script.always) script += page.script.directive + Filled(line, values) + "\n";
  const bool warned = page.warning && job.notice.empty();
  if (warned) script += page.script.directive + page.warning->line + "\n";
  if (page.requeue) {
    const RequeueRule rule = RequeueOf(page, settings);
    const auto add = [&](const std::string& line) {
      if (!line.empty()) script += page.script.directive + line + "\n";
    };
    add(rule.on.empty() ? page.requeue->otherwise : page.requeue->line);
    if (rule.on.contains("node_fail")) add(page.requeue->node_fail);
  }
  if (!job.output.empty()) {
    TemplateValues file;
    file.texts["output"] = job.output;
    for (const std::string& line : page.script.output) script += page.script.directive + Filled(line, file) + "\n";
  }
  for (const std::string& line : own_lines) {
    if (*lead && !line.empty() && line == (*lead)->directive) continue;
    script += page.script.directive + line + "\n";
  }
  // Directives are read by the engine, which knows no quotes for such bytes.
  if (const std::string shown = PrintableLines(script); shown != script) {
    return Fail(
        Error("format", {},
              "a directive of a batch script cannot hold control characters: " + Printable(shown.substr(0, 300)),
              "use names of folders and values without them"));
  }
  script += "\n";
  if (!job.note.empty()) script += "# " + Printable(job.note) + "\n";
  // The signals may come before the command is ready to handle it.
  std::string early = notice == "TERM" ? std::string() : notice;
  if (warned) {
    early += (early.empty() ? "" : " ") + page.warning->signal;
    for (const std::string& signal : page.warning->ignored) early += " " + signal;
  }
  if (!early.empty()) script += "trap '' " + early + "\n";
  // Exit code 3: the machine's fault, as muster has it.
  script += "cd " + ShellQuoted(job.folder) + " || exit 3\n";
  script += "exec " + ShellQuoted(job.command) + "\n";
  return script;
}

namespace {

constexpr std::size_t kMaxJob = 64;

}  // namespace

Result<std::vector<std::string>> AllocateWords(const EnginePage& page, const EngineSettings& settings,
                                               const std::string& name, std::uint32_t nodes) {
  TemplateValues values;
  std::map<std::string, std::string, std::less<>> into;
  std::vector<std::string>& options = values.lists["each_option"];
  for (const std::string& line : SettingLines(page, settings, nodes, into)) {
    auto words = ShellWords(line);
    if (!words) {
      return Fail(Error("usage", {}, page.name + ": " + Quoted(line) + " cannot be split into words: " + words.error(),
                        "a quote that is not closed?"));
    }
    options.insert(options.end(), words->begin(), words->end());
  }
  values.texts["name"] = BatchJobName(name);
  std::vector<std::string> command = FilledCommand(page.allocate.command, values);
  command.insert(command.end(), {"cat", "/proc/self/environ", "-"});
  return command;
}

std::optional<std::vector<std::string>> EnvironmentIn(std::string_view output) {
  std::vector<std::string> environment;
  for (std::size_t end = output.find('\0'); end != std::string_view::npos; end = output.find('\0')) {
    if (end == 0) return environment;
    environment.emplace_back(output.substr(0, end));
    output.remove_prefix(end + 1);
  }
  return std::nullopt;
}

std::vector<std::string> AddedVariables(const std::vector<std::string>& environment,
                                        const std::vector<std::string>& before) {
  const std::set<std::string_view> known(before.begin(), before.end());
  std::vector<std::string> added;
  for (const std::string& variable : environment) {
    const std::size_t equals = variable.find('=');
    if (equals != 0 && equals != std::string::npos && !known.contains(variable)) added.push_back(variable);
  }
  return added;
}

std::string AllocatedJob(const EnginePage& page, std::string_view words) {
  const std::size_t at = words.find(page.allocate.after);
  if (at == std::string_view::npos) return {};
  words.remove_prefix(at + page.allocate.after.size());
  const std::size_t end = words.find_first_of(" \t\r\n");  // without one the word may not be complete
  if (end == std::string_view::npos || end > kMaxJob) return {};
  return std::string(words.substr(0, end));
}

Result<Allocation> AllocationOf(const EnginePage& page, const std::vector<std::string>& environment) {
  EnginePage here = page;
  here.devices.reset();
  const auto variable = [&environment](const std::string& name) -> std::optional<std::string> {
    for (const std::string& one : environment) {
      if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=') {
        return one.substr(name.size() + 1);
      }
    }
    return std::nullopt;
  };
  const auto refuse = [&page](const auto&) -> Result<std::string> {
    return Fail(MachineError("engine", page.name + ": the environment of its allocation does not name the hosts"));
  };
  return ReadAllocation(here, {variable, refuse, refuse});
}

namespace {

constexpr int kSignalBase = 128;

// The parts of a line; with blanks as separator, several of them are one.
std::vector<std::string_view> Parts(std::string_view line, std::string_view separator) {
  std::vector<std::string_view> parts;
  if (!separator.empty()) {
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find(separator, begin), line.size());
      parts.push_back(Trimmed(line.substr(begin, end - begin)));
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
  for (const std::string_view line : TextLines(text)) {
    if (query.form == JobAnswerForm::kStanzas) {
      if (!query.head.empty() && line.starts_with(query.head)) {
        records.push_back({{JobField::kJob, std::string(Trimmed(line.substr(query.head.size())))}});
        continue;
      }
      const std::string_view stripped = Trimmed(line);
      const std::size_t at = stripped.find(query.separator.empty() ? " " : query.separator);
      const auto field = query.names.find(std::string(Trimmed(stripped.substr(0, at))));
      if (field == query.names.end() || at == std::string_view::npos) continue;
      if (field->second == JobField::kJob) records.emplace_back();
      if (records.empty()) continue;
      records.back()[field->second] = Trimmed(stripped.substr(at + std::max<std::size_t>(query.separator.size(), 1)));
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
    const std::string_view why = Trimmed(answer.err);
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
  for (const std::string_view line : TextLines(output)) {
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

namespace {

constexpr std::size_t kMaxText = 200;
constexpr std::uint64_t kMargin = 60;  // seconds; engines check time limits once a minute

std::string_view FirstLine(const JobAnswer& answer) {
  if (answer.exit_code != 0) return {};
  const std::string_view text = Trimmed(answer.out);
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
  std::string_view rest = Trimmed(text);
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
                           const std::string state(Trimmed(line.substr(0, at)));
                           const bool usual =
                               std::find(query.usual.begin(), query.usual.end(), state) != query.usual.end();
                           if (state.empty() || usual) return {};
                           const std::string_view reason = at == std::string_view::npos
                                                               ? std::string_view()
                                                               : Trimmed(line.substr(at + query.separator.size()));
                           std::string phrase = fmt::format("{} reports {} as {}", page.name, host,
                                                            Printable(std::string_view(state).substr(0, kMaxText)));
                           // Slurm's mark of a node that does not answer, behind a state that says nothing of it.
                           const bool marked = state.ends_with('*') &&
                                               std::find(query.usual.begin(), query.usual.end(),
                                                         state.substr(0, state.size() - 1)) != query.usual.end();
                           if (marked) phrase = fmt::format("{} reports that {} does not respond", page.name, host);
                           if (!reason.empty() && reason != "none") {
                             phrase += fmt::format(" ({})", Printable(reason.substr(0, kMaxText)));
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
