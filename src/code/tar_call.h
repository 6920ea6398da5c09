// Packs files of a folder with this machine's tar (GNU tar), reproducibly: the same files give the same bytes.
//
// Depends on tar as a process, not on runs: the caller chooses the files.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace muster {

struct TarOrder {
  std::string folder;                    // absolute: paths are below it
  std::vector<std::string> paths;        // files, in the order in which they are packed; links stay links
  std::string copies;                    // absolute; another folder, whose files come behind those; or empty
  std::vector<std::string> copied;       // files below it, which have the same places in the archive
  std::string top;                       // name of the folder in the archive
  std::string out;                       // absolute; ends with .tar, .tar.gz, .tgz or .tar.zst; replaced if it exists
  std::vector<std::string> environment;  // the user's, "NAME=value": its PATH is searched for tar, gzip and zstd
};

// Whether `out` has one of these suffixes.
bool IsTarName(const std::string& out);

// Empty, or an error; a partial archive is removed then. `waiting` is called each second.
std::string PackWithTar(const TarOrder& order, const std::function<void(unsigned seconds)>& waiting);

}  // namespace muster
