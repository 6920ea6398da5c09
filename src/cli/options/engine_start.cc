#include "cli/options/engine_start.h"

#include <cassert>
#include <memory>
#include <string_view>
#include <utility>

#include "engine/engine_calls.h"
#include "plan/environment/inherited_environment.h"

namespace muster {
namespace {

std::string ValueOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& variable : environment) {
    if (variable.starts_with(name) && variable.size() > name.size() && variable[name.size()] == '=') {
      return variable.substr(name.size() + 1);
    }
  }
  return {};
}

// The variables of the caller that the engine's command must not see, as removals.
std::vector<std::string> Removals(const std::vector<std::string>& environment, const std::vector<std::string>& clear) {
  const std::vector<std::string> kept = WithoutVariables(environment, clear);
  std::vector<std::string> removed;
  std::size_t at = 0;
  for (const std::string& variable : environment) {
    if (at < kept.size() && kept[at] == variable) {
      ++at;
    } else {
      removed.push_back(variable.substr(0, variable.find('=')));
    }
  }
  return removed;
}

}  // namespace

Result<DialSettings> DialSettingsFor(EngineChoice engine, const std::string& agent, std::vector<std::string> words,
                                     const std::vector<std::string>& environment) {
  DialSettings settings;
  settings.agent = agent;
  settings.node_variable = engine.page.node_name;
  // The home folder, which nodes of a cluster share; not XDG_RUNTIME_DIR, which is each machine's own.
  const std::string state = ValueOf(environment, "XDG_STATE_HOME");
  const std::string home = ValueOf(environment, "HOME");
  if (!state.starts_with('/') && !home.starts_with('/')) {
    return Fail(MachineError("engine", "neither XDG_STATE_HOME nor HOME is set: agents need a file there",
                             "a folder that all nodes see: XDG_STATE_HOME=/shared/folder"));
  }
  settings.folder = (state.starts_with('/') ? state : home + "/.local/state") + "/muster/dial";
  // What can be wrong with the command does not depend on which hosts it is for.
  const std::vector<std::string> first = {engine.allocation->hosts.front().name};
  if (auto call = StartCall(engine.page, *engine.allocation, first, {"muster-agent", "dial", words}); !call) {
    return Fail(std::move(call.error()));
  }
  std::vector<std::string> removals = Removals(environment, engine.page.clear);
  for (std::string& name : HostVariablesOfCaller(environment)) removals.push_back(std::move(name));
  const auto shared = std::make_shared<const EngineChoice>(std::move(engine));
  if (auto question = QuestionAboutPause(shared->page, shared->allocation->job)) {
    settings.paused = PauseQuestion{{question->call.words, Removals(environment, question->call.clear)},
                                    [shared, phrase = question->phrase](const CommandOutput& output) {
                                      return phrase({output.out, output.err, output.exit_code});
                                    }};
  }
  settings.start = [engine = shared, words = std::move(words),
                    removals = std::move(removals)](const AgentsToStart& agents) {
    auto call = StartCall(engine->page, *engine->allocation, agents.nodes, {agents.agent, agents.dial_file, words});
    assert(call);
    return AgentStart{std::move(call->words), removals};
  };
  return settings;
}

}  // namespace muster
