#include "cli/options/resume.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "cli/command/small_file.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/stored_recipe.h"
#include "cli/options/plan_argument.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"
#include "run/directory/checkpoints.h"
#include "run/directory/run_directory.h"
#include "settings/values/value_json.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNameOne = "--checkpoint PATH names one";

tl::unexpected<Diagnostics> Cannot(const std::string& run, const std::string& why, std::string hint) {
  return Fail(Error("resume", {}, fmt::format("cannot resume run {}: {}", Printable(run), why), std::move(hint)));
}

std::string TextOf(const Value::Map& map, const std::string& key) {
  const auto found = map.find(key);
  return found != map.end() && found->second.AsString() != nullptr ? *found->second.AsString() : std::string();
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
    resumption.checkpoint = fs::absolute(options.checkpoint, error).lexically_normal();
    if (fs::exists(resumption.checkpoint, error)) return resumption;
    return Fail(Error("resume", {}, fmt::format("--checkpoint {}: there is no such file", Quoted(options.checkpoint))));
  }
  const auto text = ReadSmallFile(*run_dir + "/" + kPlanEntry.name, kPlanEntry.most);
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
  const auto text = ReadSmallFile(run_dir + "/" + kBindingEntry.name, kBindingEntry.most);
  if (!text) return std::optional<Resumption>();
  const auto binding = ValueFromJsonText(*text);
  if (!binding || binding->AsMap() == nullptr) return std::optional<Resumption>();
  Resumption resumption{TextOf(*binding->AsMap(), "resumed"), TextOf(*binding->AsMap(), "checkpoint")};
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
