// The run directory as an agent holds it: opened once, and everything that the agent makes in it is made below that
// descriptor. Another directory that is put in its place meanwhile gets nothing.
//
// Knows one directory and paths below it, not what is in it.
#pragma once

#include <cstdint>
#include <string>

#include "base/system/open_below.h"
#include "base/system/unique_fd.h"

namespace muster {

class RunFolder {
 public:
  // Whose it may be besides the agent's own user.
  enum class Owner : std::uint8_t {
    kSelf,
    kAnyIfRoot  // of a host where the agent is root and the head is not
  };

  // Takes hold of the directory at this absolute path. Empty, or why it cannot be: it is not there, it is a link, or it
  // is another user's.
  std::string Open(const std::string& path, Owner owner);

  bool held() const { return static_cast<bool>(directory_); }
  int directory() const { return directory_.get(); }
  const std::string& path() const { return path_; }

  // The file at this absolute path. What does not lie below the directory, and everything while none is held, cannot be
  // opened.
  FileBelow At(const std::string& path) const;

  // Whether its path still leads to it: what processes open by that path is what muster put there.
  bool IsInPlace() const { return held() && LeadsTo(path_, directory_.get()); }

 private:
  UniqueFd directory_;
  std::string path_;
};

}  // namespace muster
