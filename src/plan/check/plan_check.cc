#include "plan/check/plan_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "base/system/host_devices.h"
#include "base/system/host_name.h"
#include "base/values/abnormal_exit.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "plan/environment/environment.h"
#include "plan/hosts/placement.h"
#include "plan/plan/roles.h"

namespace muster {
namespace {

constexpr std::size_t kMaxProblems = 20;
constexpr std::uint64_t kMaxLimitMs = std::uint64_t{1} << 40;  // 34 years; in nanoseconds it still fits into 64 bits
constexpr std::uint32_t kMaxCore = 65'536;
constexpr std::size_t kMaxEndings = 1'000;     // maximum of exit codes and signals that a restart policy names
constexpr std::size_t kMaxActivation = 1'000;  // steps
constexpr std::size_t kMaxNotifications = 64;  // of recipe, site files and command line
constexpr int kMaxValueDepth = 32;             // leaves room for the nesting that a plan's JSON adds around a value

bool IsFilePath(std::string_view path) {
  constexpr std::size_t kMax = 1024;
  if (!path.starts_with("files/") || path.size() > kMax) return false;
  path.remove_prefix(6);
  while (true) {
    const std::size_t slash = path.find('/');
    if (!IsPlanName(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool IsActivation(const ActivationStep& step) {
  constexpr std::size_t kMax = 4096;
  if (step.what.empty() || step.what.size() > kMax) return false;
  return step.kind == ActivationStep::Kind::kSource ? step.what[0] == '/' : step.what[0] != '-';
}

// Facts about a trial's sweep that are known at its start (Binding::sweep).
bool IsSweepFact(std::string_view name) {
  return name == "id" || name == "trial" || name == "attempt" || name == "point";
}

// "set_context.mode", "runtime.set_memory.max_size"
bool IsContextKey(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  if (dot == 0 || dot == std::string_view::npos || dot + 1 == key.size()) return false;
  const bool of_module = key.starts_with("runtime.") || key.starts_with("device_context.");
  if (!of_module && key.find('.') != dot) return false;
  return key.find("..") == std::string_view::npos && std::all_of(key.begin(), key.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '_' || c == '.';
         });
}

class Validation {
 public:
  explicit Validation(const Plan& plan) : plan_(plan) {}

  Diagnostics Run() {
    Names();
    HostsPortsFilesAndSecrets();
    Checkpoints();
    Notifications();
    ContractVariables();
    SiteVariables();
    Activation();
    Roles();
    // The following checks look things up by index.
    if (problems_.empty()) Order();
    if (problems_.empty() && ProcessesAreInPlace()) {
      Worlds();
      Devices();
      for (const Process& process : plan_.processes) Contents(process);
    }
    Sizes();
    return std::move(problems_);
  }

 private:
  enum class Secrets : std::uint8_t { kNowhere, kWhole };
  enum class Inherited : std::uint8_t { kNo, kYes };

  bool full() const { return problems_.size() >= kMaxProblems; }
  void Wrong(const std::string& message) {
    if (!full()) problems_.push_back(Error("plan_invalid", {}, "the plan is not valid: " + message));
  }
  // The name quoted for messages, safe for any content.
  static std::string Shown(std::string_view name) { return Quoted(name.substr(0, 100)); }

  // Checks a text that is shown to users.
  void Plain(std::string_view text, const std::string& what) {
    text_bytes_ += text.size();
    if (!IsVariableValue(text)) Wrong(what + " is not UTF-8 text without zero bytes");
  }

  void Marked(const Text& text, const std::string& what, Secrets secrets, Inherited inherited = Inherited::kNo) {
    if (text.marked.find(kPlaceholderOpen) == std::string::npos) return Plain(text.marked, what);
    Plain(text.marked, what);
    const auto pieces = Pieces(text);
    if (!pieces) return Wrong(what + ": " + pieces.error());
    for (const TextPiece& piece : *pieces) {
      if (!piece.hole) continue;
      const Placeholder& hole = *piece.hole;
      const bool of_host = hole.kind == Placeholder::Kind::kHostName || hole.kind == Placeholder::Kind::kHostAddress ||
                           hole.kind == Placeholder::Kind::kDevices;
      if (hole.kind == Placeholder::Kind::kPort && !plan_.ports.contains(hole.name))
        Wrong(what + " names no port of the plan: " + hole.name);
      if (of_host && hole.host >= plan_.hosts.size())
        Wrong(what + " names no host of the plan: " + std::to_string(hole.host));
      if (hole.kind == Placeholder::Kind::kDevices && hole.host < plan_.hosts.size()) {
        for (const std::uint32_t device : DeviceNumbers(hole.name).value_or(std::vector<std::uint32_t>())) {
          if (device >= plan_.hosts[hole.host].devices)
            Wrong(what + " names device " + std::to_string(device) + ", which its host does not have");
        }
      }
      if (hole.kind == Placeholder::Kind::kSweep && !IsSweepFact(hole.name))
        Wrong(what + " names no fact of a sweep: " + hole.name);
      if (hole.kind == Placeholder::Kind::kInheritedPath && inherited == Inherited::kNo)
        Wrong(what + " is not a variable and cannot append an inherited value");
      if (hole.kind == Placeholder::Kind::kInherited && (inherited == Inherited::kNo || pieces->size() != 1))
        Wrong(what + " is not the whole value of a variable, and cannot be inherited");
      if (hole.kind != Placeholder::Kind::kSecret) continue;
      if (!plan_.secrets.contains(hole.name)) Wrong(what + " names no secret of the plan: " + hole.name);
      if (secrets == Secrets::kNowhere) Wrong(what + " must not hold a secret");
      if (secrets == Secrets::kWhole && pieces->size() != 1) Wrong(what + " holds a secret and something else");
    }
  }

  // `secrets`: nothing for values that are only shown, whose placeholders are never filled. A secret must be a whole
  // value, never a part of a list or map.
  void Holds(const Value& value, const std::string& what, std::optional<Secrets> secrets, int depth = 0) {
    if (depth > kMaxValueDepth) return Wrong(what + " is nested too deeply");
    if (const std::string* text = value.AsString()) {
      if (secrets) {
        Marked(*text, what, *secrets);
      } else {
        Plain(*text, what);
      }
    }
    if (const double* number = value.AsDouble(); number != nullptr && !std::isfinite(*number))
      Wrong(what + " is not finite");
    const auto inside = secrets ? std::optional(Secrets::kNowhere) : std::nullopt;
    if (const Value::List* list = value.AsList()) {
      for (const Value& element : *list) Holds(element, what, inside, depth + 1);
    }
    if (const Value::Map* map = value.AsMap()) {
      for (const auto& [key, mapped] : *map) {
        Plain(key, "a key in " + what);
        Holds(mapped, what, inside, depth + 1);
      }
    }
  }

  void Names() {
    Plain(plan_.name, "its name");
    if (!plan_.name.empty() && !IsRunName(plan_.name)) Wrong("its name is not a valid run name: " + Shown(plan_.name));
    Plain(plan_.framework, "its framework");
    Plain(plan_.mindspore, "its release");
    Plain(plan_.doc, "its doc");
    for (const std::uint64_t limit : {plan_.time_limit_ms, plan_.start_limit_ms, plan_.silent_limit_ms}) {
      if (limit > kMaxLimitMs) Wrong("one of its limits is too long");
    }
    for (const std::string& profile : plan_.profiles) Plain(profile, "the name of a profile");
    for (const auto* values : {&plan_.params, &plan_.derived, &plan_.pinned}) {
      for (const auto& [name, value] : *values) {
        Plain(name, "the name of a parameter");
        Holds(value, "the parameter or derived value " + Shown(name), std::nullopt);
      }
    }
  }

  void HostsPortsFilesAndSecrets() {
    std::set<std::string_view> labels;
    for (const PlanHost& host : plan_.hosts) {
      if (host.label.empty() || !labels.insert(host.label).second)
        Wrong("two hosts have the label " + Shown(host.label) + ", or it is empty");
      Plain(host.label, "the label of a host");
      if (!host.label.empty() && !IsHostName(host.label)) Wrong("a host has an invalid label: " + Shown(host.label));
      if (!host.name.empty() && !IsHostName(host.name)) Wrong("a host has an invalid name: " + Shown(host.name));
    }
    for (const auto& [name, port] : plan_.ports) {
      if (!IsPlanName(name)) Wrong("a port has an invalid name: " + Shown(name));
      if (port.host >= plan_.hosts.size()) Wrong("port " + Shown(name) + " is on no host of the plan");
      Plain(port.owner, "the owner of port " + Shown(name));
      if (!port.owner.empty()) owners_.insert(port.owner);
    }
    for (const auto& [name, secret] : plan_.secrets) {
      if (!IsPlanName(name)) Wrong("a secret has an invalid name: " + Shown(name));
      const bool from_env = IsVariableName(secret.from_env) && secret.from_file.empty();
      const bool from_file = secret.from_env.empty() && secret.from_file.starts_with('/');
      if (!from_env && !from_file) Wrong("secret " + Shown(name) + " has no source, or two");
      Plain(secret.from_file, "the source of secret " + Shown(name));
    }
    for (const auto& [path, file] : plan_.files) {
      if (!IsFilePath(path)) Wrong("a file has an invalid path: " + Shown(path));
      Marked(file.content, "file " + Shown(path), Secrets::kWhole);
    }
  }

  // A text of a notification: plain, or as a whole a secret of its own.
  void Sent(const Notification& notification, const std::string& text, const std::string& what) {
    if (text.find(kPlaceholderOpen) == std::string::npos) return Plain(text, what);
    Plain(text, what);
    const auto pieces = Pieces(Text(text));
    if (!pieces) return Wrong(what + ": " + pieces.error());
    const std::optional<Placeholder>& hole = pieces->front().hole;
    if (pieces->size() != 1 || !hole || hole->kind != Placeholder::Kind::kSecret)
      return Wrong(what + " holds a value that is known only at the start");
    if (!notification.secrets.contains(hole->name)) Wrong(what + " names no secret of its own: " + hole->name);
  }

  void Notifications() {
    if (plan_.notifications.size() > kMaxNotifications) Wrong("it has too many notifications");
    for (const Notification& notification : plan_.notifications) {
      const std::string what = "a notification";
      if (notification.command.empty() == notification.webhook.marked.empty())
        Wrong(what + " needs either a command or a webhook");
      for (const Text& word : notification.command) {
        Plain(word.marked, "the command of " + what);
        if (word.marked.find(kPlaceholderOpen) != std::string::npos)
          Wrong("the command of " + what + " holds a value that is known only at the start");
      }
      Sent(notification, notification.webhook.marked, "the webhook of " + what);
      for (const auto& [name, text] : notification.env) {
        if (!IsVariableName(name)) Wrong(what + " sets an invalid variable: " + Shown(name));
        Sent(notification, text, "the variable " + Shown(name) + " of " + what);
      }
      for (const auto& [name, secret] : notification.secrets) {
        Plain(secret.from_file, "the source of a secret of " + what);
        if (!(IsVariableName(secret.from_env) ? secret.from_file.empty() : !secret.from_file.empty()))
          Wrong("secret " + Shown(name) + " of " + what + " has no source, or two");
      }
      for (const std::string& event : notification.on) Plain(event, "an event of " + what);
      Plain(notification.source, "the source of " + what);
    }
  }

  // They become part of a file of a rehearsal, in which placeholders are filled.
  void ContractVariables() {
    for (const ContractVariable& variable : plan_.contract) {
      const std::string what = "variable " + Shown(variable.name) + " of the contract";
      const auto check = [&](std::string_view text) {
        Plain(text, what);
        if (text.find(kPlaceholderOpen) != std::string_view::npos) Wrong(what + " contains a placeholder");
      };
      if (!IsVariableName(variable.name)) Wrong(what + " has no valid name");
      check(variable.name);
      check(variable.of);
      for (const std::string& role : variable.roles) check(role);
      for (const auto& [role, word] : variable.words) {
        check(role);
        check(word);
      }
    }
  }

  void Checkpoints() {
    const CheckpointPlace& place = plan_.checkpoints;
    if (place.dir.marked.empty()) return;
    static const std::string kBelowRun = PlaceholderText({Placeholder::Kind::kRunDir, {}, 0}) + '/';
    if (!place.dir.marked.starts_with('/') && !place.dir.marked.starts_with(kBelowRun))
      Wrong("the checkpoint folder is not an absolute path");
    Marked(place.dir, "the checkpoint folder", Secrets::kNowhere);
    if (place.latest.empty() == place.file.empty())
      Wrong("exactly one of `latest` and `file` must define the newest checkpoint");
    for (const std::string* path : {&place.latest, &place.file, &place.complete}) {
      Plain(*path, "a checkpoint path");
      if (path->starts_with('/') || ("/" + *path + "/").find("/../") != std::string::npos)
        Wrong("a checkpoint path leads out of the checkpoint folder");
    }
  }

  void SiteVariables() {
    for (const auto& [name, value] : plan_.site_environment.set) {
      if (!IsVariableName(name)) Wrong("the site sets a variable with the name " + Shown(name));
      Plain(value, "the site's variable " + Shown(name));
      if (value.find(kPlaceholderOpen) != std::string::npos)
        Wrong("the site's variable " + Shown(name) + " contains a placeholder");
    }
    for (const auto* patterns : {&plan_.site_environment.unset, &plan_.site_environment.pass}) {
      for (const std::string& pattern : *patterns) {
        if (!IsVariableName(pattern)) Wrong("the site names a variable " + Shown(pattern));
        Plain(pattern, "the name of a variable");
      }
    }
  }

  // Values that become arguments of shell commands must not look like options.
  void Activation() {
    if (plan_.activation.size() > kMaxActivation) Wrong("it has too many activation steps");
    for (const ActivationStep& step : plan_.activation) {
      const std::string what = std::string(ActivationKindName(step.kind)) + " " + Shown(step.what);
      Plain(step.what, "the activation " + what);
      if (step.what.find(kPlaceholderOpen) != std::string::npos)
        Wrong("the activation " + what + " contains a placeholder");
      if (!IsActivation(step)) Wrong("the activation " + what + " is not an absolute path, or not a valid name");
    }
  }

  void Roles() {
    std::set<std::string_view> names;
    for (const Role& role : plan_.roles) {
      const std::string who = "role " + Shown(role.name);
      if (!IsPlanName(role.name)) Wrong("a role has an invalid name: " + Shown(role.name));
      if (!names.insert(role.name).second) Wrong("two roles are named " + Shown(role.name));
      Plain(role.plays, "what " + who + " plays");
      Plain(role.world, "the world of " + who);
      if (role.stop.signal.starts_with("SIG") || !SignalNumber(role.stop.signal))
        Wrong(who + " stops by an unknown signal");
      if (const std::string& asks = role.stop.checkpoint_signal;
          !asks.empty() && (asks.starts_with("SIG") || !SignalNumber(asks) || role.stop.checkpoint_ms > kMaxLimitMs))
        Wrong(who + " has an unknown checkpoint signal, or too long a time for it");
      if (role.shell && role.command.size() > 1) Wrong(who + " has more than one text for its shell");
      Policies(role, who);
      Cores(role.cores, who);
      ContainerOf(role, who);
      Command(role.command, who);
      Marked(role.cwd, "the folder of " + who, Secrets::kNowhere);
      for (const std::string& pattern : role.unset) {
        const bool ends = pattern.ends_with('*');
        const std::string_view prefix = std::string_view(pattern).substr(0, pattern.size() - (ends ? 1 : 0));
        if (pattern != "*" && !IsVariableName(prefix)) Wrong(who + " unsets " + Shown(pattern));
        text_bytes_ += pattern.size();
      }
      Environment(role.env, who);
      Context(role.context, who);
    }
  }

  void Policies(const Role& role, const std::string& who) {
    for (std::size_t i = 0; i < role.after.size(); ++i) {
      if (role.after[i] >= plan_.roles.size() || (i > 0 && role.after[i - 1] >= role.after[i]))
        Wrong(who + " starts after an unknown role, or twice after the same one");
    }
    for (const std::uint64_t limit : {role.limits.time_ms, role.limits.silent_ms, role.restart.within_ms}) {
      if (limit > kMaxLimitMs) Wrong("a limit of " + who + " is too long");
    }
    if (role.limits.log_bytes != 0 && (role.limits.log_bytes < kMinLogBytes || role.limits.log_bytes > kMaxLogBytes))
      Wrong("the limit of the logs of " + who + " is less than 1 MiB or more than 1 PiB");
    Marked(role.ready.what, "the readiness of " + who, Secrets::kNowhere);
    Command(role.ready.command, "the readiness of " + who);
    if ((role.ready.kind == Readiness::Kind::kCommand) == role.ready.command.empty())
      Wrong("the readiness of " + who + " has no command, or has one although its kind is not command");
    if (role.ready.every_ms == 0) Wrong("the readiness of " + who + " is checked without an interval");
    if (role.restart.codes.size() + role.restart.signals.size() > kMaxEndings)
      Wrong(who + " restarts after too many exit codes and signals");
    for (const std::string& signal : role.restart.signals) {
      if (signal.starts_with("SIG") || !SignalNumber(signal)) Wrong(who + " restarts after an unknown signal");
    }
    for (const std::int32_t code : role.restart.codes) {
      if (code < 0 || code > 255) Wrong(who + " restarts after an impossible exit code");
    }
  }

  // `after` must have no cycle, so that every role can start.
  void Order() {
    enum class Seen : std::uint8_t { kNot, kOpen, kDone };
    std::vector<Seen> seen(plan_.roles.size(), Seen::kNot);
    std::vector<std::pair<std::uint32_t, std::size_t>> path;
    for (std::uint32_t first = 0; first < plan_.roles.size(); ++first) {
      if (seen[first] != Seen::kNot) continue;
      path.push_back({first, 0});
      seen[first] = Seen::kOpen;
      while (!path.empty()) {
        auto& [role, next] = path.back();
        if (next == plan_.roles[role].after.size()) {
          seen[role] = Seen::kDone;
          path.pop_back();
          continue;
        }
        const std::uint32_t other = plan_.roles[role].after[next++];
        if (seen[other] == Seen::kOpen) return Wrong("role " + Shown(plan_.roles[role].name) + " waits for itself");
        if (seen[other] == Seen::kDone) continue;
        seen[other] = Seen::kOpen;
        path.push_back({other, 0});
      }
    }
  }

  void ContainerOf(const Role& role, const std::string& who) {
    const Container& container = role.container;
    if (container.image.marked.empty()) {
      if (container != Container{}) Wrong("the container of " + who + " has no image");
      return;
    }
    const std::string what = "the container of " + who;
    Marked(container.image, what, Secrets::kNowhere);
    for (const ContainerMount& mount : container.mounts) {
      Marked(mount.source, what, Secrets::kNowhere);
      Marked(mount.target, what, Secrets::kNowhere);
    }
    for (const Text& option : container.options) Marked(option, what, Secrets::kNowhere);
    const ContainerRuntime& runtime = container.runtime;
    if (runtime.run.empty()) Wrong(what + " has no runtime");
    for (const auto* words :
         {&runtime.run, &runtime.mount, &runtime.variable, &runtime.value, &runtime.own, &runtime.devices,
          &runtime.descriptors, &runtime.output, &runtime.terminal, &runtime.remove}) {
      for (const std::string& word : *words) Plain(word, "a word of " + what);
    }
    Plain(runtime.script, "the script of " + what);
  }
  void Command(const std::vector<Text>& command, const std::string& who) {
    for (const Text& word : command) Marked(word, "the command of " + who, Secrets::kNowhere);
  }
  void Environment(const Variables& env, const std::string& who) {
    for (const auto& [name, value] : env) {
      if (!IsVariableName(name)) Wrong(who + " has a variable with the name " + Shown(name));
      text_bytes_ += name.size();
      Marked(value, name, Secrets::kWhole, Inherited::kYes);
    }
  }
  void Context(const ContextValues& context, const std::string& who) {
    for (const auto& [key, value] : context) {
      if (!IsContextKey(key)) Wrong(who + " has a context attribute " + Shown(key));
      Holds(value, key, Secrets::kWhole);
    }
  }

  bool ProcessesAreInPlace() {
    if (plan_.processes.size() > kMaxProcesses)
      Wrong("it has more than " + std::to_string(kMaxProcesses) + " processes");
    std::uint32_t role = 0;
    std::uint32_t index = 0;
    for (const Process& process : plan_.processes) {
      if (process.role >= plan_.roles.size() || process.host >= plan_.hosts.size()) {
        Wrong("a process has no role or no host of the plan");
        return false;
      }
      if (process.role != role) index = 0;
      if (process.role < role || process.index != index++) {
        Wrong("its processes are not in order at " + ProcessName(plan_, process));
        return false;
      }
      role = process.role;
      if (const auto owner = owners_.find(ProcessName(plan_, process)); owner != owners_.end()) owners_.erase(owner);
    }
    for (const std::string& owner : owners_) Wrong("a port belongs to no process of the plan: " + Shown(owner));
    return true;
  }

  // Ranks of a world are 0 … size - 1, each once, and all processes have the same world size.
  void Worlds() {
    std::map<std::string_view, std::vector<const Process*>> worlds;
    for (const Process& process : plan_.processes) {
      const std::string& world = plan_.roles[process.role].world;
      const bool ranked = process.rank.has_value();
      if (ranked == world.empty() || (!ranked && process.world_size != 0)) {
        Wrong(ProcessName(plan_, process) + " has a rank and no world, or a world and no rank");
      } else if (ranked) {
        worlds[world].push_back(&process);
      }
      if (process.local_rank >= process.local_size) Wrong(ProcessName(plan_, process) + " has an invalid local rank");
      if (process.stage > process.rank.value_or(0) || process.rank_in_stage > process.rank.value_or(0)) {
        Wrong(ProcessName(plan_, process) + " has an invalid stage");
      }
    }
    for (const auto& [world, members] : worlds) {
      std::vector<bool> seen(members.size());
      for (const Process* process : members) {
        const std::uint32_t rank = *process->rank;
        if (process->world_size != members.size() || rank >= members.size() || seen[rank]) {
          Wrong("the ranks of world " + Shown(world) + " are not 0 to " + std::to_string(members.size() - 1) +
                ", each once");
          break;
        }
        seen[rank] = true;
      }
    }
  }

  void Cores(const CoreUse& cores, const std::string& who) {
    const bool counts = cores.kind == CoreUse::Kind::kCount;
    const bool lists = cores.kind == CoreUse::Kind::kList;
    const bool ascends =
        std::adjacent_find(cores.list.begin(), cores.list.end(), std::greater_equal<>()) == cores.list.end();
    if (counts == (cores.count == 0) || lists == cores.list.empty() || !ascends ||
        (lists && cores.list.back() >= kMaxCore) || cores.count > kMaxCore)
      Wrong(who + " has an invalid number or list of cores");
  }

  void Devices() {
    const DeviceUse& use = plan_.device_use;
    if (!use.kind.empty() && DeviceKindNamed(use.kind) == nullptr)
      Wrong("there are no devices of kind " + Shown(use.kind));
    if (std::adjacent_find(use.given.begin(), use.given.end(), std::greater_equal<>()) != use.given.end())
      Wrong("the selected devices are not in ascending order");
    for (const PlanHost& host : plan_.hosts) {
      if (!use.given.empty() && host.devices != use.given.size())
        Wrong("host " + Shown(host.label) + " does not have as many devices as are given");
    }
    std::vector<std::uint64_t> given;
    for (const Process& process : plan_.processes) {
      for (const std::uint32_t device : process.devices) {
        if (device >= plan_.hosts[process.host].devices) {
          Wrong(ProcessName(plan_, process) + " has device " + std::to_string(device) +
                ", which its host does not have");
        }
        given.push_back((std::uint64_t{process.host} << 32) | device);
      }
    }
    std::sort(given.begin(), given.end());
    if (std::adjacent_find(given.begin(), given.end()) != given.end()) Wrong("a device is given twice");
  }

  void Contents(const Process& process) {
    const std::string who = ProcessName(plan_, process);
    const std::vector<Text>& command = EffectiveCommand(plan_, process);
    const bool shell = plan_.roles[process.role].shell;
    if (command.empty() || command.front().marked.empty()) Wrong(who + " has no command");
    if (shell && command.size() > 1) Wrong(who + " has more than one text for its shell");
    if (process.command) Command(*process.command, who);
    if (process.cwd) Marked(*process.cwd, "the folder of " + who, Secrets::kNowhere);
    if (process.ready_what) Marked(*process.ready_what, "the readiness of " + who, Secrets::kNowhere);
    Environment(process.env, who);
    Context(process.context, who);
  }

  void Sizes() {
    if (text_bytes_ > kMaxPlanBytes)
      Wrong("it holds more than " + std::to_string(kMaxPlanBytes >> 20) + " MiB of text");
  }

  const Plan& plan_;
  std::set<std::string> owners_;  // ports not yet claimed by their owner
  std::size_t text_bytes_ = 0;
  Diagnostics problems_;
};

}  // namespace

Diagnostics ValidatePlan(const Plan& plan) { return Validation(plan).Run(); }

bool IsPlanName(std::string_view name) {
  constexpr std::size_t kMax = 128;
  if (name.empty() || name.size() > kMax || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsLetterOrDigit(c) || c == '_' || c == '.' || c == '-'; });
}

namespace {

tl::unexpected<Diagnostics> Refused(std::string message, std::string hint) {
  return Fail(Error("wrap", {}, std::move(message), std::move(hint)));
}

bool IsPython(std::string_view program) { return program.substr(program.rfind('/') + 1).starts_with("python"); }

// Whether the words run a module of Python that takes a script, as in "python3 -m pdb": the command's own interpreter
// would be taken for the script.
bool TakesScript(const std::vector<std::string>& words, const std::vector<Text>& command) {
  return words.size() > 2 && IsPython(words.front()) && words[words.size() - 2] == "-m" && command.size() > 1 &&
         IsPython(command[0].marked) && !command[1].marked.starts_with('-');
}

}  // namespace

Result<Wrapping> ParseWrapping(std::string_view text) {
  const auto bad = [&](const std::string& why) {
    return Refused("cannot read the wrap " + Quoted(text) + ": " + why,
                   "for example: --wrap worker:3='gdb --args', or without a number for all of the role");
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return bad("there is no '='");
  const std::string_view whom = text.substr(0, equals);
  const std::size_t colon = whom.find(':');
  Wrapping wrapping;
  wrapping.role = whom.substr(0, colon);
  if (colon != std::string_view::npos) {
    const std::string_view digits = whom.substr(colon + 1);
    wrapping.index = ParseNumber<std::uint32_t>(digits);
    if (!wrapping.index) return bad(Quoted(digits) + " is not a number of a process");
  }
  tl::expected<std::vector<std::string>, std::string> words = ShellWords(text.substr(equals + 1));
  if (!words) return bad(words.error());
  if (words->empty()) return bad("there are no words to put before the command");
  wrapping.words = std::move(*words);
  return wrapping;
}

Result<void> Wrap(Plan& plan, const Wrapping& wrapping) {
  std::vector<std::string> names;
  std::uint32_t role = 0;
  for (const Role& each : plan.roles) names.push_back(each.name);
  while (role < names.size() && names[role] != wrapping.role) ++role;
  if (role == names.size()) {
    return Refused("there is no role " + Quoted(wrapping.role) + " to wrap", DidYouMean(wrapping.role, names));
  }
  std::vector<Process*> members;
  for (Process& process : plan.processes) {
    if (process.role == role) members.push_back(&process);
  }
  if (wrapping.index.value_or(0) >= members.size()) {
    return Refused(
        "there is no process " + wrapping.role + "." + std::to_string(wrapping.index.value_or(0)) + " to wrap",
        members.empty() ? "the role has no processes" : "the last one is " + ProcessName(plan, *members.back()));
  }
  // Writes out /bin/sh -c: with other words before it, the command is no longer a single shell text.
  const std::vector<Text> before = plan.roles[role].shell ? std::vector<Text>{"/bin/sh", "-c"} : std::vector<Text>{};
  for (Process* process : members) {
    std::vector<Text> command = before;
    const bool wrapped = !wrapping.index || process->index == *wrapping.index;
    if (wrapped) command.insert(command.begin(), wrapping.words.begin(), wrapping.words.end());
    const std::vector<Text>& own = EffectiveCommand(plan, *process);
    const bool is_script = wrapped && before.empty() && TakesScript(wrapping.words, own);
    command.insert(command.end(), own.begin() + (is_script ? 1 : 0), own.end());
    process->command = std::move(command);
  }
  plan.roles[role].shell = false;
  Fold(plan);
  if (Diagnostics problems = ValidatePlan(plan); HasErrors(problems)) return Fail(std::move(problems));
  return {};
}

}  // namespace muster
