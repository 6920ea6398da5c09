#include "run/directory/checkpoints.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "base/system/clock.h"
#include "base/system/private_files.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "muster/binding.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFound = 100'000;
constexpr std::size_t kMaxPath = 4096;  // longest path in the file that names the newest

// Finds the paths below `folder` (relative to the place) that match the components of the pattern from `at` on.
void Match(const std::string& dir, const std::string& below, const std::vector<std::string>& pattern, std::size_t at,
           std::vector<std::string>& found) {
  std::error_code error;
  for (fs::directory_iterator it(dir + "/" + below, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (name.ends_with(".tmp") || ::fnmatch(pattern[at].c_str(), name.c_str(), FNM_PERIOD) != 0) continue;
    const std::string path = below.empty() ? name : below + "/" + name;
    if (at + 1 == pattern.size()) {
      if (found.size() < kMaxFound) found.push_back(path);
    } else {
      Match(dir, path, pattern, at + 1, found);
    }
  }
}

std::vector<std::string> Components(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (slash != 0) parts.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return parts;
}

// The runs of digits, as numbers; a number that does not fit becomes the greatest one.
std::vector<std::uint64_t> NumbersIn(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] < '0' || text[i] > '9') {
      ++i;
      continue;
    }
    std::uint64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data() + i, text.data() + text.size(), number);
    numbers.push_back(error == std::errc() ? number : UINT64_MAX);
    i = static_cast<std::size_t>(rest - text.data());
  }
  return numbers;
}

// The checkpoint, or the reason why it is none or incomplete.
tl::expected<Checkpoint, std::string> Look(const CheckpointPlace& place, const std::string& below) {
  Checkpoint checkpoint;
  checkpoint.path = place.dir.marked + "/" + below;
  struct stat facts {};
  if (::stat(checkpoint.path.c_str(), &facts) != 0) {
    return tl::unexpected(fmt::format("{} does not exist", Quoted(checkpoint.path)));
  }
  checkpoint.inode = facts.st_ino;
  checkpoint.modified_ns = std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
  if (S_ISDIR(facts.st_mode)) {
    std::error_code error;
    if (fs::is_empty(checkpoint.path, error) || error) {
      return tl::unexpected(fmt::format("the folder {} is empty", Quoted(checkpoint.path)));
    }
    if (!place.complete.empty() && !fs::exists(checkpoint.path + "/" + place.complete, error)) {
      return tl::unexpected(
          fmt::format("{} is not complete: it has no {}", Quoted(checkpoint.path), Quoted(place.complete)));
    }
  } else if (!S_ISREG(facts.st_mode) || facts.st_size == 0) {
    return tl::unexpected(fmt::format("{} is empty, or not a file", Quoted(checkpoint.path)));
  }
  return checkpoint;
}

// The path in the file that names the newest.
tl::expected<std::string, std::string> Named(const CheckpointPlace& place) {
  const std::string file = place.dir.marked + "/" + place.file;
  const Result<std::string> text = ReadFileAt(AT_FDCWD, file, kMaxPath);
  if (!text) return tl::unexpected(fmt::format("{}, which names the newest one, cannot be read", Quoted(file)));
  const std::string_view name = Trimmed(*text);
  if (name.empty()) return tl::unexpected(fmt::format("{} is empty", Quoted(file)));
  const fs::path path(name);
  const bool leads_out = std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
  if (path.is_absolute() || leads_out || name.find('\0') != std::string_view::npos ||
      name.find('\n') != std::string_view::npos) {
    return tl::unexpected(
        fmt::format("{} contains {}, which is not a path below its folder", Quoted(file), Quoted(name)));
  }
  return std::string(name);
}

}  // namespace

tl::expected<CheckpointPlace, std::string> PlaceInRun(const CheckpointPlace& place, const std::string& run_dir) {
  Binding binding;
  binding.run_dir = run_dir;
  const Result<std::string> dir = FillPlaceholders(place.dir, binding, 0);
  if (!dir) return tl::unexpected(dir.error().front().message);
  CheckpointPlace filled = place;
  filled.dir = Text(*dir);
  return filled;
}

tl::expected<std::vector<Checkpoint>, std::string> CompleteCheckpoints(const CheckpointPlace& place,
                                                                       const std::set<Checkpoint>& besides) {
  const std::string& dir = place.dir.marked;
  std::error_code error;
  if (!fs::is_directory(dir, error)) return tl::unexpected(fmt::format("there is no folder {}", Quoted(dir)));
  std::vector<std::string> names;
  if (place.file.empty()) {
    Match(dir, "", Components(place.latest), 0, names);
    if (names.empty())
      return tl::unexpected(fmt::format("nothing in {} matches {}", Quoted(dir), Quoted(place.latest)));
  } else {
    auto named = Named(place);
    if (!named) return tl::unexpected(std::move(named.error()));
    names.push_back(*std::move(named));
  }
  struct Candidate {
    std::vector<std::uint64_t> numbers;
    std::int64_t modified_ns;
    Checkpoint checkpoint;

    auto operator<=>(const Candidate&) const = default;
  };
  std::vector<Candidate> candidates;
  std::string why;
  for (const std::string& name : names) {
    auto checkpoint = Look(place, name);
    if (!checkpoint) {
      why = std::move(checkpoint.error());
    } else if (besides.contains(*checkpoint)) {
      why = "there are only earlier checkpoints";
    } else {
      candidates.push_back({NumbersIn(name), checkpoint->modified_ns, *std::move(checkpoint)});
    }
  }
  if (candidates.empty()) return tl::unexpected(std::move(why));
  std::sort(candidates.begin(), candidates.end());
  std::vector<Checkpoint> checkpoints;
  for (Candidate& candidate : candidates) checkpoints.push_back(std::move(candidate.checkpoint));
  return checkpoints;
}

std::int64_t CheckpointAgeMs(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return -1;
  const std::int64_t modified = std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
  return std::max<std::int64_t>(0, (static_cast<std::int64_t>(WallNowNs()) - modified) / 1'000'000);
}

std::vector<std::string> CheckpointFolders(const CheckpointPlace& place) {
  std::vector<std::string> folders;
  const auto add = [&](const std::string& below) {
    std::error_code error;
    std::string path = place.dir.marked + "/" + below;
    if (folders.size() < kMaxFound && fs::is_directory(path, error)) folders.push_back(std::move(path));
  };
  // Adds nested folders, one after the other, starting in `below`.
  const auto add_way = [&](std::string below, const std::vector<std::string>& way) {
    for (const std::string& part : way) {
      below += (below.empty() ? "" : "/") + part;
      add(below);
    }
  };
  const auto parent = [](const std::string& path) {
    std::vector<std::string> parts = Components(path);
    if (!parts.empty()) parts.pop_back();
    return parts;
  };
  const std::vector<std::string> within = parent(place.complete);
  if (!place.file.empty()) {
    add_way("", parent(place.file));
    if (const auto named = Named(place)) {
      add_way("", Components(*named));
      add_way(*named, within);
    }
    return folders;
  }
  const std::vector<std::string> pattern = Components(place.latest);
  for (std::size_t depth = 1; depth <= pattern.size(); ++depth) {
    std::vector<std::string> found;
    Match(place.dir.marked, "", {pattern.begin(), pattern.begin() + static_cast<std::ptrdiff_t>(depth)}, 0, found);
    for (const std::string& below : found) {
      add(below);
      if (depth == pattern.size()) add_way(below, within);
    }
  }
  return folders;
}

}  // namespace muster
