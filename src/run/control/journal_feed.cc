#include "run/control/journal_feed.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/private_files.h"
#include "run/directory/run_directory.h"
#include "run/lines/journal_file.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::chrono::seconds kLook{1};

}  // namespace

Result<void> RunEndWatch::Start(const std::string& run_dir, std::function<void()> ended) {
  run_dir_ = run_dir;
  journal_ = kJournalEntry.In(run_dir);
  ended_ = std::move(ended);
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify || ::inotify_add_watch(inotify.get(), journal_.c_str(), IN_MODIFY | IN_CLOSE_WRITE) < 0) {
    return Fail(SystemError("inotify", "cannot wait for the end of the run", errno));
  }
  changes_.assign(inotify.release());
  // Checked after the watch was added, so that no later change is missed.
  if (IsRunLive(run_dir) && !JournalIsComplete()) {
    Await();
    if (IsHeldElsewhere(run_dir)) LookLater();
  } else {
    boost::asio::post(changes_.get_executor(), [this] { Ended(); });
  }
  return {};
}

void RunEndWatch::Stop() {
  ended_ = nullptr;
  looks_.cancel();
  boost::system::error_code ignored;
  changes_.close(ignored);
}

void RunEndWatch::Await() {
  changes_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    bool closed = false;
    ReadFileChanges(changes_.native_handle(), [&closed](const FileChange& change) {
      // If the file was removed (IN_IGNORED), that is an end, too: nothing more can be expected.
      closed = closed || (change.mask & (IN_CLOSE_WRITE | IN_IGNORED)) != 0;
    });
    if (closed || JournalIsComplete()) return Ended();
    Await();
  });
}

void RunEndWatch::LookLater() {
  looks_.expires_after(kLook);
  looks_.async_wait([this](const boost::system::error_code& error) {
    if (error || !ended_) return;
    if (!IsRunLive(run_dir_) || JournalIsComplete()) return Ended();
    LookLater();
  });
}

// Quotation marks within texts of the journal are escaped, so the pattern cannot match inside a text.
bool RunEndWatch::JournalIsComplete() const {
  constexpr std::size_t kMaxLine = 16U << 10;  // a longer last line is detected when the file is closed
  const Result<FileTail> tail = ReadTail(AT_FDCWD, journal_, kMaxLine);
  if (!tail || !tail->bytes.ends_with('\n')) return false;
  const std::size_t before =
      tail->bytes.size() > 1 ? tail->bytes.rfind('\n', tail->bytes.size() - 2) : std::string::npos;
  const std::size_t begin = before == std::string::npos ? 0 : before;
  return tail->bytes.find("\"event\":\"run_ended\"", begin) != std::string::npos;
}

void RunEndWatch::Ended() {
  looks_.cancel();
  boost::system::error_code ignored;
  changes_.close(ignored);
  if (ended_) std::exchange(ended_, nullptr)();
}

namespace {

constexpr std::chrono::milliseconds kPause{500};

}  // namespace

std::optional<JournalRecord> JournalFeed::Next() {
  for (;;) {
    while (!known_.empty()) {
      JournalRecord record = std::move(known_.front());
      known_.pop_front();
      if (record.seq <= seen_) continue;
      seen_ = record.seq;
      if (std::holds_alternative<RunEnded>(record.entry)) {
        over_ = true;
        known_.clear();
      }
      return record;
    }
    if (over_) return std::nullopt;
    if (elsewhere_) {
      AwaitFile();
    } else if (!head_) {
      Attach();
    } else if (const std::optional<std::string> line = head_->TakeLine()) {
      if (std::optional<JournalRecord> record = ParseJournalLine(*line)) {
        known_.push_back(std::move(*record));
      } else {
        head_.reset();
      }
    } else {
      AwaitLine();
    }
  }
}

// Records written after the answer arrive over the connection, earlier ones are in the file: none is missed.
void JournalFeed::Attach() {
  if (IsRunLive(run_dir_)) {
    Result<ControlConnection> head = ControlConnection::Open(run_dir_);
    if (head && head->Ask({ControlRequest::Ask::kWatch, false})) {
      head_ = std::move(*head);
      return ReadFile();
    }
    if (IsRunLive(run_dir_)) {
      elsewhere_ = true;
      return ReadFile();
    }
  }
  ReadFile();
  over_ = true;
}

void JournalFeed::ReadFile() {
  const UniqueFd file = OpenJournal(AT_FDCWD, kJournalEntry.In(run_dir_));
  std::string rest;  // a line that is not complete yet
  std::array<char, 64U << 10> block;
  for (;;) {
    const ssize_t got = ::pread(file.get(), block.data(), block.size(), static_cast<off_t>(read_to_ + rest.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    std::string_view bytes(block.data(), static_cast<std::size_t>(got));
    const std::size_t zero = bytes.find('\0');  // no head writes one: it ends the journal
    rest.append(bytes.substr(0, zero));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest.find('\n', begin)) != std::string::npos; begin = end + 1) {
      std::optional<JournalRecord> record = ParseJournalLine(std::string_view(rest).substr(begin, end - begin));
      if (record && record->seq > seen_) known_.push_back(std::move(*record));
    }
    read_to_ += begin;
    rest.erase(0, begin);
    if (zero != std::string_view::npos || rest.size() > kMaxJournalLine) return;
  }
}

void JournalFeed::GiveUp() { given_up_ = true; }

void JournalFeed::AwaitFile() {
  boost::asio::steady_timer pause(io_, kPause);
  bool due = false;
  pause.async_wait([&due](const boost::system::error_code&) { due = true; });
  io_.restart();
  while (!due && io_.run_one() > 0) {
  }
  // First of all: if there is no head before the file is read, the file is complete.
  const bool live = !given_up_ && IsRunLive(run_dir_);
  ReadFile();
  if (!live && known_.empty()) over_ = true;
}

void JournalFeed::AwaitLine() {
  // A copy of the descriptor, because the loop closes its own.
  boost::asio::posix::stream_descriptor readable(io_, ::fcntl(head_->fd(), F_DUPFD_CLOEXEC, 0));
  bool ready = false;
  readable.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [&ready](const boost::system::error_code&) { ready = true; });
  io_.restart();
  while (!ready && io_.run_one() > 0) {
  }
  if (!head_->Receive()) head_.reset();
}

}  // namespace muster
