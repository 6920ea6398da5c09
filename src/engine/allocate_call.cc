#include "engine/allocate_call.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/values/shell_quote.h"
#include "engine/batch_script.h"
#include "engine/command_template.h"

namespace muster {
namespace {

constexpr std::size_t kLongestJob = 64;

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
  if (end == std::string_view::npos || end > kLongestJob) return {};
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

}  // namespace muster
