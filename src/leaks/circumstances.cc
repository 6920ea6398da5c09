#include "leaks/circumstances.h"

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/system/host_name.h"
#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "leaks/own_names.h"
#include "plan/text/plan_diff.h"
#include "plan/text/plan_diff_text.h"
#include "settings/parameters/nudge.h"

namespace muster {
namespace {

constexpr std::size_t kMostChanges = 4;  // reported for one leak

// Locales with a comma as decimal point, dots between thousands, a dotless i, another sort order.
constexpr const char* kLocales[] = {"C.UTF-8",     "de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8", "da_DK.UTF-8",
                                    "en_US.UTF-8", "ja_JP.UTF-8", "de_DE",       "tr_TR"};

struct FreeLocale {
  void operator()(locale_t locale) const { freelocale(locale); }
};

// The first place where a file of the recipe has the word.
Place FirstMention(const Evaluation& evaluation, const std::string& recipe_file, const std::string& word) {
  const std::filesystem::path folder = std::filesystem::path(recipe_file).parent_path();
  for (const auto& [path, text] : evaluation.sources) {
    std::uint32_t line = 1;
    for (std::size_t begin = 0; begin < text.size(); ++line) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view said = std::string_view(text).substr(begin, end - begin);
      const bool is_comment = said.substr(std::min(said.find_first_not_of(" \t"), said.size())).starts_with("--");
      if (!is_comment && HoldsWord(said, word)) return {folder / path, line};
      begin = end + 1;
    }
  }
  return {};
}

std::optional<Evaluation> Another(const EvaluationOptions& options, Found& found, Diagnostics* problems = nullptr) {
  ++found.evaluations;
  auto evaluation = EvaluateRecipe(options);
  if (evaluation) return *std::move(evaluation);
  if (problems != nullptr) *problems = std::move(evaluation.error());
  return std::nullopt;
}

std::vector<Note> NotesOfProblems(const Diagnostics& problems) {
  std::vector<Note> notes;
  for (const Diagnostic& problem : problems) {
    if (problem.severity == Severity::kError && notes.size() < kMostChanges) {
      notes.push_back({"there: " + problem.message, problem.place});
    }
  }
  return notes;
}

// The plan under other conditions: a leak if it differs, or fails.
void Compare(Found& found, const Evaluation& as_it_is, const std::optional<Evaluation>& other,
             const Diagnostics& problems, Diagnostic leak) {
  if (!other) {
    leak.notes = NotesOfProblems(problems);
  } else {
    leak.notes = NotesOfChanges(as_it_is.plan, other->plan);
    if (leak.notes.empty()) return;
  }
  found.leaks.push_back(std::move(leak));
}

// As text, in the form of a variable.
std::string VariableText(const Value& value) { return value.AsString() != nullptr ? *value.AsString() : ToText(value); }

}  // namespace

std::vector<Note> NotesOfChanges(const Plan& a, const Plan& b) {
  std::vector<Note> notes;
  for (std::string& line : ChangeLines(DiffPlans(a, b), kMostChanges)) notes.push_back({std::move(line), {}});
  return notes;
}

std::vector<std::string> OtherLocales() {
  std::vector<std::string> locales;
  for (const char* name : kLocales) {
    const std::unique_ptr<std::remove_pointer_t<locale_t>, FreeLocale> known(newlocale(LC_ALL_MASK, name, nullptr));
    if (known) locales.emplace_back(name);
  }
  return locales;
}

Found UnderOtherLocales(const EvaluationOptions& options, const Evaluation& as_it_is,
                        const std::vector<std::string>& locales) {
  Found found;
  for (const std::string& locale : locales) {
    EvaluationOptions other = options;
    other.locale = locale;
    Diagnostics problems;
    const auto evaluation = Another(other, found, &problems);
    Compare(found, as_it_is, evaluation, problems,
            Error("leak", {options.recipe_file, 0}, "the plan depends on the locale: it is another one under " + locale,
                  "string.format and tostring write numbers the same way everywhere"));
  }
  return found;
}

Found UnderOtherVariables(const EvaluationOptions& options, const Evaluation& as_it_is) {
  Found found;
  for (const ParameterState& state : as_it_is.parameters) {
    const Parameter& parameter = state.parameter;
    if (parameter.from_env.empty() || !state.active || parameter.type == ParameterType::kSecret) continue;
    // A value from the command line or a profile hides the variable here, but not for other users.
    EvaluationOptions other = options;
    other.profiles.clear();
    std::erase_if(other.overrides, [&](const Override& given) {
      return given.name == parameter.name || parameter.name.ends_with("." + given.name);
    });
    const auto bare = Another(other, found);
    if (!bare) continue;
    Value value = state.value ? *state.value : parameter.default_value.value_or(Value());
    for (const Value& nudged : Nudges(parameter, value)) {
      other.variable = [&](const std::string& name) -> std::optional<std::string> {
        if (name == parameter.from_env) return VariableText(nudged);
        const char* own = std::getenv(name.c_str());
        return own == nullptr ? std::nullopt : std::optional<std::string>(own);
      };
      const auto evaluation = Another(other, found);
      if (!evaluation || DiffPlans(bare->plan, evaluation->plan).empty()) continue;
      const char* here = std::getenv(parameter.from_env.c_str());
      Compare(
          found, *bare, evaluation, {},
          Warning("leak", parameter.place,
                  "the plan depends on the variable " + parameter.from_env + " of the caller: parameter " +
                      parameter.name + " takes its value from it",
                  (here == nullptr ? "it is not set here; set, it" : "here it is " + Quoted(here) + "; another value") +
                      std::string(" gives another plan. A profile or " + parameter.name + "=… makes it explicit")));
      break;
    }
  }
  return found;
}

Found OnOtherMachines(const EvaluationOptions& options, const Evaluation& as_it_is) {
  Found found;
  const auto on = [&](const Site& site, const std::string& message, const char* word, const std::string& hint) {
    if (site == options.site) return;
    EvaluationOptions other = options;
    other.rules.clear();  // rules check what will run here, not elsewhere
    other.site = site;
    Place place = word == nullptr ? Place() : FirstMention(as_it_is, options.recipe_file, word);
    if (place.file.empty()) place = {options.recipe_file, 0};
    Diagnostics problems;
    const auto evaluation = Another(other, found, &problems);
    Compare(found, as_it_is, evaluation, problems, Warning("leak", place, message, hint));
  };
  Site memory = options.site;
  memory.host_memory_bytes = memory.host_memory_bytes / 2 + (std::uint64_t{1} << 30);
  on(memory, "the plan depends on the memory of the machine on which it is made", "host_memory",
     "a parameter of type bytes makes it explicit");
  Site devices = options.site;
  devices.host_devices += 8;
  on(devices, "the plan depends on how many devices the machine has on which it is made", nullptr,
     "cluster = { devices_per_host = 8 } makes it explicit");
  Site kind = options.site;
  kind.device_kind = kind.device_kind == "cuda" ? "ascend" : "cuda";
  on(kind, "the plan depends on the kind of devices that the machine has on which it is made", nullptr,
     "cluster = { device_kind = \"cuda\" } makes it explicit");
  return found;
}

Found OwnNamesIn(const EvaluationOptions& options, const Evaluation& as_it_is) {
  constexpr std::size_t kShortest = 3;  // shorter names are taken for ordinary words
  Found found;
  std::vector<OwnName> names;
  const auto add = [&](const char* what, const std::string& name) {
    if (name.size() >= kShortest && name != "localhost" && name != "/root") names.push_back({what, name});
  };
  add("the name of this machine", OwnHostName());
  if (const char* home = std::getenv("HOME")) add("the caller's home folder", home);
  // The user specified these hosts explicitly.
  std::erase_if(names, [&](const OwnName& own) {
    return std::any_of(as_it_is.plan.hosts.begin(), as_it_is.plan.hosts.end(),
                       [&](const PlanHost& host) { return host.name == own.name; });
  });
  const std::string folder = std::filesystem::absolute(options.recipe_file).parent_path().lexically_normal();
  for (const NameOccurrence& one : FindOwnNames(as_it_is.plan, names, folder)) {
    const auto known = std::find_if(found.leaks.begin(), found.leaks.end(), [&](const Diagnostic& leak) {
      return leak.message.find(one.own.what) != std::string::npos;
    });
    if (known != found.leaks.end()) {
      known->notes.push_back({one.where, {}});
      continue;
    }
    Place place = FirstMention(as_it_is, options.recipe_file, one.own.name);
    if (place.file.empty()) place = {options.recipe_file, 0};
    Diagnostic leak = Warning("leak", place, "the plan has " + one.own.what + " in it: " + Quoted(one.own.name),
                              "process.host.name is the name of the host on which a process starts");
    leak.notes.push_back({one.where, {}});
    found.leaks.push_back(std::move(leak));
  }
  return found;
}

}  // namespace muster
