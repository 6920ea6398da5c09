// A tree of code as it goes to other hosts: names, modes and hashes of its files, and the hash that it is known by.
//
// Pure: opens no file. What comes from elsewhere is checked here before anything is made of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct CodeEntry {
  std::string path;        // relative, parts joined by '/'
  bool link = false;       // a symbolic link, …
  std::string target;      // … and what it holds
  std::uint32_t mode = 0;  // of a file: its permissions, at most 0777
  std::uint64_t size = 0;  // of a file
  std::string hash;        // of a file: SHA-256 in hex

  bool operator==(const CodeEntry&) const = default;
};

inline constexpr std::size_t kMostCodeEntries = 200'000;
inline constexpr std::size_t kLongestCodePath = 4'000;

// A path that names something below a folder: relative, without empty parts, ".", ".." and zero bytes.
bool IsPathBelow(std::string_view path);

// Why this is no tree: entries are in the order of their paths, each path once, below the tree, and none of them below
// another entry. Empty if it is one.
std::string CodeTreeError(const std::vector<CodeEntry>& entries);

// SHA-256 in hex over names, kinds, modes and contents of a tree.
std::string CodeTreeHash(const std::vector<CodeEntry>& entries);

// 64 digits of lower-case hex.
bool IsSha256Hex(std::string_view text);

}  // namespace muster
