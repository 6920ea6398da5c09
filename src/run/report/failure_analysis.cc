#include "run/report/failure_analysis.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <utility>

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/known_secrets.h"
#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "base/values/abnormal_exit.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr int kMaxEvidenceDepth = 5;
constexpr std::size_t kMaxWalked = 20'000;
constexpr std::size_t kMaxEvidenceFiles = 200;
constexpr std::size_t kMaxEvidenceBytes = 64U << 10;
constexpr std::size_t kMaxStatedBytes = 300;

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

struct Content {
  std::string what;
  std::optional<std::uint32_t> pid;
};

std::string StatedText(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return Printable(WithoutSecrets(text.substr(begin, kMaxStatedBytes), {.begin = false, .end = true}));
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
      if (++entries_ > kMaxWalked || found_.size() >= kMaxEvidenceFiles) break;
      const std::string name = entry->d_name;
      const std::string path = folder.empty() ? name : folder + "/" + name;
      struct stat status {};
      if (name == "." || name == ".." || IsOwnFile(path)) continue;
      if (::fstatat(run_dir_, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (S_ISDIR(status.st_mode) && depth < kMaxEvidenceDepth) folders.push_back(path);
      if (S_ISREG(status.st_mode) && status.st_size > 0) Inspect(path, name, status);
    }
    ::closedir(listing);
    for (const std::string& below : folders) Walk(below, depth + 1);
  }

  void Inspect(const std::string& path, const std::string& name, const struct stat& status) {
    const UniqueFd file(::openat(run_dir_, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (!file) return;
    std::string bytes(kMaxEvidenceBytes, '\0');
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

namespace {

constexpr std::size_t kMaxKeptGroups = 20;
constexpr std::size_t kMaxKeptEntries = 100;
constexpr double kApart = 1.0;  // in seconds: ends that are further apart get separate entries

using Key = std::pair<ProcessId, std::uint32_t>;

// Something that happened to a process, on the head's clock if its host's clock is known, else when the head received
// it.
struct Happening {
  MonotonicNs at = 0;
  std::uint64_t seq = 0;  // of its record
  ProcessId process = 0;
  std::string what;
};

// The last attempt of a process, which has ended. One followed by another was a restart, not a failure beside others.
struct Ended {
  Key key;
  const AttemptHistory* attempt = nullptr;
  bool asked = false;   // it had received a signal from muster
  bool failed = false;  // else it was stopped by muster, or succeeded

  const Recorded<ProcessExited>& exit() const { return *attempt->exited; }
};

// Replaces digits, and hexadecimal ones after 0x, so that lines that differ only in a rank, a time or an address are
// equal.
std::string WithoutNumbers(std::string_view text) {
  const auto is_digit = IsDigit;
  const auto is_hex = [&](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) {
      plain += text[i];
      continue;
    }
    plain += '#';
    const bool hex = text[i] == '0' && i + 1 < text.size() && text[i + 1] == 'x';
    if (hex) ++i;
    while (i + 1 < text.size() && (hex ? is_hex(text[i + 1]) : is_digit(text[i + 1]))) ++i;
  }
  return plain;
}

std::vector<std::string> WithoutNumbers(const std::vector<std::string>& lines) {
  std::vector<std::string> plain;
  plain.reserve(lines.size());
  for (const std::string& line : lines) plain.push_back(WithoutNumbers(line));
  return plain;
}

// In the order in which their ends were reported: those that failed, then the others.
std::vector<Ended> EndedOf(const RunHistory& history) {
  std::vector<Ended> ended;
  for (ProcessId process = 0; process < history.attempts.size(); ++process) {
    const AttemptHistory& attempt = history.Last(process);
    if (!attempt.exited) continue;
    Ended& end = ended.emplace_back();
    end.key = {process, static_cast<std::uint32_t>(history.attempts[process].size() - 1)};
    end.attempt = &attempt;
    bool by_our_signal = false;
    for (const Recorded<SignalSent>& sent : attempt.signals) {
      if (sent.error != 0 || sent.seq > attempt.exited->seq) continue;
      end.asked = true;
      by_our_signal = by_our_signal || (attempt.exited->signalled && attempt.exited->code == sent.signal);
    }
    end.failed = (attempt.exited->signalled || attempt.exited->code != 0) && !by_our_signal;
  }
  std::sort(ended.begin(), ended.end(), [](const Ended& a, const Ended& b) {
    return a.failed != b.failed ? a.failed : a.exit().seq < b.exit().seq;
  });
  return ended;
}

// What happened to processes, in the order of their times.
std::vector<Happening> HappeningsOf(const RunHistory& history) {
  std::vector<Happening> happenings;
  for (ProcessId process = 0; process < history.attempts.size(); ++process) {
    for (const AttemptHistory& attempt : history.attempts[process]) {
      const auto add = [&](const auto& event, std::string what) {
        happenings.push_back({history.TimeOf(attempt, event), event.seq, process, std::move(what)});
      };
      if (attempt.started && attempt.started->attempt > 0) add(*attempt.started, "was started again");
      if (attempt.spawn_failed) add(*attempt.spawn_failed, EndingText(*attempt.spawn_failed));
      if (attempt.exited) add(*attempt.exited, EndingText(*attempt.exited));
      for (const Recorded<SignalSent>& sent : attempt.signals) {
        if (sent.error == 0) add(sent, fmt::format("was sent {}", SignalName(sent.signal)));
      }
      for (const Recorded<LimitPassed>& limit : attempt.limits) {
        happenings.push_back({limit.on_head, limit.seq, process, EndingText(limit)});
      }
    }
  }
  std::sort(happenings.begin(), happenings.end(),
            [](const Happening& a, const Happening& b) { return a.at != b.at ? a.at < b.at : a.seq < b.seq; });
  return happenings;
}

// The failure time of the attempt by the journal: its end, or the limit that it exceeded before.
std::optional<MonotonicNs> FailureTimeOf(const RunHistory& history, const AttemptHistory& attempt) {
  std::map<std::uint64_t, MonotonicNs> times;  // by record
  if (attempt.exited) times.emplace(attempt.exited->seq, history.TimeOf(attempt, *attempt.exited));
  if (attempt.spawn_failed) times.emplace(attempt.spawn_failed->seq, history.TimeOf(attempt, *attempt.spawn_failed));
  if (!attempt.limits.empty()) times.emplace(attempt.limits.front().seq, attempt.limits.front().on_head);
  return times.empty() ? std::nullopt : std::optional(times.begin()->second);
}

std::vector<TimelineEntry> TimelineOf(const Plan& plan, const RunHistory& history, ProcessId origin, MonotonicNs zero) {
  struct Draft {
    TimelineEntry entry;
    std::set<ProcessId> processes;
  };
  std::vector<Draft> drafts;
  std::map<std::string, std::size_t> latest;  // latest draft with this text
  for (const Happening& happening : HappeningsOf(history)) {
    const double at = happening.at >= zero ? InSeconds(happening.at - zero) : -InSeconds(zero - happening.at);
    if (at < -kTimelineBefore || at > kTimelineAfter) continue;
    const bool is_origin = happening.process == origin;
    // Events before the first failure are not merged with events after it.
    if (is_origin && at == 0) latest.clear();
    const auto found = latest.find(happening.what);
    if (!is_origin && found != latest.end() && at - drafts[found->second].entry.to < kApart) {
      drafts[found->second].entry.to = at;
      drafts[found->second].processes.insert(happening.process);
      continue;
    }
    if (!is_origin) latest[happening.what] = drafts.size();
    drafts.push_back({{at, at, happening.what, {}}, {happening.process}});
  }
  std::vector<TimelineEntry> timeline;
  for (Draft& draft : drafts) {
    if (timeline.size() == kMaxKeptEntries) break;
    draft.entry.who = MembersOf(plan, draft.processes);
    timeline.push_back(std::move(draft.entry));
  }
  return timeline;
}

Moment MomentOf(const Ended& ended) {
  return {ended.attempt->machine, ended.exit().at, EndLatenessNs(ended.exit().max_rss_kib)};
}

constexpr std::size_t kMaxSearched = 256;               // stopped processes whose logs are searched
constexpr std::uint64_t kLogMarginNs = 100'000'000;     // times of log lines are upper bounds, sampled by the agent
constexpr std::uint64_t kHostMarginNs = 2'000'000'000;  // wall clocks of two hosts
constexpr std::uint64_t kFileMarginNs = 20'000'000;     // files have the time of the kernel's last tick

// SIGABRT, SIGPIPE and SIGTERM can be reactions to another failure, like an exit code (see RunCause::Trace).
bool IsReaction(const ProcessExited& exit) {
  return !exit.signalled || exit.code == SIGABRT || exit.code == SIGPIPE || exit.code == SIGTERM;
}

// What a process left behind about its own failure, in the head's wall clock.
struct Sign {
  std::uint64_t at_ns = 0;
  std::string what;
};

// When the error file of the attempt was written.
std::optional<std::uint64_t> NoteTime(int run_dir, const Plan& plan, const Key& key) {
  struct stat status {};
  const std::string path = ErrorPath(plan, key.first, key.second);
  if (::fstatat(run_dir, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
}

// Finds processes whose evidence is older than that of the origin. An exit comes last: handlers of the interpreter, or
// the writing of a core, can take longer than it takes its peers to notice and to exit.
class SignSearch {
 public:
  SignSearch(const Plan& plan, const RunHistory& history, int run_dir, std::span<const EvidenceFile> files)
      : plan_(plan), history_(history), run_dir_(run_dir), files_(files) {
    if (auto logs = OpenFolder(run_dir, "logs")) logs_ = *std::move(logs);
  }

  std::vector<EarlierSign> Of(const Ended& origin, const std::vector<Ended>& candidates) {
    std::vector<EarlierSign> signs;
    const auto first = FirstSignOf(origin);
    const std::string named = origin.exit().signalled ? std::string() : NamedPeer(origin.key);
    std::size_t searched = 0;
    for (const Ended& other : candidates) {
      if (other.key.first == origin.key.first) continue;
      const Process& process = plan_.processes[other.key.first];
      std::optional<Sign> sign = first ? NoteBefore(other, *first, origin) : std::nullopt;
      if (!sign && first) sign = FileBefore(other, *first, origin);
      if (!sign && first && (!other.asked || searched++ < kMaxSearched)) sign = TracebackBefore(other, *first, origin);
      std::optional<double> before;
      if (sign) before = InSeconds(*first - sign->at_ns);
      if (!sign && other.exit().core_dumped && !origin.exit().signalled) {
        sign = Sign{0, "it crashed, and writing its core dump delayed its end"};
      }
      if (!sign && process.rank && named == std::to_string(*process.rank)) {
        sign = Sign{0, "the message of the first failure names its rank"};
      }
      if (!sign) continue;
      signs.push_back({MembersOf(plan_, {other.key.first}).front(), sign->what, before});
    }
    std::stable_sort(signs.begin(), signs.end(), [](const EarlierSign& a, const EarlierSign& b) {
      return a.before.value_or(-1) > b.before.value_or(-1);
    });
    if (signs.size() > kMaxKeptGroups) signs.resize(kMaxKeptGroups);
    return signs;
  }

  // The one with the oldest error file that proves it.
  std::optional<ProvenOrigin> Proven(const Ended& origin, const std::vector<Ended>& candidates) {
    if (!IsReaction(origin.exit())) return std::nullopt;
    // One that only states the loss of a peer had no failure of its own before it ended.
    const bool lost_peer = IsOfPeer(StatementOf(origin.key));
    const auto first = lost_peer ? EndOf(origin) : FirstSignOf(origin);
    if (!first) return std::nullopt;
    const std::uint64_t margin = lost_peer ? 0 : kFileMarginNs;
    std::optional<ProvenOrigin> proven;
    std::uint64_t oldest = *first;
    for (const Ended& other : candidates) {
      if (other.key.first == origin.key.first || (!other.exit().signalled && other.exit().code == 0)) continue;
      const auto at = NoteTime(run_dir_, plan_, other.key);
      if (!at || *at >= oldest || *at + margin + MarginOf(other, origin) >= *first) continue;
      const auto note = ReadErrorNote(run_dir_, plan_, other.key.first, other.key.second);
      if (!note || !note->unreadable.empty() || IsOfPeer(note->message)) continue;
      oldest = *at;
      proven = {other.exit(), fmt::format("{}{} older than what {} left behind, which ended first", kErrorFileEvidence,
                                          DurationText(InSeconds(*first - *at)),
                                          ProcessName(plan_, plan_.processes[origin.key.first]))};
    }
    return proven;
  }

 private:
  std::uint64_t MarginOf(const Ended& other, const Ended& origin) const {
    return other.attempt->machine == origin.attempt->machine ? 0 : kHostMarginNs;
  }

  std::optional<std::uint64_t> EndOf(const Ended& origin) const {
    const auto at = OnHead(MomentOf(origin), history_.clocks);
    for (const RecordMark* const record : {&history_.last, &history_.first}) {
      if (const auto wall = at ? ParseUtc(record->wall) : std::nullopt) return *wall + (*at - record->on_head);
    }
    return std::nullopt;
  }

  // What the process says about its failure; may be empty.
  std::string StatementOf(const Key& key) const {
    std::string text = FailureHint(LastLines(run_dir_, LogPath(plan_, key.first, key.second), 10 * kLastLines));
    if (!text.empty()) return text;
    const auto note = ReadErrorNote(run_dir_, plan_, key.first, key.second);
    return note ? note->message : text;
  }

  // The end of the origin, its error file or the last line of its log, whichever is the oldest.
  std::optional<std::uint64_t> FirstSignOf(const Ended& origin) {
    const auto end = EndOf(origin);
    if (!end) return std::nullopt;
    std::uint64_t first = *end;
    if (const auto note = NoteTime(run_dir_, plan_, origin.key)) first = std::min(first, *note);
    for (const EvidenceFile& file : files_) {
      if (file.process == origin.key.first) first = std::min(first, file.at_ns);
    }
    const std::string log = LogPath(plan_, origin.key.first, origin.key.second);
    // The time of its last words, if they state the failure: it may have been silent for long otherwise.
    const bool stated = !FailureHint(LastLines(run_dir_, log, 10 * kLastLines)).empty();
    if (auto times = stated ? TimesOf(log) : std::nullopt) first = std::min(first, times->End());
    return first;
  }

  std::optional<Sign> NoteBefore(const Ended& other, std::uint64_t first, const Ended& origin) {
    const auto at = NoteTime(run_dir_, plan_, other.key);
    if (!at || *at + MarginOf(other, origin) >= first) return std::nullopt;
    const auto note = ReadErrorNote(run_dir_, plan_, other.key.first, other.key.second);
    if (!note) return std::nullopt;
    return Sign{*at, "its error file is older: " + (note->message.empty() ? note->unreadable : note->message)};
  }

  std::optional<Sign> FileBefore(const Ended& other, std::uint64_t first, const Ended& origin) const {
    for (const EvidenceFile& file : files_) {
      if (file.process != other.key.first || file.at_ns + MarginOf(other, origin) >= first) continue;
      return Sign{file.at_ns, fmt::format("{} is older: {}", file.path, file.what)};
    }
    return std::nullopt;
  }

  std::optional<Sign> TracebackBefore(const Ended& other, std::uint64_t first, const Ended& origin) {
    const std::string log = LogPath(plan_, other.key.first, other.key.second);
    auto times = TimesOf(log);
    const std::uint64_t margin = kLogMarginNs + MarginOf(other, origin);
    if (!times || first < margin) return std::nullopt;
    const std::uint64_t end = times->OffsetAt(first - margin);
    if (end == 0) return std::nullopt;
    const std::string hint = FailureHint(LastLinesBefore(run_dir_, log, end, 10 * kLastLines));
    if (hint.empty()) return std::nullopt;
    const bool by_sanitizer = hint.find("Sanitizer: ") != std::string::npos;
    return Sign{
        std::min(times->TimeOf(end - 1), first - margin),
        (by_sanitizer ? "the report of a sanitizer in its log is older: " : "the traceback in its log is older: ") +
            hint};
  }

  // Whether a message only says that a peer is gone, which follows another failure.
  static bool IsOfPeer(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return std::any_of(kLostPeer.begin(), kLostPeer.end(),
                       [&](std::string_view word) { return text.find(word) != std::string::npos; });
  }

  // "1" of "connection closed by peer rank 1": the rank that the origin's last message blames; empty if it names none.
  std::string NamedPeer(const Key& origin) const {
    std::string text = StatementOf(origin);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    if (!IsOfPeer(text)) return {};
    std::string named;
    for (std::size_t at = text.find("rank"); at != std::string::npos; at = text.find("rank", at + 4)) {
      std::size_t digit = at + 4;
      if (digit < text.size() && text[digit] == 's') return {};  // "ranks 1 and 2": none in particular
      while (digit < text.size() && digit < at + 7 &&
             std::string_view(" :=#[").find(text[digit]) != std::string::npos) {
        ++digit;
      }
      std::size_t end = digit;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
      if (end == digit) continue;
      const std::string number = text.substr(digit, end - digit);
      const auto own = plan_.processes[origin.first].rank;
      if (own && number == std::to_string(*own)) continue;
      if (!named.empty() && named != number) return {};
      named = number;
    }
    return named;
  }

  std::optional<LogTimeReader> TimesOf(const std::string& log) const {
    if (!logs_) return std::nullopt;
    return LogTimeReader::Open(logs_.get(), log.substr(log.rfind('/') + 1));
  }

  static constexpr std::array<std::string_view, 8> kLostPeer = {"closed",    "reset",   "refused", "broken pipe",
                                                                "timed out", "timeout", "lost",    "peer"};
  const Plan& plan_;
  const RunHistory& history_;
  int run_dir_;
  std::span<const EvidenceFile> files_;
  UniqueFd logs_;
};

std::vector<std::string> DetailsOf(const AttemptHistory& attempt) {
  std::vector<std::string> details;
  for (const EndEvidence& evidence : attempt.evidence) details.push_back(evidence.detail);
  return details;
}

std::vector<FailedGroup> GroupsOf(const Plan& plan, const std::vector<Ended>& failed, ProcessId origin, int run_dir) {
  struct Draft {
    FailedGroup group;
    std::vector<std::string> plain;
    std::string plain_message;
    std::set<ProcessId> processes;
  };
  std::vector<Draft> drafts;
  for (const Ended& each : failed) {
    const auto [process, attempt] = each.key;
    if (process == origin) continue;
    const std::string& role = plan.roles[plan.processes[process].role].name;
    FailedGroup group;
    group.why = EndingText(plan, each.exit());
    group.log = LogPath(plan, process, attempt);
    group.lines = LastLines(run_dir, group.log);
    group.error = ReadErrorNote(run_dir, plan, process, attempt);
    group.evidence = DetailsOf(*each.attempt);
    std::vector<std::string> plain = WithoutNumbers(group.lines);
    std::string message = group.error ? WithoutNumbers(group.error->message) : "";
    const auto same = std::find_if(drafts.begin(), drafts.end(), [&](const Draft& draft) {
      return draft.group.who.role == role && draft.group.why == group.why && draft.plain == plain &&
             draft.plain_message == message;
    });
    if (same != drafts.end()) {
      same->group.alike = same->group.alike || same->group.lines != group.lines;
      same->processes.insert(process);
    } else if (drafts.size() < kMaxKeptGroups) {
      group.hint = FailureHint(LastLines(run_dir, group.log, 10 * kLastLines));
      group.who.role = role;
      drafts.push_back({std::move(group), std::move(plain), std::move(message), {process}});
    }
  }
  std::vector<FailedGroup> groups;
  for (Draft& draft : drafts) {
    draft.group.who = MembersOf(plan, draft.processes).front();
    groups.push_back(std::move(draft.group));
  }
  return groups;
}

// Measures the distance between `other` and the origin, and the distance at which their order would be certain.
void Measure(const Moment& other, const Moment& origin, const HostClocks& clocks, UncertainOrder& doubt) {
  const bool same = other.host == origin.host;
  const auto of_other = same ? std::optional(other.at) : OnHead(other, clocks);
  const auto of_origin = same ? std::optional(origin.at) : OnHead(origin, clocks);
  if (!of_other || !of_origin) return;
  const double after = *of_other >= *of_origin ? InSeconds(*of_other - *of_origin) : -InSeconds(*of_origin - *of_other);
  if (doubt.after && std::abs(*doubt.after) <= std::abs(after)) return;
  doubt.after = after;
  // The one that was seen later may have happened earlier than that.
  doubt.within = InSeconds(after >= 0 ? other.late_ns : origin.late_ns);
  if (!same) doubt.within += InSeconds(clocks[other.host]->error_ns + clocks[origin.host]->error_ns);
}

std::vector<UncertainOrder> DoubtsOf(const Plan& plan, const std::vector<Ended>& candidates, const Ended& origin,
                                     const RunHistory& history) {
  const Moment first = MomentOf(origin);
  struct Draft {
    UncertainOrder doubt;
    std::set<ProcessId> processes;
  };
  std::map<std::uint32_t, Draft> drafts;  // by machine
  for (const Ended& other : candidates) {
    if (!other.failed || other.key.first == origin.key.first || other.asked) continue;
    if (IsReaction(other.exit()) != IsReaction(origin.exit())) continue;  // a kill from outside is not a reaction
    const Moment moment = MomentOf(other);
    if (OrderOf(first, moment, history.clocks) != Order::kUnknown) continue;
    Draft& draft = drafts[moment.host];
    draft.processes.insert(other.key.first);
    Measure(moment, first, history.clocks, draft.doubt);
  }
  std::vector<UncertainOrder> doubts;
  for (auto& [machine, draft] : drafts) {
    draft.doubt.who = MembersOf(plan, draft.processes);
    if (machine != first.host) draft.doubt.host = history.MachineName(machine);
    doubts.insert(machine == first.host ? doubts.begin() : doubts.end(), std::move(draft.doubt));
  }
  return doubts;
}

}  // namespace

std::vector<Members> MembersOf(const Plan& plan, const std::set<ProcessId>& processes) {
  std::vector<Members> members;
  for (const ProcessId id : processes) {
    const Process& process = plan.processes[id];
    const std::string& role = plan.roles[process.role].name;
    if (members.empty() || members.back().role != role) members.push_back({role, {}, {}});
    members.back().indices.push_back(process.index);
    if (process.rank) members.back().ranks.push_back(*process.rank);
  }
  return members;
}

std::optional<ProvenOrigin> FindProvenOrigin(const Plan& plan, const RunHistory& history, const FirstFailure& origin,
                                             int run_dir) {
  const std::vector<Ended> ended = EndedOf(history);
  const auto first = std::find_if(ended.begin(), ended.end(),
                                  [&](const Ended& e) { return e.key == Key(origin.process, origin.attempt); });
  if (first == ended.end()) return std::nullopt;
  return SignSearch(plan, history, run_dir, {}).Proven(*first, ended);
}

FailureAnalysis AnalyseFailure(const Plan& plan, const RunHistory& history, const FirstFailure& origin, int run_dir,
                               std::span<const EvidenceFile> files) {
  const Key key(origin.process, origin.attempt);
  const AttemptHistory& attempt = history.attempts[origin.process][origin.attempt];
  FailureAnalysis analysis;
  analysis.evidence = DetailsOf(attempt);
  analysis.hint = FailureHint(LastLines(run_dir, LogPath(plan, origin.process, origin.attempt), 10 * kLastLines));
  analysis.error = ReadErrorNote(run_dir, plan, origin.process, origin.attempt);
  const std::vector<Ended> ended = EndedOf(history);
  // An origin that its error file proves may have been stopped while it exited.
  const auto first = std::find_if(ended.begin(), ended.end(), [&](const Ended& e) { return e.key == key; });
  if (first != ended.end()) {
    analysis.signs = SignSearch(plan, history, run_dir, files).Of(*first, ended);
    if (first->failed) analysis.doubts = DoubtsOf(plan, ended, *first, history);
    const Moment moment = MomentOf(*first);
    analysis.at = OnHead(moment, history.clocks);
    if (analysis.at) analysis.at_error = InSeconds(history.clocks[moment.host]->error_ns);
  }
  std::vector<Ended> shown;
  for (const Ended& other : ended) {
    const auto is_named = [&] {
      const Members who = MembersOf(plan, {other.key.first}).front();
      return std::any_of(analysis.signs.begin(), analysis.signs.end(),
                         [&](const EarlierSign& sign) { return sign.who == who; });
    };
    if (other.failed || (other.key != key && (is_named() || NoteTime(run_dir, plan, other.key)))) {
      shown.push_back(other);
    }
  }
  analysis.others = GroupsOf(plan, shown, origin.process, run_dir);
  for (const UncertainOrder& doubt : analysis.doubts) {
    for (const Members& each : doubt.who) analysis.unordered.push_back(each);
  }
  if (const auto zero = FailureTimeOf(history, attempt)) {
    analysis.timeline = TimelineOf(plan, history, origin.process, *zero);
  }
  return analysis;
}

}  // namespace muster
