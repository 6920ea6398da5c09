// Archives of files: packed with this machine's tar (GNU tar), reproducibly, and unpacked below a private folder:
// tar, plain or compressed by gzip or zstd. An archive from elsewhere is not trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "spawn/start/launcher.h"

namespace muster {

// Packs files of a folder with this machine's tar (GNU tar), reproducibly: the same files give the same bytes.
//
// Depends on tar as a process, not on runs: the caller chooses the files.

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

// Unpacks an archive of files from elsewhere below a private folder of this machine: tar, plain or compressed by gzip
// or zstd, whose programs decompress it.
//
// The archive is not trusted. Only folders and regular files are made, with this user as their owner and with no rights
// for others; no link, device or pipe. Names that lead outside of the folder, links that do, more bytes or members than
// bounds allow, a name that occurs twice, and an archive that is cut are errors.

struct UnpackBounds {
  std::uint64_t bytes = std::uint64_t{1} << 30U;   // of all files together
  std::uint64_t stream = std::uint64_t{4} << 30U;  // of the archive, decompressed
  std::uint64_t members = 200'000;
};

// The name of the one folder in which all members of the archive are: made in `into`, a folder of this user. Kind
// "archive". `environment`: "NAME=value", of which PATH is searched for gzip and zstd.
Result<std::string> UnpackTar(const std::string& archive, const std::string& into,
                              const std::vector<std::string>& environment, const UnpackBounds& bounds = {});

// A private folder with the content of an archive. It is removed at the end of this process, however that ends: a
// process of its own waits for it.
class UnpackedArchive {
 public:
  static Result<UnpackedArchive> Of(const std::string& archive, const std::vector<std::string>& environment,
                                    const UnpackBounds& bounds = {});
  UnpackedArchive(UnpackedArchive&&) noexcept = default;
  UnpackedArchive& operator=(UnpackedArchive&&) = delete;
  ~UnpackedArchive();

  // The folder that is in the archive.
  std::string folder() const { return temporary_ + "/" + top_; }

 private:
  UnpackedArchive(std::string temporary, UniqueFd alive, Spawned remover);

  std::string temporary_;
  std::string top_;
  UniqueFd alive_;  // its end tells the remover to begin
  Spawned remover_;
};

}  // namespace muster
