#include "agent/sub_agents.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "spawn/close_from.h"
#include "spawn/descendants.h"
#include "spawn/reap.h"

namespace muster {
namespace {

constexpr std::size_t kReadBytes = 64U << 10;
constexpr std::size_t kMostLast = 16U << 20;  // of what one said before its end: more than a socket holds
constexpr int kOwnFd = 3;

// The child that was just forked, from within the loop of the standing agent: that loop, and all that belongs to it, is
// never touched again, only its descriptors are closed.
[[noreturn]] void BeSubAgent(const UniqueFd& line, pid_t standing, const SubAgents::Means& means) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != standing) ::_exit(kAgentLostHead);
  ::setsid();
  if (line.get() != kOwnFd) ::dup2(line.get(), kOwnFd);
  ::fcntl(kOwnFd, F_SETFD, FD_CLOEXEC);
  CloseFrom(kOwnFd + 1);
  if (!BecomeSubreaper()) ::_exit(kAgentFailed);
  boost::asio::io_context io(1);
  auto wire = Wire::Make(io, UniqueFd(kOwnFd), UniqueFd(), {});
  if (!wire) ::_exit(kAgentFailed);
  Agent agent(io, std::move(*wire), means.child_descriptors, means.program, means.without);
  // Below the line come the three of the loop and that of its signals.
  agent.BeBelow(kOwnFd + 1 + 4);
  ::_exit(agent.Run());
}

}  // namespace

struct SubAgents::One {
  One(boost::asio::io_context& io, std::uint32_t its_number) : number(its_number), line(io.get_executor()) {}

  const std::uint32_t number;
  WatchedFd line;
  std::string unsaid;    // to it, after what …
  std::size_t said = 0;  // … has been
  bool writing = false;
  bool hearing = false;  // it is waited for
  bool ended = false;    // it says nothing more
};

SubAgents::SubAgents(boost::asio::io_context& io, std::shared_ptr<Wire> wire, Means means, Observer observer)
    : io_(io), wire_(std::move(wire)), means_(std::move(means)), observer_(std::move(observer)) {
  // One more for each would be one too many: making and removing a group costs more than a short run. What is left is
  // found as a child.
  means_.without.Add(Mechanism::kCgroup);
}

bool SubAgents::Open(std::uint32_t number) {
  if (by_number_.contains(number)) return false;
  const auto cannot = [&](const char* what) {
    observer_.send(AgentGone{number, std::string("cannot be started: ") + what + ": " + std::strerror(errno), 0});
    return true;
  };
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return cannot("socketpair");
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t standing = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    static_cast<void>(ours.release());  // closed with all the others, whatever number it has
    BeSubAgent(theirs, standing, means_);
  }
  if (pid < 0) return cannot("fork");
  const auto one = std::make_shared<One>(io_, number);
  boost::system::error_code error;
  one->line.assign(ours.get(), error);
  by_pid_.emplace(pid, one);
  by_number_.emplace(number, one);
  // Without a line it sees its connection end, and does.
  if (error) return true;
  ours.release();
  AwaitWords(one);
  return true;
}

void SubAgents::AwaitWords(const std::shared_ptr<One>& one) {
  if (one->hearing || one->ended || !one->line.is_open()) return;
  one->hearing = true;
  one->line.async_wait(WatchedFd::wait_read, [this, one](const boost::system::error_code& error) {
    one->hearing = false;
    if (error || !one->line.is_open() || deaf_) return;
    Hear(*one, kReadBytes);
    Listen();
    if (!deaf_) AwaitWords(one);
  });
}

void SubAgents::Hear(One& one, std::size_t most) {
  if (one.ended || !one.line.is_open()) return;
  buffer_.resize(kReadBytes);
  for (std::size_t heard = 0; heard < most;) {
    const ssize_t size = ::recv(one.line.native_handle(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (size <= 0) {
      one.ended = true;
      return;
    }
    heard += static_cast<std::size_t>(size);
    observer_.send(FromAgent{one.number, buffer_.substr(0, static_cast<std::size_t>(size))});
  }
}

// A head that does not read is waited for, and so are they then.
void SubAgents::Listen() {
  if (deaf_ || wire_->queued() <= Wire::kMaxQueued) return;
  deaf_ = true;
  wire_->WhenWritten([this] {
    deaf_ = false;
    for (const auto& [pid, one] : by_pid_) AwaitWords(one);
  });
}

void SubAgents::Pass(const ToAgent& said) {
  const auto found = by_number_.find(said.number);
  if (found == by_number_.end() || !found->second->line.is_open()) return;
  found->second->unsaid += said.bytes;
  if (!found->second->writing) Write(found->second);
}

void SubAgents::Write(const std::shared_ptr<One>& one) {
  std::size_t& said = one->said;
  while (said < one->unsaid.size()) {
    const ssize_t size = ::send(one->line.native_handle(), one->unsaid.data() + said, one->unsaid.size() - said,
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (size < 0) said = one->unsaid.size();  // it is gone, which is told when it has been reaped
    if (size > 0) said += static_cast<std::size_t>(size);
  }
  // What waits is moved seldom: once more of it has been said than is left.
  if (said > one->unsaid.size() / 2) {
    one->unsaid.erase(0, said);
    said = 0;
  }
  if (one->unsaid.empty()) return;
  one->writing = true;
  one->line.async_wait(WatchedFd::wait_write, [this, one](const boost::system::error_code& error) {
    one->writing = false;
    if (!error && one->line.is_open()) Write(one);
  });
}

void SubAgents::Close(std::uint32_t number) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return;
  boost::system::error_code ignored;
  found->second->line.close(ignored);
}

void SubAgents::CloseAll() {
  boost::system::error_code ignored;
  for (const auto& [pid, one] : by_pid_) one->line.close(ignored);
}

void SubAgents::EndAll(std::chrono::milliseconds patience) {
  CloseAll();
  const std::uint64_t deadline =
      MonotonicNowNs() + static_cast<std::uint64_t>(std::chrono::nanoseconds(patience).count());
  for (const auto& [pid, one] : by_pid_) {
    if (EndsBy(ChildRef{pid, -1}, deadline)) Reap(ChildRef{pid, -1});
  }
  by_pid_.clear();
  by_number_.clear();
}

bool SubAgents::Ended(pid_t pid) {
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return false;
  const auto end = Reap(ChildRef{pid, -1});
  if (!end) return false;
  const std::shared_ptr<One> one = found->second;
  Hear(*one, kMostLast);
  by_pid_.erase(found);
  by_number_.erase(one->number);
  boost::system::error_code ignored;
  one->line.close(ignored);
  AgentGone gone{one->number, {}, 0};
  // One that finished has attested that nothing was left.
  if (end->signalled || end->code != kAgentFinished) {
    gone.why = EndText(*end);
    const KillReport report = observer_.end_leftovers();
    gone.killed = report.killed;
    if (!report.left.empty()) gone.why += "; " + std::to_string(report.left.size()) + " processes cannot be ended";
  }
  observer_.send(gone);
  if (by_pid_.empty()) observer_.idle();
  return true;
}

}  // namespace muster
