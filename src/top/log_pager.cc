#include "top/log_pager.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "run/logs/log_follower.h"

namespace muster {
namespace {

constexpr std::size_t kPiece = LineCutter::kMaxPiece;
constexpr std::size_t kBlock = 256U << 10;

// The length of the first line or piece of a line, its newline included. Depends on the start only, so that moving up
// and down meets the same boundaries.
std::size_t PieceLength(std::string_view bytes) {
  const std::size_t end = bytes.substr(0, kPiece + 1).find('\n');
  if (end != std::string_view::npos) return end + 1;
  return bytes.size() <= kPiece ? bytes.size() : Utf8Prefix(bytes, kPiece).size();
}

std::string Shown(std::string_view piece) {
  if (piece.ends_with('\n')) piece.remove_suffix(1);
  if (piece.ends_with('\r')) piece.remove_suffix(1);
  // Of a progress bar, the last state.
  if (const std::size_t bar = piece.rfind('\r'); bar != std::string_view::npos) piece.remove_prefix(bar + 1);
  return Printable(piece);
}

}  // namespace

LogPager::LogPager(const std::string& path) : log_(LogBytes::Open(AT_FDCWD, path)) {}

LogExtent LogPager::Extent() const { return log_ ? log_->Look() : LogExtent{}; }

std::string LogPager::Read(std::uint64_t& offset, std::size_t most) const {
  std::string bytes(most, '\0');
  bytes.resize(log_ ? log_->Read(offset, bytes.data(), most) : 0);
  return bytes;
}

std::uint64_t LogPager::Back(std::uint64_t offset, std::size_t lines) const {
  std::uint64_t begin = 0;
  const std::string bytes = log_ ? log_->ReadBefore(offset, kBlock, begin) : std::string();
  std::size_t at = 0;
  // The block may begin within a line: the first certain boundary is after its newline.
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
  const LogExtent extent = Extent();
  const std::uint64_t last = Back(extent.end, rows);
  if (follows_) offset_ = last;
  if (lines <= -kWholeWay) {
    offset_ = extent.begin;
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
  const auto [begin, size] = Extent();
  if (follows_ || offset_ > size) offset_ = Back(size, rows);
  offset_ = std::max(offset_, begin);  // the beginning may have been dropped
  LogPage page;
  const std::uint64_t end = Forward(offset_, rows, &page.lines);
  page.where = end >= size ? "its end" : fmt::format("{}%", 100 * (end - begin) / (size - begin));
  return page;
}

}  // namespace muster
