#include "run/session/process_orders.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/system/fault.h"
#include "base/system/private_files.h"
#include "base/values/diagnostics.h"
#include "base/values/overloaded.h"
#include "run/report/dump_report.h"
#include "run/session/agent_links.h"
#include "run/session/live_run.h"
#include "run/supervise/run_process_table.h"

namespace muster {

std::vector<StartWindow::Start> StartWindow::Take(MonotonicNs now) {
  const std::optional<MonotonicNs> at = NextAt(now);
  if (!at || *at > now) return {};
  const std::size_t room = unanswered_ < kUnanswered ? kUnanswered - unanswered_ : kAtOnce;
  std::vector<Start> starts;
  while (!waiting_.empty() && starts.size() < std::min(room, kAtOnce)) {
    starts.push_back(waiting_.front());
    waiting_.pop_front();
    ++sent_[starts.back().host];
  }
  unanswered_ += starts.size();
  moved_at_ = now;
  return starts;
}

std::vector<StartWindow::Start> StartWindow::TakeAll() {
  std::vector<Start> starts(waiting_.begin(), waiting_.end());
  waiting_.clear();
  for (const Start& start : starts) ++sent_[start.host];
  unanswered_ += starts.size();
  return starts;
}

std::optional<MonotonicNs> StartWindow::NextAt(MonotonicNs now) const {
  if (waiting_.empty()) return std::nullopt;
  return unanswered_ < kUnanswered ? now : std::max(now, moved_at_ + kPatience);
}

void StartWindow::Answered(std::uint32_t host, MonotonicNs now) {
  const auto sent = sent_.find(host);
  if (sent == sent_.end()) return;
  moved_at_ = now;
  --unanswered_;
  if (--sent->second == 0) sent_.erase(sent);
}

void StartWindow::Lost(std::uint32_t host, MonotonicNs now) {
  const auto sent = sent_.find(host);
  if (sent == sent_.end()) return;
  moved_at_ = now;
  unanswered_ -= sent->second;
  sent_.erase(sent);
}

Result<void> LentTerminal::Open(std::function<void()> stop) {
  if (!run_.request.pty) return {};
  Result<UserTerminal> terminal = UserTerminal::Open(run_.request.terminal);
  if (!terminal) return Fail(std::move(terminal.error()));
  const std::uint32_t place = run_.plan.processes[*run_.request.pty].host;
  link_.emplace(run_.io, run_.console, std::move(*terminal),
                TerminalLink::Ends{.send =
                                       [this, place](const AgentCommand& command) {
                                         links_.Send(run_.supervisor.slots().machine(place), command);
                                       },
                                   .stop = std::move(stop)});
  return {};
}

void LentTerminal::Saw(const Event& event) {
  if (!link_) return;
  std::visit(Overloaded{
                 [&](const PtyOpened& opened) {
                   link_->Join({opened.process, opened.attempt});
                 },
                 [&](const PtyClosed& closed) {
                   link_->Part({closed.process, closed.attempt});
                 },
                 [&](const AgentLost& lost) {
                   const std::uint32_t place = run_.plan.processes[*run_.request.pty].host;
                   if (run_.supervisor.slots().host(lost.host) == place) link_->Part();
                 },
                 [](const auto&) {},  // a terminal is lent by the events of pseudo-terminals alone
             },
             event);
}

void LentTerminal::Written(const PtyBytes& bytes) {
  if (link_) link_->Written(bytes);
}

void LentTerminal::Taken(const PtyTaken& taken) {
  if (link_) link_->Taken(taken);
}

void LentTerminal::Part() {
  if (link_) link_->Part();
}

ProcessOrders::ProcessOrders(LiveRun& run, AgentLinks& links, LentTerminal& terminal, RunProcessTable& process_table,
                             const CallerEnvironment& surroundings)
    : run_(run),
      links_(links),
      terminal_(terminal),
      process_table_(process_table),
      starts_(run.plan, run.binding, surroundings) {}

std::uint32_t ProcessOrders::HostOf(ProcessId process) const {
  return run_.supervisor.slots().machine(run_.plan.processes[process].host);
}

// --- starts ----------------------------------------------------------------------------------------

void ProcessOrders::Start(const StartOrdered& order) {
  const std::uint32_t host = HostOf(order.process);
  process_table_.Ordered(order.process, host);
  window_.Ordered(order, host);
}

void ProcessOrders::SendStarts() {
  if (run_.ended) return;
  for (const StartWindow::Start& start : window_.Take(run_.clock->Monotonic())) Send(start);
  const MonotonicNs now = run_.clock->Monotonic();
  if (window_.NextAt(now) != now || std::exchange(starts_due_, true)) return;
  run_.Later([this] {  // handle the messages first that have arrived meanwhile
    starts_due_ = false;
    SendStarts();
  });
}

void ProcessOrders::SendAllStarts() {
  for (const StartWindow::Start& start : window_.TakeAll()) Send(start);
}

std::optional<MonotonicNs> ProcessOrders::NextStartAt() const { return window_.NextAt(run_.clock->Monotonic()); }

void ProcessOrders::Answered(std::uint32_t host) {
  window_.Answered(host, run_.clock->Monotonic());
  SendStarts();
}

void ProcessOrders::Lost(std::uint32_t host) { window_.Lost(host, run_.clock->Monotonic()); }

void ProcessOrders::Send(const StartWindow::Start& to_send) {
  const auto& [order, host] = to_send;
  Result<StartProcess> start = FailsHere(Fault::kHeadBeforeStart)
                                   ? Fail(SystemError("spawn", "the start cannot be made: a fault hook", EIO))
                                   : starts_.Of(order.process, order.attempt, run_.request.pty == order.process);
  if (start && run_.request.pty == order.process) start->pty = terminal_.Size();
  if (start && !links_.over(host)) return links_.Send(host, std::move(*start));
  window_.Answered(host, run_.clock->Monotonic());
  if (start) return;
  run_.Later([this, order = order, why = Sentence(start.error())] {
    if (run_.ended) return;
    run_.events.HandleEvent(SpawnFailed{order.process, order.attempt, "binding", EINVAL, why, run_.clock->Monotonic()});
  });
}

// --- stops and dumps -------------------------------------------------------------------------------

void ProcessOrders::Stop(const StopOrdered& order) {
  if (FailsHere(Fault::kHeadBeforeStop)) return;
  std::map<std::uint32_t, StopProcesses> by_host;
  for (const ProcessId process : order.processes) {
    StopProcesses& stop = by_host[HostOf(process)];
    stop.signal = order.signal;
    stop.grace_ms = order.grace_ms;
    stop.processes.push_back({process, run_.supervisor.attempt(process)});
  }
  for (auto& [host, stop] : by_host) {
    links_.Send(host, std::move(stop));
    links_.ExpectAnswer(host, false);
  }
}

void ProcessOrders::Dump(const DumpOrdered& order) {
  run_.console.Dumping(order);
  if (const Result<UniqueFd> dumps = MakeFolder(run_.directory->folder(), "dumps")) {
    if (const Result<UniqueFd> made = MakeFolder(dumps->get(), std::to_string(order.dump)); !made) {
      run_.console.Warn(Sentence(made.error()));  // the journal contains the dump in any case
    }
  }
  std::vector<TakeDump> by_host(links_.size(), TakeDump{order.dump, kDumpMs, {}});
  for (ProcessId process = 0; process < run_.plan.processes.size(); ++process) {
    const ProcessState state = run_.supervisor.state(process);
    if (state != ProcessState::kRunning && state != ProcessState::kStopping) continue;
    const std::uint32_t attempt = run_.supervisor.attempt(process);
    by_host[HostOf(process)].processes.push_back(
        {process, attempt,
         fmt::format("{}/{}", run_.binding.run_dir, DumpPath(run_.plan, order.dump, process, attempt))});
  }
  for (std::uint32_t host = 0; host < links_.size(); ++host) links_.Send(host, std::move(by_host[host]));
}

}  // namespace muster
