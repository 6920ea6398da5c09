#include "spawn/start/forked_function.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "base/system/write_all.h"
#include "spawn/detach/close_from.h"
#include "spawn/start/reap.h"
#include "spawn/start/watched_fd.h"

namespace muster {
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
