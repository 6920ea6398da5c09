// Files and folders that only their owner can read, made below the descriptor of a folder: 0600 and 0700
// whatever the umask (in a folder that is for its group, base/system/group_access.h, 0640 and 02750), never through a
// symbolic link, never over what is there already.
//
// Knows descriptors and names, nothing of runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/system/unique_fd.h"
#include "muster/result.h"

namespace muster {

// Gives what is open the mode if it has another; false with errno. To look costs a tenth of a change, and what umask(2)
// takes from new files it mostly takes from others.
bool SetMode(int fd, mode_t mode);

// An existing folder, opened without following a link in its last part.
Result<UniqueFd> OpenFolder(int at, const std::string& path);

// The folder `name` below `at`, made with mode 0700 if it is not there.
Result<UniqueFd> MakeFolder(int at, const std::string& name);

// The folder that holds the last part of the path, which is relative to `at`, with all of it made that is not there;
// none if that is `at` itself. Kind "path" as for CreateFile.
Result<UniqueFd> MakeFolderOf(int at, const std::string& path);

// A new file for writing. `path` is relative to `at`; missing folders in it are made. Every part is opened
// without following links, so the file is below `at` for certain. Kind "path" for an absolute path and for
// empty, "." and ".." parts, "file" for what the system refuses (a file that exists included).
Result<UniqueFd> CreateFile(int at, const std::string& path, int flags = 0);

// A regular file for writing, which is made if it is not there, as are missing folders. Otherwise as CreateFile.
Result<UniqueFd> OpenOrCreateFile(int at, const std::string& path);

// CreateFile with all bytes written.
Result<void> WriteNewFile(int at, const std::string& path, std::string_view bytes);

// Another name, `path` below `at`, for the file `from`; missing folders are made. False if the file system does not
// give it one.
bool LinkFile(int at, const std::string& path, const std::string& from);

// Puts the bytes at `name` as a whole: readers see the old file or the new one. Not synced:
// what is written this way can be made again.
Result<void> ReplaceFile(int at, const std::string& name, std::string_view bytes);

// At most `limit` bytes of a regular file. Kind "file" for what cannot be read, and for more than `limit`.
// O_NOFOLLOW in `flags` refuses a link in the last part of the path.
Result<std::string> ReadFileAt(int at, const std::string& path, std::size_t limit, int flags = 0);
Result<std::string> ReadWholeFile(const std::string& path, std::size_t limit);

// Whether there is anything of that name; a link counts, wherever it leads.
bool EntryExists(int at, const std::string& name);

// The last `limit` bytes (or fewer) of a regular file, and the offset at which they begin.
struct FileTail {
  std::string bytes;
  std::uint64_t offset = 0;
};
Result<FileTail> ReadTail(int at, const std::string& path, std::size_t limit);

}  // namespace muster
