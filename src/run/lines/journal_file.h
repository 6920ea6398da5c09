// The file of a journal that is written: append-only, in whole lines, with room kept for more of them on the disk.
#pragma once

#include <cstdint>
#include <string>

#include "base/system/unique_fd.h"
#include "run/directory/reserved_space.h"

namespace muster {

class JournalFile {
 public:
  // An open file that ends at `bytes`. Beyond its end `room` bytes of the disk are kept
  // (run/directory/reserved_space.h).
  JournalFile(UniqueFd file, std::uint64_t bytes, std::uint64_t room);
  JournalFile(JournalFile&&) = default;
  JournalFile& operator=(JournalFile&&) = default;
  ~JournalFile();

  // Before the first line. 0, or the errno if the disk has not so many bytes.
  int ReserveSpace();
  // Appends the lines and removes those that are in the file from `lines`: what the disk takes half of is cut off
  // again. 0, or the errno.
  int Write(std::string& lines);
  // Everything on the disk. 0, or the errno.
  int Sync();
  // Gives the room that is left to others, as the end of the file does; after the last line.
  void Release();

  std::uint64_t bytes() const { return bytes_; }

 private:
  UniqueFd file_;
  ReservedSpace room_;
  std::uint64_t bytes_;
};

}  // namespace muster
