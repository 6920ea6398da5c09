#include "spawn/start/limited_command.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "spawn/start/forks.h"

namespace muster {
namespace {

std::string ReadFrom(int fd) {
  const off_t size = ::lseek(fd, 0, SEEK_END);
  return BytesAt(fd, 0, size > 0 ? static_cast<std::size_t>(size) : 0);
}

}  // namespace

CapturedCommand::CapturedCommand(Launcher& launcher, SpawnSpec spec, std::string_view input)
    : out_(::memfd_create("muster-out", MFD_CLOEXEC)), err_(::memfd_create("muster-err", MFD_CLOEXEC)) {
  if (!out_ || !err_) return;
  UniqueFd given;
  if (!input.empty()) {
    given.reset(::memfd_create("muster-in", MFD_CLOEXEC));
    if (!given || WriteForReader(given.get(), input) != 0) return;
    spec.stdin_fd = given.get();
  }
  spec.stdout_fd = out_.get();
  spec.stderr_fd = err_.get();
  spec.grouping = Grouping::kOwnGroup;
  spec.parent_death_signal = SIGKILL;
  spec.limits.push_back({RLIMIT_FSIZE, {kMaxBytes, kMaxBytes}});
  spec.limits.push_back({RLIMIT_CORE, {0, 0}});
  auto spawned = launcher.Spawn(spec);
  if (!spawned) return;
  pidfd_ = std::move(spawned->pidfd);
  pid_ = ChildRef{spawned->pid, pidfd_.get()};
}

CapturedCommand::~CapturedCommand() {
  if (!pid_) return;
  KillChild(*pid_);
  ReapAtEnd(*pid_);
}

CommandOutput CapturedCommand::Take(std::chrono::milliseconds within) {
  CommandOutput output;
  if (!pid_) return output;
  output.started = true;
  const bool ended =
      EndsBy(*pid_, MonotonicNowNs() + static_cast<std::uint64_t>(std::chrono::nanoseconds(within).count()));
  if (!ended) KillChild(*pid_);
  output.late = !ended;
  const EndedProcess end = ReapAtEnd(*std::exchange(pid_, std::nullopt));
  output.out = ReadFrom(out_.get());
  output.err = ReadFrom(err_.get());
  if (ended && !end.signalled) output.exit_code = end.code;
  return output;
}

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
    self->child_->KillGroup();
  });
  command->child_->AwaitEnd([weak] {
    if (const auto self = weak.lock()) self->OnEnd();
  });
  return command;
}

LimitedCommand::~LimitedCommand() {
  if (child_->pid() < 0) return;
  child_->KillGroup();
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

void LimitedCommand::OnEnd() {
  const auto keep = shared_from_this();
  deadline_.cancel();
  pause_.cancel();
  child_->KillGroup();
  End end{late_, child_->Take(), {}};
  // What the pipe holds; its writers have been killed.
  constexpr int kMaxReads = 2;
  for (int i = 0; i < kMaxReads && ReadWords(); ++i) continue;
  boost::system::error_code ignored;
  err_.close(ignored);
  end.words = std::move(words_);
  if (const auto ended = std::exchange(ended_, nullptr)) ended(std::move(end));
}

namespace {

constexpr int kOut = 3;

// The handlers of this process write to descriptors that the copy closes.
void DefaultSignals(const sigset_t& mask) {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) std::signal(signal, SIG_DFL);
  }
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

[[noreturn]] void RunCopy(int out, pid_t parent, const sigset_t& mask, const std::function<std::string()>& compute) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) ::_exit(1);
  if (out != kOut && ::dup2(out, kOut) < 0) ::_exit(1);
  CloseFrom(kOut + 1);
  DefaultSignals(mask);
  ::_exit(WriteAll(kOut, compute()) == 0 ? 0 : 1);
}

}  // namespace

struct ForkedFunction::Copy : std::enable_shared_from_this<Copy> {
  Copy(boost::asio::io_context& io, pid_t child, UniqueFd pipe, std::function<void(std::optional<std::string>)> then)
      : pid(child), out(io.get_executor(), pipe.release()), done(std::move(then)) {}

  void Read() {
    out.async_read_some(boost::asio::buffer(buffer),
                        [self = shared_from_this()](const boost::system::error_code& error, std::size_t bytes) {
                          if (!self->done) return;
                          self->text.append(self->buffer.data(), bytes);
                          error ? self->End() : self->Read();
                        });
  }

  // It has closed the pipe, as the last thing that it did.
  void End() {
    const EndedProcess end = ReapAtEnd({std::exchange(pid, -1), -1});
    const auto then = std::exchange(done, nullptr);
    if (!end.signalled && end.code == 0)
      then(std::move(text));
    else
      then(std::nullopt);
  }

  void Abandon() {
    done = nullptr;
    boost::system::error_code ignored;
    out.close(ignored);
    if (pid < 0) return;
    KillChild({pid, -1});
    ReapAtEnd({std::exchange(pid, -1), -1});
  }

  pid_t pid;
  WatchedFd out;
  std::function<void(std::optional<std::string>)> done;
  std::string text;
  std::array<char, 1U << 16> buffer{};
};

tl::expected<std::unique_ptr<ForkedFunction>, int> ForkedFunction::Start(
    boost::asio::io_context& io, const std::function<std::string()>& compute,
    std::function<void(std::optional<std::string>)> done) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(errno);
  UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  std::fflush(nullptr);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) RunCopy(to.get(), parent, before, compute);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return tl::unexpected(error);
  auto copy = std::make_shared<Copy>(io, pid, std::move(from), std::move(done));
  copy->Read();
  return std::unique_ptr<ForkedFunction>(new ForkedFunction(std::move(copy)));
}

ForkedFunction::ForkedFunction(std::shared_ptr<Copy> copy) : copy_(std::move(copy)) {}

ForkedFunction::~ForkedFunction() { copy_->Abandon(); }

}  // namespace muster
