#include "run/directory/kept_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include <sys/stat.h>

#include "run/directory/live_heads.h"
#include "run/directory/open_way.h"

namespace muster {
namespace {

// Without a runtime directory the heads' folder has a name that another user can take first; nobody knows the id of a
// run before it begins.
std::array<std::string, 2> PlacesFor(std::string_view run_id) {
  return {OwnLiveHeadsFolder() + "/files-" + std::string(run_id), "/tmp/muster-files-" + std::string(run_id)};
}

}  // namespace

std::string MakeKeptFolder(const std::string& run_dir, std::string_view run_id) {
  if (!OpenWayTo(run_dir)) return {};
  const std::string heads = OwnLiveHeadsFolder();
  static_cast<void>(::mkdir(heads.c_str(), 0700));
  const auto [in_heads, in_tmp] = PlacesFor(run_id);
  const std::string& place = OpenPrivate(heads) && !OpenWayTo(in_heads) ? in_heads : in_tmp;
  const bool made = !OpenWayTo(place) && ::mkdir(place.c_str(), 0700) == 0 && OpenPrivate(place);
  return made ? place : std::string();
}

void RemoveKeptFolder(std::string_view run_id) {
  const auto in_id = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
  if (run_id.empty() || !std::all_of(run_id.begin(), run_id.end(), in_id)) return;  // of a directory from elsewhere
  for (const std::string& place : PlacesFor(run_id)) {
    std::error_code ignored;
    if (OpenPrivate(place)) std::filesystem::remove_all(place, ignored);
  }
}

}  // namespace muster
