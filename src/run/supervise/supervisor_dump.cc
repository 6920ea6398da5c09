// Dumps, as the supervisor orders them: when one is taken, and what waits for it. Part of supervisor.cc.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/values/signal_name.h"
#include "run/supervise/supervisor.h"

namespace muster {

bool Supervisor::CanDump() const {
  return phase_ == Phase::kStarting || phase_ == Phase::kRunning || phase_ == Phase::kLingering ||
         phase_ == Phase::kStopping;
}

void Supervisor::TakeDump(std::string_view why, MonotonicNs now) {
  if (dumping_ || !CanDump()) return;
  dumping_ = Dump{};
  dumping_->due.resize(machine_over_.size());
  std::transform(machine_over_.begin(), machine_over_.end(), dumping_->due.begin(), [](bool over) { return !over; });
  dumping_->left = machines_left_;
  actions_.emplace_back(DumpOrdered{++dump_, std::string(why)});
  Arm(kDumpTimer, now + std::uint64_t{kDumpMs + kDumpMarginMs} * 1'000'000);
}

void Supervisor::OnStopRequested(const StopRequested& event, MonotonicNs now) {
  if (event.dump && event.times <= 2 && CanDump()) {
    TakeDump("stop", now);
    dumping_->stop = event;
    if (dumping_->left == 0) EndDump(true, now);
    return;
  }
  // Who asks once more without it does not wait for it any longer.
  if (dumping_) dumping_->stop.reset();
  if (cause_ == Cause::kNone) stop_signal_ = event.signal;
  why_ = event.signal == 0 ? "asked to stop" : fmt::format("ended by {}", SignalName(event.signal));
  Apply(event.times <= 1 ? JobInput::kStop : event.times == 2 ? JobInput::kStopAtOnce : JobInput::kInsist, now);
}

void Supervisor::OnSilent(const SilenceWatch::Silent& silent, MonotonicNs now) {
  if (dumping_ && dumping_->silent) return;
  TakeDump(silent.scope.role ? "silent" : "silent_job", now);
  dumping_->silent = silent;
  dumping_->silent_attempt = processes_[silent.process].attempt;
}

void Supervisor::OnHostDumped(std::uint32_t host, std::uint32_t dump, MonotonicNs now) {
  // What comes after the dump's end is in the journal and changes nothing.
  if (!dumping_ || dump != dump_ || host >= dumping_->due.size() || !dumping_->due[host]) return;
  dumping_->due[host] = false;
  if (--dumping_->left == 0) EndDump(true, now);
}

void Supervisor::EndDump(bool complete, MonotonicNs now) {
  const Dump dump = *std::exchange(dumping_, std::nullopt);
  Disarm(kDumpTimer);
  actions_.emplace_back(DumpEnded{dump_, complete});
  if (dump.stop) {
    StopRequested stop = *dump.stop;
    stop.dump = false;
    OnStopRequested(stop, now);
  }
  if (!dump.silent || !AtWork()) return;
  // Who ended or was started again meanwhile has given a sign of life.
  const Progress& first = processes_[dump.silent->process];
  if (first.state != ProcessState::kRunning || first.attempt != dump.silent_attempt) return;
  PassLimit(dump.silent->process, dump.silent->scope.role ? "silent" : "silent_job", dump.silent->scope.limit_ms, now);
}

void Supervisor::CutDump() {
  if (!dumping_) return;
  dumping_.reset();
  Disarm(kDumpTimer);
  actions_.emplace_back(DumpEnded{dump_, false});
}

}  // namespace muster
