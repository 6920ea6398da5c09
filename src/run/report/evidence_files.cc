#include "run/report/evidence_files.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/known_secrets.h"
#include "base/system/unique_fd.h"
#include "base/values/abnormal_exit.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "run/directory/private_files.h"
#include "run/directory/process_output.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr int kMostEvidenceDepth = 5;
constexpr std::size_t kMostWalked = 20'000;
constexpr std::size_t kMostEvidenceFiles = 200;
constexpr std::size_t kMostEvidenceBytes = 64U << 10;
constexpr std::size_t kMostStatedBytes = 300;

// Muster's own files, which the report reads in their own way. Processes may put theirs beside logs and error notes,
// and below checkpoints.
bool IsOwnFile(const std::string& path) {
  const RunEntry* const entry = RunEntryOf(path);
  if (entry == nullptr || entry->packing == Packing::kWithAll) return false;
  const std::string_view name = entry->name;
  if (name == kErrorsEntry.name) return path.ends_with(".json");
  if (name == kLogsEntry.name) return path.ends_with(".log") || path.ends_with(".idx") || IsNextLog(path);
  return true;
}

// The number at the end of "asan.4711", before an ending without digits.
std::optional<std::uint32_t> LastNumber(std::string_view name) {
  const std::size_t end = name.find_last_of("0123456789");
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  return ParseNumber<std::uint32_t>(name.substr(begin, end + 1 - begin));
}

// The number behind "rank", as in "nccl_trace_rank_3", "rank_3/om/analyze_fail.ir" and "rank3.txt".
std::optional<std::uint32_t> RankIn(std::string_view path) {
  const std::size_t at = path.rfind("rank");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = path.substr(at + 4);
  if (!rest.empty() && std::string_view("_-.").find(rest.front()) != std::string_view::npos) rest.remove_prefix(1);
  return ParseNumber<std::uint32_t>(rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size())));
}

bool IsCore(std::string_view bytes) {
  constexpr std::size_t kType = offsetof(Elf64_Ehdr, e_type);  // the same for 32 bits
  return bytes.size() > kType + 1 && bytes.starts_with(std::string_view(ELFMAG, SELFMAG)) &&
         (bytes[kType] == ET_CORE || bytes[kType + 1] == ET_CORE);
}

// The dumps of NCCL's, HCCL's and other libraries' calls that PyTorch writes at a timeout: a pickle, or JSON.
bool IsCallTrace(std::string_view name, std::string_view bytes) {
  const bool named = name.find("trace_rank") != std::string_view::npos ||
                     name.find("flight_recorder") != std::string_view::npos ||
                     name.find("_trace_") != std::string_view::npos;
  return named && !bytes.empty() && (bytes.front() == '\x80' || bytes.front() == '{');
}

std::vector<std::string_view> TextLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct Content {
  std::string what;
  std::optional<std::uint32_t> pid;
};

std::string StatedText(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return Printable(WithoutSecrets(text.substr(begin, kMostStatedBytes), {.begin = false, .end = true}));
}

// What a sanitizer, faulthandler or Ascend's log says.
Content StatedIn(std::string_view name, std::string_view bytes) {
  Content content;
  bool by_summary = false;
  const bool of_ascend = name.starts_with("plog") || name.starts_with("device-");
  for (const std::string_view line : TextLines(bytes)) {
    if (const SanitizerFinding finding = SanitizerFindingIn(line); finding && !by_summary) {
      if (line.starts_with("==")) {
        const std::string_view pid = line.substr(2, std::min(line.find("==", 2), line.size()) - 2);
        content.pid = ParseNumber<std::uint32_t>(pid);
      }
      if (content.what.empty() || finding.summary) content.what = StatedText(finding.text);
      by_summary = finding.summary;
    } else if (content.what.empty() && (line.starts_with("Fatal Python error: ") || line.starts_with("Timeout ("))) {
      content.what = StatedText(line);
    } else if (content.what.empty() && of_ascend && line.find("[ERROR]") != std::string_view::npos) {
      content.what = StatedText(line);
    }
  }
  const bool of_faulthandler = bytes.find("(most recent call first)") != std::string_view::npos &&
                               (bytes.starts_with("Thread 0x") || bytes.starts_with("Current thread 0x"));
  if (content.what.empty() && of_faulthandler) content.what = "stacks of faulthandler";
  return content;
}

class EvidenceSearch {
 public:
  EvidenceSearch(int run_dir, const Plan& plan, const std::multimap<std::int32_t, ProcessId>& pids)
      : run_dir_(run_dir), plan_(plan), pids_(pids) {
    for (ProcessId id = 0; id < plan.processes.size(); ++id) {
      if (const auto rank = plan.processes[id].rank) ranks_.emplace(*rank, id);
    }
  }

  std::vector<EvidenceFile> Take() {
    Walk("", 0);
    std::sort(found_.begin(), found_.end(),
              [](const EvidenceFile& a, const EvidenceFile& b) { return a.path < b.path; });
    return std::move(found_);
  }

 private:
  void Walk(const std::string& folder, int depth) {
    UniqueFd opened(
        ::openat(run_dir_, folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!opened) return;
    DIR* const listing = ::fdopendir(opened.get());
    if (listing == nullptr) return;
    static_cast<void>(opened.release());
    std::vector<std::string> folders;
    while (const dirent* entry = ::readdir(listing)) {
      if (++entries_ > kMostWalked || found_.size() >= kMostEvidenceFiles) break;
      const std::string name = entry->d_name;
      const std::string path = folder.empty() ? name : folder + "/" + name;
      struct stat status {};
      if (name == "." || name == ".." || IsOwnFile(path)) continue;
      if (::fstatat(run_dir_, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (S_ISDIR(status.st_mode) && depth < kMostEvidenceDepth) folders.push_back(path);
      if (S_ISREG(status.st_mode) && status.st_size > 0) Inspect(path, name, status);
    }
    ::closedir(listing);
    for (const std::string& below : folders) Walk(below, depth + 1);
  }

  void Inspect(const std::string& path, const std::string& name, const struct stat& status) {
    const UniqueFd file(::openat(run_dir_, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (!file) return;
    std::string bytes(kMostEvidenceBytes, '\0');
    const ssize_t size = ::read(file.get(), bytes.data(), bytes.size());
    if (size <= 0) return;
    bytes.resize(static_cast<std::size_t>(size));
    EvidenceFile found;
    found.path = Printable(path);
    found.at_ns = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                  static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
    std::optional<std::uint32_t> pid;
    if (IsCore(bytes)) {
      found.what = fmt::format("a core dump of {} KiB", (status.st_size + 1'023) / 1'024);
      pid = LastNumber(name);
    } else if (IsCallTrace(name, bytes)) {
      found.what = "a dump of the collective calls (torchfrtrace reads it)";
    } else if (name == "analyze_fail.ir" || name == "analyze_fail.dat") {
      found.what = "MindSpore could not compile a graph";
    } else if (bytes.find('\0') == std::string::npos) {
      Content content = StatedIn(name, bytes);
      found.what = std::move(content.what);
      pid = content.pid ? content.pid : LastNumber(name);
      if (found.what.empty()) found.what = FailureHint(LastLines(run_dir_, path, 10 * kLastLines));
    }
    if (found.what.empty()) return;
    found.process = OwnerOf(path, pid);
    found_.push_back(std::move(found));
  }

  std::optional<ProcessId> OwnerOf(const std::string& path, std::optional<std::uint32_t> pid) const {
    if (pid) {
      const auto [first, last] = pids_.equal_range(static_cast<std::int32_t>(*pid));
      if (first != last && std::next(first) == last) return first->second;
    }
    const auto rank = RankIn(path);
    const auto of_rank = rank ? ranks_.find(*rank) : ranks_.end();
    return of_rank == ranks_.end() ? std::nullopt : std::optional(of_rank->second);
  }

  int run_dir_;
  const Plan& plan_;
  const std::multimap<std::int32_t, ProcessId>& pids_;
  std::map<std::uint32_t, ProcessId> ranks_;
  std::size_t entries_ = 0;
  std::vector<EvidenceFile> found_;
};

}  // namespace

std::vector<EvidenceFile> FindEvidenceFiles(int run_dir, const Plan& plan,
                                            const std::multimap<std::int32_t, ProcessId>& pids) {
  return EvidenceSearch(run_dir, plan, pids).Take();
}

}  // namespace muster
