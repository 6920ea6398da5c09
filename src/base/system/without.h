// The mechanisms of the kernel that are switched off: for old kernels on which they are faulty, and for tests of their
// substitutes.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/system/mechanism.h"

namespace muster {

class Without {
 public:
  void Add(Mechanism mechanism) { bits_ |= Bit(mechanism); }
  void Add(const Without& other) { bits_ |= other.bits_; }
  bool Has(Mechanism mechanism) const { return (bits_ & Bit(mechanism)) != 0; }
  bool empty() const { return bits_ == 0; }

  bool operator==(const Without&) const = default;

 private:
  static unsigned Bit(Mechanism mechanism) { return 1U << static_cast<unsigned>(mechanism); }

  unsigned bits_ = 0;
};

// "pidfd,cgroup": what ParseWithout takes.
std::string WithoutText(const Without& without);

// Names joined by commas; the error is the first word that is none. Empty text: nothing is done without.
tl::expected<Without, std::string> ParseWithout(std::string_view names);

inline constexpr const char* kWithoutVariable = "MUSTER_WITHOUT";
// What the variable asks for; nothing if it is not set or holds a word that is no name.
Without WithoutByEnvironment();

}  // namespace muster
