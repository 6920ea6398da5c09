// Whether the disk of a sweep has room for another trial.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "base/values/quoting.h"

namespace muster {

// With less, no trial is begun: it could not write its own files.
inline constexpr std::uint64_t kFreeBytesOfTrial = 1U << 20;

// Why no trial can begin; empty if one can. `folder` is for the text, `descriptor` an open one of it.
inline std::string FullDiskText(int descriptor, const std::string& folder) {
  struct statvfs disk {};
  if (::fstatvfs(descriptor, &disk) != 0) return {};
  const std::uint64_t left = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (left >= kFreeBytesOfTrial) return {};
  return fmt::format("the disk of {} is full ({} KiB are left)", Quoted(folder), left >> 10);
}

}  // namespace muster
