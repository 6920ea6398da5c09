#include "explain/hidden_inputs.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "base/system/clock.h"
#include "base/system/host_name.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "muster/value.h"
#include "plan/text/folded_texts.h"
#include "plan/text/plan_diff.h"
#include "plan/text/plan_text.h"
#include "settings/values/parameter.h"

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

NondeterminismCause JudgeRepeats(std::span<const RepeatedPlan> plans, const LatePlans& late) {
  const RepeatedPlan& one = plans.front();
  const bool like_others = std::all_of(plans.begin(), plans.end(), [&](const RepeatedPlan& other) {
    return other.first == one.first && other.again == one.again;
  });
  if (like_others) {
    if (one.first != one.again) return NondeterminismCause::kState;
    return late.other == one.first ? NondeterminismCause::kNo : NondeterminismCause::kClock;
  }
  const bool like_themselves =
      std::all_of(plans.begin(), plans.end(), [](const RepeatedPlan& each) { return each.first == each.again; });
  // Interpreters differ. A clock also changes the plans of one that is asked again later, however long the others took.
  return like_themselves && late.first == one.first ? NondeterminismCause::kSeed : NondeterminismCause::kClock;
}

namespace {

// Evaluates a recipe under other conditions (locales, variables, another machine) and reports differences of the plan.
// Each check is one or a few evaluations; nothing on this machine is changed.

// Findings, as diagnostics of kind "leak", and the number of attempts.
struct Found {
  Diagnostics leaks;
  std::size_t evaluations = 0;
};

// The differences, as notes of a diagnostic.
std::vector<Note> NotesOfChanges(const Plan& a, const Plan& b);

constexpr std::size_t kMaxChanges = 4;  // reported for one leak

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
    if (problem.severity == Severity::kError && notes.size() < kMaxChanges) {
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

std::vector<Note> NotesOfChanges(const Plan& a, const Plan& b) {
  std::vector<Note> notes;
  for (std::string& line : ChangeLines(DiffPlans(a, b), kMaxChanges)) notes.push_back({std::move(line), {}});
  return notes;
}

// The installed ones of a few locales that format numbers, sort or change case differently from "C".
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
    Compare(
        found, as_it_is, evaluation, problems,
        Error("leak", {options.recipe_file, 0}, "the plan depends on the locale: with " + locale + " it is different",
              "string.format and tostring write numbers the same way everywhere"));
  }
  return found;
}

// Changes each variable that is the source of a parameter, in turn.
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

// A machine with other memory, and one with other devices.
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

// Names of this machine and its user in the plan, with the files that contain them if known.
Found OwnNamesIn(const EvaluationOptions& options, const Evaluation& as_it_is) {
  constexpr std::size_t kMin = 3;  // shorter names are taken for ordinary words
  Found found;
  std::vector<OwnName> names;
  const auto add = [&](const char* what, const std::string& name) {
    if (name.size() >= kMin && name != "localhost" && name != "/root") names.push_back({what, name});
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

// The order of four keys is the same in all of them by chance only once in many thousand times.
constexpr int kInterpreters = 6;
constexpr std::uint64_t kLaterNs = 1'100'000'000;  // a clock with a resolution of one second has advanced

// Equal if and only if the plans are, derived values included.
std::string TextOf(const Result<Evaluation>& evaluation) {
  if (evaluation) return PlanId(evaluation->plan) + ToText(Value(Value::Map(evaluation->plan.derived)));
  std::string text;
  for (const Diagnostic& problem : evaluation.error()) text += problem.kind + ": " + problem.message + "\n";
  return text;
}

Diagnostic UnsteadyLeak(NondeterminismCause what, const std::string& recipe_file) {
  const Place place{recipe_file, 0};
  switch (what) {
    case NondeterminismCause::kState:
      return Error("leak", place,
                   "the plan function keeps something from one call to the next: its second plan differs",
                   "create its state in each call: local variables inside the function");
    case NondeterminismCause::kSeed:
      return Error("leak", place,
                   "the plan is another one in each interpreter: it depends on the order of a table's keys, or on an "
                   "address",
                   "pairs of a recipe goes in the order of the keys; something goes around it");
    default:
      return Error("leak", place, "the plan is another one each time it is made: it depends on the time, or on chance",
                   "a recipe knows no clock; something lets one in");
  }
}

class Repeats {
 public:
  explicit Repeats(const EvaluationOptions& options) : options_(options), began_ns_(MonotonicNowNs()) {
    for (int i = 0; i < kInterpreters; ++i) {
      Evaluator other;
      Evaluator& evaluator = i == 0 ? first_ : other;
      auto first = evaluator.Evaluate(options_);
      auto again = evaluator.Evaluate(options_, i > 0);
      plans_.push_back({TextOf(first), TextOf(again)});
      Keep(std::move(first));
      Keep(std::move(again));
    }
  }

  // Waits until enough time has passed.
  void PlanLater() {
    const std::uint64_t now = MonotonicNowNs();
    if (now < began_ns_ + kLaterNs) std::this_thread::sleep_for(std::chrono::nanoseconds(began_ns_ + kLaterNs - now));
    auto late = EvaluateRecipe(options_);
    auto again = first_.Evaluate(options_, true);
    late_ = {.first = TextOf(again), .other = TextOf(late)};
    Keep(std::move(late));
    Keep(std::move(again));
  }

  Diagnostics Leaks() const {
    const NondeterminismCause what = JudgeRepeats(plans_, late_);
    if (what == NondeterminismCause::kNo) return {};
    Diagnostic leak = UnsteadyLeak(what, options_.recipe_file);
    if (one_ && other_) leak.notes = NotesOfChanges(one_->plan, other_->plan);
    for (const Diagnostic& problem : problems_) {
      if (problem.severity == Severity::kError) leak.notes.push_back({"once: " + problem.message, problem.place});
    }
    return {leak};
  }

  std::size_t evaluations() const { return 2 * kInterpreters + 2; }

 private:
  // Keeps the first plan, the first that differs, and the first failure.
  void Keep(Result<Evaluation> evaluation) {
    if (!evaluation) {
      if (problems_.empty()) problems_ = std::move(evaluation.error());
    } else if (!one_) {
      one_ = *std::move(evaluation);
    } else if (!other_ && TextOf(evaluation) != TextOf(*one_)) {
      other_ = *std::move(evaluation);
    }
  }

  const EvaluationOptions& options_;
  std::uint64_t began_ns_;
  Evaluator first_;
  std::vector<RepeatedPlan> plans_;
  LatePlans late_;
  std::optional<Evaluation> one_;
  std::optional<Evaluation> other_;
  Diagnostics problems_;
};

std::vector<CheckedProfile> CheckProfiles(const EvaluationOptions& options, const Evaluation& as_it_is) {
  std::vector<CheckedProfile> profiles;
  Evaluator evaluator;
  for (const ProfileFacts& facts : as_it_is.profiles) {
    EvaluationOptions other = options;
    other.profiles = {facts.name};
    auto evaluation = evaluator.Evaluate(other);
    CheckedProfile& profile = profiles.emplace_back(CheckedProfile{facts.name, facts.place, {}, {}});
    profile.problems = evaluation ? std::move(evaluation->warnings) : std::move(evaluation.error());
    if (evaluation) profile.plan_id = PlanId(evaluation->plan);
  }
  return profiles;
}

}  // namespace

DeepCheck CheckDeeply(const EvaluationOptions& given, const Evaluation& as_it_is,
                      const std::function<void(const std::string& step)>& on_step) {
  EvaluationOptions options = given;
  options.on_print = nullptr;  // print only once
  options.on_wait = nullptr;
  DeepCheck check;
  const auto add = [&](Found found) {
    check.evaluations += found.evaluations;
    for (Diagnostic& leak : found.leaks) check.leaks.push_back(std::move(leak));
  };
  on_step("other interpreters");
  Repeats repeats(options);
  on_step("other locales");
  check.locales = OtherLocales();
  add(UnderOtherLocales(options, as_it_is, check.locales));
  on_step("other variables and machines");
  add(UnderOtherVariables(options, as_it_is));
  add(OnOtherMachines(options, as_it_is));
  add(OwnNamesIn(options, as_it_is));
  on_step("profiles");
  check.profiles = CheckProfiles(options, as_it_is);
  on_step("parameters");
  Evaluator evaluator;
  check.without_effect = ParametersWithoutEffect(evaluator, options, as_it_is);
  on_step("a second later");
  repeats.PlanLater();
  check.evaluations += repeats.evaluations();
  const Diagnostics unsteady = repeats.Leaks();
  // A plan that always differs also differs under other conditions, so other findings are meaningless.
  if (!unsteady.empty()) check.leaks = unsteady;
  return check;
}

}  // namespace muster
