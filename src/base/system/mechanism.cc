#include "base/system/mechanism.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace muster {

std::string WithoutText(const Without& without) {
  std::string text;
  for (std::size_t i = 0; i < kMechanismFacts.size(); ++i) {
    if (!without.Has(static_cast<Mechanism>(i))) continue;
    if (!text.empty()) text += ',';
    text += kMechanismFacts[i].name;
  }
  return text;
}

tl::expected<Without, std::string> ParseWithout(std::string_view names) {
  Without without;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(','), names.size());
    const std::string_view name = names.substr(0, end);
    const auto* const found = std::find_if(kMechanismFacts.begin(), kMechanismFacts.end(),
                                           [&](const MechanismFact& fact) { return fact.name == name; });
    if (found == kMechanismFacts.end()) return tl::unexpected<std::string>(std::string(name));
    without.Add(static_cast<Mechanism>(found - kMechanismFacts.begin()));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return without;
}

Without WithoutByEnvironment() {
  const char* names = std::getenv(kWithoutVariable);
  return ParseWithout(names == nullptr ? "" : names).value_or(Without{});
}

}  // namespace muster
