// Whether there is room where a job writes. Writes a little, into files without a name that are gone at once.
#pragma once

#include <string>
#include <vector>

#include "stub/records/stub_account.h"

namespace muster {

struct PlaceWritten {
  std::string what;  // "the run directory"
  std::string path;
  bool may_lack = false;  // then it is passed over where it is not there
};

// Less free than this is as good as full, as for muster doctor.
inline constexpr std::uint64_t kLeastRoomBytes = std::uint64_t{100} << 20;
inline constexpr std::uint64_t kLeastRoomInodes = 1'000;

// Finding of kDisk.
void LookAtPlaces(const std::vector<PlaceWritten>& places, StubAccount& account);

}  // namespace muster
