#include "sweep/head/sweep_inputs.h"

#include <utility>

namespace muster {

Result<SweepInputs> InputsOf(const SweepRequest& request) {
  if (Diagnostics problems = CheckSweep(request.description); HasErrors(problems)) return Fail(std::move(problems));
  auto compiled = CompiledSpace::Of(request.description.space);
  if (!compiled) return Fail(compiled.error());
  auto space = std::make_unique<const CompiledSpace>(*std::move(compiled));
  auto sampler = Sampler::Of(*space, request.description.sampler);
  if (!sampler) return Fail(sampler.error());
  const MetricsChoice& metrics = request.description.metrics;
  auto patterns = LogPatterns::Of(metrics.patterns, metrics.place);
  if (!patterns) return Fail(patterns.error());
  auto classes = ClassPatterns::Of(request.description.retry.patterns, request.description.retry.place);
  if (!classes) return Fail(classes.error());
  auto files = RecipeFiles::Open(request.evaluation.recipe_file, request.evaluation.libraries);
  if (!files) return Fail(files.error());
  return SweepInputs{std::move(space), *std::move(sampler), *std::move(patterns), *std::move(classes),
                     *std::move(files)};
}

}  // namespace muster
