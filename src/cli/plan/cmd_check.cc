// muster check: evaluates a recipe, or several recipes and folders, and reports all problems without starting
// anything; also missing programs, differences for other MindSpore releases, and hidden inputs of the plan (--deep).
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/own_environment.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/lookup/run_argument.h"
#include "cli/options/named_hosts.h"
#include "cli/options/recipe_options.h"
#include "cli/plan/golden_cases.h"
#include "cli/plan/machine_problems.h"
#include "cli/plan/release_checks.h"
#include "explain/hidden_inputs.h"
#include "muster/plan.h"
#include "run/hosts/host_differences.h"
#include "spawn/start/spawn_spec.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

// Checks that the programs of a plan exist on this machine, for `muster check`.

// "role worker" or "roles server, worker".
std::string RolesWith(const Plan& plan, const std::string& program) {
  std::vector<std::string> names;
  for (const Process& process : plan.processes) {
    const std::vector<std::string>& runtime = plan.roles[process.role].container.runtime.run;
    const std::vector<Text>& command = EffectiveCommand(plan, process);
    const std::string& role = plan.roles[process.role].name;
    if (runtime.empty() && command.empty()) continue;
    if ((runtime.empty() ? command.front().marked : runtime.front()) != program) continue;
    if (std::find(names.begin(), names.end(), role) == names.end()) names.push_back(role);
  }
  std::string text = names.size() == 1 ? "role " : "roles ";
  for (const std::string& name : names) text += (&name == &names.front() ? "" : ", ") + name;
  return text;
}

// "{ \"python3\", \"train.py\" }"
std::string ListOfWords(const std::string& text) {
  std::string list;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) list += (list.empty() ? "" : ", ") + Quoted(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return "{ " + list + " }";
}

// One warning for each role with a word that is longer than the kernel takes.
Diagnostics TooLongWords(const Plan& plan) {
  Diagnostics warnings;
  std::vector<bool> reported(plan.roles.size());
  for (const Process& process : plan.processes) {
    if (reported[process.role]) continue;
    for (const Text& word : EffectiveCommand(plan, process)) {
      if (word.marked.size() < LongestWord()) continue;
      reported[process.role] = true;
      warnings.push_back(Warning("program", {},
                                 fmt::format("role {}: a word of its command has {} bytes, and this machine starts no "
                                             "program with one of more than {}",
                                             plan.roles[process.role].name, word.marked.size(), LongestWord() - 1),
                                 "write long texts to a file: job:file"));
      break;
    }
  }
  return warnings;
}

// One warning for each role whose command is Python with a script that is beside the recipe, and not in the folder of
// its processes.
Diagnostics MissingScripts(const Plan& plan, const std::string& recipe) {
  namespace fs = std::filesystem;
  Diagnostics warnings;
  std::vector<bool> reported(plan.roles.size());
  std::error_code error;
  for (const Process& process : plan.processes) {
    const std::vector<Text>& command = EffectiveCommand(plan, process);
    if (reported[process.role] || command.size() < 2 || process.cwd || !plan.roles[process.role].cwd.marked.empty())
      continue;
    if (!plan.roles[process.role].container.runtime.run.empty()) continue;
    const std::string program = fs::path(command[0].marked).filename();
    const std::string& script = command[1].marked;
    if (!program.starts_with("python") || !script.ends_with(".py") || script.starts_with('/')) continue;
    const bool beside = fs::exists(fs::path(recipe).parent_path() / script, error);
    if (!beside || fs::exists(script, error)) continue;
    reported[process.role] = true;
    warnings.push_back(
        Warning("program", {},
                fmt::format("role {}: the script {} is not in {}, the folder that muster is called from",
                            plan.roles[process.role].name, Quoted(script), Quoted(fs::current_path(error).string())),
                "it is beside the recipe: muster.here " + Quoted(script)));
  }
  return warnings;
}

}  // namespace

Diagnostics MissingPrograms(const Plan& plan, const std::string& recipe) {
  if (plan.hosts.size() != 1 || !plan.hosts.front().name.empty()) return {};
  std::error_code error;
  HostQuestion wanted;
  wanted.environment = OwnVariables();
  wanted.cwd = std::filesystem::current_path(error).string();
  if (error) return {};
  const Inspect question = QuestionFor(plan, NeedsOf(plan, 1), wanted);
  Diagnostics missing;
  for (const ProgramQuery& sought : question.programs) {
    const std::string path = "PATH=" + sought.search_path;
    SpawnSpec spec;
    spec.argv = {sought.name};
    spec.cwd = wanted.cwd;
    spec.env = {path.c_str()};
    // Beside muster, as in a run.
    spec.search_dirs = {std::filesystem::path(BesideOwnProgram("muster")).parent_path().string()};
    const auto found = FindProgram(spec);
    if (found) continue;
    const bool named = sought.name.find('/') != std::string::npos;
    const std::string why =
        named && found.error().error == ENOENT ? Quoted(sought.name) + " is not there" : found.error().detail;
    missing.push_back(Warning(
        "program", {}, fmt::format("{}: the program {} on this machine", RolesWith(plan, sought.name), why),
        sought.name.find(' ') != std::string::npos ? "each word stands by itself: " + ListOfWords(sought.name)
        : named
            ? "a relative path is taken from the folder that muster is called from"
            : "install it, give its path, or have PATH set with job:activate; for other hosts: muster doctor --host"));
  }
  for (const Diagnostics& more : {TooLongWords(plan), MissingScripts(plan, recipe)}) {
    missing.insert(missing.end(), more.begin(), more.end());
  }
  return missing;
}

namespace {

// muster check --deep, as text and as JSON.

void PrintDeepCheck(const DeepCheck& check) {
  PrintDiagnostics(check.leaks);
  std::printf(
      "%s: %zu plans, in new interpreters, a second later, %s, with other variables and on other machines\n",
      check.leaks.empty() ? "nothing leaks in" : "compared", check.evaluations,
      check.locales.empty() ? "(this machine has no other locale)" : ("under " + Joined(check.locales, ", ")).c_str());
  Diagnostics problems;
  std::string profiles;
  for (const CheckedProfile& profile : check.profiles) {
    const bool failed = HasErrors(profile.problems);
    profiles += (profiles.empty() ? "" : ", ") + profile.name + (failed ? " gives no plan" : " ok");
    for (Diagnostic problem : profile.problems) {
      problem.notes.push_back({"with --profile " + profile.name, profile.place});
      problems.push_back(std::move(problem));
    }
  }
  PrintDiagnostics(problems);
  if (!profiles.empty()) std::printf("profiles: %s\n", Printable(profiles).c_str());
  if (!check.without_effect.empty()) {
    std::printf("no effect on the plan: %s\n", Printable(Joined(check.without_effect, ", ")).c_str());
  }
}

struct PrintedProfile {
  const CheckedProfile& profile;
};
template <class V>
void Parts(V& v, const PrintedProfile& printed) {
  const CheckedProfile& profile = printed.profile;
  v("diagnostics", profile.problems), v("ok", !HasErrors(profile.problems)), v("plan", As<NullIfNone>(profile.plan_id));
  v("profile", profile.name);
}
struct PrintedDeepCheck {
  const DeepCheck& check;
  const Diagnostics& as_it_stands;
};
template <class V>
void Parts(V& v, const PrintedDeepCheck& printed) {
  const DeepCheck& check = printed.check;
  bool ok = !HasErrors(printed.as_it_stands) && !HasErrors(check.leaks);
  std::vector<PrintedProfile> profiles;
  for (const CheckedProfile& profile : check.profiles) {
    ok = ok && !HasErrors(profile.problems);
    profiles.push_back({profile});
  }
  v("diagnostics", printed.as_it_stands), v("format", 1), v("leaks", check.leaks), v("locales", check.locales);
  v("no_effect", check.without_effect), v("ok", ok), v("plans", check.evaluations), v("profiles", profiles);
}

std::string DeepCheckJson(const DeepCheck& check, const Diagnostics& as_it_stands) {
  return JsonOf<PartForms>(PrintedDeepCheck{check, as_it_stands}, 2) + "\n";
}

// `as_it_stands` is the recipe's own evaluation; if it failed, nothing more is evaluated. Prints everything except that
// evaluation's problems; returns the exit code.
int ReportDeepCheck(const RecipeOptions& options, const Result<Evaluation>& as_it_stands, bool json) {
  if (!as_it_stands) {
    if (json) std::fputs(DiagnosticsJson(as_it_stands.error()).c_str(), stdout);
    return ExitCodeFor(as_it_stands.error());
  }
  const auto again = PrepareEvaluation(options);
  if (!again) return Refuse(again.error(), json);
  WaitLine waiting("checking " + options.recipe);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t began = MonotonicNowNs();
  const DeepCheck check = CheckDeeply(*again, *as_it_stands, [&](const std::string& step) {
    waiting.Show(static_cast<unsigned>((MonotonicNowNs() - began) / kSecond), step);
  });
  waiting.Clear();
  if (json) {
    std::fputs(DeepCheckJson(check, as_it_stands->warnings).c_str(), stdout);
  } else {
    PrintDeepCheck(check);
  }
  if (const int code = ExitCodeFor(check.leaks); code != kExitOk) return code;
  for (const CheckedProfile& profile : check.profiles) {
    if (const int code = ExitCodeFor(profile.problems); code != kExitOk) return code;
  }
  return kExitOk;
}

// muster check of several recipes: the same check of each, and a table of all at the end.

namespace fs = std::filesystem;

struct ManyFile {
  std::string path;
  bool of_folder = false;
};

// One line of the table.
struct CheckedRecipe {
  std::string recipe;
  std::string skipped;  // why; empty: it was checked
  Diagnostics problems;
  std::string size;                                         // "8 on 2 hosts"; empty without a plan
  std::string releases;                                     // what other releases say of it
  std::optional<std::vector<ReleaseCheck>> release_checks;  // with --mindspore
  int code = kExitOk;
};

// A run directory, or a folder that has the name of a run, is a RUN.
bool IsFolderOfRecipes(const std::string& word) {
  std::error_code error;
  return fs::is_directory(word, error) && !FindRun(word, DirectoryUse::kRead);
}

bool NamesRecipes(const std::string& word) {
  return word.find('=') == std::string::npos && (word.ends_with(".lua") || IsFolderOfRecipes(word));
}

std::string ProblemCounts(const Diagnostics& problems) {
  const auto errors = std::count_if(problems.begin(), problems.end(),
                                    [](const Diagnostic& one) { return one.severity == Severity::kError; });
  const auto warnings = static_cast<std::ptrdiff_t>(problems.size()) - errors;
  std::vector<std::string> counts;
  if (errors > 0) counts.push_back(Counted(static_cast<std::uint64_t>(errors), "error"));
  if (warnings > 0) counts.push_back(Counted(static_cast<std::uint64_t>(warnings), "warning"));
  return counts.empty() ? "ok" : Joined(counts, ", ");
}

// The parameters without a value; empty if the recipe lacks none, or cannot be read.
std::string MissingValues(const RecipeOptions& options) {
  const auto described = EvaluateFrom(options, EvaluationDepth::kParameters);
  std::string names;
  if (!described) return names;
  for (const ParameterState& state : described->parameters) {
    if (state.active && !state.value) names += (names.empty() ? "" : ", ") + state.parameter.name;
  }
  return names;
}

// "ok", "2 errors"; for several releases those that differ: "1.9: 1 error, 2.0: 1 error, 2 warnings".
std::string ReleasesText(const ReleaseChecks& checks) {
  if (checks.checks.empty()) return "no release";
  std::string text;
  for (const ReleaseCheck& check : checks.checks) {
    if (check.findings.empty()) continue;
    if (checks.checks.size() > 1) text += (text.empty() ? "" : "; ") + ReleaseText(check.release) + ": ";
    text += ProblemCounts(check.findings);
  }
  return text.empty() ? "ok" : text;
}

void CheckOn(const RecipeOptions& options, const Result<Evaluation>& evaluation, const std::string& mindspore,
             bool json, CheckedRecipe& checked) {
  const auto checks = CheckReleases(options, evaluation, mindspore);
  if (!checks) {
    checked.problems = checks.error();
    checked.code = ExitCodeFor(checks.error());
    return;
  }
  checked.releases = ReleasesText(*checks);
  checked.release_checks = checks->checks;
  for (const ReleaseCheck& check : checks->checks) {
    checked.code = std::max(checked.code, ExitCodeFor(check.findings));
    if (json || check.fresh.empty()) continue;
    std::fprintf(stderr, "%s on MindSpore %s:\n", Printable(options.recipe).c_str(),
                 PrintableLines(ReleaseText(check.release)).c_str());
    PrintDiagnostics(check.fresh);
  }
}

CheckedRecipe CheckOne(const RecipeOptions& shared, const ManyFile& file, const std::string& mindspore, bool json) {
  RecipeOptions options = shared;
  options.recipe = file.path;
  CheckedRecipe checked;
  checked.recipe = file.path;
  auto evaluation = EvaluateFrom(options);
  if (!evaluation && file.of_folder) {
    const Diagnostics& problems = evaluation.error();
    if (problems.size() == 1 && problems.front().kind == "no_recipe") {
      checked.skipped = "it returns no recipe";
    } else if (const std::string names = MissingValues(options); !names.empty()) {
      checked.skipped = "it needs a value for " + names;
    }
    if (!checked.skipped.empty()) return checked;
  }
  if (evaluation && !NamesHosts(options) && mindspore.empty()) {
    const Diagnostics missing = MissingPrograms(evaluation->plan, options.recipe);
    evaluation->warnings.insert(evaluation->warnings.end(), missing.begin(), missing.end());
  }
  checked.problems = evaluation ? evaluation->warnings : evaluation.error();
  checked.code = ExitCodeFor(checked.problems);
  if (evaluation) {
    const std::size_t hosts = evaluation->plan.hosts.size();
    checked.size = std::to_string(evaluation->plan.processes.size()) + " on " + Counted(hosts, "host");
  }
  if (!json) PrintDiagnostics(checked.problems);
  if (!mindspore.empty()) CheckOn(options, evaluation, mindspore, json, checked);
  return checked;
}

std::string ResultOf(const CheckedRecipe& one) { return one.skipped.empty() ? ProblemCounts(one.problems) : "skipped"; }

std::string SummaryOf(const std::vector<CheckedRecipe>& all) {
  std::size_t good = 0, skipped = 0;
  for (const CheckedRecipe& one : all) {
    good += one.skipped.empty() && one.code == kExitOk ? 1 : 0;
    skipped += one.skipped.empty() ? 0 : 1;
  }
  const std::size_t bad = all.size() - good - skipped;
  std::string text = std::to_string(all.size() - skipped) + (all.size() - skipped == 1 ? " recipe: " : " recipes: ") +
                     std::to_string(good) + " ok";
  if (bad > 0) text += ", " + std::to_string(bad) + " with errors";
  if (skipped > 0) text += "; " + Counted(skipped, "file") + " skipped";
  return text;
}

void PrintCheckTable(const std::vector<CheckedRecipe>& all, const std::string& mindspore) {
  std::vector<std::vector<std::string>> rows = {{"recipe", "result", "processes"}};
  if (!mindspore.empty())
    rows.front().push_back(mindspore == "all" ? "on other releases" : "on MindSpore " + mindspore);
  for (const CheckedRecipe& one : all) {
    rows.push_back({Printable(one.recipe), ResultOf(one), one.skipped.empty() ? one.size : Printable(one.skipped)});
    if (!mindspore.empty()) rows.back().push_back(one.releases);
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - Columns(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", PrintableLines(line).c_str());
  }
  std::printf("%s\n", PrintableLines(SummaryOf(all)).c_str());
}

struct PrintedChecks {
  std::vector<CheckedRecipe> recipes;
  bool ok = true;
};
template <class V>
void Parts(V& v, const CheckedRecipe& checked) {
  v("diagnostics", checked.problems), v("ok", checked.code == kExitOk), v("recipe", checked.recipe);
  v("releases", OnlyIf(checked.release_checks.has_value(), checked.release_checks)),
      v("skipped", As<NullIfNone>(checked.skipped));
}
template <class V>
void Parts(V& v, const PrintedChecks& printed) {
  v("format", 1), v("ok", printed.ok), v("recipes", printed.recipes), v("summary", SummaryOf(printed.recipes));
}

void PrintManyJson(std::vector<CheckedRecipe> all, const std::string& mindspore, int code) {
  for (CheckedRecipe& one : all) {
    if (!mindspore.empty() && !one.release_checks) one.release_checks.emplace();  // it was not checked
  }
  std::printf("%s\n", JsonOf<PartForms>(PrintedChecks{std::move(all), code == kExitOk}, 2).c_str());
}

// Whether the call names a folder or more than one file; then takes the words of overrides that are files or folders
// (an existing folder, or *.lua without '=') out of `options`, and returns all of them with the recipe before them.
// Empty for one recipe.
std::vector<std::string> TakeManyRecipes(RecipeOptions& options) {
  std::vector<std::string> names = {options.recipe};
  for (const std::string& word : options.overrides) {
    if (NamesRecipes(word)) names.push_back(word);
  }
  if (names.size() == 1 && !IsFolderOfRecipes(options.recipe)) return {};
  std::erase_if(options.overrides, NamesRecipes);
  return names;
}

// Checks each recipe file and all recipes below each folder with the same options, for that MindSpore release (or all;
// empty: none) as well. In a folder, files that return no recipe and recipes that need a value are skipped, and listed
// as such. Returns the worst exit code.
int CheckMany(const RecipeOptions& options, const std::vector<std::string>& names, const std::string& mindspore,
              bool json) {
  std::vector<ManyFile> files;
  for (const std::string& name : names) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      files.push_back({name, false});
      continue;
    }
    const std::size_t before = files.size();
    for (const std::string& file : LuaFilesBelow(name)) {
      files.push_back({name == "." ? file : (fs::path(name) / file).lexically_normal().string(), true});
    }
    if (files.size() == before) {
      return Refuse({Error("usage", {}, "there is no Lua file in " + Quoted(name), "a recipe is a Lua file")}, json);
    }
  }
  std::vector<CheckedRecipe> all;
  int code = kExitOk;
  for (const ManyFile& file : files) {
    all.push_back(CheckOne(options, file, mindspore, json));
    code = std::max(code, all.back().code);
  }
  std::fflush(stderr);
  if (json) {
    PrintManyJson(all, mindspore, code);
  } else {
    PrintCheckTable(all, mindspore);
  }
  return code;
}

}  // namespace

// muster check: evaluates a recipe and reports all its problems without starting anything; also differences for other
// MindSpore releases, and hidden inputs of its plan. Of several recipes and folders, all of them.

namespace {

struct CheckOptions {
  RecipeOptions recipe;
  std::string mindspore;  // a release, "all", or empty
  bool rewrite = false;
  bool in_place = false;
  bool diff = false;
  bool deep = false;
  bool json = false;
};

void PrintOutcome(const CheckOptions& options, const Result<Evaluation>& evaluation) {
  PrintDiagnostics(evaluation ? evaluation->warnings : evaluation.error());
  if (!evaluation) return;
  const std::size_t processes = evaluation->plan.processes.size();
  const std::size_t hosts = evaluation->plan.hosts.size();
  std::printf("%s: ok, %s on %s\n", PrintableLines(options.recipe.recipe).c_str(),
              Counted(processes, "process", "processes").c_str(), Counted(hosts, "host").c_str());
}

int ReportReleases(const CheckOptions& options, const Result<Evaluation>& evaluation) {
  const Diagnostics& own = evaluation ? evaluation->warnings : evaluation.error();
  const auto checks = CheckReleases(options.recipe, evaluation, options.mindspore);
  if (!checks) {
    if (options.json) std::fputs(DiagnosticsJson(checks.error()).c_str(), stdout);
    if (!options.json) PrintDiagnostics(checks.error());
    return ExitCodeFor(checks.error());
  }
  if (options.json) {
    std::fputs(ReleaseChecksJson(*checks, own).c_str(), stdout);
  } else {
    PrintOutcome(options, evaluation);
    if (checks->checks.empty()) {
      std::puts("the recipe names no MindSpore release, so none can break it");
    } else if (options.mindspore == "all") {
      PrintReleaseTable(*checks);
    } else {
      PrintReleaseChecks(*checks, evaluation);
    }
  }
  int code = ExitCodeFor(own);
  for (const ReleaseCheck& check : checks->checks) {
    if (code == kExitOk) code = ExitCodeFor(check.findings);
  }
  return code;
}

int RunCheck(const CheckOptions& options) {
  auto evaluation = EvaluateFrom(options.recipe);
  // Missing programs on this machine are neither a difference between releases nor a leak.
  if (evaluation && !NamesHosts(options.recipe) && options.mindspore.empty() && !options.deep) {
    const Diagnostics missing = MissingPrograms(evaluation->plan, options.recipe.recipe);
    evaluation->warnings.insert(evaluation->warnings.end(), missing.begin(), missing.end());
  }
  if (options.rewrite) {
    const auto output = options.in_place ? RewriteChoice::Output::kInPlace
                        : options.diff   ? RewriteChoice::Output::kDiff
                                         : RewriteChoice::Output::kText;
    return ReportRewrite(options.recipe, evaluation, {options.mindspore, output, options.json});
  }
  if (!options.mindspore.empty()) return ReportReleases(options, evaluation);
  if (options.deep) {
    if (!options.json) PrintOutcome(options, evaluation);
    return ReportDeepCheck(options.recipe, evaluation, options.json);
  }
  const Diagnostics& diagnostics = evaluation ? evaluation->warnings : evaluation.error();
  if (options.json) {
    std::fputs(DiagnosticsJson(diagnostics).c_str(), stdout);
  } else {
    PrintOutcome(options, evaluation);
  }
  return ExitCodeFor(diagnostics);
}

}  // namespace

std::string DeepCheckSchema() {
  DeepCheck check;
  check.profiles.emplace_back();
  return SchemaOf<PartForms>(PrintedDeepCheck{check, {}});
}
std::string FolderCheckSchema() { return SchemaOf<PartForms>(PrintedChecks()); }

std::function<int()> SetupCheck(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<CheckOptions>();
  AddRecipeOptions(app, options->recipe, invocation, false);
  CLI::Option* const recipe = app.get_option("RECIPE");
  recipe->description(recipe->get_description() + "; several files and folders are checked with a table at the end");
  CLI::Option* mindspore =
      app.add_option("--mindspore", options->mindspore, "also compare with that MindSpore release, or with all")
          ->type_name("RELEASE|all");
  CLI::Option* rewrite =
      app.add_flag("--rewrite", options->rewrite, "print the recipe with that release's functions for set_context")
          ->needs(mindspore);
  CLI::Option* in_place =
      app.add_flag("--in-place", options->in_place, "replace the recipe's file by the rewritten text")->needs(rewrite);
  app.add_flag("--diff", options->diff, "print the difference to the rewritten text")
      ->needs(rewrite)
      ->excludes(in_place);
  app.add_flag("--deep", options->deep,
               "also check that the plan is reproducible, all profiles, and parameters without effect")
      ->excludes("--mindspore");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] {
    const std::vector<std::string> many = TakeManyRecipes(options->recipe);
    if (!many.empty()) {
      if (options->rewrite || options->deep) {
        return Refuse({Error("usage", {}, std::string(options->deep ? "--deep" : "--rewrite") + " takes one recipe",
                             "for FILE in …; do muster check FILE …; done")},
                      options->json);
      }
      return CheckMany(options->recipe, many, options->mindspore, options->json);
    }
    SettleResumed(options->recipe);
    return RunCheck(*options);
  };
}

}  // namespace muster
