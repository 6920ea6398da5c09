#include "wire/files/code_tree.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/values/fingerprint.h"
#include "base/values/quoting.h"

namespace muster {
namespace {

constexpr std::uint32_t kModes = 0777;

// Whether `path` is below another entry of the tree. Entries are files and links, never folders.
bool IsBelowEntry(const std::vector<CodeEntry>& entries, const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string above = path.substr(0, slash);
    const auto found =
        std::lower_bound(entries.begin(), entries.end(), above,
                         [](const CodeEntry& entry, const std::string& name) { return entry.path < name; });
    if (found != entries.end() && found->path == above) return true;
  }
  return false;
}

}  // namespace

bool IsPathBelow(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool IsSha256Hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string CodeTreeError(const std::vector<CodeEntry>& entries) {
  if (entries.size() > kMaxCodeEntries) return fmt::format("more than {} files", kMaxCodeEntries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const CodeEntry& entry = entries[i];
    if (entry.path.size() > kMaxCodePath || !IsPathBelow(entry.path)) {
      return Quoted(entry.path) + " is not a path below a folder";
    }
    if (i > 0 && entries[i - 1].path >= entry.path) return Quoted(entry.path) + " is not in order";
    const bool sound = entry.link ? !entry.target.empty() && entry.target.size() <= kMaxCodePath &&
                                        entry.target.find('\0') == std::string::npos
                                  : entry.mode <= kModes && IsSha256Hex(entry.hash);
    if (!sound) return Quoted(entry.path) + " is neither a file nor a link";
  }
  for (const CodeEntry& entry : entries) {
    if (IsBelowEntry(entries, entry.path)) return Quoted(entry.path) + " is below an entry that is not a folder";
  }
  return {};
}

std::string CodeTreeHash(const std::vector<CodeEntry>& entries) {
  Sha256 hash;
  // The zero byte after each part makes the concatenation unambiguous.
  for (const CodeEntry& entry : entries) {
    hash.Add(entry.link ? fmt::format("link {}", entry.target)
                        : fmt::format("file {:o} {} {}", entry.mode, entry.size, entry.hash));
    hash.Add(std::string_view("\0", 1));
    hash.Add(entry.path);
    hash.Add(std::string_view("\0", 1));
  }
  return hash.Hex();
}

}  // namespace muster
