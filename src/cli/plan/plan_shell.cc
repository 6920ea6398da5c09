#include "cli/plan/plan_shell.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/values/shell_quote.h"
#include "base/values/suggest.h"
#include "cli/command/print_diagnostics.h"
#include "cli/command/small_file.h"
#include "cli/lookup/stored_recipe.h"
#include "cli/options/wrap_option.h"
#include "plan/text/plan_json.h"
#include "plan/text/shell_text.h"
#include "settings/values/value_field.h"
#include "settings/values/value_json.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

// The binding.json of the run, with the current path of the run directory.
Result<Binding> BindingOfRun(const std::string& run_dir) {
  const auto fail = [&](const std::string& why) {
    return Fail(Error("run", {}, fmt::format("the run {} has no binding: {}", Quoted(run_dir), why),
                      "a run that came to its start has one"));
  };
  const auto text = ReadSmallFile(run_dir + "/" + kBindingEntry.name, kBindingEntry.most);
  if (!text) return fail(text.error());
  const auto json = ValueFromJsonText(*text);
  if (!json) return fail(json.error());
  Binding binding;
  std::error_code error;
  binding.run_id = TextField(*json, "run");
  binding.run_dir = fs::absolute(run_dir, error).lexically_normal();
  binding.checkpoint = TextField(*json, "checkpoint");
  if (const Value* hosts = FieldOf(*json, "hosts"); hosts != nullptr && hosts->AsList() != nullptr) {
    for (const Value& one : *hosts->AsList()) {
      HostBinding& host = binding.hosts.emplace_back(HostBinding{TextField(one, "name"), TextField(one, "address")});
      const Value* devices = FieldOf(one, "devices");
      if (devices == nullptr || devices->AsList() == nullptr) continue;
      for (const Value& device : *devices->AsList()) {
        host.devices.push_back(device.AsString() != nullptr ? *device.AsString() : std::string());
      }
    }
  }
  if (const Value* ports = FieldOf(*json, "ports"); ports != nullptr && ports->AsMap() != nullptr) {
    for (const auto& [name, number] : *ports->AsMap()) {
      if (number.AsInt() != nullptr) binding.ports[name] = static_cast<std::uint16_t>(*number.AsInt());
    }
  }
  return binding;
}

Result<const Process*> Chosen(const Plan& plan, const ShellChoice& choice) {
  std::vector<std::string> roles;
  for (const Role& role : plan.roles) roles.push_back(role.name);
  std::vector<const Process*> chosen;
  bool known = choice.role.empty();
  for (const Process& process : plan.processes) {
    const bool of_role =
        choice.role.empty() ? process.rank.has_value() || !choice.rank : plan.roles[process.role].name == choice.role;
    known = known || of_role;
    if (of_role && (!choice.rank || process.rank.value_or(process.index) == *choice.rank)) chosen.push_back(&process);
  }
  if (chosen.size() == 1) return chosen.front();
  if (!known) {
    return Fail(Error("shell", {}, fmt::format("--role {}: the plan has no such role", Quoted(choice.role)),
                      DidYouMean(choice.role, roles)));
  }
  const std::string example = fmt::format("--role {} --rank 0", plan.roles.back().name);
  if (chosen.empty()) {
    return Fail(Error("shell", {}, fmt::format("--rank {}: no process has it", choice.rank.value_or(0)), example));
  }
  return Fail(Error("shell", {}, fmt::format("--shell is for one process, and these are {}", chosen.size()),
                    "for example " + example));
}

// A bare name that is not on the PATH may be a program beside muster, as for muster run.
std::string ProgramOf(const std::string& word) {
  if (word.empty() || word.find('/') != std::string::npos || word.find(kPlaceholderOpen) != std::string::npos)
    return {};
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string folder(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (::access((folder + "/" + word).c_str(), X_OK) == 0) return {};
  }
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / word;
  return ::access(beside.c_str(), X_OK) == 0 ? beside.string() : std::string();
}

Result<std::string> LineOf(const Plan& plan, const ShellChoice& choice, const Binding* binding) {
  const auto process = Chosen(plan, choice);
  if (!process) return Fail(process.error());
  return ShellLine(plan, **process, {binding, ProgramOf(EffectiveCommand(plan, **process).front().marked)});
}

}  // namespace

Result<std::string> PlanAsShellLine(const RecipeOptions& options, const ShellChoice& choice,
                                    const std::vector<std::string>& wraps) {
  const bool as_it_was = options.overrides.empty() && options.resume.empty() && !HasRecipeChanges(options);
  const auto run_dir = as_it_was ? RunMeant(options.recipe) : std::nullopt;
  if (run_dir) {
    auto stored = PlanOfRun(*run_dir);
    if (!stored) return Fail(stored.error());
    auto binding = BindingOfRun(*run_dir);
    if (!binding) return Fail(binding.error());
    if (auto wrapped = ApplyWraps(stored->plan, wraps); !wrapped) return Fail(wrapped.error());
    return LineOf(stored->plan, choice, &*binding);
  }
  auto evaluation = EvaluateFrom(options);
  if (!evaluation) return Fail(evaluation.error());
  if (auto wrapped = ApplyWraps(evaluation->plan, wraps); !wrapped) return Fail(wrapped.error());
  PrintDiagnostics(evaluation->warnings);
  return LineOf(evaluation->plan, choice, nullptr);
}

}  // namespace muster
