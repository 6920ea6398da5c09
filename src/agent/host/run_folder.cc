#include "agent/host/run_folder.h"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/values/shell_quote.h"

namespace muster {
namespace {

std::string Refused(const std::string& path, std::string_view why) {
  return fmt::format("the run directory {} cannot be opened: {}", Quoted(path), why);
}

}  // namespace

std::string RunFolder::Open(const std::string& path, Owner owner) {
  if (!path.starts_with('/')) return Refused(path, "it is not an absolute path");
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!directory || ::fstat(directory.get(), &status) != 0) return Refused(path, std::strerror(errno));
  const bool any = owner == Owner::kAnyIfRoot && ::geteuid() == 0;
  if (status.st_uid != ::geteuid() && !any) {
    return Refused(path,
                   fmt::format("it belongs to uid {}, and this agent runs as uid {}", status.st_uid, ::geteuid()));
  }
  directory_ = std::move(directory);
  path_ = path;
  return {};
}

FileBelow RunFolder::At(const std::string& path) const {
  if (!held() || !path.starts_with(path_ + '/')) return {-1, path};
  return {directory_.get(), path.substr(path_.size() + 1)};
}

}  // namespace muster
