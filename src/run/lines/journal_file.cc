#include "run/lines/journal_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/fault.h"
#include "base/values/fingerprint.h"

namespace muster {

int ReservedSpace::Keep(int file, std::uint64_t written) {
  if (ahead_ == 0 || kept_ >= written + ahead_ / 2) return 0;
  int result = 0;
  do result = ::fallocate(file, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(written), static_cast<off_t>(ahead_));
  while (result != 0 && errno == EINTR);
  if (result != 0 && (errno == ENOSPC || errno == EDQUOT)) return errno;
  if (result != 0) ahead_ = 0;  // not supported
  kept_ = written + ahead_;
  return 0;
}

void ReservedSpace::Release(int file) {
  struct stat status {};
  if (kept_ == 0 || ::fstat(file, &status) != 0) return;
  kept_ = 0;
  ahead_ = 0;
  // Truncating to the current length frees the blocks behind it. If it fails, only space is lost.
  if (::ftruncate(file, status.st_size) != 0) return;
}

namespace {

constexpr std::string_view kCrcOpen = ",\"crc\":\"";
constexpr std::string_view kCrcClose = "\"}";
constexpr std::size_t kCrcDigits = 8;
constexpr std::size_t kTail = kCrcOpen.size() + kCrcDigits + kCrcClose.size();

// `,"crc":"xxxxxxxx"}`
std::array<char, kTail> Tail(std::string_view body) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::array<char, kTail> tail;
  const std::uint32_t sum = Crc32c(body);
  kCrcOpen.copy(tail.data(), kCrcOpen.size());
  for (std::size_t i = 0; i < kCrcDigits; ++i) {
    tail[kCrcOpen.size() + i] = kDigits[(sum >> (4 * (kCrcDigits - 1 - i))) & 15U];
  }
  kCrcClose.copy(tail.data() + kCrcOpen.size() + kCrcDigits, kCrcClose.size());
  return tail;
}

}  // namespace

void SealLine(std::string& line, std::size_t begin) {
  const std::array<char, kTail> tail = Tail(std::string_view(line).substr(begin));
  line.append(tail.data(), tail.size());
  line += '\n';
}

tl::expected<std::string_view, std::string> OpenLine(std::string_view line) {
  if (line.size() <= kTail) return tl::unexpected<std::string>("a line is too short");
  const std::string_view body = line.substr(0, line.size() - kTail);
  const std::array<char, kTail> tail = Tail(body);
  if (line.substr(body.size()) != std::string_view(tail.data(), tail.size())) {
    return tl::unexpected<std::string>("a checksum does not match its line");
  }
  return body;
}

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
  if (held > kMaxJournalLine) {
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

JournalFile::JournalFile(UniqueFd file, std::uint64_t bytes, std::uint64_t room)
    : file_(std::move(file)), room_(room), bytes_(bytes) {}

JournalFile::~JournalFile() { Release(); }

void JournalFile::Release() {
  if (file_) room_.Release(file_.get());
}

int JournalFile::ReserveSpace() { return room_.Keep(file_.get(), bytes_); }

int JournalFile::Write(std::string& lines) {
  if (FailsHere(Fault::kHeadBeforeJournal)) return EIO;
  int error = 0;
  std::size_t done = 0;
  // Written at an explicit offset, not at the end of the file: if a partial line could not be cut off, the next line
  // overwrites it.
  while (done < lines.size() && error == 0) {
    const ssize_t wrote =
        ::pwrite(file_.get(), lines.data() + done, lines.size() - done, static_cast<off_t>(bytes_ + done));
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
    if (wrote == 0) error = ENOSPC;
    if (wrote < 0 && errno != EINTR) error = errno;
  }
  const std::size_t whole = std::string_view(lines).substr(0, done).rfind('\n') + 1;  // npos + 1 is 0
  lines.erase(0, whole);
  bytes_ += whole;
  if (error == 0) {
    room_.Keep(file_.get(), bytes_);  // if this fails, the space that is still reserved is used up
  } else if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) {
    return error;
  }
  return error;
}

int JournalFile::Sync() { return ::fdatasync(file_.get()) == 0 ? 0 : errno; }

}  // namespace muster
