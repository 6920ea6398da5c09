#include "agent/program/sub_agents.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/program/agent.h"
#include "base/system/clock.h"
#include "base/system/sockets.h"
#include "spawn/start/forks.h"
#include "spawn/start/reap.h"
#include "wire/connection/lease.h"

namespace muster {
namespace {

using Ends = std::pair<UniqueFd, UniqueFd>;

// Nothing on failure, with errno set.
std::optional<Ends> SocketPair(int flags) {
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0, ends.data()) != 0) return std::nullopt;
  return Ends(ends[0], ends[1]);
}

constexpr std::size_t kReadBytes = kMaxPassedOn;
constexpr std::size_t kMaxLast = 16U << 20;  // maximum bytes read after its exit: more than a socket holds
constexpr std::chrono::milliseconds kEndPatience{kDefaultLeaseMs};
constexpr std::chrono::seconds kAbandonPatience{2};
constexpr int kControlFd = 3;
constexpr int kKeptDescriptors = 7;  // of an AgentProcess: those of the launcher, the counter and the log of memory
                                     // kills

// Whether a child of this process is stopped.
bool IsStopped(pid_t pid) {
  siginfo_t info = {};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

// Runs one agent. If it finished, it sends a byte before its connection closes.
int ServeOne(UniqueFd line, AgentProcess& process) {
  boost::asio::io_context io(1);
  auto wire = Wire::Make(io, std::move(line), UniqueFd(), FrameReader());
  if (!wire) return kAgentFailed;
  Agent agent(io, std::move(*wire), process);
  // Descriptors below the connection: those that the process keeps, three of the loop and one for its signals.
  agent.SetOwnDescriptors(kControlFd + 2 + kKeptDescriptors + 4);
  const int code = agent.Run();
  if (code == kAgentFinished) ::send(kControlFd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  return code;
}

// The child that was just forked from within the loop of the standing agent: that loop and its objects are never used
// again, only its descriptors are closed.
//
// It creates no cgroup, which would cost more than a short run. Remaining processes are found as children.
[[noreturn]] void BeSubAgent(const UniqueFd& control, pid_t standing, const AgentProcess& above) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != standing) ::_exit(kAgentLostHead);
  ::setsid();
  if (control.get() != kControlFd) ::dup2(control.get(), kControlFd);
  ::fcntl(kControlFd, F_SETFD, FD_CLOEXEC);
  CloseFrom(kControlFd + 1);
  if (!BecomeSubreaper()) ::_exit(kAgentFailed);
  Without without = above.without;
  without.Add(Mechanism::kCgroup);
  AgentProcess process(above.child_descriptors, above.program, without);
  for (;;) {
    auto line = TakeDescriptors<1>(kControlFd);
    if (!line) ::_exit(kAgentFinished);
    if (!line->front()) continue;
    if (const int code = ServeOne(std::move(line->front()), process); code != kAgentFinished) ::_exit(code);
  }
}

}  // namespace

// The sub-agent of one run.
struct SubAgents::One {
  One(boost::asio::io_context& io, std::uint32_t its_number, pid_t its_pid)
      : number(its_number), pid(its_pid), line(io.get_executor()) {}

  const std::uint32_t number;
  const pid_t pid;  // of the process that serves it
  WatchedFd line;
  std::string unsaid;    // data for it; the first …
  std::size_t said = 0;  // … `said` bytes have been sent
  bool writing = false;
  bool hearing = false;  // waits for its output
  bool ended = false;    // no more output
};

std::string SubAgents::Do(const OpenAgent& command) {
  if (!state_.serving()) return "an agent after the finish";
  if (by_number_.contains(command.number)) return fmt::format("there is an agent {} already", command.number);
  if (state_.space) {
    state_.send(AgentExited{command.number, "cannot be below one in a PID namespace", 0});
  } else {
    Open(command.number);
  }
  return {};
}

void SubAgents::Open(std::uint32_t number) {
  const auto cannot = [&](const char* what) {
    state_.send(AgentExited{number, std::string("cannot be started: ") + what + ": " + std::strerror(errno), 0});
  };
  auto line = SocketPair(SOCK_NONBLOCK);
  if (!line) return cannot("socketpair");
  auto process = by_pid_.end();
  const auto give = [&] { return PassDescriptors<1>(process->second.control.get(), {line->second.get()}); };
  while (process == by_pid_.end() && !idle_.empty()) {
    process = by_pid_.find(idle_.back());
    idle_.pop_back();
    const bool takes = process != by_pid_.end() && process->second.one == nullptr && give();
    if (!takes) process = by_pid_.end();  // it was killed
  }
  if (process == by_pid_.end()) {
    process = Fork();
    if (process == by_pid_.end()) return cannot("fork");
    if (!give()) {
      idle_.push_back(process->first);
      return cannot("sendmsg");
    }
  }
  const auto one = std::make_shared<One>(state_.io, number, process->first);
  boost::system::error_code error;
  one->line.assign(line->first.get(), error);
  process->second.one = one;
  by_number_.emplace(number, one);
  // Without a connection the sub-agent exits.
  if (error) return;
  line->first.release();
  AwaitWords(one);
}

std::map<pid_t, SubAgents::Process>::iterator SubAgents::Fork() {
  auto control = SocketPair(0);
  if (!control) return by_pid_.end();
  const pid_t standing = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    static_cast<void>(control->first.release());  // closed with all other descriptors, whatever its number
    BeSubAgent(control->second, standing, state_.process);
  }
  if (pid < 0) return by_pid_.end();
  return by_pid_.emplace(pid, Process{std::move(control->first), nullptr, nullptr}).first;
}

void SubAgents::AwaitWords(const std::shared_ptr<One>& one) {
  if (one->hearing || one->ended || !one->line.is_open()) return;
  one->hearing = true;
  one->line.async_wait(WatchedFd::wait_read, [this, one](const boost::system::error_code& error) {
    one->hearing = false;
    if (error || !one->line.is_open() || deaf_) return;
    Hear(*one, kReadBytes);
    Listen();
    if (one->ended) return Finished(one);
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
    state_.send(FromAgent{one.number, buffer_.substr(0, static_cast<std::size_t>(size))});
    if (static_cast<std::size_t>(size) < kReadBytes) return;  // nothing more is available now
  }
}

// If the head does not read, the sub-agents have to wait as well.
void SubAgents::Listen() {
  if (deaf_ || wire_->queued() <= Wire::kMaxQueued) return;
  deaf_ = true;
  wire_->WhenWritten([this] {
    deaf_ = false;
    for (const auto& [number, one] : by_number_) AwaitWords(one);
  });
}

void SubAgents::Do(const ToAgent& said) {
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
    if (size < 0) said = one->unsaid.size();  // it has exited, which is reported when it has been reaped
    if (size > 0) said += static_cast<std::size_t>(size);
  }
  // Moves the remaining data rarely: only when more than half has been sent.
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

void SubAgents::Retire(pid_t pid, Process& process) {
  boost::system::error_code ignored;
  if (process.one) process.one->line.close(ignored);
  process.control.reset();
  if (IsStopped(pid)) return KillChild(ChildRef{pid, -1});
  process.patience = std::make_unique<Timer>(state_.io.get_executor(), kEndPatience);
  process.patience->async_wait([this, pid](const boost::system::error_code& error) {
    if (!error && by_pid_.contains(pid)) KillChild(ChildRef{pid, -1});
  });
}

void SubAgents::Do(const CloseAgent& command) {
  const auto found = by_number_.find(command.number);
  if (found == by_number_.end()) return;
  if (const auto process = by_pid_.find(found->second->pid); process != by_pid_.end()) {
    Retire(process->first, process->second);
  }
}

void SubAgents::Finish() {
  for (auto& [pid, process] : by_pid_) Retire(pid, process);
}

void SubAgents::Abandon() {
  Finish();
  const std::uint64_t deadline =
      MonotonicNowNs() + static_cast<std::uint64_t>(std::chrono::nanoseconds(kAbandonPatience).count());
  for (const auto& [pid, process] : by_pid_) {
    if (EndsBy(ChildRef{pid, -1}, deadline)) Reap(ChildRef{pid, -1});
  }
  by_pid_.clear();
  by_number_.clear();
}

bool SubAgents::FinishReported(const Process& process) {
  char byte = 0;
  return process.control && ::recv(process.control.get(), &byte, 1, MSG_DONTWAIT) == 1;
}

void SubAgents::Finished(const std::shared_ptr<One>& one) {
  const auto process = by_pid_.find(one->pid);
  if (process == by_pid_.end() || process->second.one != one || !FinishReported(process->second)) return;
  process->second.one = nullptr;
  idle_.push_back(process->first);
  Gone(*one, {});
}

void SubAgents::Gone(One& one, AgentExited gone) {
  by_number_.erase(one.number);
  boost::system::error_code ignored;
  one.line.close(ignored);
  gone.number = one.number;
  state_.send(gone);
}

bool SubAgents::ChildEnded(pid_t pid) {
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return false;
  const auto end = Reap(ChildRef{pid, -1});
  if (!end) return false;
  const Process process = std::move(found->second);
  by_pid_.erase(found);
  if (process.one) {
    Hear(*process.one, kMaxLast);
    AgentExited gone;
    // A sub-agent that finished has reported that no processes were left.
    const bool finished = FinishReported(process) || (!end->signalled && end->code == kAgentFinished);
    if (!finished) {
      gone.why = EndText(*end);
      const KillReport report = end_orphans_();
      gone.killed = report.killed;
      if (!report.left.empty()) gone.why += "; " + std::to_string(report.left.size()) + " processes cannot be ended";
    }
    Gone(*process.one, std::move(gone));
  }
  if (by_pid_.empty()) state_.emptied();
  return true;
}

}  // namespace muster
