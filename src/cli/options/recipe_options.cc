#include "cli/options/recipe_options.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/sysinfo.h>

#include "base/system/host_devices.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "cli/command/command_output.h"
#include "cli/command/small_file.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_argument.h"
#include "cli/options/named_hosts.h"
#include "metrics/log_patterns.h"
#include "plan/hosts/host_list.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"
#include "run/directory/checkpoints.h"
#include "run/directory/run_directory.h"
#include "settings/values/parameter.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// The variables of --env.
Result<std::map<std::string, std::string>> ParseEnvironment(const std::vector<std::string>& words) {
  std::map<std::string, std::string> variables;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || !IsUtf8(word)) {
      return Fail(Error("override", {}, "--env " + Quoted(word) + " is not NAME=VALUE", "--env NCCL_DEBUG=INFO"));
    }
    variables[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return variables;
}

// "lr 0.5", "lr = 0.5" and "lr:0.5" for lr=0.5, and a program's own words before --.
std::optional<Diagnostic> WordsApart(const RecipeOptions& options, std::size_t at) {
  const std::vector<std::string>& words = options.overrides;
  const std::string& word = words[at];
  if (word.find('=') != std::string::npos) return std::nullopt;
  const auto problem = [&](std::string hint) {
    return Error("override", {}, "cannot read the override " + Quoted(word) + ": there is no '='", std::move(hint));
  };
  if (options.recipe.starts_with("python") || options.recipe.ends_with(".py")) {
    std::string line = options.recipe.ends_with(".py") ? " python3" : "";
    line += " " + ShellQuoted(options.recipe);
    for (const std::string& each : words) line += " " + ShellQuoted(each);
    return problem("a program without a recipe is run by: muster run @torch --" + line);
  }
  if (word.ends_with(".py")) {
    std::string line;
    for (std::size_t i = at; i < words.size(); ++i) line += " " + ShellQuoted(words[i]);
    return problem("words of the program stand behind --: muster run " + ShellQuoted(options.recipe) + " -- python3" +
                   line);
  }
  if (word.ends_with(".lua"))
    return problem("one recipe is named, before its parameters: muster run " + ShellQuoted(word));
  const auto is_name = [](std::string_view text) {
    return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
               std::string_view::npos;
  };
  if (const std::size_t colon = word.find(':'); colon != std::string::npos && is_name(word.substr(0, colon))) {
    return problem("write " + ShellQuoted(word.substr(0, colon) + "=" + word.substr(colon + 1)));
  }
  const std::size_t value = at + 1 < words.size() && words[at + 1] == "=" ? at + 2 : at + 1;
  if (is_name(word) && !word.ends_with(".py") && value < words.size() && words[value].find('=') == std::string::npos) {
    return problem("write " + ShellQuoted(word + "=" + words[value]));
  }
  return std::nullopt;
}

Result<Override> ParseOverride(const std::string& word, ParameterOrigin origin) {
  const auto bad = [&](const std::string& why, std::string hint = {}) {
    return Fail(Error("override", {}, "cannot read the override " + Quoted(word) + ": " + why, std::move(hint)));
  };
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) {
    return bad("there is no '='", "write name=value, name:=json or name@=file; words for the program come after --");
  }
  Override override;
  override.origin = origin;
  override.name = word.substr(0, equals);
  std::string text = word.substr(equals + 1);
  char how = ' ';
  if (!override.name.empty() && (override.name.back() == ':' || override.name.back() == '@')) {
    how = override.name.back();
    override.name.pop_back();
  }
  if (override.name.empty()) return bad("the name is empty");
  if (!IsUtf8(word)) return bad("it is not valid UTF-8");
  if (how == ':') {
    auto value = ValueFromJsonText(text, kMaxParameterBytes);
    if (!value) return bad(value.error());
    override.kind = Override::Kind::kValue;
    override.value = *std::move(value);
  } else if (how == '@') {
    override.kind = Override::Kind::kFile;
    override.file = AbsolutePath(text);
    auto content = ReadSmallFile(text);
    if (!content) return bad(content.error());
    text = *std::move(content);
    if (text.ends_with('\n')) text.pop_back();
    override.value = Value(text);
  } else {
    override.value = Value(text);
  }
  return override;
}

}  // namespace

void AddRecipeOptions(CLI::App& app, RecipeOptions& options, const Invocation& invocation, bool recipe_required) {
  auto* recipe = app.add_option(
      "RECIPE", options.recipe,
      "a Lua file, a built-in recipe (@torch, @mindspore, @ps-lite, @mpi), or a RUN for its stored recipe");
  if (recipe_required) recipe->required();
  app.add_option("OVERRIDES", options.overrides,
                 "parameters: name=text, name:=json, name@=file; also hosts=N, devices_per_host=N")
      ->type_name("name=value");
  AddPlanningOptions(app, options, invocation);
  if (recipe_required) return;
  CLI::Option* const resume = app.get_option("--resume");
  resume->description(resume->get_description() + "; default RECIPE: its stored recipe");
}

void AddPlanningOptions(CLI::App& app, RecipeOptions& options, const Invocation& invocation) {
  app.add_option("--profile", options.profiles, "profile of the recipe: a named set of values")
      ->type_name("PROFILE")
      ->allow_extra_args(false);
  app.add_option("--pin", options.pins, "override a derived value: name=text, name:=json")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--unset", options.unset, "reset a parameter to the recipe's default")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--env", options.env, "variable of all processes; may be given several times")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--metric", options.metrics, "read a metric from the log: a pattern with one group")
      ->type_name("NAME=PATTERN")
      ->allow_extra_args(false);
  AddHostOptions(app, options);
  app.add_option("--devices", options.devices, "devices of this host to use: 4-7, or free for unused ones")
      ->type_name("LIST|free");
  app.add_flag("--share-devices", options.share_devices, "share devices with other runs that have this option");
  auto* resume = app.add_option("--resume", options.resume, "continue from the newest checkpoint of this run");
  resume->type_name("RUN");
  app.add_option("--checkpoint", options.checkpoint, "with --resume: continue from this checkpoint")
      ->type_name("PATH")
      ->needs(resume);
  options.args = invocation.words_after_dashes;
}

void AddHostOptions(CLI::App& app, RecipeOptions& options) {
  auto* host =
      app.add_option("--host", options.hosts, "the hosts by name: n[01-04]:8,n5:4 (:N is its number of devices)")
          ->type_name("LIST")
          ->allow_extra_args(false);
  app.add_option("--hostfile", options.hostfile, "the hosts by name, one a line: NAME, NAME:N or NAME slots=N")
      ->type_name("FILE")
      ->excludes(host);
  app.add_option("--exclude", options.exclude, "hosts to exclude")->type_name("LIST")->allow_extra_args(false);
  app.add_option("--spares", options.spares, "keep the last N hosts as spares for lost hosts")->type_name("N");
  AddEngineOptions(app, options.engine);
}

bool HasRecipeChanges(const RecipeOptions& options) {
  return !options.unset.empty() || !options.profiles.empty() || !options.pins.empty();
}

Result<std::vector<Override>> ParseOverrides(const RecipeOptions& options) {
  std::vector<Override> overrides;
  Diagnostics problems;
  const auto add = [&](const std::string& word, ParameterOrigin origin) {
    auto override = ParseOverride(word, origin);
    if (override) {
      overrides.push_back(*std::move(override));
    } else {
      problems.insert(problems.end(), override.error().begin(), override.error().end());
    }
  };
  if (const char* set = std::getenv("MUSTER_SET"); set != nullptr && !options.believed) {
    std::istringstream lines(set);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) add(line, ParameterOrigin::kMusterSet);
    }
  }
  for (std::size_t i = 0; i < options.overrides.size(); ++i) {
    if (auto apart = WordsApart(options, i)) {
      problems.push_back(std::move(*apart));
      break;  // the words behind it belong to it
    }
    add(options.overrides[i], ParameterOrigin::kCommandLine);
  }
  for (const std::string& name : options.unset) {
    Override override;
    override.kind = Override::Kind::kUnset;
    override.name = name;
    overrides.push_back(std::move(override));
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return overrides;
}

Result<std::map<std::string, std::string>> ParseMetrics(const RecipeOptions& options) {
  constexpr const char* kExample = "--metric 'loss=loss: (\\S+)'";
  std::map<std::string, std::string> patterns;
  for (const std::string& word : options.metrics) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || !IsUtf8(word)) {
      return Fail(Error("usage", {}, "--metric " + Quoted(word) + " is not NAME=PATTERN", kExample));
    }
    if (word.find('(', equals) == std::string::npos) {
      return Fail(Error("usage", {}, "--metric " + Quoted(word) + ": the pattern has no group in which the number is",
                        kExample));
    }
    patterns[word.substr(0, equals)] = word.substr(equals + 1);
  }
  if (auto sound = LogPatterns::Of(patterns, {}); !sound) return Fail(std::move(sound.error()));
  return patterns;
}

Result<std::vector<Override>> ParsePins(const RecipeOptions& options) {
  std::vector<Override> pins;
  Diagnostics problems;
  for (const std::string& word : options.pins) {
    auto pin = ParseOverride(word, ParameterOrigin::kCommandLine);
    if (!pin) {
      problems.insert(problems.end(), pin.error().begin(), pin.error().end());
    } else if (pin->kind == Override::Kind::kFile) {
      problems.push_back(Error("pin", {}, "--pin " + Quoted(word) + ": a derived value is not taken from a file",
                               "write --pin name=value or --pin name:=json"));
    } else {
      pins.push_back(*std::move(pin));
    }
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return pins;
}

namespace {

// --devices and --share-devices.
Result<DeviceUse> ParseDevices(const RecipeOptions& options) {
  constexpr std::uint32_t kMax = 4096;
  DeviceUse use;
  use.shared = options.share_devices;
  if (options.devices.empty()) return use;
  use.any = options.devices == "free";
  if (use.any) return use;
  const auto given = ParseNumberList(options.devices, kMax);
  if (!given) {
    return Fail(Error("usage", {}, "--devices " + Quoted(options.devices) + ": this is not a list of devices",
                      "--devices 0-3,6, or --devices free"));
  }
  use.given = *given;
  return use;
}

// The only kind whose variable the caller has set; empty if there is none, or several.
std::string KindOfCaller() {
  std::string found;
  for (const DeviceKind& kind : kDeviceKinds) {
    const bool outer = !kind.outer.empty() && std::getenv(std::string(kind.outer).c_str()) != nullptr;
    if (!outer && std::getenv(std::string(kind.variable).c_str()) == nullptr) continue;
    if (!found.empty()) return {};
    found = kind.name;
  }
  return found;
}

// Of the devices that were counted, the number of those that muster may use.
Result<std::uint32_t> UsableDevices(const HostDeviceCount& counted) {
  const char* believed = std::getenv(kHostDevicesVariable);
  if (believed != nullptr && !ParseDeviceCount(believed)) {
    return Fail(
        Error("usage", {},
              std::string(kHostDevicesVariable) + " must be a number of devices up to 4096, got " + Quoted(believed)));
  }
  const std::uint32_t all = believed != nullptr ? *ParseDeviceCount(believed) : counted.count;
  const auto visible =
      FindVisibleDevices(counted.kind, all, [](const char* name) { return std::getenv(name); }).devices.size();
  // If no device is visible, the run is refused with a message that names the variable.
  return visible == 0 ? all : static_cast<std::uint32_t>(visible);
}

// Sets the number and kind of this machine's devices.
Result<void> CountOwnDevices(Site& site) {
  HostDeviceCount counted = CountDevices({});
  // Devices that cannot be counted are of the kind whose variable the caller has set.
  if (counted.kind.empty() && std::getenv(kHostDevicesVariable) != nullptr) counted.kind = KindOfCaller();
  const auto count = UsableDevices(counted);
  if (!count) return Fail(count.error());
  site.device_kind = counted.kind;
  site.host_devices = *count;
  return {};
}

void PrintLine(const std::string& line) { std::fprintf(stderr, "%s\n", Printable(line).c_str()); }

}  // namespace

Result<std::uint32_t> OwnDevices(std::string_view kind) {
  return UsableDevices({std::string(kind), CountDevices(kind).count});
}

Diagnostic NoRecipe(const RecipeOptions& options) {
  std::string hint = "for example: recipes/hello.lua, @torch, or a RUN";
  if (!options.args.empty()) {
    hint = "a program without a recipe is run by: muster run @torch --";
    for (const std::string& word : options.args) hint += " " + ShellQuoted(word);
  }
  return Error("usage", {}, "no recipe is given", std::move(hint));
}

namespace {

// Before anything is made: the patterns, and whose log they are applied to.
Result<void> CheckMetrics(const LogMetrics& metrics, const Plan* plan, const Place& place) {
  if (auto patterns = LogPatterns::Of(metrics.patterns, place); !patterns) return Fail(std::move(patterns.error()));
  if (plan == nullptr || metrics.patterns.empty()) return {};
  if (auto process = LoggingProcess(*plan, metrics, place); !process) return Fail(std::move(process.error()));
  return {};
}

}  // namespace

Result<EvaluationOptions> PrepareEvaluation(const RecipeOptions& options) {
  if (options.recipe.empty()) return Fail(NoRecipe(options));
  auto overrides = ParseOverrides(options);
  if (!overrides) return Fail(overrides.error());
  auto env = ParseEnvironment(options.env);
  if (!env) return Fail(env.error());
  auto metrics = ParseMetrics(options);
  if (!metrics) return Fail(metrics.error());
  auto pins = ParsePins(options);
  if (!pins) return Fail(pins.error());
  auto devices = ParseDevices(options);
  if (!devices) return Fail(devices.error());
  auto site = GetSite();
  if (!site) return Fail(site.error());
  if (options.believed) *site = LibrariesAlone(*site);
  // No plan depends on them, but a run would be refused.
  if (const auto rules = ReadVerdictRules(site->facts); !rules) return Fail(rules.error());
  const auto run = options.believed ? std::nullopt : RunMeant(options.recipe);
  if (run) {
    if (auto named = CheckListIsNamed(options, "the run " + Quoted(options.recipe)); !named) return Fail(named.error());
  }
  auto hosts = NamedHosts(options);
  if (!hosts) return Fail(hosts.error());
  const auto allocation = HostsFromEngine(options);
  if (!allocation) return Fail(allocation.error());
  EvaluationOptions evaluation;
  if (run) {
    // The stored evaluation, with the options of this call on top.
    auto stored = EvaluationOfRun(*run);
    if (!stored) return stored;
    evaluation = *std::move(stored);
    if (NamesHosts(options) || *allocation) {
      evaluation.site.hosts = *std::move(hosts);
      evaluation.site.sources.erase("hosts");
      evaluation.site.places.erase("hosts");
    }
    ApplyRules(*site, evaluation);
    if (!options.devices.empty() || options.share_devices) evaluation.devices = *std::move(devices);
    if (!options.args.empty()) evaluation.args = options.args;
  } else {
    if (auto foreign = ForeignRunMeant(options.recipe)) return Fail(*std::move(foreign));
    if (auto missing = TrialMissed(options.recipe)) return Fail(*std::move(missing));
    auto file = RecipeFileOf(options.recipe, site->facts);
    if (!file) return Fail(file.error());
    evaluation.recipe_file = *std::move(file);
    evaluation.devices = *std::move(devices);
    if (options.believed) {
      evaluation.site = *options.believed;
    } else if (auto counted = CountOwnDevices(evaluation.site); !counted) {
      return Fail(counted.error());
    }
    evaluation.site.hosts = *std::move(hosts);
    evaluation.args = options.args;
    if (struct sysinfo facts{}; !options.believed && sysinfo(&facts) == 0) {
      evaluation.site.host_memory_bytes = std::uint64_t{facts.totalram} * facts.mem_unit;
    }
    ApplySite(*site, !NamesHosts(options) && !*allocation, evaluation);
  }
  // Its hosts are the available ones, as a site's are: the recipe says how many are used.
  if (*allocation && !NamesHosts(options)) evaluation.site.sources["hosts"] = **allocation;
  if (!options.resume.empty()) {
    auto run_dir = ResumedRun(options);
    if (!run_dir) return Fail(run_dir.error());
    auto resumed = IdOfRun(*run_dir);
    if (!resumed) return Fail(resumed.error());
    evaluation.resumed = *std::move(resumed);
  }
  for (Override& override : *overrides) evaluation.overrides.push_back(std::move(override));
  for (Override& pin : *pins) {
    std::erase_if(evaluation.pins, [&pin](const Override& earlier) { return earlier.name == pin.name; });
    evaluation.pins.push_back(std::move(pin));
  }
  evaluation.profiles.insert(evaluation.profiles.end(), options.profiles.begin(), options.profiles.end());
  for (auto& [name, value] : *env) evaluation.env[name] = std::move(value);
  for (auto& [name, pattern] : *metrics) evaluation.metrics.patterns[name] = std::move(pattern);
  evaluation.check_metrics = CheckMetrics;
  evaluation.without = options.without;
  return evaluation;
}

namespace {

// The run to resume: from --resume, or what the named RUN itself resumed.
Result<std::optional<Resumption>> ResumptionFor(const RecipeOptions& options) {
  if (options.resume.empty()) return ResumptionOfRun(*RunMeant(options.recipe));
  auto found = FindResumption(options);
  if (!found) return Fail(found.error());
  return std::optional(*std::move(found));
}

// Evaluates with `chosen` for everything that the user's options do not set.
Result<EvaluatedRequest> EvaluateAs(const RecipeOptions& options, EvaluationOptions chosen) {
  Evaluator evaluator;
  // Its start takes as long as a small evaluation; the preparation may await an engine.
  evaluator.StartAhead({.without = options.without});
  auto prepared = PrepareEvaluation(options);
  if (!prepared) return Fail(prepared.error());
  EvaluationOptions& evaluation = *prepared;
  evaluation.task = std::move(chosen.task);
  evaluation.mindspore = std::move(chosen.mindspore);
  evaluation.on_print = std::move(chosen.on_print);
  // Found first: without it there is nothing to plan.
  std::optional<Resumption> resumption;
  if (!evaluation.resumed.empty() && evaluation.depth() == EvaluationDepth::kPlan) {
    auto found = ResumptionFor(options);
    if (!found) return Fail(found.error());
    resumption = *std::move(found);
  }
  WaitLine waiting("evaluating " + options.recipe);
  evaluation.on_wait = [&](unsigned seconds) { waiting.Show(seconds); };
  if (evaluation.on_print) {
    evaluation.on_print = [&waiting, print = std::move(evaluation.on_print)](const std::string& line) {
      waiting.Clear();
      print(line);
    };
  }
  auto made = evaluator.Evaluate(evaluation, true);
  if (!made) return Fail(made.error());
  for (const std::string& word : options.args) {
    const std::string name = word.substr(0, word.find('='));
    if (name.size() == word.size() ||
        std::none_of(made->parameters.begin(), made->parameters.end(),
                     [&](const ParameterState& each) { return each.parameter.name == name; })) {
      continue;
    }
    made->warnings.push_back(Warning(
        "override", {},
        Quoted(word) + " stands behind -- and is a word of the program; " + name + " is a parameter of the recipe",
        "write the parameters of the recipe before --"));
  }
  if (resumption) {
    if (auto used = CheckUsesCheckpoint(made->plan); !used) return Fail(used.error());
    made->inputs.push_back({"checkpoint", resumption->checkpoint, {}});
  }
  evaluation.on_wait = nullptr;
  evaluation.on_print = nullptr;
  return EvaluatedRequest{*std::move(prepared), *std::move(made)};
}

Result<Evaluation> TakeEvaluation(Result<EvaluatedRequest> evaluated) {
  if (!evaluated) return Fail(std::move(evaluated.error()));
  return std::move(evaluated->evaluation);
}

}  // namespace

Result<EvaluatedRequest> EvaluateForRun(const RecipeOptions& options) {
  EvaluationOptions evaluation;
  evaluation.on_print = PrintLine;
  return EvaluateAs(options, std::move(evaluation));
}

Result<Evaluation> EvaluateFrom(const RecipeOptions& options, EvaluationDepth depth) {
  EvaluationOptions evaluation;
  evaluation.task = PlanTask{depth};
  evaluation.on_print = PrintLine;
  return TakeEvaluation(EvaluateAs(options, std::move(evaluation)));
}

Result<Evaluation> EvaluateExplaining(const RecipeOptions& options, const std::string& process) {
  EvaluationOptions evaluation;
  evaluation.task = PlanTask{.explain = process};
  evaluation.on_print = PrintLine;
  return TakeEvaluation(EvaluateAs(options, std::move(evaluation)));
}

Result<Evaluation> EvaluateForRelease(const RecipeOptions& options, const std::string& release) {
  EvaluationOptions evaluation;
  evaluation.mindspore = release;
  return TakeEvaluation(EvaluateAs(options, std::move(evaluation)));
}

namespace {

// The content of a regular file that begins with a JSON object; a recipe never does.
std::optional<std::string> PlanFileText(const std::string& word) {
  auto text = ReadSmallFile(word, kMaxPlanJsonBytes);
  if (!text || !Trimmed(*text).starts_with('{')) return std::nullopt;
  return *std::move(text);
}

Result<void> Evaluate(PlanArgument& thing, EvaluationOptions made_by) {
  auto evaluation = EvaluateRecipe(made_by);
  if (!evaluation) return Fail(evaluation.error());
  thing.plan = evaluation->plan;
  thing.warnings = evaluation->warnings;
  thing.sources = evaluation->sources;
  thing.evaluation = *std::move(evaluation);
  thing.made_by = std::move(made_by);
  return {};
}

Result<PlanArgument> RunThing(PlanArgument thing, const std::string& run_dir) {
  auto text = PlanFileText(kPlanEntry.In(run_dir));
  if (!text) return Fail(Error("run", {}, Quoted(run_dir) + " has no plan.json that can be read"));
  auto plan = PlanFromJson(*text);
  if (!plan) return Fail(plan.error());
  auto sources = SourcesOfRun(run_dir);
  if (!sources) return Fail(sources.error());
  auto made_by = EvaluationOfRun(run_dir);
  if (!made_by) {
    thing.why_not = made_by.error().front().message;
  } else if (auto made = Evaluate(thing, *std::move(made_by)); !made) {
    thing.why_not = thing.name + ": its stored recipe leads to no plan any more: " + made.error().front().message;
  } else if (PlanId(thing.plan) != PlanId(*plan)) {
    thing.why_not = thing.name + ": its stored recipe leads to another plan now than the one that was run";
    thing.made_by.reset();
    thing.evaluation.reset();
  }
  thing.plan = *std::move(plan);
  thing.sources = *std::move(sources);
  return thing;
}

}  // namespace

bool IsOverride(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && word.find('/') > equals;
}

Result<PlanArgument> ResolvePlanArgument(const std::string& word, const std::vector<std::string>& overrides,
                                         const RecipeOptions& options) {
  PlanArgument thing;
  thing.name = word;
  for (const std::string& override : overrides) thing.name += " " + ShellQuoted(override);
  if (const auto text = PlanFileText(word)) {
    if (!overrides.empty()) {
      return Fail(Error("usage", {}, Quoted(word) + " is a plan: it has its parameters already",
                        "give overrides to a recipe or a RUN"));
    }
    auto plan = PlanFromJson(*text);
    if (!plan) return Fail(plan.error());
    thing.plan = *std::move(plan);
    thing.why_not = word + " is a plan without its recipe";
    return thing;
  }
  if (overrides.empty()) {
    if (const auto run = RunMeant(word, DirectoryUse::kRead)) return RunThing(std::move(thing), *run);
  }
  RecipeOptions chosen = options;
  chosen.recipe = word;
  chosen.overrides = overrides;
  auto made_by = PrepareEvaluation(chosen);
  if (!made_by) return Fail(made_by.error());
  if (auto made = Evaluate(thing, *std::move(made_by)); !made) return Fail(made.error());
  return thing;
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kNameOne = "--checkpoint PATH names one";

tl::unexpected<Diagnostics> Cannot(const std::string& run, const std::string& why, std::string hint) {
  return Fail(Error("resume", {}, fmt::format("cannot resume run {}: {}", Printable(run), why), std::move(hint)));
}

}  // namespace

void SettleResumed(RecipeOptions& options) {
  if (options.resume.empty() || (!options.recipe.empty() && !IsOverride(options.recipe))) return;
  if (!options.recipe.empty()) options.overrides.insert(options.overrides.begin(), options.recipe);
  options.recipe = options.resume;
}

Result<std::string> ResumedRun(const RecipeOptions& options) {
  auto run_dir = FindRun(options.resume, DirectoryUse::kExecute);
  if (!run_dir) return run_dir;
  if (IsRunLive(*run_dir)) {
    return Fail(Error("resume", {}, fmt::format("run {} is still active: {}", Quoted(*run_dir), HolderOf(*run_dir)),
                      "muster stop " + ShellQuoted(options.resume) + " ends it, after a checkpoint if it writes them"));
  }
  return run_dir;
}

Result<Resumption> FindResumption(const RecipeOptions& options) {
  const auto run_dir = ResumedRun(options);
  if (!run_dir) return Fail(run_dir.error());
  auto id = IdOfRun(*run_dir);
  if (!id) return Fail(id.error());
  Resumption resumption{*std::move(id), {}};
  std::error_code error;
  if (!options.checkpoint.empty()) {
    resumption.checkpoint = AbsolutePath(options.checkpoint);
    if (fs::exists(resumption.checkpoint, error)) return resumption;
    return Fail(Error("resume", {}, fmt::format("--checkpoint {}: there is no such file", Quoted(options.checkpoint))));
  }
  const auto text = ReadSmallFile(kPlanEntry.In(*run_dir), kPlanEntry.most);
  if (!text) return Cannot(resumption.run, text.error(), "a run directory holds plan.json");
  const auto plan = PlanFromJson(*text);
  if (!plan) return Fail(plan.error());
  if (plan->checkpoints.dir.marked.empty()) {
    return Cannot(
        resumption.run, "its recipe has no `checkpoint`",
        std::string("checkpoint = { dir = \"checkpoints\", latest = \"step_*.pt\" } in a recipe does; ") + kNameOne);
  }
  const auto place = PlaceInRun(plan->checkpoints, fs::absolute(*run_dir, error));
  if (!place) return Cannot(resumption.run, place.error(), kNameOne);
  const auto complete = CompleteCheckpoints(*place);
  if (complete) {
    resumption.checkpoint = complete->back().path;
    return resumption;
  }
  const auto before = ResumptionOfRun(*run_dir);
  if (before && *before) {
    resumption.checkpoint = (*before)->checkpoint;
    return resumption;
  }
  return Cannot(
      resumption.run, "it has no complete checkpoint: " + complete.error(),
      fmt::format("without --resume the job starts from scratch; {}, and folders of other hosts are not searched",
                  kNameOne));
}

Result<std::optional<Resumption>> ResumptionOfRun(const std::string& run_dir) {
  const auto text = ReadSmallFile(kBindingEntry.In(run_dir), kBindingEntry.most);
  if (!text) return std::optional<Resumption>();
  const auto binding = ValueFromJsonText(*text);
  if (!binding || binding->AsMap() == nullptr) return std::optional<Resumption>();
  Resumption resumption{TextField(*binding, "resumed"), TextField(*binding, "checkpoint")};
  if (resumption.run.empty() || resumption.checkpoint.empty()) return std::optional<Resumption>();
  std::error_code error;
  if (fs::exists(resumption.checkpoint, error)) return std::optional(std::move(resumption));
  return Fail(Error("resume", {},
                    fmt::format("run {} continued from {}, which does not exist any more", Quoted(run_dir),
                                Quoted(resumption.checkpoint)),
                    "use muster run --resume RUN to continue from another one"));
}

Result<void> CheckUsesCheckpoint(const Plan& plan) {
  if (UsesCheckpoint(plan)) return {};
  return Fail(Error("resume", {}, "the recipe passes no checkpoint to its processes, so they would start from scratch",
                    "in its plan function: command = { \"train.py\", job.resume and { \"--resume\", "
                    "job.resume.checkpoint } or false }"));
}

}  // namespace muster
