#include "page/collect/run_plan.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/values/quoting.h"
#include "page/collect/page_content.h"
#include "plan/text/folded_texts.h"
#include "run/directory/private_files.h"
#include "run/directory/run_files.h"
#include "settings/values/value_json.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kMostProcesses = 512;  // whose different values are listed

// Names of the parameters that the command line set, from inputs.json.
std::set<std::string> OverridesOf(int folder) {
  std::set<std::string> names;
  const auto text = ReadFileAt(folder, kInputsEntry.name, kInputsEntry.most);
  const auto json = text ? ValueFromJsonText(*text) : tl::unexpected(std::string());
  const Value* evaluation = json ? FieldOf(*json, "evaluation") : nullptr;
  if (evaluation == nullptr) return names;
  for (const Value& one : ListField(*evaluation, "overrides")) names.insert(TextField(one, "name"));
  return names;
}

Value::List ParametersOf(const Plan& plan, int folder, const std::string& word) {
  const std::set<std::string> overrides = OverridesOf(folder);
  Value::List list;
  const auto add = [&](const std::string& name, const Value& value, const std::string& source) {
    list.emplace_back(Value::Map{
        {"name", TextValue(name)},
        {"text", TextValue(PlainText(value))},
        {"source", TextValue(fmt::format("{}; in full: muster explain {} {}", source, word, ShellQuoted(name)))}});
  };
  for (const auto& [name, value] : plan.params) {
    add(name, value, overrides.contains(name) ? "set on the command line" : "the recipe's value");
  }
  for (const auto& [name, value] : plan.derived) {
    const bool pinned = plan.pinned.contains(name);
    add(name, value,
        pinned ? "pinned, the recipe derives " + PlainText(plan.pinned.at(name)) : "derived by the recipe");
  }
  return list;
}

// A variable over the processes of a role: one text, or a rule and the text of each process.
Value VariableValue(const Plan& plan, const std::vector<ProcessText>& texts, std::size_t processes,
                    const std::string& name, const std::string& word) {
  const std::vector<FoldedText> folded = FoldTexts(plan, texts);
  const bool common = folded.size() == 1 && !folded[0].rule;
  std::string source;
  if (common && texts.size() == processes) {
    source = "the same in all processes of the role";
  } else if (folded.size() == 1 && folded[0].rule) {
    source = "follows from the position of the process: " + folded[0].text;
  } else {
    source = fmt::format("{} different values in {} of {} processes", folded.size(), texts.size(), processes);
  }
  source += fmt::format("; in full: muster explain {} {}", word, ShellQuoted(name));
  Value::List values;
  if (!common) {
    for (std::size_t i = 0; i < std::min(texts.size(), kMostProcesses); ++i) {
      values.emplace_back(
          Value::List{TextValue(ProcessName(plan, plan.processes[texts[i].process])), TextValue(texts[i].text)});
    }
  }
  std::string shown = folded.empty() ? "" : folded[0].text;
  if (folded.size() > 1) shown = fmt::format("{} … ({} values)", shown, folded.size());
  return Value(Value::Map{{"name", TextValue(name)},
                          {"text", TextValue(shown)},
                          {"source", TextValue(source)},
                          {"processes", Value(static_cast<std::int64_t>(common ? 0 : texts.size()))},
                          {"values", Value(std::move(values))}});
}

Value RoleValue(const Plan& plan, std::uint32_t role, const HiddenValues& hidden, const std::string& word) {
  std::size_t processes = 0;
  std::map<std::string, std::vector<ProcessText>> variables;
  std::vector<ProcessText> commands;
  for (std::uint32_t id = 0; id < plan.processes.size(); ++id) {
    if (plan.processes[id].role != role) continue;
    ++processes;
    for (const auto& [name, text] : EffectiveEnv(plan, plan.processes[id])) {
      variables[name].push_back({id, hidden.Shown(name, text.marked)});
    }
    std::vector<std::string> words;
    for (const Text& text : EffectiveCommand(plan, plan.processes[id])) words.push_back(text.marked);
    commands.push_back({id, plan.roles[role].shell && words.size() == 1 ? words[0] : ShellQuoted(words)});
  }
  Value::List environment;
  for (const auto& [name, texts] : variables) {
    environment.push_back(VariableValue(plan, texts, processes, name, word));
  }
  const std::vector<FoldedText> folded = FoldTexts(plan, commands);
  return Value(Value::Map{{"name", TextValue(plan.roles[role].name)},
                          {"kind", TextValue(plan.roles[role].plays)},
                          {"processes", CountValue(processes)},
                          {"command", TextValue(folded.empty() ? "" : folded[0].text)},
                          {"environment", Value(std::move(environment))}});
}

}  // namespace

Value PlanValue(const Plan& plan, int folder, const std::string& word) {
  const HiddenValues hidden(plan, {});
  Value::List roles;
  for (std::uint32_t role = 0; role < plan.roles.size(); ++role) roles.push_back(RoleValue(plan, role, hidden, word));
  return Value(Value::Map{{"parameters", Value(ParametersOf(plan, folder, word))}, {"roles", Value(std::move(roles))}});
}

}  // namespace muster
