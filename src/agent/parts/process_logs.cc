#include "agent/parts/process_logs.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/host/host_folder.h"
#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/values/quoting.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr int kFlags = O_RDWR | O_NONBLOCK | O_NOCTTY;

bool Allocate(int file, int mode, std::uint64_t size) {
  int done = 0;
  do {
    done = ::fallocate(file, mode, 0, static_cast<off_t>(size));
  } while (done != 0 && errno == EINTR);
  return done == 0;
}

bool PunchHole(int file, std::uint64_t size) {
  return Allocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, size);
}

bool CutOff(int file, std::uint64_t size) { return Allocate(file, FALLOC_FL_COLLAPSE_RANGE, size); }

bool BeginsWithHole(int file) { return ::lseek(file, 0, SEEK_DATA) != 0; }

// Completes a cut that was begun, and updates the head.
bool FinishCut(int log, int index, LogHead& head) {
  // The bytes of the hole are lost in any case; without a hole, it has already been cut out.
  if (BeginsWithHole(log) && !CutOff(log, head.kept - head.base)) return false;
  head.base = head.kept;
  head.moving = 0;
  return WriteLogHead(index, head);
}

}  // namespace

std::uint64_t BytesToDrop(std::uint64_t size, std::uint64_t limit) {
  if (size <= limit) return 0;
  const std::uint64_t excess = size - (limit - limit / 4);
  return excess / kCollapseUnit * kCollapseUnit;
}

bool CanCollapse(const FileBelow& folder) {
  const std::string path = folder.path + "/.collapse-" + std::to_string(::getpid());
  const UniqueFd file = OpenBelow(folder.directory, path, kFlags | O_CREAT | O_EXCL, 0600);
  if (!file) return false;
  const std::string bytes(2 * kCollapseUnit, 'x');
  struct stat status {};
  const bool can = ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
                   PunchHole(file.get(), kCollapseUnit) && BeginsWithHole(file.get()) &&
                   CutOff(file.get(), kCollapseUnit) && !BeginsWithHole(file.get()) &&
                   ::fstat(file.get(), &status) == 0 && status.st_size == static_cast<off_t>(kCollapseUnit);
  ::unlinkat(folder.directory, path.c_str(), 0);
  return can;
}

bool CollapseLog(const FileBelow& file) {
  const UniqueFd log = OpenBelow(file.directory, file.path, kFlags);
  const UniqueFd index = OpenBelow(file.directory, TimeIndexPath(file.path), kFlags);
  auto head = ReadLogHead(file.directory, file.path);
  struct stat status {};
  if (!log || !index || !head) return false;
  if (head->moving == kCollapsing && !FinishCut(log.get(), index.get(), *head)) return false;
  if (::fstat(log.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  std::uint64_t drop = BytesToDrop(static_cast<std::uint64_t>(status.st_size), head->limit);
  // Includes a hole that was not yet marked for cutting.
  drop = std::max(drop, head->kept - head->base);
  if (drop == 0) return false;
  head->kept = head->base + drop;
  if (!WriteLogHead(index.get(), *head) || !PunchHole(log.get(), drop)) return false;
  head->moving = kCollapsing;
  return WriteLogHead(index.get(), *head) && FinishCut(log.get(), index.get(), *head);
}

LogTrims::LogTrims(boost::asio::io_context& io, Launcher& launcher, std::string program, std::function<void()> idle)
    : program_(std::move(program)),
      cutters_(io, launcher,
               {.exited =
                    [this, idle = std::move(idle)](const ProcessExited& event) {
                      if (const auto again = again_.extract({event.process, event.attempt})) {
                        Cut(again.key(), again.mapped());
                      }
                      if (cutters_.empty()) idle();
                    },
                .signalled = [](const SignalSent&) {}}) {}

void LogTrims::TooLong(const Key& key, const FileBelow& log) {
  if (cutters_.Runs(key.first, key.second)) {
    again_[key] = log;
  } else {
    Cut(key, log);
  }
}

void LogTrims::Cut(const Key& key, const FileBelow& log) {
  SpawnSpec spec;
  spec.argv = {program_, "--collapse", log.path};
  spec.cwd = "/";
  spec.passed.push_back({log.directory, kCollapseDirectory});
  // If it cannot be started, it is tried again when the log grows.
  static_cast<void>(cutters_.Start(key.first, key.second, std::move(spec)));
}

namespace {

constexpr std::size_t kBlock = 64U << 10;
// The larger the pipe, the less often its writer waits. The kernel may refuse it to a user with many pipes.
constexpr int kPipeBytes = 1 << 20;
// Bytes copied for each byte that arrives. A log is replaced from three quarters of its limit on, by its last half and
// the bytes that arrive during the copy: a sixth of the limit. So it is never longer than eleven twelfths and a block.
constexpr std::uint64_t kCopiedPerByte = 4;

FileBelow NextOf(const FileBelow& log) { return {log.directory, log.path + std::string(kNextLogEnding)}; }

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
  pipe.size += WriteMost(pipe.log.get(), {block_.data(), static_cast<std::size_t>(got)});
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
    if (WriteAll(pipe.next.get(), {block_.data(), static_cast<std::size_t>(got)}) != 0) return false;
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

LogTimes::LogTimes(boost::asio::io_context& io, Reported first_write, TooLong too_long)
    : first_write_(std::move(first_write)),
      too_long_(std::move(too_long)),
      writes_(io.get_executor()),
      pause_(io.get_executor()),
      first_look_(io.get_executor()),
      wall_minus_monotonic_(WallNowNs() - MonotonicNowNs()) {}

std::uint64_t LogTimes::Now() const { return MonotonicNowNs() + wall_minus_monotonic_; }

void LogTimes::Began(const Key& key, FileBelow file, std::uint64_t limit) {
  Log& log = logs_[key];
  log.file = std::move(file);
  log.limit = limit;
  log.begin = log.last = {Now(), 0};
  if (Look(key, log, true) == Growth::kNoted) return SetActive(key);
  if (!fresh_.insert(key).second || fresh_.size() > 1) return;  // the timer is already running
  first_look_.expires_after(kFirstLook);
  first_look_.async_wait([this](const boost::system::error_code& error) {
    if (!error) OnFirstLook();
  });
}

void LogTimes::OnFirstLook() {
  for (const Key& key : std::exchange(fresh_, {})) {
    Log& log = logs_.at(key);
    AwaitFirstWrite(key, log);
    // Writes between the start and the watch.
    if (Look(key, log, true) == Growth::kNoted) SetActive(key);
  }
}

void LogTimes::Replaced(const Key& key) {
  const auto found = logs_.find(key);
  // Active and new logs are looked at by path.
  if (found == logs_.end() || active_.contains(key) || fresh_.contains(key)) return;
  AwaitFirstWrite(key, found->second);
}

void LogTimes::Ended(const Key& key) {
  const auto found = logs_.find(key);
  if (found == logs_.end()) return;
  Look(key, found->second, true);
  StopWaiting(found->second);
  active_.erase(key);
  fresh_.erase(key);
  logs_.erase(found);
  if (active_.empty()) pause_.cancel();
  if (fresh_.empty()) first_look_.cancel();
}

void LogTimes::EndAll() {
  while (!logs_.empty()) Ended(Key(logs_.begin()->first));
  boost::system::error_code ignored;
  writes_.close(ignored);
}

LogTimes::Growth LogTimes::Look(const Key& key, Log& log, bool at_last) {
  const std::uint64_t size = Length(key, log);
  if (size <= log.last.offset) return Growth::kNone;
  const std::uint64_t now = Now();
  const std::uint64_t least =
      std::chrono::nanoseconds(kPause).count() * (std::uint64_t{1} << (log.entries / kEntriesPerPause));
  if (!at_last && log.entries > 0 && now - log.last.wall_ns < least) return Growth::kTooSoon;
  const bool first = log.last.offset == 0;
  log.last = {now, size};
  if (first && first_write_) first_write_(key);
  Write(log);
  return Growth::kNoted;
}

std::uint64_t LogTimes::Length(const Key& key, const Log& log) const {
  struct stat status {};
  if (::fstatat(log.file.directory, log.file.path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || status.st_size < 0) {
    return 0;
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (log.limit == 0) return size;
  if (size > log.limit && too_long_) too_long_(key, log.file);
  return LogEnd(log.file.directory, log.file.path).value_or(0);
}

// Written once only: later, other code updates the log's head there.
bool LogTimes::WriteHead(Log& log) {
  if (log.has_head) return true;
  std::string bytes(log.limit > 0 ? kLimitedIndexHead : kTimeIndexHead);
  if (log.limit > 0) bytes += LogHeadBytes({0, 0, 0, log.limit});
  log.has_head = ::pwrite(log.index.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  return log.has_head;
}

// An entry that a full disk rejects is omitted: the next one is written in its place.
void LogTimes::Write(Log& log) {
  if (!log.index) {
    log.index = CreateNewFile({log.file.directory, TimeIndexPath(log.file.path)}, O_WRONLY);
  }
  if (!log.index || !WriteHead(log)) return;
  std::string bytes;
  std::uint64_t entries = 1;
  if (log.entries == 0) {
    AppendLogTime(bytes, log.begin);
    ++entries;
  }
  AppendLogTime(bytes, log.last);
  const std::uint64_t at = EntriesBegin(log.limit > 0) + log.entries * kLogTimeBytes;
  const ssize_t wrote = ::pwrite(log.index.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
  if (wrote == static_cast<ssize_t>(bytes.size())) log.entries += entries;
}

void LogTimes::Watch() {
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  boost::system::error_code error;
  if (inotify) writes_.assign(inotify.get(), error);
  if (!inotify || error) return;
  inotify.release();
  AwaitWrites();
}

// Only one event, so that a process that writes continuously does not wake the agent at each write.
void LogTimes::AwaitFirstWrite(const Key& key, Log& log) {
  StopWaiting(log);
  if (!writes_.is_open()) Watch();
  if (!writes_.is_open()) return;
  log.watch = ::inotify_add_watch(writes_.native_handle(), log.file.ThroughDescriptor().c_str(),
                                  IN_MODIFY | IN_ONESHOT | IN_DONT_FOLLOW);
  if (log.watch >= 0) by_watch_.insert_or_assign(log.watch, key);
}

void LogTimes::StopWaiting(Log& log) {
  if (log.watch < 0) return;
  ::inotify_rm_watch(writes_.native_handle(), log.watch);
  by_watch_.erase(log.watch);
  log.watch = -1;
}

void LogTimes::AwaitWrites() {
  writes_.async_wait(WatchedFd::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    OnWrites();
    AwaitWrites();
  });
}

void LogTimes::OnWrites() {
  ReadFileChanges(writes_.native_handle(), [this](const FileChange& change) {
    if ((change.mask & IN_Q_OVERFLOW) != 0) {
      for (const auto& [key, log] : logs_) SetActive(key);
      return;
    }
    // The watch ended after its event, or because the log was removed.
    const auto found = by_watch_.find(change.watch);
    if (found == by_watch_.end()) return;
    const Key key = found->second;
    by_watch_.erase(found);
    Log& log = logs_.at(key);
    log.watch = -1;
    if ((change.mask & IN_MODIFY) == 0 || active_.contains(key)) return;
    Look(key, log, false);
    SetActive(key);
  });
}

void LogTimes::SetActive(const Key& key) {
  if (!active_.insert(key).second || active_.size() > 1) return;  // the timer is already running
  pause_.expires_after(kPause);
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (!error) OnPause();
  });
}

void LogTimes::OnPause() {
  const std::set<Key> looked_at = std::exchange(active_, {});
  for (const Key& key : looked_at) {
    const auto found = logs_.find(key);
    if (found == logs_.end()) continue;
    Log& log = found->second;
    bool grows = Look(key, log, false) != Growth::kNone;
    if (!grows) {
      AwaitFirstWrite(key, log);
      grows = Look(key, log, false) != Growth::kNone;  // writes in between
    }
    if (grows) SetActive(key);
  }
}

ProcessLogs::ProcessLogs(AgentState& state, std::function<void(const Key&)> replaced)
    : state_(state),
      times_(
          state.io,
          [this](const Key& key) {
            state_.send(FirstOutput{key.first, key.second, MonotonicNowNs()});
          },
          [this](const Key& key, const FileBelow& log) {
            if (collapses_ && state_.serving()) trims_.TooLong(key, log);
          }),
      pipes_(state.io,
             [this, replaced = std::move(replaced)](const Key& key) {
               times_.Replaced(key);
               replaced(key);
             }),
      trims_(state.io, state.process.launcher, state.process.program, [this] { state_.emptied(); }) {}

const char* ProcessLogs::Begin(const std::string& folder) {
  collapses_ = !state_.process.without.Has(Mechanism::kCollapse) && CanCollapse(state_.run_folder.At(folder));
  return collapses_ ? "collapse-range" : "log-pipe";
}

tl::expected<UniqueFd, SpawnError> ProcessLogs::Open(const StartProcess& command) {
  // The agent itself writes the output of a pseudo-terminal, and must not wait for itself to read a pipe.
  const bool by_pipe = command.log_limit > 0 && !collapses_ && !command.pty;
  const FileBelow file = state_.run_folder.At(command.log_path);
  auto log = CreateLogFile(file, by_pipe ? O_RDWR : O_WRONLY);
  if (!log)
    return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kLog, log.error().error, Quoted(command.log_path)});
  if (!by_pipe) return log;
  auto pipe = pipes_.Open({command.process, command.attempt}, file, *std::move(log), command.log_limit);
  if (!pipe) return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kLog, pipe.error(), "a pipe for the log"});
  return *std::move(pipe);
}

}  // namespace muster
