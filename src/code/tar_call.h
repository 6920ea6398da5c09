// Packing files of a folder with the tar of this machine (GNU tar): the same files give the same bytes.
//
// Knows tar as a process, and no run: which files, is the caller's.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace muster {

struct TarOrder {
  std::string folder;                    // absolute: paths are below it
  std::vector<std::string> paths;        // files, in the order in which they are packed; links stay links
  std::string top;                       // what the folder is called in the archive
  std::string out;                       // absolute; ends with .tar, .tar.gz, .tgz or .tar.zst; replaced if it is there
  std::vector<std::string> environment;  // the user's, "NAME=value": its PATH names tar, gzip and zstd
};

// Whether `out` ends with one of these.
bool IsTarName(const std::string& out);

// Empty, or why there is no archive; what was begun of it is removed then. `waiting` is called each second.
std::string PackWithTar(const TarOrder& order, const std::function<void(unsigned seconds)>& waiting);

}  // namespace muster
