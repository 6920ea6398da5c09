#include "top/log_pager.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/shell_quote.h"
#include "base/utf8.h"
#include "run/log_follow.h"

namespace muster {
namespace {

constexpr std::size_t kPiece = LineCutter::kMaxPiece;
constexpr std::size_t kBlock = 256U << 10;

// The length of the first line or piece of a line, its newline included. The same from the same place, so that moving
// up and down meets the same beginnings.
std::size_t PieceLength(std::string_view bytes) {
  const std::size_t end = bytes.substr(0, kPiece + 1).find('\n');
  if (end != std::string_view::npos) return end + 1;
  return bytes.size() <= kPiece ? bytes.size() : Utf8Prefix(bytes, kPiece).size();
}

std::string Shown(std::string_view piece) {
  if (piece.ends_with('\n')) piece.remove_suffix(1);
  if (piece.ends_with('\r')) piece.remove_suffix(1);
  // Of a progress bar the last state.
  if (const std::size_t bar = piece.rfind('\r'); bar != std::string_view::npos) piece.remove_prefix(bar + 1);
  return Printable(piece);
}

}  // namespace

LogPager::LogPager(const std::string& path)
    : file_(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
  struct stat status {};
  if (file_ && (::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode))) file_.reset();
}

std::uint64_t LogPager::Size() const {
  struct stat status {};
  return file_ && ::fstat(file_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::string LogPager::Read(std::uint64_t offset, std::size_t most) const {
  std::string bytes(most, '\0');
  const ssize_t got = file_ ? ::pread(file_.get(), bytes.data(), most, static_cast<off_t>(offset)) : 0;
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

std::uint64_t LogPager::Back(std::uint64_t offset, std::size_t lines) const {
  const std::uint64_t begin = offset > kBlock ? offset - kBlock : 0;
  const std::string bytes = Read(begin, static_cast<std::size_t>(offset - begin));
  std::size_t at = 0;
  // The block begins somewhere in a line: the first beginning known for certain is after its newline.
  if (begin > 0) {
    const std::size_t newline = bytes.find('\n');
    at = newline == std::string::npos || newline + 1 >= bytes.size() ? 0 : newline + 1;
  }
  std::vector<std::size_t> begins;
  while (at < bytes.size()) {
    begins.push_back(at);
    at += PieceLength(std::string_view(bytes).substr(at));
  }
  if (begins.empty()) return offset;
  return begin + begins[begins.size() - std::min(lines, begins.size())];
}

std::uint64_t LogPager::Forward(std::uint64_t offset, std::size_t lines, std::vector<std::string>* into) const {
  std::string bytes;
  std::size_t at = 0;
  for (std::size_t line = 0; line < lines; ++line) {
    if (bytes.size() - at <= kPiece) {
      offset += at;
      bytes = Read(offset, kBlock);
      at = 0;
      if (bytes.empty()) break;
    }
    const std::size_t length = PieceLength(std::string_view(bytes).substr(at));
    if (into != nullptr) into->push_back(Shown(std::string_view(bytes).substr(at, length)));
    at += length;
  }
  return offset + at;
}

void LogPager::Move(std::int64_t lines, std::size_t rows) {
  if (lines == 0) return;
  const std::uint64_t size = Size();
  const std::uint64_t last = Back(size, rows);
  if (follows_) offset_ = last;
  if (lines <= -kWholeWay) {
    offset_ = 0;
  } else if (lines >= kWholeWay) {
    offset_ = last;
  } else if (lines < 0) {
    offset_ = Back(offset_, static_cast<std::size_t>(-lines));
  } else {
    offset_ = Forward(offset_, static_cast<std::size_t>(lines), nullptr);
  }
  follows_ = lines > 0 && offset_ >= last;
}

LogPage LogPager::Page(std::size_t rows) {
  const std::uint64_t size = Size();
  if (follows_ || offset_ > size) offset_ = Back(size, rows);
  LogPage page;
  const std::uint64_t end = Forward(offset_, rows, &page.lines);
  page.where = end >= size ? "its end" : fmt::format("{}%", 100 * end / size);
  return page;
}

}  // namespace muster
