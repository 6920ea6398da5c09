#include "run/session/run_control.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/values/diagnostics.h"
#include "engine/engine_calls.h"
#include "run/control/control_server.h"
#include "run/loop/output.h"
#include "run/session/agent_links.h"
#include "run/session/host_setup.h"
#include "run/session/inquiries.h"
#include "run/session/live_run.h"
#include "run/session/run_faults.h"
#include "run/session/run_notices.h"
#include "run/supervise/run_process_table.h"

namespace muster {
namespace {

// Creating and removing a socket file costs a short run as much time as all its other files.
constexpr std::chrono::seconds kUnasked{1};

}  // namespace

RunControl::RunControl(LiveRun& run, AgentLinks& links, GitQuestion& git, EngineInquiry& engine, RunNotices& notices,
                       const DeviceQueue& devices, RunFaults& faults, Processes processes)
    : run_(run),
      links_(links),
      git_(git),
      engine_(engine),
      notices_(notices),
      devices_(devices),
      faults_(faults),
      processes_(std::move(processes)),
      signals_(run.io) {
  faults_.WhenEngineEnds([this](FaultKind kind) {
    const bool preempted = kind == FaultKind::kPreempt;
    if (stops_asked_ > 0) return;
    RequestStop(1, SIGTERM, false,
                preempted ? "the job is preempted (drill)" : "the time limit of the job is near (drill)");
  });
}

RunControl::~RunControl() = default;

void RunControl::CatchSignals() {
  if (!run_.request.catch_signals) return;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) {
    boost::system::error_code ignored;
    if (!IsIgnored(signal)) signals_.add(signal, ignored);
  }
  // A batch script ignores it until here.
  boost::system::error_code ignored;
  for (const int signal : {run_.request.notice_signal, run_.request.warning_signal}) {
    if (signal != 0) signals_.add(signal, ignored);
  }
  for (const int signal : run_.request.ignored_signals) std::signal(signal, SIG_IGN);
  AwaitSignal();
}

void RunControl::AwaitSignal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    if (signal == run_.request.notice_signal && signal != SIGTERM) {
      Announced();
    } else if (signal == run_.request.warning_signal) {
      Warned();
    } else if (signal == SIGXCPU && stops_asked_ > 0) {
      // Beyond its limit on processor time the kernel repeats the signal each second: that is no second request.
    } else if (signal == SIGTERM && std::exchange(own_signal_follows_, false)) {
      // The same end, for which the run stops already.
    } else {
      RequestStop(stops_asked_ + 1, signal);
    }
    AwaitSignal();
  });
}

// Repeated, it changes nothing: the run stops already. Where a site says so, Slurm sends the signal for a preemption as
// well (PreemptParameters=send_user_signal): the engine is asked.
void RunControl::Announced() {
  if (run_.ended || std::exchange(announced_, true)) return;
  if (run_.request.on_announced) run_.request.on_announced();
  engine_.AskAboutNotice();
  if (stops_asked_ == 0) RequestStop(1, SIGTERM, false, run_.request.notice);
}

// The engine knows why.
void RunControl::Warned() {
  if (run_.ended || stops_asked_ > 0 || run_.request.engine == nullptr) return;
  engine_.AskAboutStop();
  RequestStop(1, SIGTERM, false, fmt::format("asked to stop by {}", run_.request.engine->page.name));
}

void RunControl::AgentSignalled(std::uint32_t host) {
  signalled_.insert(host);
  if (run_.ended || stops_asked_ > 0) return;
  const auto stop = [this] {
    if (run_.ended || stops_asked_ > 0) return;
    stopped_for_agents_ = true;
    own_signal_follows_ = run_.request.engine != nullptr;
    // In pods there is no engine to be asked.
    RequestStop(1, SIGTERM, false, run_.request.hosts_have_environment ? "the pods of the job are being deleted" : "");
  };
  for (std::uint32_t each = 0; each < links_.size(); ++each) {
    if (links_.over(each) || signalled_.contains(each)) continue;
    // One agent alone: somebody ends it, or its node; or those of the others are on their way.
    engine_.WhenJobEnds(stop);
    return engine_.AskAboutStop();
  }
  stop();
}

// --- the control socket ----------------------------------------------------------------------------

void RunControl::Listen() {
  if (!run_.request.terse) return MakeSocket();
  listening_.emplace(run_.io, kUnasked);
  listening_->async_wait([this, weak = run_.session](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self && !run_.ended) MakeSocket();
  });
}

void RunControl::ListenNow() {
  if (run_.ended || control_) return;
  listening_.reset();
  MakeSocket();
}

void RunControl::MakeSocket() {
  Result<std::unique_ptr<ControlServer>> control =
      ControlServer::Listen(run_.io, run_.directory->folder(),
                            {.status =
                                 [this] {
                                   run_.journal.Write();  // new watchers have seen the published records
                                   return Status();
                                 },
                             .stop = [this](bool now, bool dump) { return Stop(now, dump); },
                             .dump = [this] { return Dump(); },
                             .dumping = [this] { return run_.supervisor.dumping(); },
                             .processes = processes_,
                             .fault = [this](const ControlRequest& request) { return faults_.Inject(request); }});
  if (!control) return run_.console.Warn(Sentence(control.error()));
  control_ = std::move(*control);
  run_.journal.PublishTo(*control_);
}

// --- requests ------------------------------------------------------------------------------------

void RunControl::RequestStop(std::uint32_t times, int signal, bool dump, const std::string& why) {
  if (git_.end_waits()) return git_.GiveUp();
  if (engine_.end_waits()) {
    // Inside an allocation, the signal that ended the agents can reach the head after them.
    if (const bool same_end = signal == SIGTERM && stops_asked_ == 0; !same_end) return engine_.GiveUp();
    stops_asked_ = times;
    return engine_.AskAboutStop();
  }
  if (run_.ended) {  // the run is over and only waits for a slow reader, for agents to exit, or for notifications
    links_.LetEnd();
    // An engine may end its job by SIGTERM to all processes; those who wait for the notification want to know that.
    const bool may_be_engine = signal == SIGTERM && stops_asked_ == 0;
    stops_asked_ = times;
    if (!may_be_engine) notices_.GiveUp();
    return run_.console.Abandon();
  }
  stops_asked_ = times;
  run_.console.Stopping(times, signal != 0);
  if ((signal == SIGTERM || signal == SIGHUP) && why.empty()) engine_.AskAboutStop();
  run_.events.HandleEvent(StopRequested{times, signal, dump, why});
  if (times < 2 || run_.ended) return;
  for (std::uint32_t host = 0; host < links_.size(); ++host) links_.ExpectAnswer(host, true);
}

void RunControl::StopByKeys() {
  run_.console.StoppingByKeys(stops_asked_ + 1);
  RequestStop(stops_asked_ + 1, SIGINT);
}

// A repeated request for the same kind of stop is not an escalation.
bool RunControl::Stop(bool now, bool dump) {
  const std::uint32_t times = now ? 2 : 1;
  const bool hurries = !dump && run_.supervisor.dump_delays_stop();  // no need to wait for the dump any longer
  if (!run_.ended && stops_asked_ >= times && !hurries) return false;
  const bool changed = !run_.ended;
  RequestStop(std::max(times, stops_asked_), 0, dump);
  return changed;
}

tl::expected<std::uint32_t, std::string> RunControl::Dump() {
  if (run_.ended || !run_.supervisor.CanDump()) {
    return tl::unexpected<std::string>(
        fmt::format("there is no process to inspect: the run is {}", PhaseName(run_.supervisor.phase())));
  }
  if (run_.supervisor.dumping() == 0) run_.events.HandleEvent(DumpRequested{});
  return run_.supervisor.dumping();
}

RunStatus RunControl::Status() const {
  return {run_.binding.run_id,
          run_.plan_id,
          run_.plan.name,
          ::getpid(),
          std::string(PhaseName(run_.supervisor.phase())),
          run_.journal.records(),
          stops_asked_,
          RoleStatuses(run_.plan, run_.supervisor),
          devices_.waiting()};
}

}  // namespace muster
