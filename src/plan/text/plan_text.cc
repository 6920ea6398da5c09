#include "plan/text/plan_text.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/values/fingerprint.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "plan/hosts/host_list.h"
#include "plan/plan/roles.h"

namespace muster {
namespace {

// Appends the word unchanged if it cannot be confused with the next word or line, else quoted. A plain word never
// begins with a quote, so the two forms are distinct.
void AppendWord(std::string& out, std::string_view word) {
  bool plain = !word.empty();
  for (const char c : word) plain = plain && c > ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\';
  if (plain) {
    out += word;
  } else {
    out += Quoted(word);
  }
}

// A value from the recipe, as opposed to the words of this file.
struct Word {
  std::string_view text;
};

class Line {
 public:
  explicit Line(std::string& out) : out_(out) {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() { out_ += '\n'; }

  Line& operator<<(std::string_view text) {
    out_ += text;
    return *this;
  }
  Line& operator<<(const Word& word) {
    AppendWord(out_, word.text);
    return *this;
  }
  Line& operator<<(std::uint64_t number) {
    out_ += std::to_string(number);
    return *this;
  }

 private:
  std::string& out_;
};

void AppendCommand(std::string& out, const std::string& begin, const char* what, const std::vector<Text>& command) {
  Line line(out);
  line << begin << what;
  for (const Text& word : command) line << " " << Quoted(word.marked);
}

void AppendVariables(std::string& out, const std::string& begin, const Variables& env) {
  for (const auto& [name, value] : env) Line(out) << begin << " env " << Word{name} << "=" << Word{value.marked};
}

void AppendValues(std::string& out, const std::string& begin, const std::map<std::string, Value>& values) {
  for (const auto& [name, value] : values) Line(out) << begin << " " << Word{name} << " = " << ToText(value);
}

// The beginning of all lines about one subject: "role worker", "process worker.2".
std::string Subject(const char* what, std::string_view name) {
  std::string begin = what;
  AppendWord(begin, name);
  return begin;
}

void AppendReadiness(std::string& out, const std::string& begin, const Readiness& ready) {
  if (ready == Readiness{}) return;
  Line line(out);
  line << begin << " ready " << ReadinessName(ready.kind);
  if (!ready.what.marked.empty()) line << " at " << Quoted(ready.what.marked);
  for (const Text& word : ready.command) line << " " << Quoted(word.marked);
  if (ready.kind == Readiness::Kind::kCommand) line << ", every " << ready.every_ms << " ms";
  if (ready.timeout_ms != 0) line << ", within " << ready.timeout_ms << " ms";
}

void AppendRestart(std::string& out, const std::string& begin, const RestartPolicy& restart) {
  if (restart.max == 0) return;
  Line line(out);
  line << begin << " restart " << RestartScopeName(restart.scope) << " at most " << restart.max << " times";
  if (restart.within_ms != 0) line << " within " << restart.within_ms << " ms";
  line << ", after";
  if (restart.any_failure) line << " failure";
  if (restart.success) line << " success";
  for (const std::int32_t code : restart.codes) line << " exit code " << static_cast<std::uint64_t>(code);
  for (const std::string& signal : restart.signals) line << " signal " << Word{signal};
  line << ", waiting " << restart.backoff_ms << " ms";
  if (restart.verdict) line << ", if the verdict allows it";
}

void AppendCores(std::string& out, const std::string& begin, const CoreUse& cores) {
  if (cores.kind == CoreUse::Kind::kAny) return;
  Line line(out);
  line << begin << " cores ";
  if (cores.kind == CoreUse::Kind::kAuto) line << "auto";
  if (cores.kind == CoreUse::Kind::kCount) line << cores.count << " each";
  if (cores.kind == CoreUse::Kind::kList) line << NumberListText(cores.list);
}

void AppendWords(std::string& out, const std::string& begin, const char* what, const std::vector<std::string>& words) {
  if (words.empty()) return;
  Line line(out);
  line << begin << what;
  for (const std::string& word : words) line << " " << Quoted(word);
}

// With all words of the runtime's page, because they are part of what is executed.
void AppendContainer(std::string& out, const std::string& role, const Container& container) {
  if (container.image.marked.empty()) return;
  const std::string begin = role + " container";
  const ContainerRuntime& runtime = container.runtime;
  Line(out) << begin << " image " << Word{container.image.marked} << " runtime " << Word{runtime.name};
  for (const ContainerMount& mount : container.mounts) {
    Line(out) << begin << " mount " << Word{mount.source.marked} << " at " << Word{mount.target.marked}
              << (mount.read_only ? " read-only" : "");
  }
  if (!container.options.empty()) AppendCommand(out, begin, " options", container.options);
  AppendWords(out, begin, " runs", runtime.run);
  if (!runtime.script.empty()) Line(out) << begin << " script " << Quoted(runtime.script);
  AppendWords(out, begin, " words of a mount", runtime.mount);
  AppendWords(out, begin, " words of a variable", runtime.variable);
  if (!runtime.variable_prefix.empty()) Line(out) << begin << " prefix of variables " << Word{runtime.variable_prefix};
  AppendWords(out, begin, " words of a value", runtime.value);
  AppendWords(out, begin, " variables of its own", runtime.own);
  AppendWords(out, begin, " words for devices", runtime.devices);
  AppendWords(out, begin, " words for descriptors", runtime.descriptors);
  AppendWords(out, begin, " words for a file", runtime.output);
  AppendWords(out, begin, " words for a terminal", runtime.terminal);
  AppendWords(out, begin, " removed by", runtime.remove);
  for (const auto& [code, meaning] : runtime.exit_codes) {
    Line(out) << begin << " exit code " << Word{code} << ": " << Quoted(meaning);
  }
}

void AppendDeviceUse(std::string& out, const DeviceUse& use) {
  if (!use.kind.empty()) Line(out) << "plan device kind " << Word{use.kind};
  if (use.any) Line(out) << "plan devices free";
  if (!use.given.empty()) Line(out) << "plan devices " << NumberListText(use.given);
  if (use.shared) Line(out) << "plan devices shared";
}

void AppendPolicies(std::string& out, const std::string& begin, const Plan& plan, const Role& role) {
  for (const std::uint32_t other : role.after) Line(out) << begin << " after " << Word{plan.roles[other].name};
  AppendReadiness(out, begin, role.ready);
  AppendRestart(out, begin, role.restart);
  if (role.limits.time_ms != 0) Line(out) << begin << " limit time " << role.limits.time_ms << " ms";
  if (role.limits.silent_ms != 0) Line(out) << begin << " limit silent " << role.limits.silent_ms << " ms";
  if (role.limits.log_bytes != 0) {
    Line(out) << begin << " limit log " << role.limits.log_bytes
              << " bytes each, through a pipe where the file system cannot cut off their heads";
  }
}

void AppendRole(std::string& out, const Plan& plan, const Role& role, std::size_t count) {
  const std::string begin = Subject("role ", role.name);
  Line(out) << begin << " count " << count;
  Line(out) << begin << " plays " << Word{role.plays};
  if (!role.world.empty()) Line(out) << begin << " world " << Word{role.world};
  if (RanksAreAssigned(role)) Line(out) << begin << " ranks assigned by " << Word{plan.framework};
  if (role.ending == Ending::kAll) {
    Line(out) << begin << " ends with all its processes";
  } else if (role.ending == Ending::kAny) {
    Line(out) << begin << " ends with one of its processes; the others then have " << role.linger_ms << " ms";
  } else {
    Line(out) << begin << " serves until the others end, then has " << role.linger_ms << " ms";
  }
  AppendPolicies(out, begin, plan, role);
  AppendCores(out, begin, role.cores);
  AppendContainer(out, begin, role.container);
  Line(out) << begin << " stop " << Word{role.stop.signal} << ", KILL after " << role.stop.grace_ms << " ms";
  if (!role.stop.checkpoint_signal.empty()) {
    Line(out) << begin << " stop begins with " << Word{role.stop.checkpoint_signal} << ", for a checkpoint within "
              << role.stop.checkpoint_ms << " ms";
  }
  if (!role.command.empty()) AppendCommand(out, begin, role.shell ? " shell" : " command", role.command);
  if (role.command.empty() && role.shell) Line(out) << begin << " shell";
  if (!role.cwd.marked.empty()) Line(out) << begin << " cwd " << Word{role.cwd.marked};
  for (const std::string& pattern : role.unset) Line(out) << begin << " unset " << Word{pattern};
  AppendVariables(out, begin, role.env);
  AppendValues(out, begin + " context", role.context);
}

void AppendPosition(std::string& out, const std::string& begin, const Plan& plan, const Process& process) {
  Line line(out);
  line << begin << " host " << Word{plan.hosts[process.host].label};
  if (process.rank) line << " rank " << *process.rank << " of " << process.world_size;
  line << " local " << process.local_rank << " of " << process.local_size;
  for (std::size_t i = 0; i < process.devices.size(); ++i) line << (i == 0 ? " devices " : ",") << process.devices[i];
  if (process.stage != 0 || process.rank_in_stage != process.rank.value_or(0)) {
    line << " stage " << process.stage << " position " << process.rank_in_stage;
  }
}

void AppendProcess(std::string& out, const Plan& plan, const Process& process) {
  const std::string begin = Subject("process ", ProcessName(plan, process));
  AppendPosition(out, begin, plan, process);
  if (process.command) AppendCommand(out, begin, " command", *process.command);
  if (process.cwd) Line(out) << begin << " cwd " << Word{process.cwd->marked};
  if (process.ready_what) Line(out) << begin << " ready " << Word{process.ready_what->marked};
  AppendVariables(out, begin, process.env);
  AppendValues(out, begin + " context", process.context);
}

}  // namespace

std::string PlanText(const Plan& plan) {
  std::string out;
  Line(out) << "plan name " << Word{plan.name};
  Line(out) << "plan framework " << Word{plan.framework};
  if (!plan.mindspore.empty()) Line(out) << "plan mindspore " << Word{plan.mindspore};
  if (plan.accept_release) Line(out) << "plan accepts another release of mindspore";
  if (plan.time_limit_ms != 0) Line(out) << "plan time limit " << plan.time_limit_ms << " ms";
  if (plan.start_limit_ms != 0) Line(out) << "plan start limit " << plan.start_limit_ms << " ms";
  if (plan.silent_limit_ms != 0) Line(out) << "plan silent limit " << plan.silent_limit_ms << " ms";
  for (const PlanHost& host : plan.hosts) Line(out) << "host " << Word{host.label} << " devices " << host.devices;
  AppendDeviceUse(out, plan.device_use);
  for (const auto& [name, port] : plan.ports) {
    Line line(out);
    line << "port " << Word{name} << " host " << Word{plan.hosts[port.host].label} << " number ";
    line << (port.number == 0 ? "auto" : std::to_string(port.number));
    if (!port.owner.empty()) line << " owner " << Word{port.owner};
  }
  for (const auto& [name, secret] : plan.secrets) {
    const bool from_env = !secret.from_env.empty();
    Line(out) << "secret " << Word{name} << (from_env ? " variable " : " file ")
              << Word{from_env ? secret.from_env : secret.from_file};
  }
  if (const CheckpointPlace& place = plan.checkpoints; !place.dir.marked.empty()) {
    Line(out) << "checkpoints in " << Word{place.dir.marked};
    Line(out) << "checkpoints latest " << (place.file.empty() ? "" : "named by ")
              << Word{place.file.empty() ? place.latest : place.file};
    if (!place.complete.empty()) Line(out) << "checkpoints complete with " << Word{place.complete};
  }
  for (const std::string& pattern : plan.site_environment.pass) Line(out) << "site pass " << Word{pattern};
  for (const std::string& pattern : plan.site_environment.unset) Line(out) << "site unset " << Word{pattern};
  for (const auto& [name, value] : plan.site_environment.set) {
    Line(out) << "site env " << Word{name} << "=" << Word{value};
  }
  for (const ActivationStep& step : plan.activation) {
    Line(out) << "activate " << ActivationKindName(step.kind) << " " << Word{step.what};
  }
  for (const auto& [path, file] : plan.files) Line(out) << "file " << Word{path} << " " << Quoted(file.content.marked);

  std::vector<std::vector<const Process*>> members(plan.roles.size());
  for (const Process& process : plan.processes) members[process.role].push_back(&process);
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    AppendRole(out, plan, plan.roles[r], members[r].size());
    for (const Process* process : members[r]) AppendProcess(out, plan, *process);
  }
  return out;
}

std::string PlanNotesText(const Plan& plan) {
  std::string out;
  if (!plan.doc.empty()) out += "doc " + Quoted(plan.doc) + '\n';
  for (const PlanHost& host : plan.hosts) {
    if (!host.name.empty()) Line(out) << "named " << Word{host.label} << " " << Word{host.name};
  }
  for (const std::string& profile : plan.profiles) Line(out) << "profile " << Word{profile};
  AppendValues(out, "parameter", plan.params);
  for (const auto& [name, value] : plan.derived) {
    Line line(out);
    line << "derived " << Word{name} << " = " << ToText(value);
    const auto computed = plan.pinned.find(name);
    if (computed != plan.pinned.end()) line << " (pinned; the recipe derives " << ToText(computed->second) << ")";
  }
  return out;
}

bool UsesCheckpoint(const Plan& plan) {
  const std::string text = PlanText(plan);
  return text.find(PlaceholderText({Placeholder::Kind::kCheckpoint, {}, 0})) != std::string::npos ||
         text.find(PlaceholderText({Placeholder::Kind::kNewestCheckpoint, {}, 0})) != std::string::npos;
}

std::string PlanId(const Plan& plan) { return PlanIdOfText(PlanText(plan)); }
std::string PlanIdOfText(std::string_view plan_text) { return Sha256Hex(plan_text); }

std::string ShortPlanId(const Plan& plan) { return ShortPlanId(PlanId(plan)); }
std::string ShortPlanId(std::string_view plan_id) { return std::string(plan_id.substr(0, 12)); }

namespace {

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Parses one line from its beginning. After the first error it stays bad.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  bool good() const { return good_; }
  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  // Whether the next word is this one; if so, consumes it.
  bool Take(std::string_view word) {
    if (!rest_.starts_with(word) || (rest_.size() > word.size() && rest_[word.size()] != ' ')) return false;
    Skip(word.size());
    return true;
  }

  // The next word, up to a blank or to `end`, which is consumed too.
  std::string Next(char end = ' ') {
    if (rest_.starts_with('"')) return NextQuoted(end);
    const std::size_t size = std::min(rest_.find(end), rest_.size());
    std::string word(rest_.substr(0, size));
    good_ = good_ && !word.empty();
    Skip(size);
    return word;
  }

  std::uint32_t Number() {
    const auto number = ParseNumber<std::uint32_t>(Next());
    good_ = good_ && number;
    return number.value_or(0);
  }

  void Expect(std::string_view word) { good_ = Take(word) && good_; }

 private:
  void Skip(std::size_t size) { rest_.remove_prefix(std::min(size + 1, rest_.size())); }

  std::string NextQuoted(char end) {
    std::string word;
    std::size_t i = 1;
    for (; i < rest_.size() && rest_[i] != '"'; ++i) {
      if (rest_[i] != '\\') {
        word += rest_[i];
        continue;
      }
      const char what = ++i < rest_.size() ? rest_[i] : '\0';
      const bool hex =
          what == 'x' && i + 2 < rest_.size() && HexDigit(rest_[i + 1]) >= 0 && HexDigit(rest_[i + 2]) >= 0;
      if (hex) {
        word += static_cast<char>(HexDigit(rest_[i + 1]) * 16 + HexDigit(rest_[i + 2]));
        i += 2;
      } else {
        word += what == 'n' ? '\n' : what == 't' ? '\t' : what;
        good_ = good_ && (what == 'n' || what == 't' || what == '"' || what == '\\');
      }
    }
    good_ = good_ && i < rest_.size() && (i + 1 == rest_.size() || rest_[i + 1] == end);
    Skip(std::min(i + 1, rest_.size()));
    return word;
  }

  std::string_view rest_;
  bool good_ = true;
};

Value ValueOf(std::string_view spelled) {
  if (Words words(spelled); spelled.starts_with('"')) {
    std::string text = words.Next();
    if (words.good() && words.done()) return Value(std::move(text));
  }
  auto value = ValueFromJsonText(spelled);
  return value && ToText(*value) == spelled ? *std::move(value) : Value(std::string(spelled));
}

class TextReader {
 public:
  std::optional<ParsedPlanText> Read(std::string_view text) {
    for (const std::string_view line : TextLines(text)) {
      if (!good_) break;
      Line(line);
    }
    if (!good_ || !named_) return std::nullopt;
    std::vector<std::uint32_t> members(read_.plan.roles.size());
    for (const Process& process : read_.plan.processes) ++members[process.role];
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i] != counts_[i].first) Rest(counts_[i].second);
    }
    return std::move(read_);
  }

 private:
  void Rest(std::string_view line) { read_.rest.append(line) += '\n'; }

  void Line(std::string_view line) {
    Plan& plan = read_.plan;
    Words words(line);
    if (words.Take("process")) {
      OfProcess(words);
    } else if (words.Take("role")) {
      OfRole(words, line);
    } else if (words.Take("host")) {
      const std::string label = words.Next();
      words.Expect("devices");
      hosts_[label] = static_cast<std::uint32_t>(plan.hosts.size());
      plan.hosts.push_back({label, words.Number()});
    } else if (words.Take("file")) {
      const std::string path = words.Next();
      plan.files[path] = {words.Next()};
    } else if (words.Take("parameter")) {
      const std::string name = words.Next();
      words.Expect("=");
      plan.params[name] = ValueOf(words.rest());
    } else if (words.Take("derived")) {
      const std::string name = words.Next();
      words.Expect("=");
      plan.derived[name] = ValueOf(words.rest());
    } else if (!words.Take("doc") && !words.Take("named") && !words.Take("profile")) {
      if (words.Take("plan") && words.Take("name")) {
        plan.name = words.Next();
        named_ = true;
      }
      Rest(line);
    }
    good_ = good_ && words.good();
  }

  // Lines that roles and processes have in common.
  template <class Owner>
  bool Common(Words& words, Owner& owner) {
    if (words.Take("env")) {
      const std::string name = words.Next('=');
      owner.env[name] = words.done() ? std::string() : words.Next();
    } else if (words.Take("context")) {
      const std::string name = words.Next();
      words.Expect("=");
      owner.context[name] = ValueOf(words.rest());
    } else if (words.Take("cwd")) {
      owner.cwd = Text(words.Next());
    } else {
      return false;
    }
    return true;
  }

  static std::vector<Text> Command(Words& words) {
    std::vector<Text> command;
    while (!words.done() && words.good()) command.emplace_back(words.Next());
    return command;
  }

  void OfRole(Words& words, std::string_view line) {
    Plan& plan = read_.plan;
    const std::string name = words.Next();
    if (words.Take("count")) {
      roles_[name] = static_cast<std::uint32_t>(plan.roles.size());
      plan.roles.emplace_back().name = name;
      counts_.emplace_back(words.Number(), line);
      return;
    }
    const auto found = roles_.find(name);
    if (found == roles_.end()) {
      good_ = false;
      return;
    }
    Role& role = plan.roles[found->second];
    if (Common(words, role)) return;
    const bool shell = words.Take("shell");
    if (shell || words.Take("command")) {
      role.shell = shell;
      role.command = Command(words);
    } else {
      Rest(line);
    }
  }

  void OfProcess(Words& words) {
    Plan& plan = read_.plan;
    const std::string name = words.Next();
    const std::size_t dot = name.rfind('.');
    const auto role = roles_.find(name.substr(0, dot));
    Words index(dot == std::string::npos ? std::string_view() : std::string_view(name).substr(dot + 1));
    const std::uint32_t number = index.Number();
    if (role == roles_.end() || !index.good()) {
      good_ = false;
      return;
    }
    if (words.Take("host")) {
      Process& process = plan.processes.emplace_back();
      process.role = role->second;
      process.index = number;
      const auto host = hosts_.find(words.Next());
      good_ = good_ && host != hosts_.end();
      if (good_) process.host = host->second;
      Position(words, process);
      return;
    }
    if (plan.processes.empty() || plan.processes.back().role != role->second || plan.processes.back().index != number) {
      good_ = false;
      return;
    }
    Process& process = plan.processes.back();
    if (Common(words, process)) return;
    if (words.Take("ready")) {
      process.ready_what = Text(words.Next());
    } else {
      words.Expect("command");
      process.command = Command(words);
    }
  }

  static void Position(Words& words, Process& process) {
    if (words.Take("rank")) {
      process.rank = words.Number();
      words.Expect("of");
      process.world_size = words.Number();
    }
    words.Expect("local");
    process.local_rank = words.Number();
    words.Expect("of");
    process.local_size = words.Number();
    if (words.Take("devices")) {
      process.devices = DeviceNumbers(words.Next()).value_or(std::vector<std::uint32_t>());
    }
    process.rank_in_stage = process.rank.value_or(0);
    if (words.Take("stage")) {
      process.stage = words.Number();
      words.Expect("position");
      process.rank_in_stage = words.Number();
    }
  }

  ParsedPlanText read_;
  std::vector<std::pair<std::uint32_t, std::string_view>> counts_;  // of each role, and the line that states it
  std::map<std::string, std::uint32_t> hosts_;
  std::map<std::string, std::uint32_t> roles_;
  bool good_ = true;
  bool named_ = false;
};

}  // namespace

std::optional<ParsedPlanText> ReadPlanText(std::string_view text) { return TextReader().Read(text); }

namespace {

constexpr std::size_t kMaxRoles = 5;
constexpr std::size_t kHeadWidth = 12;

class Summary {
 public:
  Summary(const Plan& plan, const PlanSummaryFacts& facts) : plan_(plan), facts_(facts) {}

  std::string Whole() {
    Title();
    Roles();
    Hosts();
    Meshes();
    std::vector<std::string> derived, parameters;
    for (const auto& [name, value] : plan_.derived) {
      // Derived for every recipe with workers of MindSpore; what a job without a pipeline has, is no news.
      const bool usual = name == "pipeline_stages" && value == Value(std::int64_t{1});
      if (!usual) derived.push_back(name + "=" + ToText(value));
    }
    for (const auto& [name, value] : plan_.params) parameters.push_back(name + "=" + ToText(value));
    Items("derived", derived, 2);
    Items("parameters", parameters, 3);
    Besides();
    Example();
    if (facts_.warnings > 0)
      Line("warnings", Counted(facts_.warnings, "warning is", "warnings are") + " printed above");
    Line("", "full plan: --full; one process: --env ROLE:RANK; programs: --json");
    return std::move(text_);
  }

 private:
  // A line truncated to the width.
  void Line(const std::string& head, const std::string& rest) {
    std::string line = Printable(head);
    if (!rest.empty()) {
      line.append(kHeadWidth > Columns(line) ? kHeadWidth - Columns(line) : 1, ' ');
      line += Printable(rest);
    }
    if (Columns(line) > facts_.width) line = std::string(FirstColumns(line, facts_.width - 1)) + "…";
    text_ += line + "\n";
  }

  // Items side by side on at most `most_lines` lines; then the number of omitted ones.
  void Items(const std::string& head, const std::vector<std::string>& items, std::size_t most_lines) {
    std::string line;
    std::string shown_head = head;
    std::size_t lines = 0;
    constexpr std::size_t kForMore = 14;  // "  and 12 more"
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::size_t room = facts_.width - kHeadWidth - (lines + 1 == most_lines ? kForMore : 0);
      if (!line.empty() && Columns(line) + 2 + Columns(Printable(items[i])) > room) {
        if (lines + 1 == most_lines) return Line(shown_head, line + fmt::format("  and {} more", items.size() - i));
        Line(shown_head, line);
        shown_head.clear();
        line.clear();
        ++lines;
      }
      line += (line.empty() ? "" : "  ") + items[i];
    }
    if (!line.empty()) Line(shown_head, line);
  }

  void Title() {
    std::string framework = plan_.framework;
    if (!plan_.mindspore.empty()) framework += " " + plan_.mindspore;
    Line("plan", fmt::format("{}  framework {}  id {}", plan_.name, framework, ShortPlanId(PlanId(plan_))));
    if (!plan_.doc.empty()) Line("", plan_.doc);
  }

  void Roles() {
    struct Counts {
      std::size_t processes = 0;
      std::map<std::uint32_t, std::size_t> on_hosts;
      std::set<std::size_t> devices;
      std::uint32_t world = 0;
      std::vector<std::uint32_t> ranks;
    };
    std::vector<Counts> counts(plan_.roles.size());
    for (const Process& process : plan_.processes) {
      Counts& role = counts[process.role];
      ++role.processes;
      ++role.on_hosts[process.host];
      role.devices.insert(process.devices.size());
      if (process.rank) role.ranks.push_back(*process.rank);
      role.world = process.world_size;
    }
    std::size_t name_width = 0;
    for (const Role& role : plan_.roles) name_width = std::max(name_width, Columns(Printable(role.name)));
    const std::size_t shown = plan_.roles.size() > kMaxRoles ? kMaxRoles - 1 : plan_.roles.size();
    for (std::size_t i = 0; i < shown; ++i) {
      Counts& role = counts[i];
      std::string line = Printable(plan_.roles[i].name);
      line.append(name_width - Columns(line), ' ');
      line += "  " + Counted(role.processes, "process", "processes");
      line += role.on_hosts.size() == 1 ? " on " + plan_.hosts[role.on_hosts.begin()->first].label
                                        : " on " + Counted(role.on_hosts.size(), "host", "hosts");
      if (role.on_hosts.size() > 1) {
        std::set<std::size_t> each;
        for (const auto& [host, number] : role.on_hosts) each.insert(number);
        line += each.size() == 1 ? fmt::format(", {} each", *each.begin())
                                 : fmt::format(", {} to {} each", *each.begin(), *each.rbegin());
      }
      if (role.devices.size() == 1 && *role.devices.begin() > 0) {
        line += ", " + Counted(*role.devices.begin(), "device", "devices") + (role.processes > 1 ? " each" : "");
      } else if (role.devices.size() > 1) {
        line += fmt::format(", {} to {} devices each", *role.devices.begin(), *role.devices.rbegin());
      }
      if (!role.ranks.empty()) {
        std::sort(role.ranks.begin(), role.ranks.end());
        line +=
            fmt::format(", rank{} {} of {}", role.ranks.size() == 1 ? "" : "s", NumberListText(role.ranks), role.world);
      }
      Line(i == 0 ? "roles" : "", line);
    }
    if (shown < plan_.roles.size()) Line("", fmt::format("and {} more roles", plan_.roles.size() - shown));
  }

  void Hosts() {
    // "60 × 8, 4 × 4 devices": runs of equal hosts.
    std::string devices;
    for (std::size_t i = 0; i < plan_.hosts.size();) {
      std::size_t end = i + 1;
      while (end < plan_.hosts.size() && plan_.hosts[end].devices == plan_.hosts[i].devices) ++end;
      devices += fmt::format("{}{} × {}", devices.empty() ? "" : ", ", end - i, plan_.hosts[i].devices);
      i = end;
    }
    std::string line =
        devices + (plan_.device_use.kind.empty() ? " devices" : " devices (" + plan_.device_use.kind + ")");
    const bool none = std::all_of(plan_.processes.begin(), plan_.processes.end(),
                                  [](const Process& process) { return process.devices.empty(); });
    if (none) line = std::to_string(plan_.hosts.size()) + " (no devices are used)";
    std::vector<SiteHost> named;
    for (const PlanHost& host : plan_.hosts) {
      if (!host.name.empty()) named.push_back({host.name, {}, {}});
    }
    if (!named.empty()) line += "  " + HostListText(named);
    Line("hosts", line);
  }

  // Shows the first mesh only; further meshes usually describe parts of it.
  void Meshes() {
    if (facts_.meshes.empty()) return;
    std::string line;
    for (const MeshAxis& axis : facts_.meshes.front())
      line += fmt::format("{}{} {}", line.empty() ? "" : " × ", axis.name, axis.size);
    if (facts_.meshes.size() > 1) line += fmt::format("  and {} more", facts_.meshes.size() - 1);
    Line("mesh", line);
  }

  // Counts of the remaining parts.
  void Besides() {
    std::vector<std::string> parts;
    const auto add = [&parts](std::size_t count, const char* one, const char* many) {
      if (count > 0) parts.push_back(Counted(count, one, many));
    };
    add(plan_.ports.size(), "port", "ports");
    add(plan_.files.size(), "file", "files");
    add(plan_.secrets.size(), "secret", "secrets");
    add(plan_.activation.size(), "activation step", "activation steps");
    add(plan_.notifications.size(), "notification", "notifications");
    if (!plan_.checkpoints.dir.marked.empty()) parts.push_back("checkpoints in " + plan_.checkpoints.dir.marked);
    if (!plan_.pinned.empty()) parts.push_back(Counted(plan_.pinned.size(), "pinned value", "pinned values"));
    Items("also", parts, 1);
  }

  // The first process of the largest role: the others are usually variations of it.
  void Example() {
    if (plan_.processes.empty()) return;
    std::vector<std::size_t> count(plan_.roles.size(), 0);
    for (const Process& process : plan_.processes) ++count[process.role];
    const auto most = static_cast<std::uint32_t>(std::max_element(count.begin(), count.end()) - count.begin());
    const Process& process = *std::find_if(plan_.processes.begin(), plan_.processes.end(),
                                           [most](const Process& one) { return one.role == most; });
    std::string line = ProcessName(plan_, process) + " on " + plan_.hosts[process.host].label;
    if (!process.devices.empty())
      line += (process.devices.size() == 1 ? ", device " : ", devices ") + NumberListText(process.devices);
    if (process.rank) line += fmt::format(", rank {} of {}", *process.rank, process.world_size);
    Line("example", line);
    std::vector<std::string> words;
    for (const Text& word : EffectiveCommand(plan_, process)) words.push_back(word.marked);
    Line("  command",
         plan_.roles[most].shell && !words.empty() ? "/bin/sh -c " + ShellQuoted(words.front()) : ShellQuoted(words));
    if (const Text& cwd = EffectiveCwd(plan_, process); !cwd.marked.empty()) Line("  folder", cwd.marked);
    std::vector<std::string> variables;
    for (const auto& [name, value] : EffectiveEnv(plan_, process)) {
      // Variables that every process of muster has are not specific to this plan.
      const bool usual = name.starts_with("MUSTER_") || name.starts_with("PYTHON");
      if (!usual) variables.push_back(name + "=" + value.marked);
    }
    Items("  variables", variables, 2);
    std::vector<std::string> context;
    for (const auto& [name, value] : EffectiveContext(plan_, process))
      context.push_back(name.substr(name.rfind('.') + 1) + "=" + ToText(value));
    Items("  context", context, 2);
  }

  const Plan& plan_;
  const PlanSummaryFacts& facts_;
  std::string text_;
};

}  // namespace

std::string PlanSummaryText(const Plan& plan, const PlanSummaryFacts& facts) { return Summary(plan, facts).Whole(); }

}  // namespace muster
