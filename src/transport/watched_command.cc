#include "transport/watched_command.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/own_environment.h"

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
    if (words_.size() > kMaxWords) words_.erase(0, words_.size() - kMaxWords);
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

tl::expected<std::shared_ptr<HeldCommand>, std::string> HeldCommand::Start(boost::asio::io_context& io,
                                                                           const std::vector<std::string>& argv,
                                                                           std::string_view input, Calls calls) {
  int in[2] = {-1, -1};
  int out[2] = {-1, -1};
  if (::pipe2(in, O_CLOEXEC) != 0) return tl::unexpected<std::string>("no pipe for its input");
  const UniqueFd in_read(in[0]);
  std::shared_ptr<HeldCommand> held(new HeldCommand(io, std::move(calls)));
  held->stdin_.reset(in[1]);
  if (::pipe2(out, O_CLOEXEC) != 0) return tl::unexpected<std::string>("no pipe for its output");
  UniqueFd out_read(out[0]);
  const UniqueFd out_write(out[1]);
  ::fcntl(out_read.get(), F_SETFL, O_NONBLOCK);
  if (WriteAll(held->stdin_.get(), input) != 0) return tl::unexpected<std::string>("its input cannot be written");
  Launcher launcher;
  SpawnSpec spec;
  spec.argv = argv;
  spec.stdin_fd = in_read.get();
  spec.stdout_fd = out_write.get();
  spec.parent_death_signal = SIGHUP;
  auto command = WatchedCommand::Start(io, launcher, std::move(spec), [weak = std::weak_ptr(held)] {
    if (const auto self = weak.lock()) self->OnEnd();
  });
  if (!command) return tl::unexpected(std::move(command.error()));
  held->command_ = std::move(*command);
  held->command_->OnWords([weak = std::weak_ptr(held)] {
    if (const auto self = weak.lock(); self && self->calls_.heard) self->calls_.heard();
  });
  boost::system::error_code error;
  held->out_.assign(out_read.get(), error);
  if (!error) out_read.release();
  held->AwaitOutput();
  return held;
}

HeldCommand::~HeldCommand() {
  if (!command_ || over()) return;
  Release();
  command_->Signal(SIGHUP);
  command_->EndsWithin(kPartingTime);
}

std::string HeldCommand::EndText() const { return muster::EndText(*command_->end()); }

void HeldCommand::AskToEnd(std::chrono::milliseconds patience) {
  if (over()) return;
  command_->Signal(SIGHUP);
  patience_.expires_after(patience);
  patience_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (const auto self = weak.lock(); self && !error && !self->over()) self->command_->Signal(SIGKILL);
  });
}

void HeldCommand::AwaitOutput() {
  if (!out_.is_open()) return;
  out_.async_wait(WatchedFd::wait_read, [weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    const bool more = self->ReadOutput();
    if (self->calls_.printed) self->calls_.printed();
    if (more) self->AwaitOutput();
  });
}

// False at the end of the stream, and at its limit.
bool HeldCommand::ReadOutput() {
  char bytes[16'384];
  for (;;) {
    const ssize_t got = out_.is_open() ? ::read(out_.native_handle(), bytes, sizeof bytes) : 0;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    output_.append(bytes, static_cast<std::size_t>(got));
    if (output_.size() > kMaxOutput) return false;
  }
}

void HeldCommand::OnEnd() {
  const auto keep = shared_from_this();
  ReadOutput();
  command_->Take();
  stdin_.reset();
  patience_.cancel();
  if (calls_.ended) calls_.ended();
}

}  // namespace muster
