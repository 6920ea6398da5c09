#include "agent/parts/orphans.h"

#include <utility>

#include <boost/asio/post.hpp>
#include <sys/wait.h>

#include "agent/parts/agent_part.h"
#include "spawn/leftovers/leftovers.h"

namespace muster {
namespace {

// One search for orphans serves all exits within this time, since thousands of processes may exit together.
constexpr std::chrono::milliseconds kMarkedPause{100};
constexpr std::chrono::seconds kMarkedPatience{1};

}  // namespace

AgentPart* Orphans::OwnerOf(pid_t pid) const {
  for (AgentPart* part : state_.parts) {
    if (part->Owns(pid)) return part;
  }
  return nullptr;
}

void Orphans::ReapSoon() {
  if (reap_pending_ || state_.phase == AgentState::Phase::kOver) return;
  reap_pending_ = true;
  boost::asio::post(state_.io, [this] {
    reap_pending_ = false;
    Reap();
  });
}

void Orphans::Reap() {
  while (state_.phase != AgentState::Phase::kOver) {
    siginfo_t info = {};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    // With pidfds, a process of the plan is reaped through its own, which is about to become ready; its exit leads here
    // again.
    if (AgentPart* owner = OwnerOf(info.si_pid)) {
      if (!owner->ChildEnded(info.si_pid)) return;
      continue;
    }
    siginfo_t reaped = {};
    if (::waitid(P_PID, static_cast<id_t>(info.si_pid), &reaped, WEXITED | WNOHANG) != 0) return;
    ++state_.adopted;
  }
}

void Orphans::EndSoon(const std::string& mark) {
  marks_.insert(mark);
  if (!state_.serving() || marks_.size() > 1) return;  // else the timer is already running
  marked_.expires_after(kMarkedPause);
  marked_.async_wait([this](const boost::system::error_code& error) {
    if (!error && state_.serving()) EndMarked();
  });
}

void Orphans::EndMarked() {
  const std::set<std::string> marks = std::exchange(marks_, {});
  marked_.cancel();
  if (marks.empty()) return;
  const auto owned = [this](pid_t pid) { return OwnerOf(pid) != nullptr; };
  Counted(KillMarkedChildren(owned, marks, kMarkedPatience), "leftovers");
}

KillReport Orphans::EndAll() {
  KillReport report =
      Counted(KillChildrenBut([this](pid_t pid) { return OwnerOf(pid) != nullptr; }, kKillPatience), "children");
  FinalCommands::RunNeeded();
  return report;
}

KillReport Orphans::EndDescendants() { return Counted(KillDescendants({}, kKillPatience), "children"); }

KillReport Orphans::Counted(KillReport report, const char* means) {
  state_.adopted += report.reaped;
  if (report.killed > 0) state_.means.insert(means);
  return report;
}

}  // namespace muster
