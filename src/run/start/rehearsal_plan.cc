#include "run/start/rehearsal_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/values/abnormal_exit.h"
#include "base/values/quoting.h"
#include "plan/plan/roles.h"
#include "stub/records/stub_facts.h"
#include "stub/records/stub_failure.h"

namespace muster {
namespace {

// The agent's own program, whatever its name and path on its host: in the child that the agent forks, this link still
// refers to it. Decision 41.
constexpr const char* kAgentItself = "/proc/self/exe";
constexpr const char* kStubWord = "--stub";
constexpr std::uint32_t kMoreForEach = 10;     // ms
constexpr std::uint64_t kMoreForAll = 30'000;  // added to the stubs' limit for the whole rehearsal
constexpr std::uint32_t kStubGrace = 2'000;

// The text, escaped so that no part of it is read as a placeholder.
Text Literal(std::string_view content) {
  const std::string literal = PlaceholderText({Placeholder::Kind::kLiteral, {}, 0});
  std::string text;
  for (std::size_t found = 0; (found = content.find(kPlaceholderOpen)) != std::string_view::npos;) {
    text.append(content.substr(0, found)).append(literal);
    content.remove_prefix(found + kPlaceholderOpen.size());
  }
  return Text(text.append(content));
}

std::string PortName(std::size_t process) { return fmt::format("rehearsal.{}", process); }
std::string PortPlaceholder(const std::string& name) { return PlaceholderText({Placeholder::Kind::kPort, name, 0}); }

StubFacts FactsOf(const Plan& plan, const RehearsalSettings& settings) {
  StubFacts facts;
  facts.run = PlaceholderText({Placeholder::Kind::kRunId, {}, 0});
  facts.framework = plan.framework;
  facts.contract = settings.contract;
  if (!plan.contract.empty()) facts.contract = plan.contract;
  facts.device_kind = plan.device_use.kind;
  facts.within_ms = settings.within_ms + static_cast<std::uint32_t>(plan.processes.size()) * kMoreForEach;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    facts.addresses.push_back(PlaceholderText({Placeholder::Kind::kHostAddress, {}, host}));
  std::set<std::uint32_t> hosts;
  std::set<std::pair<std::uint32_t, std::uint32_t>> roles;
  std::set<std::uint32_t> with_workers;
  for (std::size_t i = 0; i < plan.processes.size(); ++i) {
    const Process& process = plan.processes[i];
    const Role& role = plan.roles[process.role];
    StubPeer peer;
    peer.name = ProcessName(plan, process);
    peer.plays = role.plays;
    peer.world = role.world;
    peer.host = process.host;
    peer.rank = process.rank;
    peer.world_size = process.world_size;
    peer.local_rank = process.local_rank;
    peer.local_size = process.local_size;
    peer.first_of_host = hosts.insert(process.host).second;
    peer.first_of_role = roles.emplace(process.host, process.role).second;
    peer.hello = PortPlaceholder(PortName(i));
    if (role.plays == "worker") {
      ++facts.workers;
      with_workers.insert(process.host);
    }
    if (role.plays == "server") ++facts.servers;
    facts.processes.push_back(std::move(peer));
  }
  facts.worker_hosts = static_cast<std::uint32_t>(with_workers.size());
  for (const auto& [name, port] : plan.ports) {
    const auto owner = std::find_if(
        facts.processes.begin(), facts.processes.end(),
        [&port = port](const StubPeer& peer) { return peer.name == port.owner && peer.host == port.host; });
    if (owner != facts.processes.end()) owner->ports.push_back(PortPlaceholder(name));
  }
  return facts;
}

std::vector<Text> StubWords(const Plan& plan, std::size_t number, const RehearsalSettings& settings) {
  const Process& process = plan.processes[number];
  std::vector<Text> words = {
      kAgentItself, kStubWord,
      "--facts",    Text(PlaceholderText({Placeholder::Kind::kRunDir, {}, 0}) + "/" + kRehearsalFacts),
      "--process",  Text(std::to_string(number))};
  for (const std::string& folder : settings.search_dirs) {
    words.emplace_back("--beside");
    words.push_back(Literal(folder));
  }
  // The stub runs outside the container, where it can look for the runtime, and not for the files of the command.
  if (const Container& container = plan.roles[process.role].container; !container.image.marked.empty()) {
    words.insert(words.end(), {"--", Literal(container.runtime.run.front())});
    return words;
  }
  const bool shell = plan.roles[process.role].shell;
  if (shell) words.emplace_back("--shell");
  words.emplace_back("--");
  if (shell) words.insert(words.end(), {"/bin/sh", "-c"});
  const std::vector<Text>& command = EffectiveCommand(plan, process);
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace

Plan RehearsalPlan(Plan plan, const RehearsalSettings& settings) {
  const StubFacts facts = FactsOf(plan, settings);
  std::vector<std::vector<Text>> commands;
  for (std::size_t i = 0; i < plan.processes.size(); ++i) commands.push_back(StubWords(plan, i, settings));
  for (std::size_t i = 0; i < plan.processes.size(); ++i) {
    Process& process = plan.processes[i];
    process.command = std::move(commands[i]);
    process.ready_what.reset();
    plan.ports.insert_or_assign(PortName(i), PlanPort{process.host, 0, ProcessName(plan, process)});
  }
  for (Role& role : plan.roles) {
    role.command.clear();
    role.shell = false;
    role.container = {};
    role.ending = Ending::kAll;
    role.stop = {"TERM", kStubGrace};
    role.after.clear();
    role.ready = {};
    role.restart = {};
    role.limits = {};
  }
  plan.files.insert_or_assign(kRehearsalFacts, PlanFile{Text(StubFactsText(facts))});
  plan.time_limit_ms = facts.within_ms + kMoreForAll;
  plan.start_limit_ms = 0;
  plan.silent_limit_ms = 0;
  Fold(plan);
  return plan;
}

namespace {

// "exception@40", of the process itself; of the others "wait@40" at the first step that one of them fails to do.
std::string DefectWord(const std::string& name, const std::vector<TrainingSettings::Defect>& defects) {
  const TrainingSettings::Defect* of_other = nullptr;
  for (const TrainingSettings::Defect& defect : defects) {
    if (defect.process == name) return fmt::format("{}@{}", defect.failure, defect.step);
    if (of_other == nullptr || defect.step < of_other->step) of_other = &defect;
  }
  return of_other == nullptr
             ? std::string()
             : fmt::format("{}@{}", kStubFailureNames[static_cast<std::size_t>(StubFailure::kWait)], of_other->step);
}

}  // namespace

tl::expected<Plan, std::string> TrainingStubPlan(Plan plan, const TrainingSettings& settings) {
  const CheckpointPlace& place = plan.checkpoints;
  if (place.latest.find_first_of("?[") != std::string::npos) {
    return tl::unexpected(
        fmt::format("stubs cannot write checkpoints whose names match {}, only those of a pattern "
                    "with `*` alone",
                    Quoted(place.latest)));
  }
  std::string dir = place.dir.marked;
  if (!dir.empty() && !dir.starts_with('/') && !dir.starts_with(kPlaceholderOpen))
    dir = PlaceholderText({Placeholder::Kind::kRunDir, {}, 0}) + "/" + dir;
  const auto writer = std::find_if(plan.processes.begin(), plan.processes.end(),
                                   [&](const Process& process) { return plan.roles[process.role].plays == "worker"; });
  for (auto process = plan.processes.begin(); process != plan.processes.end(); ++process) {
    const Role& role = plan.roles[process->role];
    const bool brief = role.ready.kind == Readiness::Kind::kDone;
    const bool writes = process == writer && !dir.empty();
    const std::string name = ProcessName(plan, *process);
    const bool counts = !brief && role.ending != Ending::kNever;
    const bool defective = std::any_of(settings.defects.begin(), settings.defects.end(),
                                       [&](const auto& defect) { return defect.process == name; });
    process->command = {kAgentItself,
                        kStubWord,
                        kTrainingOption,
                        role.ending == Ending::kNever ? "-" : std::to_string(brief ? 0 : settings.steps),
                        std::to_string(settings.step_ms),
                        std::to_string(settings.every),
                        std::to_string(SignalNumber(role.stop.checkpoint_signal).value_or(0)),
                        writes ? dir : std::string(),
                        place.latest.empty() ? std::string("step_*") : place.latest,
                        place.file,
                        place.complete,
                        dir.empty() ? std::string() : PlaceholderText({Placeholder::Kind::kNewestCheckpoint, {}, 0}),
                        counts || defective ? DefectWord(name, settings.defects) : std::string()};
    process->ready_what.reset();
  }
  for (Role& role : plan.roles) {
    role.command.clear();
    role.shell = false;
    role.container = {};
    if (role.ready.kind != Readiness::Kind::kDone) role.ready = {};
  }
  Fold(plan);
  return plan;
}

bool IsRehearsalPlan(const Plan& plan) {
  return std::any_of(plan.processes.begin(), plan.processes.end(), [&plan](const Process& process) {
    const std::vector<Text>& words = EffectiveCommand(plan, process);
    return words.size() > 1 && words[0] == Text(kAgentItself) && words[1] == Text(kStubWord);
  });
}

std::vector<Text> RehearsedWords(const Plan& rehearsal, const Process& process) {
  const std::vector<Text>& words = EffectiveCommand(rehearsal, process);
  const auto dashes = std::find(words.begin(), words.end(), Text("--"));
  return dashes == words.end() ? std::vector<Text>() : std::vector<Text>(dashes + 1, words.end());
}

}  // namespace muster
