#include "cli/launch/run_preparation.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "cli/command/command_output.h"
#include "cli/command/small_file.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_argument.h"
#include "cli/options/named_hosts.h"
#include "code/tree.h"
#include "plan/text/plan_json.h"
#include "run/directory/run_directory.h"
#include "run/hosts/host_differences.h"
#include "run/journal/run_summary.h"
#include "run/start/rehearsal_plan.h"
#include "run/start/start_specs.h"

namespace muster {
namespace {

Result<Plan> ReadPlan(const std::string& file) {
  const auto text = ReadSmallFile(file, kMaxPlanJsonBytes);
  if (text) return PlanFromJson(*text);
  return Fail(
      Error("plan_file", {file, 0}, "the plan cannot be read", "make one with: muster plan RECIPE --json > FILE"));
}

// Sets the checkpoint to resume from, if any.
Result<void> TakeResumption(Result<std::optional<Resumption>> found, RunRequest& request) {
  if (!found) return Fail(found.error());
  if (!*found) return {};
  request.checkpoint = (*found)->checkpoint;
  request.resumed = (*found)->run;
  return {};
}

// The plan of an earlier run with its origin; only its binding is new.
Result<void> TakePlanOfRun(const PlanSource& options, RunRequest& request) {
  const auto run_dir = FindRun(options.replayed, DirectoryUse::kExecute);
  if (!run_dir) return Fail(run_dir.error());
  auto id = IdOfRun(*run_dir);
  if (!id) return Fail(id.error());
  if (const auto run = SummarizeRun(*run_dir, false); run && run->rehearsal) {
    return Fail(Error("run", {}, "run " + *id + " is a rehearsal: its plan starts stubs",
                      "muster run " + *id + " runs its recipe, muster rehearse " + *id + " rehearses it again"));
  }
  auto stored = PlanOfRun(*run_dir);
  if (!stored) return Fail(stored.error());
  request.plan = std::move(stored->plan);
  request.inputs = std::move(stored->inputs);
  request.evaluation = std::move(stored->evaluation);
  request.sources = std::move(stored->sources);
  request.parent = *std::move(id);
  if (auto taken = TakeResumption(ResumptionOfRun(*run_dir), request); !taken) return taken;
  return NameHosts(options.recipe, request.plan);
}

}  // namespace

Result<void> NameHosts(const RecipeOptions& options, Plan& plan) {
  const auto engine = HostsFromEngine(options);
  if (!engine) return Fail(engine.error());
  if (!NamesHosts(options) && !*engine) return CheckListIsNamed(options, "the plan");
  auto named = NamedHosts(options);
  if (!named) return Fail(named.error());
  if (named->empty()) return {};
  if (*engine && !NamesHosts(options) && AreAmong(plan, *named)) return {};
  if (named->size() < plan.hosts.size()) {
    return Fail(Error("hosts", {},
                      "the plan has " + std::to_string(plan.hosts.size()) + " hosts, and " +
                          (NamesHosts(options) ? "the command line names " : **engine + " has ") +
                          std::to_string(named->size())));
  }
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) plan.hosts[i].name = (*named)[i].name;
  return {};
}

Result<void> FillPlan(const PlanSource& options, RunRequest& request) {
  if (options.replay) return TakePlanOfRun(options, request);
  if (!options.plan_file.empty()) {
    if (!options.recipe.recipe.empty()) {
      return Fail(
          Error("usage", {}, "--plan and a recipe are given", "give one of them: a plan already has its parameters"));
    }
    if (!options.recipe.devices.empty() || options.recipe.share_devices) {
      return Fail(Error("usage", {}, "--plan and --devices or --share-devices are given",
                        "the plan already selects its devices: use --devices with muster plan"));
    }
    if (HasRecipeChanges(options.recipe)) {
      return Fail(Error("usage", {}, "--plan and --profile, --unset or --pin are given",
                        "a plan already has its values: give them to muster plan"));
    }
    auto plan = ReadPlan(options.plan_file);
    if (!plan) return Fail(plan.error());
    if (IsRehearsalPlan(*plan)) {
      return Fail(Error("plan_file", {options.plan_file, 0}, "this is the plan of a rehearsal: it starts stubs",
                        "name the rehearsal itself instead of a recipe, or make a plan with: muster plan RECIPE "
                        "--json > FILE"));
    }
    request.plan = *std::move(plan);
    if (!options.recipe.resume.empty()) {
      if (auto used = CheckUsesCheckpoint(request.plan); !used) return used;
      auto found = FindResumption(options.recipe);
      if (!found) return Fail(found.error());
      request.checkpoint = found->checkpoint;
      request.resumed = request.parent = found->run;
    }
    return NameHosts(options.recipe, request.plan);
  }
  if (options.recipe.recipe.empty()) return Fail(NoRecipe(options.recipe));
  auto evaluated = EvaluateForRun(options.recipe);
  if (!evaluated) return Fail(evaluated.error());
  auto& [made_by, evaluation] = *evaluated;
  if (auto refused = RefusedByRun(evaluation.warnings); !refused.empty()) return Fail(std::move(refused));
  PrintDiagnostics(evaluation.warnings);
  PrintDiagnostics(WarnOfRemoved(evaluation));
  if (const auto parent = RunMeant(options.recipe.recipe)) {
    auto id = IdOfRun(*parent);
    if (!id) return Fail(id.error());
    request.parent = *std::move(id);
  }
  request.evaluation = EvaluationRecord(made_by);
  for (const Input& input : evaluation.inputs) {
    if (input.kind != "checkpoint") continue;
    request.checkpoint = input.name;
    request.resumed = made_by.resumed;
    if (!options.recipe.resume.empty()) request.parent = made_by.resumed;
  }
  request.inputs = InputsValue(evaluation.inputs);
  request.sources = std::move(evaluation.sources);
  request.lockdown = std::move(evaluation.lockdown);
  request.plan = std::move(evaluation.plan);
  request.evaluate_ns = evaluation.evaluate_ns;
  return {};
}

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// Progress of reading the code, on a terminal, after the first second.
class ReadingShown {
 public:
  ReadingShown() : began_(MonotonicNowNs()), shows_(::isatty(STDERR_FILENO) == 1) {}
  ~ReadingShown() {
    if (at_ != 0) std::fputs("\r\033[K", stderr);
  }
  ReadingShown(const ReadingShown&) = delete;
  ReadingShown& operator=(const ReadingShown&) = delete;

  void Seen(std::uint64_t bytes, std::uint64_t all) {
    const std::uint64_t now = MonotonicNowNs();
    if (!shows_ || now < began_ + kSecond || now < at_ + kSecond / 10) return;
    at_ = now;
    std::fprintf(stderr, "\rreading the code: %llu of %llu MB\033[K",
                 static_cast<unsigned long long>(bytes / 1'000'000), static_cast<unsigned long long>(all / 1'000'000));
    std::fflush(stderr);
  }

 private:
  std::uint64_t began_;
  bool shows_;
  std::uint64_t at_ = 0;  // time of the last output
};

void PrintCode(const CodeTree& tree) {
  const auto tell = [](const std::vector<std::string>& names, const char* one, const char* many, const char* hint) {
    if (names.empty()) return;
    PrintDiagnostics({Warning(
        "ship", {}, fmt::format("{} {}: {}", names.size(), names.size() == 1 ? one : many, SomeNames(names)), hint)});
  };
  tell(tree.untracked, "file that git does not know is not shipped", "files that git does not know are not shipped",
       "git add FILE ships it, .gitignore excludes it");
  tell(tree.leading_out, "link leads out of the code and is shipped as it is",
       "links lead out of the code and are shipped as they are", "");
  tell(tree.passed_over, "entry is neither file nor link and is not shipped",
       "entries are neither files nor links and are not shipped", "");
  tell(tree.outside, "file that git knows lies outside of the code and is not shipped",
       "files that git knows lie outside of the code and are not shipped",
       "its folder is a link now: ship the target of the link, or make it a folder again");
}

// Runs below the folder are not shipped.
std::vector<std::string> NotCode(const std::string& folder, const RunRequest& request) {
  std::vector<std::string> but;
  const std::string own = std::filesystem::path(request.runs_folder).parent_path();
  for (const std::string& place : {request.runs_folder, own + "/sweeps", request.run_dir}) {
    if (place.starts_with(folder + '/')) but.push_back(place.substr(folder.size() + 1));
  }
  return but;
}

Result<void> ReadCode(const ElsewhereOptions& options, RunRequest& request) {
  CodeTreeLimits limits;
  if (!options.ship_limit.empty()) {
    const auto bytes = ParseBytes(options.ship_limit);
    if (!bytes || *bytes <= 0) {
      return Fail(Error("usage", {}, "--ship-limit " + Quoted(options.ship_limit) + ": this is not a size",
                        "for example --ship-limit 2GB"));
    }
    limits.bytes = static_cast<std::uint64_t>(*bytes);
  }
  const std::filesystem::path given = std::filesystem::path(request.cwd) / options.ship_code;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(given, error);
  if (error || !std::filesystem::is_directory(folder, error)) {
    return Fail(Error("ship", {}, "--ship-code " + Quoted(options.ship_code) + ": there is no such folder",
                      "name the folder that holds the code: --ship-code ."));
  }
  ReadingShown shown;
  Result<CodeTree> tree = ReadCodeTree(folder, request.environment, limits, NotCode(folder, request),
                                       [&shown](std::uint64_t bytes, std::uint64_t all) { shown.Seen(bytes, all); });
  if (!tree) return Fail(std::move(tree.error()));
  std::string named = given.lexically_normal();
  while (named.size() > 1 && named.ends_with('/')) named.pop_back();
  if (named != tree->folder) tree->also_named = named;
  request.code = std::make_shared<const CodeTree>(*std::move(tree));
  return {};
}

// Shipped files need not exist on the hosts.
void LeaveOutShipped(const RunRequest& request, std::vector<HostNeeds>& needs) {
  if (!request.code) return;
  const ShippedPaths there(request.code, "/shipped");
  for (HostNeeds& host : needs) {
    std::erase_if(host.programs, [&](const std::string& program) {
      const bool named = program.find('/') != std::string::npos;
      // As the start finds it: from the folder of the call, which may be a shipped one ("./train.sh", "../tool").
      const std::string path = (std::filesystem::path(request.cwd) / program).lexically_normal();
      return named && there.Led(path) != path;
    });
  }
}

}  // namespace

void AddElsewhereOptions(CLI::App& app, ElsewhereOptions& options) {
  app.add_flag("--no-preflight", options.no_preflight, "skip the checks of hosts before the start");
  app.add_option("--ship-code", options.ship_code, "copy this folder (files that git tracks, else all) to every host")
      ->type_name("DIR");
  app.add_option("--ship-limit", options.ship_limit, "maximum size of that code (default: 500MB)")->type_name("SIZE");
}

Result<void> RefuseElsewhereOptions(const ElsewhereOptions& options) {
  for (const auto& [name, given] :
       {std::pair{"--no-preflight", options.no_preflight}, std::pair{"--ship-code", !options.ship_code.empty()},
        std::pair{"--ship-limit", !options.ship_limit.empty()}}) {
    if (!given) continue;
    return Fail(Error("usage", {}, fmt::format("{} is given, and the run is on this machine alone", name),
                      "name other hosts: --host n[01-04]"));
  }
  return {};
}

Result<void> ApplyElsewhereOptions(const ElsewhereOptions& options, RunRequest& request) {
  if (options.ship_code.empty() && !options.ship_limit.empty()) {
    return Fail(Error("usage", {}, "--ship-limit is given, and no code is shipped", "--ship-code ."));
  }
  if (!options.ship_code.empty()) {
    if (Result<void> read = ReadCode(options, request); !read) return read;
    PrintCode(*request.code);
  }
  if (!options.no_preflight) {
    Preflight preflight;
    preflight.needs = NeedsOf(request.plan, request.hosts.size() + request.spares.size());
    LeaveOutShipped(request, preflight.needs);
    preflight.question =
        QuestionFor(request.plan, preflight.needs,
                    {.environment = request.hosts_have_environment ? std::vector<std::string>() : request.environment,
                     .cwd = request.cwd,
                     .search_dirs = request.search_dirs,
                     .run_dir = request.run_dir.empty() ? request.runs_folder : request.run_dir});
    preflight.muster = MUSTER_VERSION;
    request.preflight = std::move(preflight);
  }
  std::vector<std::string> names;
  for (const SiteHost& host : request.hosts) names.push_back(host.name);
  for (const SiteHost& host : request.spares) names.push_back(host.name);
  for (const std::string& line : RememberedHosts(names, request.environment))
    PrintDiagnostics({Warning("bad_host", {}, line)});
  request.on_bad_hosts = [environment = request.environment, hosts = names.size()](const auto& bad) {
    RememberHosts(bad, hosts, environment);
  };
  return {};
}

ConsoleOptions ConsoleFor(const RunOptions& options) {
  ConsoleOptions console;
  console.quiet = options.quiet;
  console.verbose = options.verbose;
  const char* terminal = std::getenv("TERM");
  console.progress =
      !options.no_progress && !options.quiet && terminal != nullptr && std::string_view(terminal) != "dumb";
  return console;
}

}  // namespace muster
