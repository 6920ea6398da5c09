#include "plan/environment/python_path.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace muster {
namespace {

constexpr char kVariable[] = "PYTHONPATH";

const std::string& Folder() {
  static const std::string kFolder =
      PlaceholderText({Placeholder::Kind::kRunDir, {}, 0}) + '/' + std::string(kPythonFolder);
  return kFolder;
}

// "train.py", also within a shell text: "cd src && ./train.py --lr 0.1".
bool NamesScript(std::string_view word) {
  constexpr std::string_view kEnding = ".py";
  for (std::size_t at = word.find(kEnding); at != word.npos; at = word.find(kEnding, at + 1)) {
    const std::size_t after = at + kEnding.size();
    if (after == word.size() || std::string_view(" \t\n;&|)'\"").find(word[after]) != std::string_view::npos)
      return true;
  }
  return false;
}

// Programs that are scripts of Python themselves, or start one that their other words name without its ending.
bool IsPythonProgram(std::string_view word) {
  static constexpr std::string_view kPrograms[] = {"accelerate", "deepspeed", "horovodrun", "ipython",
                                                   "jupyter",    "msrun",     "pytest",     "torchrun"};
  word.remove_prefix(word.rfind('/') == word.npos ? 0 : word.rfind('/') + 1);
  return std::any_of(std::begin(kPrograms), std::end(kPrograms), [&](std::string_view name) { return word == name; });
}

}  // namespace

Text PythonPath(PythonUse use) {
  switch (use) {
    case PythonUse::kNone:
      return {};
    case PythonUse::kOffered:
      return Folder();
    case PythonUse::kApplied:
      // The folder with the sitecustomize module first: that module then loads the one after it.
      return Folder() + "/site:" + Folder();
  }
  return {};
}

PythonUse PythonUseOf(const Variables& env) {
  const auto path = env.find(kVariable);
  if (path == env.end()) return PythonUse::kNone;
  for (const PythonUse use : {PythonUse::kApplied, PythonUse::kOffered}) {
    if (path->second.marked.starts_with(PythonPath(use).marked)) return use;
  }
  return PythonUse::kNone;
}

bool WantsPython(const Plan& plan) {
  const auto wants = [](const auto& holder) { return PythonUseOf(holder.env) != PythonUse::kNone; };
  return std::any_of(plan.roles.begin(), plan.roles.end(), wants) ||
         std::any_of(plan.processes.begin(), plan.processes.end(), wants);
}

bool RunsPython(const std::vector<Text>& command) {
  if (command.empty()) return false;
  std::string_view program = command.front().marked;
  program.remove_prefix(program.rfind('/') == std::string_view::npos ? 0 : program.rfind('/') + 1);
  return program.starts_with("python") || program.ends_with(".py");
}

bool MentionsPython(const std::vector<Text>& command) {
  return RunsPython(command) || std::any_of(command.begin(), command.end(), [](const Text& word) {
           const std::string_view text = word.marked;
           return text.find("python") != std::string_view::npos || NamesScript(text) || IsPythonProgram(text);
         });
}

}  // namespace muster
