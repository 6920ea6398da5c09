#include "run/session/run_request.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/system/host_name.h"
#include "base/system/open_below.h"
#include "base/system/self_count.h"
#include "base/values/diagnostic_text.h"
#include "base/values/fingerprint.h"
#include "base/values/shell_quote.h"
#include "plan/check/plan_check.h"
#include "plan/text/plan_text.h"
#include "run/directory/environment_record.h"
#include "run/directory/hidden_values.h"
#include "run/directory/private_files.h"
#include "run/directory/run_files.h"
#include "run/directory/run_tags.h"
#include "run/journal/journal.h"
#include "run/journal/journal_writer.h"
#include "run/report/dump_report.h"
#include "run/report/report.h"
#include "run/report/report_files.h"
#include "run/session/session.h"
#include "run/start/activation.h"
#include "run/supervise/process_roll.h"

namespace muster {
namespace {

constexpr std::size_t kRunIdBytes = 6;

// Bytes for what a run of these processes writes at its end: ends and signals of each in the journal, and the reports
// with the last lines of logs. A sweep's trial mostly writes no report.
std::uint64_t RoomFor(const Plan& plan, bool terse) {
  constexpr std::uint64_t kOfProcess = 2048;
  constexpr std::uint64_t kMost = 64U << 20;
  return std::min(kMost, (terse ? 32U << 10 : 128U << 10) + kOfProcess * plan.processes.size());
}

}  // namespace

Result<void> Session::MakeDirectory() {
  binding_.run_id = request_.run_id.empty() ? RandomHex(kRunIdBytes) : request_.run_id;
  binding_.sweep = request_.sweep;
  Result<RunDirectory> made =
      request_.run_dir.empty()
          ? RunDirectory::MakeBelow(request_.runs_folder, request_.rehearsal ? plan_.name + ".rehearsal" : plan_.name,
                                    StampText(clock_->Wall()), binding_.run_id, request_.for_group)
          : RunDirectory::MakeAt(request_.run_dir, request_.for_group);
  if (!made) return Fail(std::move(made.error()));
  directory_ = std::move(*made);
  binding_.run_dir = directory_->path();
  binding_.checkpoint = request_.checkpoint;
  NoteEarlierCheckpoints();
  if (!request_.keep_words) return {};
  const Result<UniqueFd> words = CreateFile(directory_->folder(), "head.log", O_APPEND);
  if (!words) return Fail(words.error());
  if (::dup2(words->get(), request_.console.err) < 0) return Fail(SystemError("file", "head.log", errno));
  return {};
}

Result<void> Session::Begin() {
  CatchSignals();
  Result<std::map<std::string, std::string>> secrets = ResolveSecrets(plan_, request_.environment);
  if (!secrets) return Fail(std::move(secrets.error()));
  binding_.secrets = std::move(*secrets);
  if (Result<void> opened = OpenTerminal(); !opened) return Fail(std::move(opened.error()));
  if (Result<void> made = MakeDirectory(); !made) return Fail(std::move(made.error()));
  Connect();  // agents come up while the files are written
  const std::map<std::string, std::string> inherited =
      RecordedVariables(request_.environment, HiddenValues(plan_, binding_.secrets));
  plan_id_ = request_.plan_id.empty() ? PlanId(plan_) : request_.plan_id;
  Result<UniqueFd> logs =
      WriteRunFiles(directory_->folder(), {plan_, plan_id_, request_.inputs, request_.evaluation, inherited,
                                           request_.sources, request_.linked_sources, !request_.terse});
  if (!logs) return Fail(std::move(logs.error()));
  logs_ = std::move(*logs);
  if (Result<void> tagged = WriteTags(directory_->folder(), request_.tags); !tagged) {
    return Fail(std::move(tagged.error()));
  }
  if (Result<void> laid = LayProbe(); !laid) return Fail(std::move(laid.error()));
  Result<JournalWriter> journal = JournalWriter::Create(directory_->folder(), RoomFor(plan_, request_.terse));
  if (!journal) return Fail(std::move(journal.error()));
  journal_ = std::move(*journal);

  began_at_ = clock_->Monotonic();
  RunBegan began;
  began.run_id = binding_.run_id;
  began.plan_id = plan_id_;
  began.name = plan_.name;
  began.pid = ::getpid();
  began.pass_exit_code = request_.pass_exit_code;
  began.plan_ns = request_.plan_ns;
  began.evaluate_ns = request_.evaluate_ns;
  began.start_ticks = OwnStartTicks();
  began.boot = BootId();
  began.lockdown = request_.lockdown;
  began.parent = request_.parent;
  began.tags = request_.tags;
  began.rehearsal = request_.rehearsal;
  const SelfCount count = request_.terse ? SelfCount() : CountSelf();
  began.descriptors = count.descriptors;
  began.memory_kib = count.memory_kib;
  Record(std::move(began));
  if (request_.catch_signals) announced_ = LiveHead::Announce(OwnLiveHeadsFolder(), binding_.run_dir, binding_.run_id);
  console_.Began(binding_.run_id, plan_id_, binding_.run_dir);
  console_.Follow(logs_.get(), FileBelow{logs_.get(), {}}.ThroughDescriptor());
  ListenForCommands();
  console_.ShowProgress([this] {
    Progress now = ProgressNow(plan_, supervisor_, roll_, directory_->folder(), began_at_, clock_->Monotonic());
    if (const std::string shipping = ShippingText(); !shipping.empty()) now.phase = shipping;
    if (!waits_.empty()) now.phase = "waiting for devices";
    return now;
  });

  AskGit();
  Greet();
  return {};
}

void Session::Connect() {
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    Result<std::unique_ptr<Channel>> channel = transport_.Connect(io_, {host, NameOf(host)});
    if (!channel) {
      Later([this, host, why = Sentence(channel.error())] {
        if (elsewhere_) return Refused(host, {why, {}});
        OnMessage(host, AgentLost{host, why, 0});
      });
      continue;
    }
    agents_[host].channel = std::move(*channel);
    agents_[host].channel->SetReceiver([this, host](ChannelMessage message) { OnMessage(host, std::move(message)); });
  }
}

void Session::Greet() {
  const bool limited =
      std::any_of(plan_.roles.begin(), plan_.roles.end(), [](const Role& role) { return role.limits.log_bytes > 0; });
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    Hello hello{kProtocolVersion, binding_.run_id, host, limited ? binding_.run_dir + "/logs" : std::string()};
    hello.run_dir = binding_.run_dir;
    hello.elsewhere = elsewhere_;
    Send(host, std::move(hello));
  }
  Later([this] { BeginIfReady(); });  // a plan without hosts has nobody to wait for
}

void Session::OnMessage(std::uint32_t host, ChannelMessage message) {
  if (ended_ || agents_[host].over) return;
  std::visit(
      [&](auto& m) {
        using M = std::decay_t<decltype(m)>;
        if constexpr (std::is_same_v<M, AgentReady>) {
          OnReady(host, m);
        } else if constexpr (std::is_same_v<M, PortsHeld>) {
          OnPortsHeld(host, m);
        } else if constexpr (std::is_same_v<M, Allotted>) {
          OnAllotted(host, m);
        } else if constexpr (std::is_same_v<M, DevicesAwaited>) {
          OnDevicesAwaited(host, std::move(m));
        } else if constexpr (std::is_same_v<M, HostActivated>) {
          OnActivated(host, std::move(m));
        } else if constexpr (std::is_same_v<M, AgentFailed>) {
          agents_[host].refusal = m.why;  // AgentLost follows when it is gone
        } else if constexpr (std::is_same_v<M, ClockCompared>) {
          m.host = host;
          Happened(Event(m));
        } else if constexpr (std::is_same_v<M, StrayMessage>) {
          OnStray(host, m);
        } else if constexpr (std::is_same_v<M, AgentUnreachable>) {
          if (!elsewhere_) return OnMessage(host, AgentLost{host, m.why, 0});
          Refused(host, std::move(m));
        } else if constexpr (std::is_same_v<M, FileBytes>) {
          OnFileBytes(host, m);
        } else if constexpr (std::is_same_v<M, FilesSent>) {
          OnFilesSent(host);
        } else if constexpr (std::is_same_v<M, PtyBytes>) {
          if (terminal_) terminal_->Written(m);
        } else if constexpr (std::is_same_v<M, PtyTaken>) {
          if (terminal_) terminal_->Taken(m);
        } else if constexpr (std::is_same_v<M, Inspected>) {
          OnInspected(host, m);
        } else if constexpr (std::is_same_v<M, PathsOpen>) {
          OnPathsOpen(host, m);
        } else if constexpr (std::is_same_v<M, PathsTried>) {
          OnPathsTried(host, m);
        } else if constexpr (std::is_same_v<M, CodeWanted>) {
          if (agents_[host].shipment) Shipping(host, agents_[host].shipment->Wanted(m));
        } else if constexpr (std::is_same_v<M, CodeTaken>) {
          if (agents_[host].shipment) Shipping(host, agents_[host].shipment->Taken(m));
        } else if constexpr (std::is_same_v<M, CodeReady>) {
          OnCodeReady(host, m);
        } else if constexpr (std::is_same_v<M, FromAgent> || std::is_same_v<M, AgentGone>) {
          // Of agents below this one; a run asks for none.
        } else {
          if constexpr (std::is_same_v<M, OutputSeen> || std::is_same_v<M, HostDumped>) m.host = host;
          if constexpr (std::is_same_v<M, AgentEmpty> || std::is_same_v<M, AgentLost>) {
            m.host = host;
            agents_[host].over = true;
          }
          if constexpr (std::is_same_v<M, AgentLost>) {
            const std::string& refusal = agents_[host].refusal;
            if (m.why.find(refusal) == std::string::npos) m.why += fmt::format(": {}", refusal);
            if (elsewhere_ && !agents_[host].answered) {
              return Refused(host, {refusal.empty() ? m.why : "its agent: " + refusal, {}});
            }
            Blame(host, m.why);
          }
          if constexpr (std::is_same_v<M, SpawnFailed>) {
            // Before the program is looked at, it is the host that cannot.
            for (const std::string_view stage : {"descriptors", "log", "clone"}) {
              if (m.stage == stage) Blame(host, "no process can be started: " + m.detail);
            }
          }
          if constexpr (std::is_same_v<M, AgentLost>) console_.Lost(NameOf(host), m.why);
          if constexpr (std::is_same_v<M, ProcessStarted> || std::is_same_v<M, SpawnFailed>) OnStartAnswered(host);
          if constexpr (std::is_same_v<M, AgentEmpty> || std::is_same_v<M, AgentLost>)
            start_window_.Lost(host, clock_->Monotonic());
          Happened(Event(std::move(m)));
        }
      },
      message);
}

void Session::OnStray(std::uint32_t host, const StrayMessage& stray) {
  Record(HostStray{host, stray.what});
  if (std::exchange(agents_[host].warned_of_strays, true)) return;
  console_.Warn(fmt::format("unexpected message from {}, ignored: {}", NameOf(host), stray.what));
}

void Session::OnReady(std::uint32_t host, const AgentReady& ready) {
  Record(AgentConnected{host, ready.pid, ready.start_ticks, ready.host_name, ready.mechanisms, ready.cgroup,
                        ready.descriptors, ready.memory_kib});
  if (ready.version != kProtocolVersion) {
    OnMessage(
        host,
        AgentLost{host, fmt::format("it speaks protocol {}, this muster {}", ready.version, kProtocolVersion), 0});
    return;
  }
  agents_[host].host_name = ready.host_name;
  agents_[host].answered = true;
  if (elsewhere_) {
    agents_[host].address = ready.address;
    agents_[host].shares_run_dir = ready.shares_run_dir;
    Record(HostReached{host, NameOf(host), ready.address, ready.shares_run_dir});
    JudgeRefusals();
    if (ended_ || supervisor_.phase() != Phase::kPreparing) return;
  }
  if (looks_first()) Look(host);
  if (elsewhere_ && request_.code) return Ship(host);
  Furnish(host);
}

void Session::BeginIfReady() {
  if (supervisor_.phase() != Phase::kPreparing) return;
  if (!std::all_of(agents_.begin(), agents_.end(), [](const Agent& agent) { return agent.ready; })) return;
  if (looks_first() && preflighting_ != Preflighting::kDone) return OpenWays();
  if (const Result<void> bound = Bind(); !bound) return Unready(Sentence(bound.error()));
  Perform(supervisor_.Begin(clock_->Monotonic()));
  if (request_.on_begun) request_.on_begun(binding_.run_id, binding_.run_dir);
}

void Session::Unready(const std::string& why) {
  Record(PreparationFailed{why});
  console_.Warn(why);
  Perform(supervisor_.Abandon(why, clock_->Monotonic()));
}

void Session::Happened(const Event& event) {
  std::visit([this](const auto& e) { Record(e); }, event);
  if (terminal_) LendTerminal(event);
  roll_.Saw(event, clock_->Monotonic());
  console_.Saw(event);
  Perform(supervisor_.Step(event, clock_->Monotonic()));
}

void Session::Perform(const std::vector<Action>& actions) {
  WatchCheckpoints();  // before anybody is asked to write one
  if (std::any_of(actions.begin(), actions.end(), [](const Action& action) {
        const auto* start = std::get_if<StartOrdered>(&action);
        return start != nullptr && start->attempt > 0;
      })) {
    FindCheckpoint();
  }
  for (const Action& action : actions) {
    std::visit(
        [this](const auto& a) {
          using A = std::decay_t<decltype(a)>;
          if constexpr (std::is_same_v<A, ArmTimer>) {
            timers_.Arm(a.timer, a.deadline);
          } else if constexpr (std::is_same_v<A, DisarmTimer>) {
            timers_.Disarm(a.timer);
          } else if constexpr (std::is_same_v<A, AskOutput>) {
            for (std::uint32_t host = 0; host < agents_.size(); ++host) Send(host, a);
          } else if constexpr (std::is_same_v<A, EndRun>) {
            ended_ = true;
          } else {
            Record(a);  // before what it explains
            if constexpr (std::is_same_v<A, StartOrdered>) Start(a);
            if constexpr (std::is_same_v<A, StopOrdered>) Stop(a);
            if constexpr (std::is_same_v<A, DumpOrdered>) Dump(a);
            if constexpr (std::is_same_v<A, FirstFailure>) console_.Failed(a);
            if constexpr (std::is_same_v<A, RestartPlanned>) console_.Restarting(a);
            if constexpr (std::is_same_v<A, LimitPassed>) console_.Passed(a);
            if constexpr (std::is_same_v<A, RebindOrdered>) OrderRebinding();
            if constexpr (std::is_same_v<A, ReplaceOrdered>) OrderReplacement(a);
            if constexpr (std::is_same_v<A, FailureTraced>) console_.Failed({a.process, a.attempt});
            if constexpr (std::is_same_v<A, FinishOrdered>) {
              for (std::uint32_t host = 0; host < agents_.size(); ++host) {
                Send(host, Finish{});
                ExpectAnswer(host, false);
              }
              if (elsewhere_) Later([this] { TellRefused(); });
            }
          }
        },
        action);
  }
  if (ended_) return End();
  SendStarts();
  SetAlarm();
}

void Session::Stop(const StopOrdered& order) {
  if (FailsHere(Fault::kHeadBeforeStop)) return;
  std::map<std::uint32_t, StopProcesses> by_host;
  for (const ProcessId process : order.processes) {
    StopProcesses& stop = by_host[supervisor_.slots().machine(plan_.processes[process].host)];
    stop.signal = order.signal;
    stop.grace_ms = order.grace_ms;
    stop.processes.push_back({process, supervisor_.attempt(process)});
  }
  for (auto& [host, stop] : by_host) {
    Send(host, std::move(stop));
    ExpectAnswer(host, false);
  }
}

void Session::Dump(const DumpOrdered& order) {
  console_.Dumping(order);
  const std::string folder = fmt::format("dumps/{}", order.dump);
  if (const Result<UniqueFd> dumps = MakeFolder(directory_->folder(), "dumps")) {
    if (const Result<UniqueFd> made = MakeFolder(dumps->get(), std::to_string(order.dump)); !made) {
      console_.Warn(Sentence(made.error()));  // what is told is in the journal all the same
    }
  }
  std::vector<TakeDump> by_host(agents_.size(), TakeDump{order.dump, kDumpMs, {}});
  for (ProcessId process = 0; process < plan_.processes.size(); ++process) {
    const ProcessState state = supervisor_.state(process);
    if (state != ProcessState::kRunning && state != ProcessState::kStopping) continue;
    const std::uint32_t attempt = supervisor_.attempt(process);
    by_host[supervisor_.slots().machine(plan_.processes[process].host)].processes.push_back(
        {process, attempt, fmt::format("{}/{}", binding_.run_dir, DumpPath(plan_, order.dump, process, attempt))});
  }
  for (std::uint32_t host = 0; host < agents_.size(); ++host) Send(host, std::move(by_host[host]));
}

void Session::Send(std::uint32_t host, const AgentCommand& command) {
  if (!std::holds_alternative<StartProcess>(command)) SendAllStarts();
  if (!agents_[host].channel || agents_[host].over) return;
  WriteJournal();  // first what is known, then the deed
  agents_[host].channel->Send(command);
}

void Session::ExpectAnswer(std::uint32_t host, bool at_once) {
  if (agents_[host].channel && !agents_[host].over) agents_[host].channel->ExpectAnswer(at_once);
}

void Session::SetAlarm() {
  std::optional<MonotonicNs> earliest = timers_.Earliest();
  if (const auto starts = start_window_.NextAt(clock_->Monotonic()))
    earliest = std::min(earliest.value_or(*starts), *starts);
  if (earliest) {
    clock_->SetAlarm(*earliest, [this] { OnAlarm(); });
  } else {
    clock_->ClearAlarm();
  }
}

void Session::OnAlarm() {
  if (ended_) return;
  SendStarts();
  const std::optional<std::uint64_t> due = timers_.TakeDue(clock_->Monotonic());
  if (!due) return SetAlarm();
  Happened(DeadlinePassed{*due});  // sets the alarm for the next one
}

void Session::Record(JournalEntry entry) {
  const std::uint64_t wall = clock_->Wall();
  const MonotonicNs at = clock_->Monotonic();
  if (control_ && control_->watched()) to_publish_ += JournalLine({journal_->records() + 1, UtcText(wall), at, entry});
  // Together with what follows from it in this turn of the loop.
  if (!std::exchange(journal_due_, true)) Later([this] { WriteJournal(); });
  journal_->Append(std::move(entry), wall, at);
}

void Session::WriteJournal() {
  if (!std::exchange(journal_due_, false)) return;
  journal_->Write();
  // Those who watch read the journal themselves once they hear of the end.
  if (const std::string lines = std::exchange(to_publish_, {}); !lines.empty() && control_) control_->Publish(lines);
  if (journal_->error() == 0 || std::exchange(warned_of_journal_, true)) return;
  console_.Warn(
      SystemError("journal", "the journal cannot be written; it is kept until it can", journal_->error()).message);
}

void Session::End() {
  if (git_) {
    end_waits_ = true;  // not for long: it was asked at the beginning
    return;
  }
  if (terminal_) terminal_->Part();
  if (checkpoint_watch_) checkpoint_watch_->Stop();
  timers_.Clear();
  clock_->ClearAlarm();
  RunEnded ended = supervisor_.Ended(request_.pass_exit_code);
  const SelfCount count = request_.terse ? SelfCount() : CountSelf();
  ended.descriptors = count.descriptors;
  ended.memory_kib = count.memory_kib;
  Record(ended);
  WriteJournal();
  if (!request_.terse) journal_->Sync();
  journal_->Release();  // the reports have what it leaves

  if (request_.on_bad_hosts && !blamed_.empty()) {
    std::vector<std::pair<std::string, std::string>> bad;
    for (const auto& [host, why] : blamed_) bad.emplace_back(NameOf(host), why);
    request_.on_bad_hosts(bad);
  }

  outcome_.run_id = binding_.run_id;
  outcome_.run_dir = binding_.run_dir;
  outcome_.outcome = OutcomeName(ended.cause);
  outcome_.exit_code = ended.exit_code;
  outcome_.why = ended.why;

  std::string text = fmt::format("{} {}: {}\n", Printable(plan_.name), outcome_.outcome, ended.why);
  if (journal_->error() == 0 && (!request_.terse || ended.cause != Cause::kNone)) {
    RunAccount account = WriteRunAccount(directory_->folder(), binding_.run_dir);
    if (account.report) text = ReportText(*account.report, console_.ViewOfReport(ended.cause == Cause::kNone));
    for (const Diagnostic& problem : account.problems) console_.Warn(problem.message);
  }
  console_.Finish(std::move(text), ended.cause == Cause::kNone, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->told_of_end_(self->outcome_);
  });
}

}  // namespace muster
