// Determines the owner of a run or sweep directory, and what the current user may do with it: one rule for all
// commands.
//
// Users may do everything with directories that they own. A directory of another user may be shared on purpose (access
// = "group") and is read only: muster writes, resumes, stops or signals nothing in it. Its plan or recipe is executed
// only if the user gives its path, never because a name, or "the newest", leads to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "muster/result.h"

namespace muster {

enum class DirectoryUse : std::uint8_t {
  kRead,     // show its files
  kExecute,  // execute its plan or recipe, in a new directory
  kControl,  // send requests to its head, or kill processes that it left: allowed for root, too
  kWrite,    // change files in it, or remove it
};

bool IsOwn(uid_t owner);

// "ana", or "uid 1004" for a user without a name; safe for a terminal.
std::string UserName(uid_t user);

// The owner of the directory at the path, with links followed; empty if there is none.
std::optional<uid_t> OwnerOf(const std::string& directory);

// Whether a name, an id or an omitted RUN argument may refer to a directory of that owner.
bool MayBeMeant(uid_t owner, DirectoryUse use);

// Checks whether a directory that was given by its path may be used in this way. `noun` is "run" or "sweep". Kind
// "owner", with the owner's name.
Result<void> CheckUse(const std::string& directory, uid_t owner, DirectoryUse use, std::string_view noun);

}  // namespace muster
