// Whose a run or sweep directory is, and what may be done with it: the one rule for all commands.
//
// A directory belongs to the user who owns it. One's own may be used in every way. Another user's may be shared on
// purpose (access = "group") and is read only: nothing in it is written, resumed, stopped or signalled. Its plan or
// recipe is executed only where the user names its path, never because a name, or "the newest", leads there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "muster/result.h"

namespace muster {

enum class DirectoryUse : std::uint8_t {
  kRead,     // its files are shown
  kExecute,  // its plan or recipe is executed, in a new directory
  kControl,  // its head is asked for something, or processes that it left are ended: root may, too
  kWrite,    // files in it change, or it is removed
};

bool IsOwn(uid_t owner);

// "ana", or "uid 1004" for a user without a name; safe for a terminal.
std::string UserName(uid_t user);

// Of the directory that the path leads to; nothing if there is none.
std::optional<uid_t> OwnerOf(const std::string& directory);

// Whether a name, an id or no word at all may mean a directory of that owner.
bool MayBeMeant(uid_t owner, DirectoryUse use);

// Whether a directory that was named by its path may be used so. `noun` is "run" or "sweep". Kind "owner", which names
// the owner.
Result<void> CheckUse(const std::string& directory, uid_t owner, DirectoryUse use, std::string_view noun);

}  // namespace muster
