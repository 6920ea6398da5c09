// Finds out whether another user can put another folder in the place of a directory, by renaming one above it.
//
// Looks at owners and modes only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster {

// A folder on the way to a directory in which other users can put another one in its place.
struct OpenWay {
  std::string why;   // 'every user can replace folders in "/data/scratch"'
  std::string hint;  // the command that changes that, and who can give it

  bool operator==(const OpenWay&) const = default;
};

// Said where a directory is made.
inline constexpr std::string_view kOpenWay =
    "what processes execute or read by the path of the run directory may be another user's";

// The first such folder above an absolute path without links: one that the group or everybody can write to and that is
// not sticky, or one of another user than the caller and root. A group that has the caller's name is the caller's own
// (as useradd(8) makes them). Nothing for a safe way.
std::optional<OpenWay> OpenWayTo(const std::string& directory);

}  // namespace muster
