#include "spawn/start/limited_command.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/write_all.h"
#include "spawn/start/boost_launcher.h"

namespace muster {
namespace {

constexpr std::chrono::milliseconds kFloodPause{20};
constexpr std::chrono::seconds kKilledWithin{1};  // unless it hangs in the kernel

}  // namespace

LimitedCommand::LimitedCommand(boost::asio::io_context& io, LaunchedProcess process, std::function<void(End end)> ended)
    : child_(std::make_shared<WatchedChild>(io, std::move(process))),
      err_(io.get_executor()),
      deadline_(io.get_executor()),
      pause_(io.get_executor()),
      ended_(std::move(ended)) {}

tl::expected<std::shared_ptr<LimitedCommand>, std::string> LimitedCommand::Start(boost::asio::io_context& io,
                                                                                 Launcher& launcher, SpawnSpec spec,
                                                                                 std::string_view input,
                                                                                 std::chrono::milliseconds within,
                                                                                 std::function<void(End end)> ended) {
  const UniqueFd given(::memfd_create("muster-in", MFD_CLOEXEC));
  if (!given || WriteForReader(given.get(), input) != 0) return tl::unexpected<std::string>("no memory for its input");
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected<std::string>("no pipe for its messages");
  UniqueFd read(ends[0]);
  const UniqueFd write(ends[1]);
  ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
  spec.stdin_fd = given.get();
  spec.stderr_fd = write.get();
  spec.grouping = Grouping::kOwnGroup;
  spec.parent_death_signal = SIGKILL;
  spec.limits.push_back({RLIMIT_CORE, {0, 0}});
  auto process = BoostLauncher(launcher)(io.get_executor(), spec);
  if (!process) return tl::unexpected<std::string>(SpawnErrorText(process.error()));
  std::shared_ptr<LimitedCommand> command(new LimitedCommand(io, std::move(*process), std::move(ended)));
  boost::system::error_code error;
  command->err_.assign(read.get(), error);
  if (!error) read.release();
  command->AwaitWords();
  const std::weak_ptr<LimitedCommand> weak = command;
  command->deadline_.expires_after(within);
  command->deadline_.async_wait([weak](const boost::system::error_code& cancelled) {
    const auto self = weak.lock();
    if (cancelled || !self || self->child_->pid() < 0) return;
    self->late_ = true;
    self->KillGroup();
  });
  command->child_->AwaitEnd([weak] {
    if (const auto self = weak.lock()) self->OnEnd();
  });
  return command;
}

LimitedCommand::~LimitedCommand() {
  if (child_->pid() < 0) return;
  KillGroup();
  const std::uint64_t until = MonotonicNowNs() + std::chrono::nanoseconds(kKilledWithin).count();
  if (EndsBy(child_->ref(), until)) {
    child_->Take();
  } else {
    child_->Leave();
  }
}

void LimitedCommand::AwaitWords() {
  if (!err_.is_open()) return;
  err_.async_wait(WatchedFd::wait_read, [weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || !self->ReadWords()) return;
    if (self->read_ < kMaxAtOnce) return self->AwaitWords();
    self->pause_.expires_after(kFloodPause);
    self->pause_.async_wait([weak](const boost::system::error_code& cancelled) {
      if (const auto again = weak.lock(); again && !cancelled) again->AwaitWords();
    });
  });
}

bool LimitedCommand::ReadWords() {
  char bytes[64U << 10];
  const ssize_t got = err_.is_open() ? ::read(err_.native_handle(), bytes, sizeof bytes) : 0;
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  read_ += static_cast<std::size_t>(got);
  words_.append(bytes, static_cast<std::size_t>(got));
  if (words_.size() > kMaxWords) words_.erase(0, words_.size() - kMaxWords);
  return true;
}

// The leader has not been reaped, so the number of its group has not been reused.
void LimitedCommand::KillGroup() {
  if (child_->pid() > 0) ::kill(-child_->pid(), SIGKILL);
  KillChild(child_->ref());
}

void LimitedCommand::OnEnd() {
  const auto keep = shared_from_this();
  deadline_.cancel();
  pause_.cancel();
  KillGroup();
  End end{late_, child_->Take(), {}};
  // What the pipe holds; its writers have been killed.
  constexpr int kMaxReads = 2;
  for (int i = 0; i < kMaxReads && ReadWords(); ++i) continue;
  boost::system::error_code ignored;
  err_.close(ignored);
  end.words = std::move(words_);
  if (const auto ended = std::exchange(ended_, nullptr)) ended(std::move(end));
}

}  // namespace muster
