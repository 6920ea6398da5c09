#include "run/directory/last_lines.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/system/known_secrets.h"
#include "base/values/sanitizer_line.h"
#include "base/values/shell_quote.h"
#include "wire/files/log_bytes.h"

namespace muster {
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
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
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

}  // namespace muster
