// The run directory as used by an agent: opened once, so that everything that the agent creates is below that
// descriptor. A directory that later replaces it under the same path is not used.
//
// Handles one directory and paths below it; independent of its content.
#pragma once

#include <cstdint>
#include <string>

#include "base/system/open_below.h"
#include "base/system/unique_fd.h"

namespace muster {

class RunFolder {
 public:
  // Permitted owner besides the agent's own user.
  enum class Owner : std::uint8_t {
    kSelf,
    kAnyIfRoot  // on a host where the agent is root and the head is not
  };

  // Opens the directory at this absolute path. Returns an error text if it is missing, is a link, or belongs to another
  // user; empty on success.
  std::string Open(const std::string& path, Owner owner);

  bool held() const { return static_cast<bool>(directory_); }
  int directory() const { return directory_.get(); }
  const std::string& path() const { return path_; }

  // The file at this absolute path. Files outside the directory cannot be opened, and none before Open()
  // succeeds.
  FileBelow At(const std::string& path) const;

  // Whether its path still refers to it, so that processes that open files by that path find those of muster.
  bool IsInPlace() const { return held() && LeadsTo(path_, directory_.get()); }

 private:
  UniqueFd directory_;
  std::string path_;
};

}  // namespace muster
