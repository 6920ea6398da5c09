// Messages of the agent protocol: files of the run directory on hosts that do not share the head's file system.
#pragma once

#include <cstdint>
#include <string>

namespace muster {

// A file, or the part of it at `offset`, for a run directory that the agent created. Parts of a file are sent in order.
// An existing file is replaced.
struct PlaceFile {
  std::string path;  // relative
  std::uint64_t offset = 0;
  std::string content;
};

// Answer to FilesSent: the head has written all files. Without it the agent keeps its copies.
struct FilesStored {
  bool all = false;
};

// Content at `offset` of a file below a run directory that the agent created. Parts of a file may be sent out of order:
// after the exit of a process the end of its log is sent first.
struct FileBytes {
  std::string path;  // relative
  std::uint64_t offset = 0;
  std::string content;
  bool last = false;  // end of the file
};

// All FileBytes have been sent, after Finish. The head answers with FilesStored; AgentEmpty is sent after that.
struct FilesSent {
  bool unused = false;
};

}  // namespace muster
