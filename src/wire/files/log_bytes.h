// The bytes of a log by offsets that stay: they count from the first byte that was ever written, whether a limit has
// dropped the head of the file or not.
//
// Knows the log, and of its index of times what became of its head (wire/files/time_index.h); not what is in it. A drop
// may happen at any moment: what is read is checked to be what was asked for, and read again if not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/system/unique_fd.h"
#include "wire/files/time_index.h"

namespace muster {

// At most `size` bytes of the open file that somebody wrote, from `offset` on. A hole is passed over: `offset` is then
// set behind it, so that a file costs what was written to it, whatever its length. How many; 0 at the end.
std::size_t ReadWritten(int file, std::uint64_t& offset, char* into, std::size_t size);

struct LogExtent {
  std::uint64_t begin = 0;  // what is before was dropped
  std::uint64_t end = 0;
};

class LogBytes {
 public:
  // Of the folder (a descriptor, which must live as long, or AT_FDCWD). Nothing if it is no file, or a link.
  static std::optional<LogBytes> Open(int folder, const std::string& name);

  // What there is of it.
  LogExtent Look();
  // At most `size` bytes from `offset` on, or from the first one kept if that was dropped, or behind the hole that it
  // is in: `offset` is then set to where they begin. How many; 0 at the end.
  std::size_t Read(std::uint64_t& offset, char* into, std::size_t size);
  // At most `size` bytes before `end` (or before the end of the log), none of them before a hole; `offset` is where
  // they begin.
  std::string ReadBefore(std::uint64_t end, std::size_t size, std::uint64_t& offset);

 private:
  // What a byte of the file is, at one moment.
  struct State {
    std::uint64_t inode = 0;
    std::uint64_t base = 0;
    std::uint64_t kept = 0;

    bool operator==(const State&) const = default;
  };

  LogBytes(int folder, std::string name) : folder_(folder), name_(std::move(name)) {}
  bool OpenFile();
  State StateNow();
  LogHead Head();

  int folder_;
  std::string name_;
  UniqueFd file_;
  std::uint64_t inode_ = 0;
  UniqueFd index_;
  bool without_limit_ = false;  // its index says that nothing is ever dropped
};

// The length of the log of that name, what was dropped included. Nothing if there is none. `folder` as for Open.
std::optional<std::uint64_t> LogEnd(int folder, const std::string& name);

// What the index says of the log's head, if the log has a limit. (WriteLogHead: into the open index of such a log.)
bool WriteLogHead(int index, const LogHead& head);
std::optional<LogHead> ReadLogHead(int folder, const std::string& log_name);

}  // namespace muster
