// Where the value of a setting comes from: a default, a call, a derivation or a reset.
#pragma once

#include <cstdint>
#include <string>

#include "muster/diagnostic.h"

namespace muster {

struct SettingSource {
  enum class Kind : std::uint8_t { kDefault, kSet, kDerived, kReset };
  Kind kind = Kind::kDefault;
  Place place;       // of the call (kSet, kReset)
  std::string text;  // additional source: "default of MindSpore 1.6.2", "the number of workers"; may be empty

  bool operator==(const SettingSource&) const = default;
};

// As text: "recipes/ps.lua:9", "default of MindSpore 1.6.2", …
std::string SourceText(const SettingSource& source);

}  // namespace muster
