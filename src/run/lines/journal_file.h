// Appends complete lines to the file of a journal, and keeps disk space reserved for more of them.
#pragma once

#include <cstdint>
#include <string>

#include "base/system/unique_fd.h"
#include "run/directory/reserved_space.h"

namespace muster {

class JournalFile {
 public:
  // An open file whose length is `bytes`. Reserves `room` bytes of the disk beyond its end
  // (run/directory/reserved_space.h).
  JournalFile(UniqueFd file, std::uint64_t bytes, std::uint64_t room);
  JournalFile(JournalFile&&) = default;
  JournalFile& operator=(JournalFile&&) = default;
  ~JournalFile();

  // Reserves the space; call it before the first line. Returns 0, or the errno if the disk has too little space.
  int ReserveSpace();
  // Appends the lines and removes those from `lines` that were written; a line that the disk took only partly is cut
  // off again. Returns 0, or the errno.
  int Write(std::string& lines);
  // Syncs everything to disk. Returns 0, or the errno.
  int Sync();
  // Frees the reserved space, as the destructor does; call it after the last line.
  void Release();

  std::uint64_t bytes() const { return bytes_; }

 private:
  UniqueFd file_;
  ReservedSpace room_;
  std::uint64_t bytes_;
};

}  // namespace muster
