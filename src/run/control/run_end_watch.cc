#include "run/control/run_end_watch.h"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <utility>

#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <sys/inotify.h>

#include "base/system/file_changes.h"
#include "run/directory/private_files.h"
#include "run/directory/run_directory.h"

namespace muster {
namespace {

constexpr std::chrono::seconds kLook{1};

}  // namespace

Result<void> RunEndWatch::Start(const std::string& run_dir, std::function<void()> ended) {
  run_dir_ = run_dir;
  journal_ = run_dir + "/journal.jsonl";
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
  constexpr std::size_t kLongestLine = 16U << 10;  // a longer last line is detected when the file is closed
  const Result<FileTail> tail = ReadTail(AT_FDCWD, journal_, kLongestLine);
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

}  // namespace muster
