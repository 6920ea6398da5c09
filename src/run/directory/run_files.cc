#include "run/directory/run_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/file_access.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "plan/check/plan_check.h"
#include "plan/environment/environment.h"
#include "plan/text/plan_json.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::array<std::string_view, 6> kSecretWords = {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL"};

bool SoundsSecret(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                     [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

}  // namespace

HiddenValues::HiddenValues(const Plan& plan, const std::map<std::string, std::string>& secrets) : plan_(plan) {
  for (const auto& [name, value] : secrets) {
    if (!value.empty()) secrets_.emplace_back(value);
  }
}

std::string HiddenValues::Shown(std::string_view name, const std::string& value) const {
  const bool notifies =
      std::any_of(plan_.notifications.begin(), plan_.notifications.end(), [&](const Notification& notification) {
        return std::any_of(notification.secrets.begin(), notification.secrets.end(),
                           [&](const auto& secret) { return secret.second.from_env == name; });
      });
  const bool hidden = SoundsSecret(name) || notifies ||
                      std::any_of(plan_.secrets.begin(), plan_.secrets.end(),
                                  [&](const auto& secret) { return secret.second.from_env == name; }) ||
                      std::any_of(secrets_.begin(), secrets_.end(),
                                  [&](std::string_view secret) { return value.find(secret) != std::string::npos; });
  return hidden ? std::string(kHiddenValue) : value;
}

std::vector<std::string> HideSecretsOf(const Plan& plan) {
  constexpr std::size_t kMaxSecretBytes = 1U << 20;  // as at the start
  std::vector<std::string> unknown;
  for (const auto& [name, source] : plan.secrets) {
    if (!source.from_env.empty()) {
      const char* const value = std::getenv(source.from_env.c_str());
      if (value == nullptr) {
        unknown.push_back(name);
      } else {
        HideFromNowOn(value);
      }
    } else if (const Result<std::string> value = ReadFileAt(AT_FDCWD, source.from_file, kMaxSecretBytes, O_NONBLOCK)) {
      HideFromNowOn(*value);
    } else {
      unknown.push_back(name);
    }
  }
  return unknown;
}

namespace {

constexpr std::array<std::string_view, 10> kRecorded = {
    "PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "CONDA_*", "ASCEND_*", "CUDA_*", "NCCL_*", "HCCL_*", "OMP_*", "GLOG_*"};

}  // namespace

std::span<const std::string_view> RecordedVariablePatterns() { return kRecorded; }

std::map<std::string, std::string> RecordedVariables(const std::vector<std::string>& environment,
                                                     const HiddenValues& hidden) {
  const auto readable = [](const std::string& text) { return IsUtf8(text) ? text : Printable(text); };
  std::map<std::string, std::string> recorded;
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = entry.substr(0, equals);
    const bool wanted = std::any_of(kRecorded.begin(), kRecorded.end(),
                                    [&](std::string_view pattern) { return Matches(pattern, name); });
    if (wanted) recorded.emplace(readable(name), readable(hidden.Shown(name, entry.substr(equals + 1))));
  }
  return recorded;
}

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
