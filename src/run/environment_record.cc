#include "run/environment_record.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/shell_quote.h"
#include "base/utf8.h"
#include "plan/environment.h"

namespace muster {
namespace {

constexpr std::array<std::string_view, 6> kSecretWords = {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL"};

constexpr std::array<std::string_view, 10> kRecorded = {
    "PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "CONDA_*", "ASCEND_*", "CUDA_*", "NCCL_*", "HCCL_*", "OMP_*", "GLOG_*"};

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
  const bool hidden = SoundsSecret(name) ||
                      std::any_of(plan_.secrets.begin(), plan_.secrets.end(),
                                  [&](const auto& secret) { return secret.second.from_env == name; }) ||
                      std::any_of(secrets_.begin(), secrets_.end(),
                                  [&](std::string_view secret) { return value.find(secret) != std::string::npos; });
  return hidden ? std::string(kHiddenValue) : value;
}

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

}  // namespace muster
