#include "sweep/watch/sweep_feed.h"

#include <cerrno>
#include <chrono>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <sys/inotify.h>

#include "base/system/file_access.h"
#include "base/values/quoting.h"
#include "run/directory/run_directory.h"

namespace muster {
namespace {

constexpr std::chrono::seconds kLook{1};

}  // namespace

Result<bool> SweepFeed::Start(const std::string& sweep_dir, Calls calls) {
  calls_ = std::move(calls);
  sweep_dir_ = sweep_dir;
  folder_ = UniqueFd(::open(sweep_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) return Fail(SystemError("sweep", "cannot open " + Quoted(sweep_dir), errno));
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const std::string journal = sweep_dir + "/journal.jsonl";
  if (!inotify || ::inotify_add_watch(inotify.get(), journal.c_str(), IN_MODIFY | IN_CLOSE_WRITE) < 0) {
    return Fail(SystemError("inotify", "cannot follow " + Quoted(journal), errno));
  }
  changes_.assign(inotify.release());
  // Checked after the watch is in place, so that every later event is reported.
  const bool live = IsRunLive(sweep_dir);
  Read();
  if (!live || ended_) return false;
  Await();
  if (IsHeldElsewhere(sweep_dir)) LookLater();
  return true;
}

void SweepFeed::Stop() {
  looks_.cancel();
  boost::system::error_code ignored;
  changes_.close(ignored);
}

void SweepFeed::Read() {
  std::string stopped;
  const auto take = [this](const SweepRecord& record) {
    if (std::holds_alternative<SweepBegan>(record.entry)) ended_ = false;
    if (std::holds_alternative<SweepEnded>(record.entry)) ended_ = true;
    calls_.take(record);
  };
  position_ = ReadSweepJournal(folder_.get(), position_, take, stopped);
  if (calls_.taken) calls_.taken();
}

void SweepFeed::LookLater() {
  looks_.expires_after(kLook);
  looks_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    const bool live = IsRunLive(sweep_dir_);
    Read();
    if (live && !ended_) return LookLater();
    Stop();
    calls_.over();
  });
}

void SweepFeed::Await() {
  changes_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    bool closed = false;
    ReadFileChanges(changes_.native_handle(), [&closed](const FileChange& change) {
      closed = closed || (change.mask & (IN_CLOSE_WRITE | IN_IGNORED)) != 0;
    });
    Read();
    if (!closed && !ended_) return Await();
    Stop();
    calls_.over();
  });
}

}  // namespace muster
