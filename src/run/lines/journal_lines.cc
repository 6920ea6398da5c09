#include "run/lines/journal_lines.h"

#include <algorithm>
#include <cstring>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {
namespace {

constexpr std::size_t kChunk = 1U << 20;

}  // namespace

UniqueFd OpenJournal(int folder, const std::string& path) {
  UniqueFd file(::openat(folder, path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return {};
  if (!S_ISREG(status.st_mode)) {
    errno = EINVAL;
    return {};
  }
  return file;
}

JournalLines::JournalLines(int file, std::uint64_t from) : file_(file), offset_(from) {
  struct stat status {};
  if (::fstat(file, &status) == 0) size_ = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
}

std::optional<std::string_view> JournalLines::Next() {
  while (stopped_.empty()) {
    const std::size_t end = buffer_.find('\n', std::max(begin_, searched_));
    if (end != std::string::npos) {
      const std::string_view line = std::string_view(buffer_).substr(begin_, end - begin_);
      begin_ = searched_ = end + 1;
      return line;
    }
    if (!ReadMore()) break;
  }
  return std::nullopt;
}

// Appends the next part of the file to the buffered part of a line.
bool JournalLines::ReadMore() {
  const std::size_t held = buffer_.size() - begin_;
  // A power failure can leave zero bytes, too. They may be a file hole of any size, so reading stops here.
  if (held > 0 && std::memchr(buffer_.data() + begin_, '\0', held) != nullptr) {
    stopped_ = "the last line is cut";
    return false;
  }
  if (held > kLongestJournalLine) {
    stopped_ = "a line is too long";
    return false;
  }
  buffer_.erase(0, begin_);
  offset_ += begin_;
  begin_ = 0;
  searched_ = held;
  // Longer lines are read in increasingly larger steps; for a short file, no more than its length and one byte to see
  // its end.
  const std::uint64_t left = size_ - std::min(size_, offset_ + held);
  buffer_.resize(held + std::min<std::uint64_t>(std::max(kChunk, held), left + 1));
  ssize_t got = 0;
  do got = ::pread(file_, buffer_.data() + held, buffer_.size() - held, static_cast<off_t>(offset_ + held));
  while (got < 0 && errno == EINTR);
  buffer_.resize(held + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got > 0) return true;
  if (got < 0) {
    stopped_ = "the journal cannot be read";
  } else if (held > 0) {
    stopped_ = "the last line is cut";
  }
  return false;
}

}  // namespace muster
