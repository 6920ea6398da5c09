#include "run/directory/run_files.h"

#include <utility>

#include <fmt/format.h>

#include "base/system/open_below.h"
#include "base/values/json_text.h"
#include "base/values/shell_quote.h"
#include "plan/check/plan_check.h"
#include "plan/text/plan_json.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

static_assert(kPlanEntry.most == kMaxPlanJsonBytes);

std::string InputsText(const Value& inputs, const Value& evaluation,
                       const std::map<std::string, std::string>& inherited) {
  const Value recorded(Value::Map(inherited.begin(), inherited.end()));
  return JsonText(Value(
             Value::Map{{"format", 1}, {"inherited", recorded}, {"inputs", inputs}, {"evaluation", evaluation}})) +
         "\n";
}

}  // namespace

Result<void> WriteRecipe(int folder, const Value& inputs, const Value& evaluation,
                         const std::map<std::string, std::string>& inherited,
                         const std::map<std::string, std::string>& sources, const std::string& linked_sources) {
  for (const auto& [path, bytes] : sources) {
    const std::string place = fmt::format("{}/{}", kRecipeEntry.name, path);
    if (!linked_sources.empty() && LinkFile(folder, place, linked_sources + "/" + path)) continue;
    if (Result<void> written = WriteNewFile(folder, place, bytes); !written) return written;
  }
  return WriteNewFile(folder, kInputsEntry.name, InputsText(inputs, evaluation, inherited));
}

Result<void> ReplaceRecipe(int folder, const Value& inputs, const Value& evaluation,
                           const std::map<std::string, std::string>& sources) {
  for (const auto& [path, bytes] : sources) {
    const std::string place = fmt::format("{}/{}", kRecipeEntry.name, path);
    if (auto made = MakeFolderOf(folder, place); !made) return Fail(made.error());
    if (auto replaced = ReplaceFile(folder, place, bytes); !replaced) return replaced;
  }
  return ReplaceFile(folder, kInputsEntry.name, InputsText(inputs, evaluation, {}));
}

Result<UniqueFd> WriteRunFiles(int folder, const RunFiles& run) {
  const auto write = run.again ? ReplaceFile : [](int at, const std::string& path, std::string_view bytes) {
    return WriteNewFile(at, path, bytes);
  };
  if (Result<void> written = write(folder, kPlanEntry.name, PlanToJson(run.plan, run.inputs, run.plan_id)); !written) {
    return Fail(std::move(written.error()));
  }
  if (!run.plan_text.empty()) {
    if (Result<void> written = write(folder, kPlanTextEntry.name, run.plan_text); !written) {
      return Fail(std::move(written.error()));
    }
  }
  if (!run.again) {
    if (Result<void> written =
            WriteRecipe(folder, run.inputs, run.evaluation, run.inherited, run.sources, run.linked_sources);
        !written) {
      return Fail(std::move(written.error()));
    }
  }
  if (Result<UniqueFd> errors = MakeFolder(folder, kErrorsEntry.name); !errors) return errors;
  if (Result<UniqueFd> metrics = MakeFolder(folder, kMetricsEntry.name); !metrics) return metrics;
  return MakeFolder(folder, kLogsEntry.name);
}

Result<std::string> ReadPlanJson(int folder, const std::string& run_dir) {
  Result<std::string> bytes = ReadFileAt(folder, kPlanEntry.name, kPlanEntry.most);
  if (bytes) return bytes;
  return Fail(
      Error("run", {}, fmt::format("{} is not a run directory", Quoted(run_dir)), "a run directory holds plan.json"));
}

}  // namespace muster
