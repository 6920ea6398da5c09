#include "agent/logs/log_pipes.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/processes/log_files.h"
#include "wire/files/log_bytes.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kBlock = 64U << 10;
// The larger the pipe, the less often its writer waits. The kernel may refuse it to a user with many pipes.
constexpr int kPipeBytes = 1 << 20;
// Bytes copied for each byte that arrives. A log is replaced from three quarters of its limit on, by its last half and
// the bytes that arrive during the copy: a sixth of the limit. So it is never longer than eleven twelfths and a block.
constexpr std::uint64_t kCopiedPerByte = 4;

FileBelow NextOf(const FileBelow& log) { return {log.directory, log.path + std::string(kNextLogEnding)}; }

// Returns the number of written bytes; less than all if the disk is full.
std::size_t WriteAll(int file, const char* bytes, std::size_t size) {
  std::size_t written = 0;
  while (written < size) {
    const ssize_t wrote = ::write(file, bytes + written, size - written);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    written += static_cast<std::size_t>(wrote);
  }
  return written;
}

}  // namespace

LogPipes::LogPipes(boost::asio::io_context& io, std::function<void(const Key&)> replaced)
    : io_(io), replaced_(std::move(replaced)) {}

tl::expected<UniqueFd, int> LogPipes::Open(const Key& key, FileBelow file, UniqueFd log, std::uint64_t limit) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected<int>(errno);
  UniqueFd out(ends[0]);
  UniqueFd in(ends[1]);
  ::fcntl(out.get(), F_SETPIPE_SZ, kPipeBytes);
  if (::fcntl(out.get(), F_SETFL, O_NONBLOCK) != 0) return tl::unexpected<int>(errno);
  auto pipe = std::make_unique<Pipe>(io_.get_executor());
  boost::system::error_code error;
  pipe->out.assign(out.get(), error);
  if (error) return tl::unexpected<int>(error.value());
  out.release();
  pipe->file = std::move(file);
  pipe->log = std::move(log);
  pipe->head.limit = limit;
  block_.resize(kBlock);
  pipes_[key] = std::move(pipe);
  Await(key);
  return in;
}

void LogPipes::Await(const Key& key) {
  Pipe& pipe = *pipes_.at(key);
  pipe.out.async_wait(WatchedFd::wait_read, [this, key](const boost::system::error_code& error) {
    const auto found = pipes_.find(key);
    if (error || found == pipes_.end()) return;
    if (MoveSome(key, *found->second) == 0) return Close(key);
    Await(key);
  });
}

ssize_t LogPipes::MoveSome(const Key& key, Pipe& pipe) {
  ssize_t got = 0;
  do {
    got = ::read(pipe.out.native_handle(), block_.data(), block_.size());
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return got;
  // Bytes that a full disk rejects are lost, as for a process that writes to its log itself.
  pipe.size += WriteAll(pipe.log.get(), block_.data(), static_cast<std::size_t>(got));
  Shorten(key, pipe, kCopiedPerByte * static_cast<std::uint64_t>(got));
  return got;
}

void LogPipes::Shorten(const Key& key, Pipe& pipe, std::uint64_t room) {
  if (!pipe.next && pipe.size >= pipe.head.limit - pipe.head.limit / 4) Begin(pipe);
  if (!pipe.next) return;
  if (!Copy(pipe, room)) return GiveUp(pipe);
  if (pipe.copied == pipe.size && Replace(pipe)) replaced_(key);
}

void LogPipes::Begin(Pipe& pipe) {
  pipe.next = CreateNewFile(NextOf(pipe.file), O_RDWR | O_APPEND);
  pipe.next_begin = pipe.copied = pipe.size - pipe.head.limit / 2;
}

bool LogPipes::Copy(Pipe& pipe, std::uint64_t room) {
  while (room > 0 && pipe.copied < pipe.size) {
    const std::size_t size = std::min<std::uint64_t>({room, pipe.size - pipe.copied, block_.size()});
    const ssize_t got = ::pread(pipe.log.get(), block_.data(), size, static_cast<off_t>(pipe.copied));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    if (WriteAll(pipe.next.get(), block_.data(), static_cast<std::size_t>(got)) != static_cast<std::size_t>(got)) {
      return false;
    }
    pipe.copied += static_cast<std::uint64_t>(got);
    room -= static_cast<std::uint64_t>(got);
  }
  return true;
}

// Readers must know in advance which file will appear. Until the index exists, which is created in the first turn of
// the loop, they would not: then replacing is postponed.
bool LogPipes::Replace(Pipe& pipe) {
  const auto& [directory, log] = pipe.file;
  const UniqueFd index = OpenBelow(directory, TimeIndexPath(log), O_WRONLY | O_NONBLOCK);
  struct stat next {};
  if (!index || !ReadLogHead(directory, log) || ::fstat(pipe.next.get(), &next) != 0) return false;
  LogHead& head = pipe.head;
  head.kept = head.base + pipe.next_begin;
  head.moving = next.st_ino;
  if (!WriteLogHead(index.get(), head) ||
      ::renameat(directory, NextOf(pipe.file).path.c_str(), directory, log.c_str()) != 0) {
    head.kept = head.base;
    head.moving = 0;
    WriteLogHead(index.get(), head);
    return false;
  }
  head.base = head.kept;
  head.moving = 0;
  WriteLogHead(index.get(), head);
  pipe.log = std::move(pipe.next);
  pipe.size -= pipe.next_begin;
  return true;
}

// The disk is full: deletes the incomplete file.
void LogPipes::GiveUp(Pipe& pipe) {
  if (!pipe.next) return;
  pipe.next.reset();
  ::unlinkat(pipe.file.directory, NextOf(pipe.file).path.c_str(), 0);
}

void LogPipes::Close(const Key& key) {
  const auto found = pipes_.find(key);
  if (found == pipes_.end()) return;
  GiveUp(*found->second);
  pipes_.erase(found);
}

void LogPipes::Drop(const Key& key) { Close(key); }

void LogPipes::Drain(const Key& key) {
  const auto found = pipes_.find(key);
  if (found == pipes_.end()) return;
  Pipe& pipe = *found->second;
  // Only the current content: orphans may continue to write.
  const int capacity = ::fcntl(pipe.out.native_handle(), F_GETPIPE_SZ);
  ssize_t moved = 1;
  for (std::int64_t left = std::max(capacity, kPipeBytes); left > 0 && moved > 0; left -= moved) {
    moved = MoveSome(key, pipe);
  }
  if (moved == 0) Close(key);
}

void LogPipes::DrainAll() {
  std::vector<Key> keys;
  for (const auto& [key, pipe] : pipes_) keys.push_back(key);
  for (const Key& key : keys) Drain(key);
}

}  // namespace muster
