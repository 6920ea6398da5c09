#include "run/start/start_commands.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/values/parse_number.h"
#include "base/values/shell_quote.h"
#include "plan/environment/environment.h"
#include "plan/text/shell_text.h"
#include "run/directory/log_path.h"
#include "run/start/container_call.h"

namespace muster {
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
