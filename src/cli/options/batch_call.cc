#include "cli/options/batch_call.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/options/named_hosts.h"

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

// Nodes as the engine may name them.
std::vector<SiteHost> RequestedHosts(std::uint32_t nodes, std::optional<std::uint32_t> devices) {
  std::vector<SiteHost> hosts;
  for (std::uint32_t i = 1; i <= nodes; ++i) hosts.push_back({"node" + std::to_string(i), {}, devices});
  return hosts;
}

std::string CountText(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Result<bool> AsksForAllocation(const EngineOptions& options) {
  if (options.on.empty() && options.page.empty()) return false;
  const auto engine = ChosenEngine(options);
  if (!engine) return Fail(engine.error());
  return *engine && !(*engine)->allocation;
}

Result<BatchCall> AllocationFor(const RecipeOptions& options, std::optional<AllocationNeeds> needs) {
  const auto engine = ChosenEngine(options.engine);
  if (!engine) return Fail(engine.error());
  BatchCall call;
  call.page = (*engine)->page;
  const std::string& name = call.page.name;
  if (NamesHosts(options) || !options.exclude.empty()) {
    return Fail(Error("usage", {},
                      "--on " + name + " and --host, --hostfile or --exclude are given: the engine chooses the hosts",
                      "an option of the engine asks for certain ones: extra=--nodelist=n[01-04]"));
  }
  if (!options.devices.empty()) {
    return Fail(Error("usage", {}, "--on " + name + " and --devices are given: the engine chooses the devices",
                      "--engine-option NAME=VALUE says how many"));
  }
  // First what the recipe asks of the engine, and how many hosts it is for.
  RecipeOptions asking = options;
  asking.engine = {"local", {}, {}, {}};
  asking.spares = 0;
  if (!needs) {
    auto asked = EvaluateFrom(asking, EvaluationDepth::kParameters);
    if (!asked) return Fail(asked.error());
    needs = AllocationNeeds{asked->hosts, std::move(asked->engine_settings)};
  }
  auto settings = SettingsFor(call.page, options.engine, needs->of_recipe);
  if (!settings) return Fail(settings.error());
  call.settings = *std::move(settings);
  const auto nodes = NodesOf(call.settings);
  asking.spares = options.spares;
  asking.requested_hosts =
      RequestedHosts(nodes.value_or(needs->hosts + options.spares), DevicesOf(call.page, call.settings));
  asking.requested_by =
      nodes ? name + ".nodes from " + call.settings.at("nodes").source : name + ", as the recipe asks";
  if (asking.requested_hosts.size() <= options.spares) {
    return Fail(Error("hosts", {}, fmt::format("--spares {}, and {}.nodes is {}", options.spares, name, *nodes),
                      "the nodes of the allocation are those of the job and the spares"));
  }
  call.job.nodes = static_cast<std::uint32_t>(asking.requested_hosts.size());
  call.asking = std::move(asking);
  return call;
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
  job.note = fmt::format("{}: {} on {}", job.name, fmt::format("{} processes", plan.processes.size()),
                         CountText(used, "host"));
  if (job.nodes > used) job.note += ", " + CountText(job.nodes - used, "spare");
  auto script = BatchScript(call.page, call.settings, job);
  if (!script) return Fail(script.error());
  call.script = *std::move(script);
  return {};
}

Result<BatchCall> BatchCallFor(const RecipeOptions& options, const std::vector<std::string>& words,
                               const std::vector<std::string>& dropped) {
  auto call = AllocationFor(options);
  if (!call) return call;
  const auto evaluation = EvaluateFrom(call->asking);
  if (!evaluation) return Fail(evaluation.error());
  call->warnings = evaluation->warnings;
  if (auto done = CompleteBatchCall(*call, evaluation->plan, "run", words, dropped); !done) return Fail(done.error());
  return call;
}

}  // namespace muster
