// Messages of the agent protocol: files of the run directory on hosts that do not see the head's.
#pragma once

#include <cstdint>
#include <string>

namespace muster {

// A file for a run directory that the agent has made, or the part of it that begins at the offset; the parts of a file
// come in order. It is replaced if it is there.
struct PlaceFile {
  std::string path;  // relative
  std::uint64_t offset = 0;
  std::string content;
};

// Answer to FilesSent: the head has them, on its disk as far as write(2) tells. Without it they stay with the agent.
struct FilesStored {
  bool all = false;
};

// What stands at `offset` of a file below the run directory that the agent has made. Those of one file may come out of
// order: the end of a log comes first when its process has ended.
struct FileBytes {
  std::string path;  // relative
  std::uint64_t offset = 0;
  std::string content;
  bool last = false;  // here the file ends
};

// All FileBytes have gone, after Finish: answered by FilesStored, for which AgentEmpty waits.
struct FilesSent {
  bool unused = false;
};

}  // namespace muster
