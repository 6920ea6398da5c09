// A folder of shipped code: which files of a tree it holds unchanged, and writing files to it.
//
// Handles files below one descriptor. Never follows links: every component of a path is opened separately. A file
// appears under its name complete, or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/unique_fd.h"
#include "base/values/sha256.h"
#include "wire/files/code_tree.h"

namespace muster {

// Modification time of every shipped file (2000-01-01), by which later changes are detected.
inline constexpr std::int64_t kCodeTime = 946'684'800;

class CodeFolder {
 public:
  CodeFolder() = default;
  explicit CodeFolder(UniqueFd folder) : root_(std::move(folder)) {}

  explicit operator bool() const { return static_cast<bool>(root_); }
  int fd() const { return root_.get(); }

  // Whether the entry exists as shipped, as far as this can be determined without reading it.
  bool Holds(const CodeEntry& entry);
  // Opens a shipped file for reading; empty if it has changed.
  UniqueFd OpenShipped(const CodeEntry& entry);

  // Creates a link. Returns an error text, empty on success.
  std::string MakeLink(const CodeEntry& entry);

  // Writes a file. Put() appends its bytes in order; Keep() gives it its name if the content matches the entry, Drop()
  // discards it. Return an error text, empty on success.
  std::string Begin(const CodeEntry& entry);
  std::string Put(std::string_view bytes);
  std::string Keep();
  void Drop();
  bool writing() const { return static_cast<bool>(file_); }
  std::uint64_t written() const { return written_; }

  // Removes a file in its current state, and the Python bytecode in its folder; then the folders that have become
  // empty, up to the root.
  void Remove(const std::string& path);

 private:
  // The folder that contains the path; -1 with errno set if it cannot be opened.
  int FolderOf(const std::string& path, bool make);

  UniqueFd root_;
  std::string last_;  // the folder opened last, and its descriptor
  UniqueFd last_fd_;

  UniqueFd file_;
  std::string temporary_;
  CodeEntry entry_;
  Sha256 hash_;
  std::uint64_t written_ = 0;
};

// Removes everything in the folder.
void RemoveBelow(int folder);

}  // namespace muster
