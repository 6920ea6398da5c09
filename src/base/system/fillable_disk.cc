#include "base/system/fillable_disk.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/values/quoting.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

std::optional<struct stat> StatOf(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return found;
}

// The device of the path, or of the nearest folder above it that exists.
std::optional<dev_t> DeviceOf(fs::path path) {
  std::error_code error;
  path = fs::absolute(path, error);
  for (; !path.empty(); path = path.parent_path()) {
    if (const auto found = StatOf(path)) return found->st_dev;
    if (path == path.parent_path()) break;
  }
  return std::nullopt;
}

}  // namespace

std::string WhyNotFilled(const std::string& directory, std::span<const std::string> needed) {
  const auto top = StatOf(directory);
  if (!top) return fmt::format("{}: {}", Quoted(directory), std::strerror(errno));
  if (!S_ISDIR(top->st_mode)) return fmt::format("{} is no folder", Quoted(directory));
  std::vector<std::pair<std::string, std::string>> kept = {{"/", "the system"}};
  for (const auto& [variable, what] : {std::pair("HOME", "the home folder"), std::pair("TMPDIR", "temporary files")}) {
    if (const char* const path = std::getenv(variable); path != nullptr && *path == '/') kept.emplace_back(path, what);
  }
  kept.emplace_back("/tmp", "temporary files");
  for (const std::string& path : needed) kept.emplace_back(path, "the run directory");
  constexpr const char* kInstead = "mount a small one for the checkpoints: mount -t tmpfs -o size=64m drill DIR";
  for (const auto& [path, what] : kept) {
    if (DeviceOf(path) == top->st_dev)
      return fmt::format("its file system holds {} ({}), which others need: {}", what, Quoted(path), kInstead);
  }
  const auto above = StatOf(directory + "/..");
  if (!above || above->st_dev == top->st_dev)
    return fmt::format("{} is not the top folder of a file system: {}", Quoted(directory), kInstead);
  const auto mark = StatOf(directory + "/" + kMayBeFilled);
  if (!mark || !S_ISREG(mark->st_mode)) {
    return fmt::format("nothing says that it may be filled: if nobody else needs it, touch {}",
                       Quoted(directory + "/" + kMayBeFilled));
  }
  return {};
}

}  // namespace muster
