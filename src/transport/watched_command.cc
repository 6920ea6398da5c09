#include "transport/watched_command.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "spawn/start/watched_child.h"
#include "transport/own_environment.h"

namespace muster {

WatchedCommand::WatchedCommand(boost::asio::io_context& io, LaunchedProcess process)
    : child_(std::make_shared<WatchedChild>(io, std::move(process))), err_(io.get_executor()) {}

tl::expected<std::shared_ptr<WatchedCommand>, std::string> WatchedCommand::Start(boost::asio::io_context& io,
                                                                                 Launcher& launcher, SpawnSpec spec,
                                                                                 std::function<void()> ended) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected<std::string>("no pipe for its output");
  UniqueFd read(ends[0]);
  const UniqueFd write(ends[1]);
  ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
  if (spec.env.empty()) spec.env = OwnEnvironment();
  spec.stderr_fd = write.get();
  spec.grouping = Grouping::kOwnSession;
  auto process = BoostLauncher(launcher)(io.get_executor(), spec);
  if (!process) return tl::unexpected<std::string>(SpawnErrorText(process.error()));
  std::shared_ptr<WatchedCommand> command(new WatchedCommand(io, std::move(*process)));
  boost::system::error_code error;
  command->err_.assign(read.get(), error);
  if (!error) read.release();
  command->AwaitWords();
  command->child_->AwaitEnd([weak = std::weak_ptr(command), ended = std::move(ended)] {
    if (const auto self = weak.lock(); self && !self->end_) ended();
  });
  return command;
}

void WatchedCommand::AwaitWords() {
  if (!err_.is_open()) return;
  err_.async_wait(WatchedFd::wait_read, [weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    const bool more = self->ReadWords();
    if (self->heard_) self->heard_();
    if (more) self->AwaitWords();
  });
}

// False at the end of the stream.
bool WatchedCommand::ReadWords() {
  char bytes[4096];
  for (;;) {
    const ssize_t got = err_.is_open() ? ::read(err_.native_handle(), bytes, sizeof bytes) : 0;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    words_.append(bytes, static_cast<std::size_t>(got));
    if (words_.size() > kMostWords) words_.erase(0, words_.size() - kMostWords);
  }
}

void WatchedCommand::Signal(int signal) {
  if (!end_) SignalChild(child_->ref(), signal);
}

bool WatchedCommand::EndsWithin(std::chrono::nanoseconds time) {
  return end_ || EndsBy(child_->ref(), MonotonicNowNs() + static_cast<std::uint64_t>(time.count()));
}

void WatchedCommand::Take() {
  if (end_) return;
  end_ = child_->Take();
  ReadWords();
  boost::system::error_code ignored;
  err_.close(ignored);
}

}  // namespace muster
