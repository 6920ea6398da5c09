// The set of kernel mechanisms that are switched off: for old kernels on which they are faulty, and for tests of their
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

// "pidfd,cgroup": the format that ParseWithout reads.
std::string WithoutText(const Without& without);

// Parses names joined by commas; the error is the first unknown word. An empty text switches nothing off.
tl::expected<Without, std::string> ParseWithout(std::string_view names);

inline constexpr const char* kWithoutVariable = "MUSTER_WITHOUT";
// Reads the environment variable; empty if it is not set or holds an unknown word.
Without WithoutByEnvironment();

}  // namespace muster
