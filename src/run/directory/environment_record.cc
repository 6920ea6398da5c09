#include "run/directory/environment_record.h"

#include <algorithm>
#include <array>

#include "base/values/shell_quote.h"
#include "base/values/utf8.h"
#include "plan/environment/environment.h"

namespace muster {
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

}  // namespace muster
