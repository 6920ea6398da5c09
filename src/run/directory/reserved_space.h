// Reserves disk space beyond the end of a file, so that the file can still grow after others have filled the disk. File
// systems without fallocate(2), such as NFS before 4.2, reserve nothing.
#pragma once

#include <cstdint>

namespace muster {

class ReservedSpace {
 public:
  // Reserves `ahead` bytes beyond the end of the file; 0 reserves nothing.
  explicit ReservedSpace(std::uint64_t ahead = 0) : ahead_(ahead) {}

  // Renews the reserve of the open file, which has `written` bytes, once half of it is used. The length of the file
  // does not change (fallocate(2), FALLOC_FL_KEEP_SIZE). Returns 0, or ENOSPC or EDQUOT if the disk has too little
  // space; the earlier reserve then stays.
  int Keep(int file, std::uint64_t written);

  // Frees the space reserved beyond the end of the file.
  void Release(int file);

 private:
  std::uint64_t ahead_;
  std::uint64_t kept_ = 0;  // space is reserved up to this offset
};

}  // namespace muster
