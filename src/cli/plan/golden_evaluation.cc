#include "cli/plan/golden_evaluation.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "cli/command/command.h"
#include "cli/options/log_limit_option.h"
#include "cli/options/recipe_options.h"
#include "cli/options/wrap_option.h"

namespace muster {
namespace {

constexpr const char* kAssumedFolder = "/recipes";  // the assumed folder of the recipes

// The parsed words of a case, and its evaluation options.
struct CaseOptions {
  RecipeOptions recipe;
  std::vector<std::string> wraps;
  std::string log_max;
  std::vector<std::string> variables;
  std::string memory;
  std::uint32_t devices = 0;
};

Result<CaseOptions> ReadWords(const GoldenCase& one) {
  CaseOptions options;
  Invocation invocation;
  std::vector<std::string> words = one.words;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) {
    invocation.words_after_dashes.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }
  CLI::App app;
  app.set_help_flag();
  AddRecipeOptions(app, options.recipe, invocation);
  AddWrapOption(app, options.wraps);
  AddLogLimitOption(app, options.log_max);
  app.add_option("--variable", options.variables)->allow_extra_args(false);
  app.add_option("--host-memory", options.memory);
  app.add_option("--host-devices", options.devices);
  words.insert(words.begin(), one.recipe);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return Fail(Error("cases", one.place, error.what(),
                      "the options of muster plan, and --variable NAME=VALUE, --host-memory SIZE, --host-devices N"));
  }
  Site site;
  site.host_devices = options.devices;
  if (!options.memory.empty()) {
    const auto bytes = ParseBytes(options.memory);
    if (!bytes)
      return Fail(Error("cases", one.place, "--host-memory " + Quoted(options.memory) + " is not a size", "64GiB"));
    site.host_memory_bytes = static_cast<std::uint64_t>(*bytes);
  }
  options.recipe.believed = site;
  return options;
}

}  // namespace

Result<Evaluation> EvaluateCase(const GoldenCase& one, bool describe_only, const std::vector<Override>& more,
                                const std::function<void(unsigned seconds)>& on_wait, const std::string& mindspore) {
  const auto options = ReadWords(one);
  if (!options) return Fail(options.error());
  auto prepared = PrepareEvaluation(options->recipe);
  if (!prepared) return Fail(prepared.error());
  if (describe_only) prepared->depth = EvaluationDepth::kParameters;
  prepared->reported_folder = kAssumedFolder;
  prepared->on_wait = on_wait;
  if (!mindspore.empty()) prepared->mindspore = mindspore;
  prepared->overrides.insert(prepared->overrides.end(), more.begin(), more.end());
  std::map<std::string, std::string> variables;
  for (const std::string& variable : options->variables) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Fail(Error("cases", one.place, "--variable " + Quoted(variable) + ": there is no '=' after a name"));
    }
    variables[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  prepared->variable = [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  auto evaluation = EvaluateRecipe(*prepared);
  if (!evaluation || describe_only) return evaluation;
  if (auto wrapped = ApplyWraps(evaluation->plan, options->wraps); !wrapped) return Fail(wrapped.error());
  if (auto limited = ApplyLogLimit(evaluation->plan, options->log_max); !limited) return Fail(limited.error());
  return evaluation;
}

}  // namespace muster
