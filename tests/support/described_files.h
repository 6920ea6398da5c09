// The files that a page of the documentation describes.
#pragma once

#include <fstream>
#include <set>
#include <string>

#include "support/places.h"

namespace muster::testing {

// The first parts of the paths in the first cells of a page's table of files, which begins with the file `first`.
inline std::set<std::string> DescribedFiles(const std::string& page_name, const std::string& first) {
  std::ifstream page(MUSTER_SOURCE_DIR "/docs/" + page_name);
  std::set<std::string> entries;
  std::string line;
  while (std::getline(page, line) && !line.starts_with("| `" + first + "`")) {
  }
  for (; line.starts_with("| `"); std::getline(page, line)) {
    const std::string cell = line.substr(0, line.find('|', 1));
    for (std::size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at + 1)) {
      const std::size_t end = cell.find('`', at + 1);
      const std::string path = cell.substr(at + 1, end - at - 1);
      entries.insert(path.substr(0, path.find('/')));
      at = end;
    }
  }
  return entries;
}

}  // namespace muster::testing
