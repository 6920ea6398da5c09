#include "leaks/own_names.h"

#include <cctype>
#include <cstdint>
#include <map>
#include <utility>

#include "muster/value.h"
#include "plan/text/folded_texts.h"

namespace muster {
namespace {

bool IsOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

// Removes paths of the folder: they are allowed there.
std::string WithoutFolder(std::string text, const std::string& folder) {
  if (folder.size() < 2) return text;
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
    text.erase(at, folder.size());
  }
  return text;
}

}  // namespace

bool HoldsWord(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !IsOfWord(text[at - 1])) && (end == text.size() || !IsOfWord(text[end]))) return true;
  }
  return false;
}

std::vector<NameOccurrence> FindOwnNames(const Plan& plan, const std::vector<OwnName>& names,
                                         const std::string& folder) {
  std::vector<NameOccurrence> found;
  // by place in a process: the processes that have it there
  std::vector<std::map<std::pair<std::size_t, std::string>, std::vector<std::uint32_t>>> of_role(plan.roles.size());
  const auto look = [&](const std::string& given, const auto& tell) {
    const std::string text = WithoutFolder(given, folder);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (HoldsWord(text, names[i].name)) tell(i);
    }
  };
  for (std::uint32_t p = 0; p < plan.processes.size(); ++p) {
    const Process& process = plan.processes[p];
    const Role& role = plan.roles[process.role];
    const auto of_process = [&](const std::string& text, const std::string& where) {
      look(text, [&](std::size_t name) {
        std::vector<std::uint32_t>& having = of_role[process.role][{name, where}];
        if (having.empty() || having.back() != p) having.push_back(p);
      });
    };
    const std::vector<Text>& command = EffectiveCommand(plan, process);
    for (std::size_t i = 0; i < command.size(); ++i) {
      of_process(command[i].marked, "word " + std::to_string(i + 1) + " of the command");
    }
    of_process((process.cwd ? *process.cwd : role.cwd).marked, "cwd");
    for (const auto* env : {&role.env, &process.env}) {
      for (const auto& [name, text] : *env) of_process(text.marked, "variable " + name);
    }
  }
  for (const auto& places : of_role) {
    for (const auto& [place, processes] : places) {
      found.push_back({names[place.first], ProcessesText(plan, processes) + ": " + place.second});
    }
  }
  for (const auto& [name, value] : plan.derived) {
    look(ToText(value), [&, derived = name](std::size_t i) {
      found.push_back({names[i], "derived value " + derived});
    });
  }
  for (const auto& [path, file] : plan.files) {
    look(file.content.marked, [&, name = path](std::size_t i) { found.push_back({names[i], "file " + name}); });
  }
  return found;
}

}  // namespace muster
