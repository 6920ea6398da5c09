#include "plan/check/wrap.h"

#include "base/values/parse_number.h"
#include "base/values/shell_quote.h"
#include "base/values/suggest.h"
#include "plan/check/plan_check.h"
#include "plan/plan/fold.h"

namespace muster {
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
