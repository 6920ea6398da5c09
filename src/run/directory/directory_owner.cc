#include "run/directory/directory_owner.h"

#include <array>

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/values/shell_quote.h"

namespace muster {

bool IsOwn(uid_t owner) { return owner == ::geteuid(); }

std::string UserName(uid_t user) {
  std::array<char, 4096> room;
  passwd entry{};
  passwd* found = nullptr;
  const bool known = ::getpwuid_r(user, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
  return known ? Printable(found->pw_name) : fmt::format("uid {}", user);
}

std::optional<uid_t> OwnerOf(const std::string& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return std::nullopt;
  return status.st_uid;
}

bool MayBeMeant(uid_t owner, DirectoryUse use) { return use == DirectoryUse::kRead || IsOwn(owner); }

Result<void> CheckUse(const std::string& directory, uid_t owner, DirectoryUse use, std::string_view noun) {
  if (IsOwn(owner) || use == DirectoryUse::kRead || use == DirectoryUse::kExecute) return {};
  if (use == DirectoryUse::kControl && ::geteuid() == 0) return {};
  const std::string user = UserName(owner);
  const std::string what = fmt::format("the {} {} belongs to {}", noun, Quoted(directory), user);
  if (use == DirectoryUse::kControl) {
    return Fail(Error("owner", {}, fmt::format("{}: only {} and root can stop, dump or clean it", what, user),
                      "muster report and muster logs read it"));
  }
  return Fail(Error("owner", {}, fmt::format("{}: only {} can change it", what, user),
                    noun == "run" ? "muster replay " + ShellQuoted(directory) + " starts its plan as a run of your own"
                                  : "muster ls and muster show read it"));
}

}  // namespace muster
