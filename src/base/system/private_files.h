// Opens and creates files below the descriptor of a folder that others may write to: regular files only, never
// through links, never over existing files, and readable only by their owner (or the group, in a folder for a group),
// whatever the umask. Depends on descriptors and names, not on runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/stat.h>
#include <sys/types.h>

#include "base/system/unique_fd.h"
#include "muster/result.h"

namespace muster {

// Opens regular files that another program may have replaced with something else.

// For reading; a FIFO does not block and is refused. `path` is relative to `at`; O_NOFOLLOW in `flags` refuses a link
// in the last part of the path. Kind "file".
Result<UniqueFd> OpenRegular(int at, const std::string& path, struct stat& status, int flags = 0);

// Creates files and folders that only their owner can read, below the descriptor of a folder. Modes are 0600 and 0700
// whatever the umask (0640 and 02750 in a folder for a group, base/system/file_access.h). Symbolic links are never
// followed, and existing files never overwritten.
//
// Depends on descriptors and names, not on runs.

// Sets the mode of an open file if it has another one; returns false with errno. Reading the mode costs a tenth of
// changing it, and umask(2) rarely removes bits that are wanted.
bool SetMode(int fd, mode_t mode);

// An existing folder, opened without following a link in its last part.
Result<UniqueFd> OpenFolder(int at, const std::string& path);

// The folder `name` below `at`; created with mode 0700 if it does not exist.
Result<UniqueFd> MakeFolder(int at, const std::string& name);

// The folder that contains the last part of the path, which is relative to `at`; missing folders are created. Invalid
// if that folder is `at` itself. Kind "path" as for CreateFile.
Result<UniqueFd> MakeFolderOf(int at, const std::string& path);

// A new file for writing. `path` is relative to `at`; missing folders are created. Every part is opened without
// following links, so the file is certainly below `at`. Kind "path" for an absolute path and for empty, "." and ".."
// parts; kind "file" for errors of the system, also if the file exists.
Result<UniqueFd> CreateFile(int at, const std::string& path, int flags = 0);

// A regular file for writing; the file and missing folders are created. Otherwise as CreateFile.
Result<UniqueFd> OpenOrCreateFile(int at, const std::string& path);

// Creates a file with CreateFile and writes all bytes.
Result<void> WriteNewFile(int at, const std::string& path, std::string_view bytes);

// Creates the hard link `path` below `at` to the file `from`; missing folders are created. Returns false if the file
// system refuses.
bool LinkFile(int at, const std::string& path, const std::string& from);

// Replaces `name` atomically: readers see the old file or the new one. Not synced, so only for contents that can be
// generated again.
Result<void> ReplaceFile(int at, const std::string& name, std::string_view bytes);

// At most `limit` bytes of a regular file. Kind "file" if it cannot be read or is longer than `limit`. O_NOFOLLOW in
// `flags` refuses a link in the last part of the path.
Result<std::string> ReadFileAt(int at, const std::string& path, std::size_t limit, int flags = 0);
Result<std::string> ReadWholeFile(const std::string& path, std::size_t limit);

// Whether a directory entry of that name exists; a link counts, wherever it points.
bool EntryExists(int at, const std::string& name);

// The last `limit` bytes (or fewer) of a regular file, and the offset at which they begin. `flags` as for ReadFileAt.
struct FileTail {
  std::string bytes;
  std::uint64_t offset = 0;
};
Result<FileTail> ReadTail(int at, const std::string& path, std::size_t limit, int flags = 0);

}  // namespace muster
