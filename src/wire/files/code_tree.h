// A code tree as it is sent to other hosts: names, modes and hashes of its files, the hash that identifies it, and
// its archive fields, for messages and for the lists that hosts store. Pure: opens no file. Untrusted trees are
// checked here before they are used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/archive/archive.h"

namespace muster {

// A code tree as it is sent to other hosts: names, modes and hashes of its files, and the hash that identifies it.
//
// Pure: opens no file. Untrusted trees are checked here before they are used.

struct CodeEntry {
  std::string path;        // relative, parts joined by '/'
  bool link = false;       // whether it is a symbolic link
  std::string target;      // of a link: its target
  std::uint32_t mode = 0;  // of a file: its permissions, at most 0777
  std::uint64_t size = 0;  // of a file
  std::string hash;        // of a file: SHA-256 in hex

  bool operator==(const CodeEntry&) const = default;
};

inline constexpr std::size_t kMaxCodeEntries = 200'000;
inline constexpr std::size_t kMaxCodePath = 4'000;

// Whether the path is relative, without empty parts, ".", ".." and zero bytes.
bool IsPathBelow(std::string_view path);

// Why the tree is invalid; empty if it is valid. Entries must be sorted by path, each path once, inside the tree, and
// not below another entry.
std::string CodeTreeError(const std::vector<CodeEntry>& entries);

// SHA-256 in hex over names, kinds, modes and contents of a tree.
std::string CodeTreeHash(const std::vector<CodeEntry>& entries);

// Whether the text is 64 lower-case hexadecimal digits.
bool IsSha256Hex(std::string_view text);

// Archive fields of a code tree (wire/archive/archive.h): in messages, and in the lists that hosts store.

template <class A>
void Fields(A& archive, CodeEntry& entry) {
  archive(AtMost(entry.path, kMaxCodePath), entry.link, AtMost(entry.target, kMaxCodePath), entry.mode, entry.size,
          AtMost(entry.hash, kMaxCodePath));
}

}  // namespace muster
