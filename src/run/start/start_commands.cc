#include "run/start/start_commands.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "plan/environment/environment.h"
#include "plan/text/shell_text.h"
#include "run/directory/process_output.h"

namespace muster {
namespace {

using Words = std::vector<std::string>;

// Runs the script, which may put words before the others, and then the runtime's program in its place.
constexpr const char* kBeforeScript = "program=$1 verb=$2; shift 2; ";
constexpr const char* kAfterScript = "exec \"$program\" \"$verb\" \"$@\"";

bool IsOwn(const ContainerRuntime& runtime, std::string_view name) {
  return std::find(runtime.own.begin(), runtime.own.end(), name) != runtime.own.end();
}

// Text for the name of a container, or the value of its label.
std::string NameText(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_') c = '-';
  }
  return name;
}

using Values = std::map<std::string_view, std::string>;

// The word with each {key} replaced; values are not searched again.
std::string Replaced(std::string_view word, const Values& values) {
  std::string text;
  while (!word.empty()) {
    const std::size_t close = word.front() == '{' ? word.find('}') : std::string_view::npos;
    const auto found = close == std::string_view::npos ? values.end() : values.find(word.substr(1, close - 1));
    if (found == values.end()) {
      text += word.front();
      word.remove_prefix(1);
    } else {
      text += found->second;
      word.remove_prefix(close + 1);
    }
  }
  return text;
}

void Append(const Words& templates, const Values& values, Words& words) {
  for (const std::string& word : templates) words.push_back(Replaced(word, values));
}

// A folder in the path, or the path itself.
bool IsAtOrBelow(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

struct FilledMount {
  std::string source;
  std::string target;
  bool read_only = false;
};

class CallWriter {
 public:
  CallWriter(const ContainerCall& call, StartProcess& start)
      : call_(call),
        container_(call.role.container),
        runtime_(container_.runtime),
        start_(start),
        values_{{"name", ContainerName(call.plan, call.process, call.binding.run_id, call.attempt)},
                {"run", NameText(call.binding.run_id)},
                {"cwd", start.cwd}} {}

  Result<void> Write() {
    if (Result<std::string> image = Filled(container_.image)) {
      values_["image"] = std::move(*image);
    } else {
      return Fail(std::move(image.error()));
    }
    if (Result<void> read = Options(); !read) return read;
    if (Result<void> mounted = Mounts(); !mounted) return mounted;
    if (Result<void> given = GiveVariables(); !given) return given;
    lists_["{devices}"] = runtime_.devices;
    lists_["{output}"] = call_.terminal ? runtime_.terminal : runtime_.output;
    if (!start_.passed.empty()) {
      Append(runtime_.descriptors, {{"count", std::to_string(start_.passed.size())}}, lists_["{descriptors}"]);
    }
    Words words;
    if (!runtime_.script.empty()) words = {"/bin/sh", "-c", kBeforeScript + runtime_.script + kAfterScript, "sh"};
    for (const std::string& word : runtime_.run) {
      if (const auto list = lists_.find(word); list != lists_.end()) {
        words.insert(words.end(), list->second.begin(), list->second.end());
      } else {
        words.push_back(Replaced(word, values_));
      }
    }
    words.insert(words.end(), std::make_move_iterator(start_.argv.begin()), std::make_move_iterator(start_.argv.end()));
    start_.argv = std::move(words);
    GiveRemoval();
    return {};
  }

 private:
  Result<std::string> Filled(const Text& text) const { return FillPlaceholders(text, call_.binding, call_.attempt); }

  Result<void> Options() {
    for (const Text& option : container_.options) {
      Result<std::string> filled = Filled(option);
      if (!filled) return Fail(std::move(filled.error()));
      lists_["{options}"].push_back(std::move(*filled));
    }
    return {};
  }

  // The user's mounts, then muster's, at the same path as outside.
  Result<void> Mounts() {
    std::vector<FilledMount> mounts;
    for (const ContainerMount& mount : container_.mounts) {
      Result<std::string> source = Filled(mount.source);
      if (!source) return Fail(std::move(source.error()));
      Result<std::string> target = Filled(mount.target);
      if (!target) return Fail(std::move(target.error()));
      mounts.push_back({std::move(*source), std::move(*target), mount.read_only});
    }
    for (const std::string& folder : {start_.cwd, call_.binding.run_dir, call_.binding.files_dir, call_.code}) {
      // The root folder is the image's own.
      if (folder.empty() || folder == "/") continue;
      const bool there = std::any_of(mounts.begin(), mounts.end(), [&](const FilledMount& mount) {
        return mount.target == folder ||
               (mount.source == mount.target && !mount.read_only && IsAtOrBelow(folder, mount.target));
      });
      if (!there) mounts.push_back({folder, folder, false});
    }
    for (const FilledMount& mount : mounts) {
      Append(runtime_.mount,
             {{"source", mount.source}, {"target", mount.target}, {"mode", mount.read_only ? "ro" : "rw"}},
             lists_["{mounts}"]);
    }
    return {};
  }

  Result<void> GiveVariables() {
    Process all = call_.process;
    for (const auto& [name, text] : call_.role.env) all.env.emplace(name, text);
    Result<Words> filled = ComposeOwnEnvironment(call_.inherited, call_.role, all, call_.binding, call_.attempt);
    if (!filled) return Fail(std::move(filled.error()));
    // Variables of a sweep are in no plan.
    Result<Words> of_sweep = ComposeRoleEnvironment({}, Role{}, call_.binding, call_.attempt);
    if (!of_sweep) return Fail(std::move(of_sweep.error()));
    filled->insert(filled->end(), of_sweep->begin(), of_sweep->end());
    AddSiteVariables(all.env, *filled);
    for (const std::string& variable : *filled) {
      const std::string name = variable.substr(0, variable.find('='));
      if (!runtime_.variable_prefix.empty()) {
        start_.env.push_back(runtime_.variable_prefix + variable);
      } else if (!IsOwn(runtime_, name)) {
        Append(runtime_.variable, {{"variable", name}}, lists_["{variables}"]);
      } else if (const auto own = all.env.find(name);
                 own != all.env.end() && own->second.marked.find("${muster:secret:") != std::string::npos) {
        return Fail(
            Error("container", {},
                  fmt::format("{} of role {} is a secret, and {} has no other way to set it in a container than "
                              "its command line, which others can read",
                              name, call_.role.name, runtime_.name),
                  "pass the secret in another variable"));
      } else {
        Append(runtime_.value, {{"variable", name}, {"value", variable.substr(name.size() + 1)}},
               lists_["{variables}"]);
      }
    }
    return {};
  }

  // What the site sets is the lowest layer: the plan shows it, so it also holds inside.
  void AddSiteVariables(const Variables& higher, Words& variables) const {
    for (const auto& [name, value] : call_.plan.site_environment.set) {
      const bool removed = std::any_of(call_.role.unset.begin(), call_.role.unset.end(),
                                       [&](const std::string& pattern) { return Matches(pattern, name); });
      if (!removed && !higher.contains(name)) variables.push_back(name + '=' + value);
    }
  }

  // The command runs in the agent's environment, and needs those of its variables that the runtime had.
  void GiveRemoval() {
    if (runtime_.remove.empty()) return;
    start_.remove = {"/usr/bin/env"};
    for (const std::string& variable : call_.inherited) {
      if (IsOwn(runtime_, variable.substr(0, variable.find('=')))) start_.remove.push_back(variable);
    }
    Append(runtime_.remove, values_, start_.remove);
  }

  const ContainerCall& call_;
  const Container& container_;
  const ContainerRuntime& runtime_;
  StartProcess& start_;
  Values values_;
  std::map<std::string, Words> lists_ = {{"{mounts}", {}},      {"{variables}", {}}, {"{devices}", {}},
                                         {"{descriptors}", {}}, {"{output}", {}},    {"{options}", {}}};
};

}  // namespace

Result<void> PutIntoContainer(const ContainerCall& call, StartProcess& start) {
  if (call.role.container.image.marked.empty()) return {};
  return CallWriter(call, start).Write();
}

Role RoleOutside(Role role) {
  if (role.container.image.marked.empty()) return role;
  for (const std::string& name : role.container.runtime.own) {
    role.env.erase(name);
    std::erase_if(role.unset, [&](const std::string& pattern) { return Matches(pattern, name); });
  }
  return role;
}

std::string ContainerName(const Plan& plan, const Process& process, const std::string& run_id, std::uint32_t attempt) {
  return NameText(fmt::format("muster-{}-{}.{}", run_id, ProcessName(plan, process), attempt));
}

namespace {

// Whether a value shared by the role differs between attempts: then it cannot be part of a block that is sent once.
bool ChangesByAttempt(const Text& text) {
  static const std::array<std::string, 3> kPlaceholders = {
      PlaceholderText({Placeholder::Kind::kAttempt, {}, 0}), PlaceholderText({Placeholder::Kind::kCheckpoint, {}, 0}),
      PlaceholderText({Placeholder::Kind::kNewestCheckpoint, {}, 0})};
  return std::any_of(kPlaceholders.begin(), kPlaceholders.end(), [&](const std::string& placeholder) {
    return text.marked.find(placeholder) != std::string::npos;
  });
}

}  // namespace

StartCommands::StartCommands(const Plan& plan, const Binding& binding, const CallerEnvironment& surroundings)
    : plan_(plan), binding_(binding), surroundings_(surroundings) {
  std::map<std::uint32_t, ProcessId> first;                            // the first process of each host
  std::map<std::pair<std::uint32_t, std::string>, ProcessId> by_name;  // of hosts that hold ports
  std::set<std::uint32_t> holding;
  for (const auto& [name, port] : plan.ports) holding.insert(port.host);
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    const Process& process = plan.processes[id];
    if (holding.count(process.host) == 0) continue;
    first.emplace(process.host, id);
    by_name.emplace(std::pair{process.host, ProcessName(plan, process)}, id);
  }
  for (const auto& [name, port] : plan.ports) {
    if (const auto owner = by_name.find({port.host, port.owner}); owner != by_name.end()) {
      ports_[owner->second].released.push_back(name);
      ports_[owner->second].own.push_back(name);
    } else if (const auto any = first.find(port.host); any != first.end()) {
      ports_[any->second].released.push_back(name);
    }
  }
}

Result<StartProcess> StartCommands::Of(ProcessId id, std::uint32_t attempt, bool terminal) const {
  const Process& process = plan_.processes[id];
  const Role& role = plan_.roles[process.role];
  StartProcess start;
  start.process = id;
  start.attempt = attempt;
  start.environment = process.role;
  start.search_dirs = surroundings_.search_dirs;
  start.log_path = fmt::format("{}/{}", binding_.run_dir, LogPath(plan_, id, attempt));
  start.log_limit = role.limits.log_bytes;

  std::vector<Text> words;
  if (role.shell) words = {"/bin/sh", "-c"};
  for (const Text& word : EffectiveCommand(plan_, process)) {
    words.emplace_back(surroundings_.Led(process.host, word.marked));
  }
  for (std::size_t word = 0; word < words.size(); ++word) {
    Result<std::string> filled = FillWord(words, word, binding_, attempt);
    if (!filled) return Fail(std::move(filled.error()));
    start.argv.push_back(std::move(*filled));
  }
  Result<std::string> cwd = Filled(process, EffectiveCwd(plan_, process), attempt);
  if (!cwd) return Fail(std::move(cwd.error()));
  if (cwd->starts_with('/')) {
    start.cwd = std::move(*cwd);
  } else {
    start.cwd = surroundings_.Led(process.host,
                                  cwd->empty() ? surroundings_.cwd : fmt::format("{}/{}", surroundings_.cwd, *cwd));
  }

  Process own = process;
  if (attempt > 0) {
    for (const auto& [name, value] : role.env) {
      if (ChangesByAttempt(value)) own.env.emplace(name, value);  // the block contains the value of the first attempt
    }
  }
  if (surroundings_.code.contains(process.host)) surroundings_.Lead(process.host, own.env);
  for (const std::string& name : role.container.runtime.own) own.env.erase(name);
  Result<std::vector<std::string>> env =
      ComposeOwnEnvironment(surroundings_.Inherited(process.host), role, own, binding_, attempt);
  if (!env) return Fail(std::move(env.error()));
  start.env = std::move(*env);

  for (const auto& [name, number] : SecretDescriptors(plan_, process)) {
    const auto secret = binding_.secrets.find(name);
    if (secret == binding_.secrets.end()) {
      return Fail(Error("binding", {},
                        fmt::format("the context of {} has no secret {}", ProcessName(plan_, process), Quoted(name))));
    }
    start.passed.push_back({number, secret->second});
  }
  if (!role.container.image.marked.empty()) {
    const Role inside = RoleOn(surroundings_, process.host, role);
    Process led = process;
    if (surroundings_.code.contains(process.host)) surroundings_.Lead(process.host, led.env);
    const auto code = surroundings_.code.find(process.host);
    const std::string folder = code == surroundings_.code.end() ? std::string() : code->second.folder();
    Result<void> put = PutIntoContainer(
        {plan_, led, inside, binding_, attempt, surroundings_.Inherited(process.host), folder, terminal}, start);
    if (!put) return Fail(std::move(put.error()));
  }

  if (const auto cores = binding_.cores.find(id); cores != binding_.cores.end()) start.cores = cores->second;

  const std::vector<HostBinding>& hosts = binding_.hosts;
  for (const std::uint32_t number : process.devices) {
    if (process.host >= hosts.size() || number >= hosts[process.host].devices.size()) continue;
    start.devices.push_back(hosts[process.host].devices[number]);
  }

  Result<ReadyWhen> ready = ReadyOf(process, attempt);
  if (!ready) return Fail(std::move(ready.error()));
  start.ready = std::move(*ready);

  if (const auto ports = ports_.find(id); ports != ports_.end()) {
    start.release_ports = ports->second.released;
    start.own_ports = ports->second.own;
  }
  return start;
}

Result<std::string> StartCommands::Filled(const Process& process, const Text& text, std::uint32_t attempt) const {
  return FillPlaceholders(Text(surroundings_.Led(process.host, text.marked)), binding_, attempt);
}

Result<ReadyWhen> StartCommands::ReadyOf(const Process& process, std::uint32_t attempt) const {
  const Readiness& readiness = plan_.roles[process.role].ready;
  ReadyWhen when;
  Result<std::string> what = Filled(process, EffectiveReadyWhat(plan_, process), attempt);
  if (!what) return Fail(std::move(what.error()));
  switch (readiness.kind) {
    case Readiness::Kind::kStarted:
    case Readiness::Kind::kDone:
      return when;
    case Readiness::Kind::kPort: {
      when.kind = ReadyWhen::Kind::kPort;
      when.port = ParseNumber<std::uint16_t>(*what).value_or(0);
      if (when.port == 0) return Fail(Error("ready", {}, fmt::format("{} is not a port to wait for", Quoted(*what))));
      return when;
    }
    case Readiness::Kind::kFile:
      when.kind = ReadyWhen::Kind::kFile;
      when.text = std::move(*what);
      return when;
    case Readiness::Kind::kLine:
      when.kind = ReadyWhen::Kind::kLine;
      when.text = std::move(*what);
      return when;
    case Readiness::Kind::kCommand:
      when.kind = ReadyWhen::Kind::kCommand;
      when.every_ms = readiness.every_ms;
      for (const Text& word : readiness.command) {
        Result<std::string> filled = Filled(process, word, attempt);
        if (!filled) return Fail(std::move(filled.error()));
        when.argv.push_back(std::move(*filled));
      }
      return when;
  }
  return when;
}

}  // namespace muster
