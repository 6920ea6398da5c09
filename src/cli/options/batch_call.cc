#include "cli/options/batch_call.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/values/text_parts.h"

namespace muster {
namespace {

// Options that ask for the allocation; each takes a value.
constexpr std::string_view kAllocationOptions[] = {"--on", "--slurm", "--engine-option"};

// The words of the call that are for the run inside the allocation.
std::vector<std::string> WordsInside(const std::vector<std::string>& words, const std::vector<std::string>& dropped,
                                     const std::vector<std::string>& added) {
  std::vector<std::string> inside;
  std::size_t i = 0;
  for (; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    const auto* option = std::find_if(
        std::begin(kAllocationOptions), std::end(kAllocationOptions),
        [&](std::string_view one) { return word == one || (word.starts_with(one) && word[one.size()] == '='); });
    if (option != std::end(kAllocationOptions)) {
      if (word == *option) ++i;  // its value
    } else if (std::find(dropped.begin(), dropped.end(), word) == dropped.end()) {
      inside.push_back(word);
    }
  }
  inside.insert(inside.end(), added.begin(), added.end());
  inside.insert(inside.end(), words.begin() + static_cast<std::ptrdiff_t>(std::min(i, words.size())), words.end());
  return inside;
}

}  // namespace

Result<bool> AsksForAllocation(const EngineOptions& options) {
  if (options.on.empty() && options.page.empty()) return false;
  const auto engine = ChosenEngine(options);
  if (!engine) return Fail(engine.error());
  return *engine && !(*engine)->allocation && !(*engine)->page.manifest;
}

Result<BatchCall> AllocationFor(const RecipeOptions& options, std::optional<AllocationNeeds> needs) {
  const auto engine = ChosenEngine(options.engine);
  if (!engine) return Fail(engine.error());
  BatchCall call;
  call.page = (*engine)->page;
  RecipeOptions asking = options;
  auto settings = RequestHosts(asking, call.page, "node", 1, std::move(needs));
  if (!settings) return Fail(settings.error());
  call.settings = *std::move(settings);
  call.job.nodes = static_cast<std::uint32_t>(asking.requested_hosts.size());
  call.asking = std::move(asking);
  return call;
}

std::uint32_t StopSeconds(const Plan& plan) {
  std::uint64_t wait_ms = 0;
  std::uint64_t grace_ms = 0;
  for (const Role& role : plan.roles) {
    if (!role.stop.checkpoint_signal.empty()) wait_ms = std::max<std::uint64_t>(wait_ms, role.stop.checkpoint_ms);
    grace_ms = std::max<std::uint64_t>(grace_ms, role.stop.grace_ms);
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>((wait_ms + grace_ms + 999) / 1000, 1'000'000));
}

Result<void> CompleteBatchCall(BatchCall& call, const Plan& plan, const std::string& command,
                               const std::vector<std::string>& words, const std::vector<std::string>& dropped,
                               const std::vector<std::string>& added) {
  std::error_code error;
  BatchJob& job = call.job;
  job.name = plan.name;
  job.folder = std::filesystem::current_path(error);
  if (error) return Fail(SystemError("cwd", "cannot determine the current folder", error.value()));
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  job.command = {error ? "muster" : program.string(), command};
  std::vector<std::string> last = {"--on", call.page.name};
  last.insert(last.end(), added.begin(), added.end());
  const std::vector<std::string> inside = WordsInside(words, dropped, last);
  job.command.insert(job.command.end(), inside.begin(), inside.end());
  const std::size_t used = plan.hosts.size();
  job.stop_seconds = StopSeconds(plan);
  job.note =
      fmt::format("{}: {} on {}", job.name, fmt::format("{} processes", plan.processes.size()), Counted(used, "host"));
  if (job.nodes > used) job.note += ", " + Counted(job.nodes - used, "spare");
  auto script = BatchScript(call.page, call.settings, job);
  if (!script) return Fail(script.error());
  call.script = *std::move(script);
  return {};
}

Result<BatchCall> BatchCallFor(const RecipeOptions& options, const std::vector<std::string>& words,
                               const std::vector<std::string>& dropped) {
  auto call = AllocationFor(options);
  if (!call) return call;
  const EngineSetting* each = EachTrialOf(call->page, call->settings);
  if (each != nullptr && each->source.starts_with("--")) {
    return Fail(Error("usage", {}, each->source + " each_trial is for muster sweep: a run has no trials", {}));
  }
  const auto evaluation = EvaluateFrom(call->asking);
  if (!evaluation) return Fail(evaluation.error());
  call->warnings = evaluation->warnings;
  if (auto done = CompleteBatchCall(*call, evaluation->plan, "run", words, dropped); !done) return Fail(done.error());
  return call;
}

}  // namespace muster
