#include "run/directory/open_way.h"

#include <array>

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/values/shell_quote.h"
#include "run/directory/directory_owner.h"

namespace muster {
namespace {

std::string GroupName(gid_t group) {
  std::array<char, 16384> room;
  struct group entry {};
  struct group* found = nullptr;
  const bool known = ::getgrgid_r(group, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
  return known ? Printable(found->gr_name) : fmt::format("gid {}", group);
}

// Who else can rename the entries of this folder; empty: nobody.
std::string OthersWhoReplace(const struct stat& folder) {
  const bool sticky = (folder.st_mode & S_ISVTX) != 0;
  if (!sticky && (folder.st_mode & S_IWOTH) != 0) return "every user";
  if (!sticky && (folder.st_mode & S_IWGRP) != 0 && folder.st_gid != 0) {
    const std::string group = GroupName(folder.st_gid);
    if (group != UserName(::geteuid())) return "members of the group " + group;
  }
  return IsOwn(folder.st_uid) || folder.st_uid == 0 ? "" : UserName(folder.st_uid);
}

}  // namespace

std::optional<OpenWay> OpenWayTo(const std::string& directory) {
  for (std::size_t slash = 0; slash != std::string::npos && slash + 1 < directory.size();
       slash = directory.find('/', slash + 1)) {
    const std::string folder = slash == 0 ? "/" : directory.substr(0, slash);
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) continue;
    const std::string others = OthersWhoReplace(status);
    if (others.empty()) continue;
    OpenWay way;
    way.why = fmt::format("{} can replace folders in {}", others, Quoted(folder));
    const std::string elsewhere = "choose a folder of your own with --run-dir or MUSTER_HOME";
    const bool mode = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0;
    const std::string command = "chmod +t " + ShellQuoted(folder);
    if (!mode) {
      way.hint = elsewhere;
    } else if (IsOwn(status.st_uid) || ::geteuid() == 0) {
      way.hint = command;
    } else {
      way.hint = fmt::format("as {}: {}; or {}", UserName(status.st_uid), command, elsewhere);
    }
    return way;
  }
  return std::nullopt;
}

}  // namespace muster
