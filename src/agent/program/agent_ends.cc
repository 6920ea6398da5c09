// The part of the agent that deals with ends: of processes, of what they leave behind, and its own.
#include <csignal>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/program/agent.h"
#include "base/system/fault.h"
#include "spawn/leftovers/descendants.h"

namespace muster {
namespace {

// A leftover is looked for once for all ends within this time, so that the end of thousands is no thousand looks.
constexpr std::chrono::milliseconds kLeftoverPause{100};
constexpr std::chrono::seconds kLeftoverPatience{1};
constexpr std::chrono::seconds kSubPatience{2};

}  // namespace

void Agent::OnExited(const ProcessExited& event) {
  ++reaped_;
  means_.insert(launcher_.mechanisms().pidfd ? "pidfd" : "sigchld");
  const ReadyWatch::Key key(event.process, event.attempt);
  log_pipes_.Drain(key);
  ready_.End(key);
  ptys_.Ended(key);
  log_times_.Ended(key);
  for (const EndEvidence& evidence : witness_.Ended(event)) Send(evidence);
  probe_starts_.erase(key);
  probes_.Stop(event.process, event.attempt, SIGKILL, std::chrono::milliseconds(0));
  if (const auto running = running_.extract(key)) {
    for (const PortTaken& taken : ports_.Ended(event, running.mapped().log.ThroughDescriptor())) Send(taken);
    folder_.Ended(running.mapped().log_path);
    if (!running.mapped().mark.empty()) {
      ended_marks_.insert(running.mapped().mark);
      if (!finishing_) EndLeftoversSoon();
    }
  }
  Send(event);
  // An orphan may have waited behind this one, or have come to us by its end.
  ReapOrphansSoon();
  if (finishing_) FinishIfEmpty();
}

void Agent::FinishIfEmpty() {
  if (over_ || sending_files_ || !children_.empty() || !probes_.empty() || !dumps_.empty() || !activation_.empty() ||
      !inspection_.empty() || !log_trims_.empty() || !subs_.empty()) {
    return;
  }
  patience_.cancel();
  const KillReport report = KillDescendants({}, kKillPatience);
  log_pipes_.DrainAll();
  cgroup_.reset();
  adopted_ += report.reaped;
  if (report.killed > 0) means_.insert("children");
  if (folder_.made() && !std::exchange(files_sent_, true)) {
    sending_files_ = true;
    return folder_.SendAll([this] { Send(FilesSent{}); });
  }
  if (!report.left.empty()) return Fail(fmt::format("{} processes cannot be ended", report.left.size()));

  // The last process is gone, and the next job may begin as soon as this one is told to be over.
  allotment_.GiveUp();
  if (FailsHere(Fault::kAgentBeforeEmpty)) return Fail("a fault hook kept it from attesting");
  over_ = true;
  beats_.End();
  exit_code_ = kAgentFinished;
  if (adopted_ > 0) means_.insert("subreaper");
  AgentEmpty empty;
  empty.host = host_;
  empty.started = started_;
  empty.reaped = reaped_;
  empty.adopted = adopted_;
  empty.by.assign(means_.begin(), means_.end());
  const SelfCount count = Count();
  empty.descriptors = count.descriptors;
  empty.memory_kib = count.memory_kib;
  Send(empty);
  wire_->StopReading();
  wire_->WhenWritten([this] {
    if (files_kept_) folder_.Remove();
    io_.stop();
  });
}

void Agent::Do(FilesKept& answer) {
  if (!std::exchange(sending_files_, false)) return Fail("files are kept that were not sent");
  files_kept_ = answer.all;
  FinishIfEmpty();
}

void Agent::KillCgroupOfProcesses() {
  if (cgroup_ && cgroup_->Kill()) means_.insert("cgroup.kill");
}

void Agent::Fail(const std::string& why) {
  const AgentMessage last = AgentFailed{why};
  EndAtOnce(kAgentFailed, &last);
}

void Agent::EndAtOnce(int exit_code, const AgentMessage* last) {
  if (over_) return;
  over_ = true;
  beats_.End();
  exit_code_ = exit_code;
  ports_.Clear();
  // Everything, the processes of the plan included, in one blocking sweep: whoever would want their events
  // is gone or has broken off.
  ready_.Clear();
  children_.Abandon();
  probes_.Abandon();
  dumps_.Abandon();
  log_trims_.Abandon();
  activation_.Abandon();
  inspection_.Abandon();
  subs_.EndAll(kSubPatience);  // by themselves, so that what their processes have said is not lost
  KillCgroupOfProcesses();
  KillDescendants({}, kKillPatience);
  ptys_.EndAll();
  log_pipes_.DrainAll();
  allotment_.GiveUp();
  log_times_.EndAll();
  cgroup_.reset();
  if (started_ == 0) folder_.Remove();  // there is nothing in it that anybody could miss
  if (last == nullptr) return io_.stop();
  Send(*last);
  wire_->StopReading();
  wire_->WhenWritten([this] { io_.stop(); });
  // A head that does not read its last message is not waited for.
  patience_.expires_after(std::chrono::seconds(1));
  patience_.async_wait([this](const boost::system::error_code& error) {
    if (!error) io_.stop();
  });
}

// --- signals and orphans ---------------------------------------------------------------------------

void Agent::WatchSignals() {
  signals_.async_wait(WatchedFd::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    OnSignals();
    if (!over_) WatchSignals();
  });
}

void Agent::OnSignals() {
  signalfd_siginfo info = {};
  while (::read(signals_.native_handle(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == static_cast<std::uint32_t>(SIGTERM)) {
      // Somebody wants the agent gone, or its parent died (it is sent this by prctl then).
      const AgentMessage last = AgentFailed{"ended by SIGTERM"};
      return EndAtOnce(kAgentLostHead, &last);
    }
  }
  ReapOrphansSoon();
}

void Agent::ReapOrphansSoon() {
  if (reap_pending_ || over_) return;
  reap_pending_ = true;
  boost::asio::post(io_, [this] {
    reap_pending_ = false;
    if (!over_) ReapOrphans();
  });
}

void Agent::EndLeftoversSoon() {
  if (ended_marks_.size() > 1) return;  // the timer runs
  leftovers_.expires_after(kLeftoverPause);
  leftovers_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !over_ && !finishing_) EndLeftovers();
  });
}

void Agent::EndLeftovers() {
  const std::set<std::string> marks = std::exchange(ended_marks_, {});
  leftovers_.cancel();
  if (marks.empty()) return;
  const KillReport report = KillMarkedChildren([this](pid_t pid) { return Owns(pid); }, marks, kLeftoverPatience);
  adopted_ += report.reaped;
  if (report.killed > 0) means_.insert("leftovers");
}

KillReport Agent::EndOrphans() {
  const KillReport report = KillChildrenBut([this](pid_t pid) { return Owns(pid); }, kKillPatience);
  adopted_ += report.reaped;
  if (report.killed > 0) means_.insert("children");
  return report;
}

void Agent::ReapOrphans() {
  for (;;) {
    siginfo_t info = {};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    // Where there are pidfds, a process of the plan is reaped through its own, which is about to be ready; OnExited
    // comes back here.
    if (Owns(info.si_pid)) {
      if (!children_.Ended(info.si_pid) && !probes_.Ended(info.si_pid) && !dumps_.Ended(info.si_pid) &&
          !activation_.Ended(info.si_pid) && !log_trims_.Ended(info.si_pid) && !inspection_.Ended(info.si_pid) &&
          !subs_.Ended(info.si_pid)) {
        return;
      }
      if (over_) return;
      continue;
    }
    siginfo_t reaped = {};
    if (::waitid(P_PID, static_cast<id_t>(info.si_pid), &reaped, WEXITED | WNOHANG) != 0) return;
    ++adopted_;
  }
}

}  // namespace muster
