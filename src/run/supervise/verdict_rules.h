// Rules of verdicts as a JSON file, in which a site adds rules to those of muster and puts them in another order
// (docs/verdicts.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "run/supervise/verdict.h"

namespace muster {

inline constexpr std::size_t kMaxVerdictRules = 200;
inline constexpr std::uint64_t kMaxVerdictRulesFile = 1U << 20;

// `file` is named in diagnostics, which have its lines. All errors at once: kind "rules".
Result<std::vector<VerdictRule>> VerdictRulesFromJson(std::string_view text, const std::string& file);

}  // namespace muster
