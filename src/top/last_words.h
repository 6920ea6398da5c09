// The last line of each of many logs, read again only when the log has changed.
//
// Reads a folder of logs; results are safe for a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/system/unique_fd.h"

namespace muster {

class LastWords {
 public:
  // A folder that cannot be opened counts as empty.
  explicit LastWords(const std::string& logs_folder);

  // The last non-empty line near the end of the log of this name ("worker.2.0.log"); empty if there is
  // none.
  const std::string& Of(const std::string& name);

 private:
  struct Known {
    std::uint64_t size = 0;
    std::int64_t changed_ns = -1;
    std::string line;
  };

  UniqueFd folder_;
  std::unordered_map<std::string, Known> known_;
};

}  // namespace muster
