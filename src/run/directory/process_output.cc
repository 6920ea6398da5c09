#include "run/directory/process_output.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/known_secrets.h"
#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "base/values/abnormal_exit.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"

namespace muster {

std::string LogPath(const Plan& plan, ProcessId process, std::uint32_t attempt) {
  return fmt::format("logs/{}.{}.log", ProcessName(plan, plan.processes[process]), attempt);
}

namespace {

// Removes a prefix like "[rank3]: ", which PyTorch puts before each line of a traceback.
std::string_view WithoutMark(std::string_view line) {
  if (!line.starts_with('[')) return line;
  const std::size_t end = line.find("]:");
  if (end == std::string_view::npos) return line;
  line.remove_prefix(end + 2);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

// "  File \"train.py\", line 3, in step"
bool IsFrame(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  return begin != std::string_view::npos && begin >= 2 && line.substr(begin).starts_with("File \"") &&
         line.find("\", line ") != std::string_view::npos;
}

// "torch.OutOfMemoryError: CUDA out of memory", "KeyboardInterrupt"
bool IsException(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  const auto is_part = [](char c) { return IsLetterOrDigit(c) || c == '_' || c == '.'; };
  return !name.empty() && (name.front() < '0' || name.front() > '9') && std::all_of(name.begin(), name.end(), is_part);
}

}  // namespace

std::vector<std::string> LastLines(int at, const std::string& path, std::size_t most, std::size_t window) {
  return LastLinesBefore(at, path, std::numeric_limits<std::uint64_t>::max(), most, window);
}

std::vector<std::string> LastLinesBefore(int at, const std::string& path, std::uint64_t end, std::size_t most,
                                         std::size_t window) {
  constexpr std::size_t kMaxLine = 2'000;
  auto log = LogBytes::Open(at, path);
  if (!log) return {};
  std::uint64_t offset = 0;
  const std::string read = log->ReadBefore(end, window, offset);
  const bool to_the_end = end == std::numeric_limits<std::uint64_t>::max();
  const std::string bytes = WithoutSecrets(read, {.begin = offset > 0, .end = !to_the_end});
  std::string_view text = bytes;
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string> lines;
  while (lines.size() < most && !text.empty()) {
    const std::size_t newline = text.rfind('\n');
    std::string_view line = newline == std::string_view::npos ? text : text.substr(newline + 1);
    text = newline == std::string_view::npos ? std::string_view() : text.substr(0, newline);
    if (line.ends_with('\r')) line.remove_suffix(1);
    // Keeps the last state of a progress bar, and the end of a long line: the newest information is there.
    if (const std::size_t bar = line.rfind('\r'); bar != std::string_view::npos) line.remove_prefix(bar + 1);
    bool cut = newline == std::string_view::npos && offset > 0;
    if (line.size() > kMaxLine) {
      line.remove_prefix(line.size() - kMaxLine);
      cut = true;
    }
    while (cut && !line.empty() && (static_cast<unsigned char>(line.front()) & 0xC0U) == 0x80U) line.remove_prefix(1);
    lines.push_back((cut ? "…" : "") + Printable(line));
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

namespace {

// The report of a fault that ended the program, or, if `fatal` is false, of one after which it went on.
std::string SanitizerHint(const std::vector<std::string>& lines, bool fatal) {
  std::string hint;
  for (const std::string& line : lines) {
    const SanitizerFinding finding = SanitizerFindingIn(WithoutMark(line));
    if (!finding || finding.fatal != fatal) continue;
    if (hint.empty() || finding.summary) hint = finding.text;
  }
  return hint;
}

}  // namespace

std::string FailureHint(const std::vector<std::string>& lines) {
  if (std::string hint = SanitizerHint(lines, true); !hint.empty()) return hint;
  const std::size_t first = lines.size() > kLastLines ? lines.size() - kLastLines : 0;
  // If Python crashes in native code, faulthandler prints its message last.
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = WithoutMark(lines[i]);
    if (line.starts_with("Fatal Python error: ")) return std::string(line);
  }
  for (std::size_t i = lines.size(); i-- > first;) {
    if (!IsException(WithoutMark(lines[i]))) continue;
    // Frames and their indented source lines are between the exception and the nearest "File …" line above it.
    for (std::size_t above = i; above-- > 0;) {
      const std::string_view line = WithoutMark(lines[above]);
      if (IsFrame(line)) return std::string(WithoutMark(lines[i]));
      if (!line.starts_with("  ")) break;
    }
  }
  // "python3: can't open file '/x/train.py': [Errno 2] No such file or directory"
  for (std::size_t i = first; i < lines.size(); ++i) {
    constexpr std::string_view kCannot = ": can't open file '";
    const std::size_t at = lines[i].find(kCannot);
    const std::size_t end = at == std::string::npos ? at : lines[i].find("': [Errno 2]", at);
    if (end == std::string::npos) continue;
    const std::string path = lines[i].substr(at + kCannot.size(), end - at - kCannot.size());
    return "processes run in the folder that muster is called from; a file beside the recipe is muster.here " +
           Quoted(path.substr(path.rfind('/') + 1));
  }
  return SanitizerHint(lines, false);
}

namespace {

constexpr std::uint64_t kBlockEntries = 256;
constexpr std::uint64_t kBlock = 64U << 10;

UniqueFd OpenIndex(int folder, const std::string& name) {
  return UniqueFd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

std::uint64_t SizeOf(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0
             ? static_cast<std::uint64_t>(status.st_size)
             : 0;
}

}  // namespace

LogTimeReader::LogTimeReader(int folder, std::string name, std::size_t entries_begin, std::uint64_t entries)
    : folder_(folder), name_(std::move(name)), entries_begin_(entries_begin), entries_(entries) {}

std::optional<LogTimeReader> LogTimeReader::Open(int logs_folder, const std::string& log_name) {
  std::string name = TimeIndexPath(log_name);
  const UniqueFd file = OpenIndex(logs_folder, name);
  if (!file) return std::nullopt;
  const std::uint64_t size = SizeOf(file.get());
  const std::string head = BytesAt(file.get(), 0, kTimeIndexHead.size());
  if (head != kTimeIndexHead && head != kLimitedIndexHead) return std::nullopt;
  const std::size_t begin = EntriesBegin(head == kLimitedIndexHead);
  if (size < begin + kLogTimeBytes) return std::nullopt;
  // A partial entry at the end did not fit on the disk.
  return LogTimeReader(logs_folder, std::move(name), begin, (size - begin) / kLogTimeBytes);
}

const LogTime& LogTimeReader::At(std::uint64_t i) {
  if (i < block_begin_ || i >= block_begin_ + block_.size()) {
    block_begin_ = i - i % kBlockEntries;
    const UniqueFd file = OpenIndex(folder_, name_);
    const std::string bytes =
        BytesAt(file.get(), entries_begin_ + block_begin_ * kLogTimeBytes, kBlockEntries * kLogTimeBytes);
    block_.clear();
    for (std::size_t at = 0; at + kLogTimeBytes <= bytes.size(); at += kLogTimeBytes) {
      block_.push_back(LogTimeFrom(std::string_view(bytes).substr(at)));
    }
    // The file was truncated after it was opened.
    if (i >= block_begin_ + block_.size()) block_.resize(i - block_begin_ + 1);
  }
  return block_[i - block_begin_];
}

template <class Holds>
std::uint64_t LogTimeReader::First(const Holds& holds) {
  std::uint64_t begin = 0;
  std::uint64_t end = entries_;
  while (begin < end) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    if (holds(At(middle))) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

std::uint64_t LogTimeReader::TimeOf(std::uint64_t offset) {
  const auto covers = [&](const LogTime& entry) { return entry.offset > offset; };
  const bool still = covers(At(found_)) && (found_ == 0 || !covers(At(found_ - 1)));
  if (!still) found_ = std::min(First(covers), entries_ - 1);
  return At(found_).wall_ns;
}

std::uint64_t LogTimeReader::OffsetAt(std::uint64_t wall_ns) {
  // Bytes between the last entry before that moment and the next entry may have been written at or after it.
  const std::uint64_t first = First([&](const LogTime& entry) { return entry.wall_ns >= wall_ns; });
  return first == 0 ? 0 : At(first - 1).offset;
}

std::uint64_t LogTimeReader::End() { return At(entries_ - 1).wall_ns; }

std::uint64_t LineBegin(LogBytes& log, std::uint64_t offset) {
  std::uint64_t begin = 0;
  const LogExtent extent = log.Look();
  offset = std::clamp(offset, extent.begin, extent.end);
  const std::string before = log.ReadBefore(offset, kBlock, begin);
  const std::size_t newline = before.rfind('\n');
  if (newline != std::string::npos) return begin + newline + 1;
  return begin == extent.begin ? begin : offset;
}

std::uint64_t TailBegin(LogBytes& log, std::uint64_t lines) {
  const LogExtent extent = log.Look();
  if (lines == 0) return extent.end;
  std::uint64_t counted = 0;
  for (std::uint64_t end = extent.end; end > extent.begin;) {
    std::uint64_t begin = 0;
    const std::string block = log.ReadBefore(end, kBlock, begin);
    if (block.empty()) return end;  // a file hole, or dropped meanwhile
    bool found = false;
    for (std::uint64_t i = block.size(); i > 0; --i) {
      if (block[i - 1] != '\n' || begin + i == extent.end) continue;  // the final newline ends the last line
      found = true;
      if (++counted == lines) return begin + i;
    }
    if (!found && block.size() == kBlock && ++counted == lines) return begin;
    end = begin;
  }
  return extent.begin;
}

namespace {

constexpr std::size_t kMaxFileBytes = 1U << 20;
constexpr std::size_t kMaxMessage = 2'000;
constexpr std::size_t kMaxText = 1'000;
constexpr std::size_t kMaxMembers = 20;

std::string Shortened(std::string_view text, std::size_t size) {
  const std::string_view kept = Utf8Prefix(text, size);
  return kept.size() == text.size() ? std::string(text) : std::string(kept) + "…";
}

// Seconds since 1970, as a number or in digits.
std::string TimeOf(const Value* value) {
  if (value == nullptr) return {};
  std::int64_t seconds = 0;
  if (const std::int64_t* number = value->AsInt()) {
    seconds = *number;
  } else if (const double* real = value->AsDouble()) {
    seconds = std::isfinite(*real) && std::abs(*real) < 1e12 ? static_cast<std::int64_t>(*real) : 0;
  } else if (const std::string* digits = value->AsString()) {
    std::from_chars(digits->data(), digits->data() + digits->size(), seconds);
  }
  constexpr std::int64_t kLatest = 9'999'999'999;
  return seconds > 0 && seconds <= kLatest ? UtcText(static_cast<std::uint64_t>(seconds) * 1'000'000'000) : "";
}

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (text.ends_with('\n')) text.remove_suffix(1);
  for (const std::string_view line : TextLines(text)) lines.push_back(Shortened(line, kMaxText));
  if (lines.size() > kTracebackLines) lines.erase(lines.begin(), lines.end() - kTracebackLines);
  return lines;
}

void HideSecretsIn(Value& value) {
  if (const std::string* text = value.AsString()) {
    value = Value(WithoutSecrets(*text));
  } else if (const Value::List* list = value.AsList()) {
    Value::List shown = *list;
    for (Value& element : shown) HideSecretsIn(element);
    value = Value(std::move(shown));
  } else if (const Value::Map* map = value.AsMap()) {
    Value::Map shown;
    for (const auto& [key, member] : *map) HideSecretsIn(shown.emplace(WithoutSecrets(key), member).first->second);
    value = Value(std::move(shown));
  }
}

void AddMore(const Value::Map& map, std::initializer_list<std::string_view> known, ErrorNote& note) {
  for (const auto& [key, value] : map) {
    if (note.more.size() == kMaxMembers) return;
    bool reported = false;
    for (const std::string_view name : known) reported = reported || name == key;
    if (reported) continue;
    std::string text = ToText(value);
    note.more.emplace(Shortened(key, 100), text.size() <= kMaxText ? value : Value(Shortened(text, kMaxText)));
  }
}

}  // namespace

tl::expected<ErrorNote, std::string> ParseErrorNote(std::string_view json) {
  auto value = ValueFromJsonText(json);
  if (!value) return tl::unexpected<std::string>(value.error());
  HideSecretsIn(*value);
  const Value::Map* top = value->AsMap();
  if (top == nullptr) return tl::unexpected<std::string>("it is not a JSON object");
  ErrorNote note;
  const Value* message = FieldOf(*top, "message");
  const Value::Map* inner = message == nullptr ? nullptr : message->AsMap();
  if (inner == nullptr) {
    note.message = Shortened(TextField(*top, "message"), kMaxMessage);
    note.traceback = LinesOf(TextField(*top, "traceback"));
    note.at = TimeOf(FieldOf(*top, "timestamp"));
    AddMore(*top, {"message", "traceback", "timestamp"}, note);
  } else {
    note.message = Shortened(TextField(*inner, "message"), kMaxMessage);
    const Value* extra = FieldOf(*inner, "extraInfo");
    if (extra != nullptr && extra->AsMap() != nullptr) {
      note.traceback = LinesOf(TextField(*extra, "py_callstack"));
      note.at = TimeOf(FieldOf(*extra->AsMap(), "timestamp"));
      AddMore(*extra->AsMap(), {"py_callstack", "timestamp"}, note);
    }
    AddMore(*inner, {"message", "extraInfo"}, note);
    AddMore(*top, {"message"}, note);
  }
  if (note.message.empty()) return tl::unexpected<std::string>("it contains no message");
  return note;
}

std::string ErrorPath(const Plan& plan, ProcessId process, std::uint32_t attempt) {
  return fmt::format("errors/{}.{}.json", ProcessName(plan, plan.processes[process]), attempt);
}

std::optional<ErrorNote> ReadErrorNote(int run_dir, const Plan& plan, ProcessId process, std::uint32_t attempt) {
  const std::string path = ErrorPath(plan, process, attempt);
  const std::size_t slash = path.find('/');
  const Result<UniqueFd> folder = OpenFolder(run_dir, path.substr(0, slash));  // links are not followed
  if (!folder || !EntryExists(folder->get(), path.substr(slash + 1))) return std::nullopt;
  const auto unreadable = [](std::string why) {
    ErrorNote note;
    note.unreadable = std::move(why);
    return note;
  };
  const Result<std::string> text = ReadFileAt(folder->get(), path.substr(slash + 1), kMaxFileBytes, O_NOFOLLOW);
  if (!text) return unreadable(text.error().front().message);
  auto note = ParseErrorNote(*text);
  return note ? *std::move(note) : unreadable(std::move(note.error()));
}

}  // namespace muster
