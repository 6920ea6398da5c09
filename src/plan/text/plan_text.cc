#include "plan/text/plan_text.h"

#include "base/values/fingerprint.h"
#include "base/values/number_list.h"
#include "base/values/shell_quote.h"
#include "plan/plan/policy_names.h"
#include "plan/plan/rank_owner.h"

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

}  // namespace muster
