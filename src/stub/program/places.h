// Checks the free space where a job writes. Writes a few bytes into unnamed files, which vanish at once.
#pragma once

#include <string>
#include <vector>

#include "stub/records/stub_report.h"

namespace muster {

struct PlaceWritten {
  std::string what;  // "the run directory"
  std::string path;
  bool may_lack = false;  // ignored if it does not exist
};

// Less free space than this counts as full, as for muster doctor.
inline constexpr std::uint64_t kLeastRoomBytes = std::uint64_t{100} << 20;
inline constexpr std::uint64_t kLeastRoomInodes = 1'000;

// Adds the finding of kDisk.
void CheckPlaces(const std::vector<PlaceWritten>& places, StubReport& account);

}  // namespace muster
