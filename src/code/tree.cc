#include "code/tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "base/values/fingerprint.h"
#include "base/values/quoting.h"
#include "code/git.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kGitWithin{60};
constexpr std::size_t kReadAtOnce = 1U << 20;
constexpr std::size_t kShownNames = 3;
// Never shipped: files that are generated on each host, and git's own.
constexpr std::array<std::string_view, 2> kNeverShipped = {".git", "__pycache__"};

std::vector<std::string> ZeroEnded(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

Diagnostics Refusal(std::string message, std::string hint = {}) {
  return {Error("ship", {}, std::move(message), std::move(hint))};
}

struct Names {
  bool by_git = false;
  std::vector<std::string> known;
  std::vector<std::string> untracked;
};

// Nothing if the folder is in no repository, or git is missing.
Result<std::optional<Names>> NamesOfGit(const std::string& folder, const std::vector<std::string>& environment) {
  Launcher launcher;
  const auto ask = [&](std::vector<std::string> words) {
    return GitCall(launcher, folder, words, environment).Take(kGitWithin);
  };
  const CommandOutput known = ask({"ls-files", "-z", "--cached", "--recurse-submodules"});
  if (known.exit_code < 0 || known.err.find("not a git repository") != std::string::npos) return std::optional<Names>();
  if (known.exit_code != 0) {
    return tl::unexpected(Refusal(fmt::format("git cannot list the files of {}: {}", Quoted(folder),
                                              Printable(known.err.substr(0, known.err.find('\n'))))));
  }
  const CommandOutput others = ask({"ls-files", "-z", "--others", "--exclude-standard"});
  Names names{true, ZeroEnded(known.out), {}};
  if (others.exit_code == 0) names.untracked = ZeroEnded(others.out);
  return std::optional(std::move(names));
}

Result<Names> NamesOfFolder(const std::string& folder, const std::vector<std::string>& but) {
  Names names;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string relative = it->path().string().substr(folder.size() + 1);
    const std::string name = it->path().filename().string();
    std::error_code unknown;
    const bool is_folder = !it->is_symlink(unknown) && it->is_directory(unknown);
    const bool never = std::find(kNeverShipped.begin(), kNeverShipped.end(), name) != kNeverShipped.end() ||
                       std::find(but.begin(), but.end(), relative) != but.end();
    if (is_folder && never) it.disable_recursion_pending();
    if (is_folder) continue;
    names.known.push_back(relative);
    if (names.known.size() > kMaxCodeEntries) break;  // refused below
  }
  if (error) return tl::unexpected(Refusal(fmt::format("{} cannot be read: {}", Quoted(folder), error.message())));
  return names;
}

bool LeadsOut(const std::string& path, const std::string& target) {
  if (target.starts_with('/')) return true;
  const fs::path led = (fs::path(path).parent_path() / target).lexically_normal();
  return led == ".." || led.string().starts_with("../");
}

// The folders of the tree, each kept open while its files follow one another. Links to folders are not followed: a file
// that git knows as d/file is outside the tree if d is a link.
class TreeFolders {
 public:
  explicit TreeFolders(int root) : root_(root) {}

  struct Entry {
    int folder = -1;   // until another one is needed
    std::string name;  // in it
  };
  // Without a folder errno has the reason (base/system/file_access.h).
  Entry At(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {root_, path};
    const std::string folder = path.substr(0, slash);
    if (!open_ || folder != folder_) {
      open_ = OpenBelow(root_, folder, O_PATH | O_DIRECTORY);
      folder_ = folder;
    }
    return {open_.get(), path.substr(slash + 1)};
  }

 private:
  int root_;
  UniqueFd open_;
  std::string folder_;
};

// The entry at the path, without contents; nothing if it is gone, or is neither file nor link.
std::optional<CodeEntry> EntryAt(TreeFolders& folders, const std::string& path, CodeTree& tree) {
  const auto [folder, name] = folders.At(path);
  if (folder < 0) {
    if (errno == ELOOP || errno == EINVAL) tree.outside.push_back(path);
    return std::nullopt;
  }
  struct stat status = {};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  CodeEntry entry;
  entry.path = path;
  if (S_ISLNK(status.st_mode)) {
    std::string target(kMaxCodePath + 1, '\0');
    const ssize_t size = ::readlinkat(folder, name.c_str(), target.data(), target.size());
    if (size <= 0) return std::nullopt;
    entry.link = true;
    entry.target = target.substr(0, static_cast<std::size_t>(size));
    if (LeadsOut(path, entry.target)) tree.leading_out.push_back(path);
    return entry;
  }
  if (!S_ISREG(status.st_mode)) {
    tree.passed_over.push_back(path);
    return std::nullopt;
  }
  entry.mode = status.st_mode & 0777;
  entry.size = static_cast<std::uint64_t>(status.st_size);
  return entry;
}

// The largest files, for the error message.
std::string Largest(const CodeTree& tree) {
  std::vector<const CodeEntry*> files;
  for (const CodeEntry& entry : tree.entries) files.push_back(&entry);
  const std::size_t shown = std::min(files.size(), kShownNames);
  std::partial_sort(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(shown), files.end(),
                    [](const CodeEntry* a, const CodeEntry* b) { return a->size > b->size; });
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}{} ({} MB)", i == 0 ? "" : ", ", Printable(files[i]->path), files[i]->size / 1'000'000);
  }
  return text;
}

Result<void> HashContents(int folder, CodeTree& tree, const std::function<void(std::uint64_t, std::uint64_t)>& seen) {
  std::uint64_t read = 0;
  std::string bytes(kReadAtOnce, '\0');
  for (CodeEntry& entry : tree.entries) {
    if (entry.link) continue;
    const UniqueFd file = OpenBelow(folder, entry.path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!file) return tl::unexpected(Diagnostics{SystemError("ship", tree.folder + '/' + entry.path, errno)});
    Sha256 hash;
    std::uint64_t size = 0;
    for (;;) {
      const ssize_t got = ::read(file.get(), bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return tl::unexpected(Diagnostics{SystemError("ship", tree.folder + '/' + entry.path, errno)});
      if (got == 0) break;
      hash.Add(std::string_view(bytes).substr(0, static_cast<std::size_t>(got)));
      size += static_cast<std::uint64_t>(got);
      if (seen) seen(read + size, tree.bytes);
      if (size > entry.size) break;
    }
    if (size != entry.size) {
      return tl::unexpected(
          Refusal(fmt::format("{} changed while it was read", Quoted(tree.folder + '/' + entry.path))));
    }
    read += size;
    entry.hash = hash.Hex();
  }
  return {};
}

}  // namespace

bool CodeTree::Has(const std::string& relative) const {
  if (relative.empty()) return true;
  const auto found =
      std::lower_bound(entries.begin(), entries.end(), relative,
                       [](const CodeEntry& entry, const std::string& path) { return entry.path < path; });
  if (found != entries.end() && found->path == relative) return true;
  const std::string below = relative + '/';
  const auto first =
      std::lower_bound(entries.begin(), entries.end(), below,
                       [](const CodeEntry& entry, const std::string& path) { return entry.path < path; });
  return first != entries.end() && first->path.starts_with(below);
}

std::string SomeNames(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShownNames); ++i) {
    text += (i == 0 ? "" : ", ") + Printable(names[i]);
  }
  return names.size() > kShownNames ? fmt::format("{} and {} more", text, names.size() - kShownNames) : text;
}

Result<CodeTree> ReadCodeTree(const std::string& folder, const std::vector<std::string>& environment,
                              const CodeTreeLimits& limits, const std::vector<std::string>& but,
                              const std::function<void(std::uint64_t, std::uint64_t)>& seen) {
  const UniqueFd at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at) return tl::unexpected(Diagnostics{SystemError("ship", folder, errno)});
  auto by_git = NamesOfGit(folder, environment);
  if (!by_git) return tl::unexpected(std::move(by_git.error()));
  Result<Names> names = *by_git ? Result<Names>(std::move(**by_git)) : NamesOfFolder(folder, but);
  if (!names) return tl::unexpected(std::move(names.error()));

  CodeTree tree;
  tree.folder = folder;
  tree.by_git = names->by_git;
  tree.untracked = std::move(names->untracked);
  std::sort(names->known.begin(), names->known.end());
  names->known.erase(std::unique(names->known.begin(), names->known.end()), names->known.end());
  TreeFolders folders(at.get());
  for (const std::string& path : names->known) {
    auto entry = EntryAt(folders, path, tree);
    if (!entry) continue;
    tree.bytes += entry->size;
    tree.entries.push_back(std::move(*entry));
  }
  if (tree.entries.empty()) {
    return tl::unexpected(Refusal(
        fmt::format("--ship-code {}: {}", Quoted(folder), tree.by_git ? "git knows no file there" : "there is no file"),
        !tree.by_git             ? ""
        : tree.untracked.empty() ? "git ignores it: name a folder that git knows, or one outside of its repository"
                                 : "git add " + SomeNames(tree.untracked)));
  }
  if (tree.bytes > limits.bytes || tree.entries.size() > kMaxCodeEntries) {
    return tl::unexpected(Refusal(
        fmt::format(
            "--ship-code {}: {} MB in {} files are more than the {} MB and {} files that are shipped; the largest: {}",
            Quoted(folder), (tree.bytes + 999'999) / 1'000'000, tree.entries.size(), limits.bytes / 1'000'000,
            kMaxCodeEntries, Largest(tree)),
        tree.by_git ? "--ship-limit 2GB allows more; or ship a folder below it"
                    : "--ship-limit 2GB allows more; or ship a folder below it, or track the code with git"));
  }
  if (Result<void> hashed = HashContents(at.get(), tree, seen); !hashed)
    return tl::unexpected(std::move(hashed.error()));
  if (const std::string error = CodeTreeError(tree.entries); !error.empty()) return tl::unexpected(Refusal(error));
  tree.hash = CodeTreeHash(tree.entries);
  return tree;
}

}  // namespace muster
