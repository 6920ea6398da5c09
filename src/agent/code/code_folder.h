// A folder of shipped code: what of a tree it holds as it was shipped, and how files come into it.
//
// Knows files below one descriptor. No link is ever followed, whoever put it there: every part of a path is opened by
// itself. A file appears under its name as a whole, or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/unique_fd.h"
#include "base/values/sha256.h"
#include "wire/files/code_tree.h"

namespace muster {

// The time of change that every shipped file has (2000-01-01): who writes to one gives it another.
inline constexpr std::int64_t kCodeTime = 946'684'800;

class CodeFolder {
 public:
  CodeFolder() = default;
  explicit CodeFolder(UniqueFd folder) : root_(std::move(folder)) {}

  explicit operator bool() const { return static_cast<bool>(root_); }
  int fd() const { return root_.get(); }

  // Whether the entry is there as it was shipped, by all that can be seen without reading it.
  bool Holds(const CodeEntry& entry);
  // A file that was shipped, to be read; none if it is not as it was.
  UniqueFd OpenShipped(const CodeEntry& entry);

  // Empty, or why it cannot be.
  std::string MakeLink(const CodeEntry& entry);

  // The file that is being written. Put() takes its bytes in order; Keep() gives it its name if they are what the entry
  // says, Drop() forgets it. Empty, or why it cannot be.
  std::string Begin(const CodeEntry& entry);
  std::string Put(std::string_view bytes);
  std::string Keep();
  void Drop();
  bool writing() const { return static_cast<bool>(file_); }
  std::uint64_t written() const { return written_; }

  // Takes away a file, as it is now, and its folder's bytecode of Python; the folders that are empty then, up to the
  // root.
  void Remove(const std::string& path);

 private:
  // The folder that holds the path, -1 if it is not to be had (errno says why).
  int FolderOf(const std::string& path, bool make);

  UniqueFd root_;
  std::string last_;  // the folder that was opened last, and its descriptor
  UniqueFd last_fd_;

  UniqueFd file_;
  std::string temporary_;
  CodeEntry entry_;
  Sha256 hash_;
  std::uint64_t written_ = 0;
};

// Takes away everything in the folder.
void RemoveBelow(int folder);

}  // namespace muster
