#include "run/session/session.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/host_name.h"
#include "base/system/known_secrets.h"
#include "base/system/own_process.h"
#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "base/values/diagnostics.h"
#include "base/values/fingerprint.h"
#include "base/values/overloaded.h"
#include "base/values/quoting.h"
#include "muster/binding.h"
#include "plan/check/plan_check.h"
#include "plan/text/plan_text.h"
#include "run/directory/run_files.h"
#include "run/directory/run_tags.h"
#include "run/directory/runtime_directory.h"
#include "run/journal/head_facts.h"
#include "run/loop/output.h"
#include "run/report/failure_analysis.h"
#include "run/report/report.h"
#include "run/session/agent_links.h"
#include "run/session/failure_look.h"
#include "run/session/host_setup.h"
#include "run/session/inquiries.h"
#include "run/session/live_run.h"
#include "run/session/process_orders.h"
#include "run/session/run_binding.h"
#include "run/session/run_checkpoints.h"
#include "run/session/run_control.h"
#include "run/session/run_faults.h"
#include "run/session/run_notices.h"
#include "run/session/usage_record.h"
#include "run/supervise/orders.h"
#include "run/supervise/run_process_table.h"
#include "run/supervise/supervisor.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kRunIdBytes = 6;

// Disk space in bytes for what a run of these processes writes at its end: ends and signals of each process in the
// journal, and the reports with the last lines of logs. A sweep's trial usually writes no report.
std::uint64_t ReservedBytesFor(const Plan& plan, bool terse) {
  constexpr std::uint64_t kOfProcess = 2048;
  constexpr std::uint64_t kMax = 64U << 20;
  return std::min(kMax, (terse ? 32U << 10 : 128U << 10) + kOfProcess * plan.processes.size());
}

// Sets LiveRun::directory, and the values of the request in `binding`.
Result<void> OpenRunDirectory(LiveRun& run, Binding& binding) {
  const RunRequest& request = run.request;
  binding.run_id = request.run_id.empty() ? RandomHex(kRunIdBytes) : request.run_id;
  binding.sweep = request.sweep;
  const std::string name = request.rehearsal ? run.plan.name + ".rehearsal" : run.plan.name;
  Result<RunDirectory> made = request.run_dir.empty()
                                  ? RunDirectory::MakeBelow(request.runs_folder, name, StampText(run.clock->Wall()),
                                                            binding.run_id, request.for_group)
                              : request.submitted ? RunDirectory::HoldAgain(request.run_dir, kRunDirectories)
                                                  : RunDirectory::MakeAt(request.run_dir, request.for_group);
  if (!made) return Fail(std::move(made.error()));
  run.directory = std::move(*made);
  binding.run_dir = run.directory->path();
  binding.checkpoint = request.checkpoint;
  if (request.on_directory) request.on_directory(binding.run_id, binding.run_dir);
  return {};
}

// The files that define the run. Sets LiveRun::plan_id. Returns the folder of the logs.
Result<UniqueFd> WriteFirstFiles(LiveRun& run) {
  const RunRequest& request = run.request;
  const int folder = run.directory->folder();
  const std::map<std::string, std::string> inherited =
      RecordedVariables(request.environment, HiddenValues(run.plan, run.binding.secrets));
  const bool with_text = !request.terse;
  const std::string text = with_text || request.plan_id.empty() ? PlanText(run.plan) : std::string();
  run.plan_id = request.plan_id.empty() ? PlanIdOfText(text) : request.plan_id;
  Result<UniqueFd> logs = WriteRunFiles(
      folder, {run.plan, run.plan_id, request.inputs, request.evaluation, inherited, request.sources,
               request.linked_sources, with_text ? std::string_view(text) : std::string_view(), request.submitted});
  if (!logs) return logs;
  if (Result<void> tagged = WriteTags(folder, request.tags); !tagged) return Fail(std::move(tagged.error()));
  if (Result<void> noted = WriteNote(folder, request.note); !noted) return Fail(std::move(noted.error()));
  return logs;
}

// Creates the journal with its first record.
Result<void> OpenJournal(LiveRun& run) {
  const RunRequest& request = run.request;
  Result<void> created = run.journal.Create(run.directory->folder(), ReservedBytesFor(run.plan, request.terse));
  if (!created) return created;
  run.began_at = run.clock->Monotonic();
  RunBegan began;
  began.run_id = run.binding.run_id;
  began.plan_id = run.plan_id;
  began.name = run.plan.name;
  began.pid = ::getpid();
  began.pass_exit_code = request.pass_exit_code;
  began.plan_ns = request.plan_ns;
  began.evaluate_ns = request.evaluate_ns;
  began.start_ticks = OwnStartTicks();
  began.boot = BootId();
  began.lockdown = request.lockdown;
  began.parent = request.parent;
  began.tags = request.tags;
  began.rehearsal = request.rehearsal;
  began.drill = request.drill;
  const SelfCount count = request.terse ? SelfCount() : CountSelf();
  began.descriptors = count.descriptors;
  began.memory_kib = count.memory_kib;
  run.journal.Record(std::move(began));
  return {};
}

// Conditions that must hold before anything is created.
Diagnostics Refusals(const RunRequest& request, const Transport& transport) {
  Diagnostics refusals = ValidatePlan(request.plan);
  const std::size_t hosts = request.plan.hosts.size();
  if (hosts > 1 && !transport.remote()) {
    refusals.push_back(MachineError("hosts",
                                    fmt::format("the plan needs {} hosts, and this run has only this machine", hosts),
                                    "set hosts = 1, or name them: --host n[01-04] or --hostfile FILE"));
  } else if (!request.spares.empty() && (request.hosts.empty() || !transport.remote())) {
    refusals.push_back(MachineError("hosts", "a run on this machine alone cannot use spare hosts"));
  } else if (!request.hosts.empty() && request.hosts.size() != hosts) {
    refusals.push_back(
        MachineError("hosts", fmt::format("the plan needs {} hosts, {} are named", hosts, request.hosts.size())));
  } else if (!transport.remote() && hosts == 1 && !request.hosts.empty() &&
             !IsThisMachine(request.hosts.front().name)) {
    refusals.push_back(MachineError("hosts",
                                    fmt::format("{} is not this machine, {}, and this run has only this one",
                                                request.hosts.front().name, OwnHostName()),
                                    "name localhost, or no host"));
  }
  return refusals;
}

}  // namespace

// An active run: the implementation of run/session/run_request.h as one object. It passes events to the supervisor and
// performs its decisions; each subject has its own part in a file of this folder.

// The loop may be shared: handlers that are still queued when the session is destroyed do nothing.
class Session final : public std::enable_shared_from_this<Session>, private RunEvents {
 public:
  using Ended = std::function<void(RunOutcome)>;

  // `io` and `transport` must outlive it. `ended` is called from the loop, once, as the last action; it may destroy the
  // session.
  Session(boost::asio::io_context& io, std::shared_ptr<const RunRequest> request, Transport& transport, Ended ended);
  ~Session();

  // Performs all steps before the first return to the loop. If one fails, nothing has been started, and `ended` is
  // never called.
  Result<void> Begin();
  // Like `muster stop`.
  void Stop(bool now) { control_.Stop(now, false); }
  // Creates the control socket now if it would be created after a delay.
  void ListenNow() { control_.ListenNow(); }

 private:
  Result<void> Open();
  void HandleEvent(const Event& event) override;
  using RunEvents::Abandon;
  void Abandon(const std::string& why, const std::vector<std::string>& hints) override;
  void BeginIfReady() override;

  // Reports that every ordered start has succeeded, once.
  void ReportBegun();
  // Watches whether the path still leads to the run directory.
  void WatchPlace();
  void AwaitPlace();
  // Whether it does; otherwise it is reported once.
  bool CheckPlace();

  Progress ShownProgress() const;
  void WarnOfOpenWay();
  void Greet();

  void OnMessage(std::uint32_t host, ChannelMessage message);
  void OnReady(std::uint32_t host, const AgentReady& ready);
  void OnRefused(std::uint32_t host, AgentUnreachable why);
  void OnEmpty(std::uint32_t host, AgentEmpty empty);
  void OnLost(std::uint32_t host, AgentLost lost);
  void OnSpawnFailed(std::uint32_t host, SpawnFailed failed);
  void OnStray(std::uint32_t host, const StrayMessage& stray);
  void OnFileBytes(std::uint32_t host, const FileBytes& bytes);

  void Perform(const std::vector<Action>& actions);
  void Perform(const Action& action);
  // Sent to all agents.
  void OrderFinish();
  // Handles hosts without an agent after the end was ordered: no more messages come from them.
  void HandleRefused();
  void SetAlarm();
  void OnAlarm();
  void End();
  void CorrectOrigin();
  std::string EndText(const RunEnded& ended);
  void RememberHosts(const Report& report) const;

  const std::shared_ptr<const RunRequest> request_;
  Transport& transport_;
  const Ended on_ended_;
  Supervisor supervisor_;
  Binding binding_;
  LiveRun run_;
  UniqueFd logs_;
  LiveHead announced_;  // not set for a trial: its sweep's head is announced
  RunProcessTable process_table_;
  TimerQueue timers_;
  AgentLinks links_;
  FilesElsewhere files_;
  FailedHosts failed_;
  RunBinding bound_;
  CodeDelivery code_;
  DeviceQueue devices_;
  std::vector<HostSetup> setups_;
  HostPreflight preflight_;
  PortReplacement rebinding_;
  RunCheckpoints checkpoints_;
  FailureLook failures_;
  LentTerminal terminal_;
  UsageRecord usage_;
  ProcessOrders orders_;
  GitQuestion git_;
  EngineInquiry engine_;
  RunNotices notices_;
  RunFaults faults_;
  RunControl control_;
  std::set<std::uint32_t> strays_shown_;  // host indices
  bool begun_reported_ = false;
  boost::asio::posix::stream_descriptor place_;  // inotify(7)
  std::string displaced_;                        // what was lost with the run directory; empty while it is in its place
  RunOutcome outcome_;
};

Session::Session(boost::asio::io_context& io, std::shared_ptr<const RunRequest> request, Transport& transport,
                 Ended ended)
    : request_(std::move(request)),
      transport_(transport),
      on_ended_(std::move(ended)),
      supervisor_(request_->plan, request_->spares),
      run_(io, *request_, supervisor_, binding_, !request_->hosts.empty() && transport.remote(), *this),
      process_table_(request_->plan),
      links_(run_, supervisor_.slots().machines()),
      files_(run_, links_),
      failed_(run_, files_, links_.size()),
      bound_(run_, binding_, links_, files_),
      code_(run_, links_, bound_),
      devices_(run_, links_),
      preflight_(run_, links_, failed_, setups_),
      rebinding_(run_, links_, bound_),
      checkpoints_(run_, bound_),
      failures_(run_, checkpoints_, process_table_),
      terminal_(run_, links_),
      usage_(run_),
      orders_(run_, links_, terminal_, process_table_, bound_.surroundings()),
      git_(run_),
      engine_(run_),
      notices_(run_),
      faults_(run_, links_, process_table_),
      control_(run_, links_, git_, engine_, notices_, devices_, faults_,
               [this] {
                 std::vector<std::string> names;
                 for (const HostSetup& setup : setups_) names.push_back(setup.host_name());
                 const MonotonicNs now = run_.clock->Monotonic();
                 return ProcessStatuses{(now - run_.began_at) / 1'000'000,
                                        process_table_.Statuses(run_.plan, supervisor_, names, now)};
               }),
      place_(io) {
  setups_.reserve(links_.size());
  for (std::uint32_t host = 0; host < links_.size(); ++host) {
    setups_.emplace_back(run_, links_, code_, bound_, devices_, host);
  }
  links_.BeforeCommands([this] { orders_.SendAllStarts(); });
  supervisor_.JudgeBy(request_->verdict_rules, failures_);
}

Session::~Session() {
  links_.Disconnect();  // before the objects that they report to are destroyed
}

// --- the beginning ---------------------------------------------------------------------------------

Result<void> Session::Begin() {
  Result<void> begun = Open();
  // Nothing has been started: a directory of its own without a beginning would take the name of earlier runs.
  if (!begun && run_.directory && run_.request.run_dir.empty()) DiscardDirectory(binding_.run_dir);
  return begun;
}

Result<void> Session::Open() {
  run_.session = weak_from_this();
  control_.CatchSignals();
  Result<std::map<std::string, std::string>> secrets = ResolveSecrets(run_.plan, run_.request.environment);
  if (!secrets) return Fail(std::move(secrets.error()));
  binding_.secrets = std::move(*secrets);
  for (const auto& [name, value] : binding_.secrets) HideFromNowOn(value);
  if (Result<void> opened = terminal_.Open([this] { control_.StopByKeys(); }); !opened) return opened;
  if (Result<void> opened = OpenRunDirectory(run_, binding_); !opened) return opened;
  checkpoints_.NoteEarlier();
  if (run_.request.keep_words) {
    Result<void> kept = RedirectToHeadLog(run_.directory->folder(), run_.request.console.err);
    if (!kept) return kept;
  }
  // Agents connect while the files are written.
  links_.Connect(transport_,
                 [this](std::uint32_t host, ChannelMessage message) { OnMessage(host, std::move(message)); });
  Result<UniqueFd> logs = WriteFirstFiles(run_);
  if (!logs) return Fail(std::move(logs.error()));
  logs_ = std::move(*logs);
  if (Result<void> written = files_.WriteProbe(); !written) return written;
  notices_.Begin();
  run_.journal.Observe([this](const JournalEntry& entry) { notices_.Saw(entry); });
  if (Result<void> opened = OpenJournal(run_); !opened) return opened;

  const std::string& run_dir = binding_.run_dir;
  if (run_.request.catch_signals) announced_ = LiveHead::Announce(OwnLiveHeadsFolder(), run_dir, binding_.run_id);
  run_.console.Began(binding_.run_id, run_.plan_id, run_dir);
  if (!run_.request.terse) WarnOfOpenWay();
  run_.console.Follow(logs_.get(), FileBelow{logs_.get(), {}}.ThroughDescriptor());
  control_.Listen();
  run_.console.ShowProgress([this] { return ShownProgress(); });
  Greet();
  run_.Later([this] { git_.Ask(); });     // after the command that starts agents, which takes longer
  if (!run_.request.terse) WatchPlace();  // the head of a sweep watches the directory of the sweep
  return {};
}

// The directory itself cannot be replaced unnoticed; what processes open by its path later can.
void Session::WarnOfOpenWay() {
  const auto way = OpenWayTo(binding_.run_dir);
  if (!way) return;
  run_.console.Warn(fmt::format("warning: {}: {}", way->why, kOpenWay));
  run_.console.Warn("hint: " + way->hint);
}

Progress Session::ShownProgress() const {
  Progress now = ProgressNow(run_.plan, supervisor_, process_table_, run_.directory->folder(), run_.began_at,
                             run_.clock->Monotonic());
  if (const std::string shipping = code_.Text(); !shipping.empty()) now.phase = shipping;
  if (!devices_.waiting().empty()) now.phase = "waiting for devices";
  return now;
}

void Session::Greet() {
  const std::vector<Role>& roles = run_.plan.roles;
  const bool limited =
      std::any_of(roles.begin(), roles.end(), [](const Role& role) { return role.limits.log_bytes > 0; });
  for (std::uint32_t host = 0; host < links_.size(); ++host) {
    Hello hello{kProtocolVersion, binding_.run_id, host, limited ? kLogsEntry.In(binding_.run_dir) : std::string()};
    hello.run_dir = binding_.run_dir;
    hello.elsewhere = run_.elsewhere;
    hello.usage_ms = UsageIntervalMs(run_.request.environment);
    hello.device_kind = run_.plan.device_use.kind;
    links_.Send(host, std::move(hello));
  }
  run_.Later([this] { BeginIfReady(); });  // a plan without hosts waits for no agent
}

void Session::BeginIfReady() {
  if (!run_.preparing()) return;
  if (!std::all_of(setups_.begin(), setups_.end(), [](const HostSetup& setup) { return setup.prepared(); })) return;
  if (!preflight_.Done()) return;
  std::vector<HostBinding> hosts;
  for (std::uint32_t host = 0; host < run_.plan.hosts.size(); ++host) hosts.push_back(setups_[host].Bound());
  if (const Result<void> bound = bound_.Bind(std::move(hosts)); !bound) return Abandon(Sentence(bound.error()));
  Perform(supervisor_.Begin(run_.clock->Monotonic()));
}

void Session::ReportBegun() {
  if (begun_reported_ || !supervisor_.AtWork() || !orders_.AllAnswered()) return;
  begun_reported_ = true;
  if (run_.request.on_begun) run_.request.on_begun(binding_.run_id, binding_.run_dir);
}

// --- the place of the run directory ----------------------------------------------------------------

void Session::WatchPlace() {
  const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (watch < 0) return;  // the end is checked in any case
  place_.assign(watch);
  // The removal of a directory that is open changes its attributes. A folder above it may be renamed.
  constexpr std::uint32_t kSelf = IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR;
  const std::string self = FileBelow{run_.directory->folder(), {}}.ThroughDescriptor();
  ::inotify_add_watch(watch, self.c_str(), kSelf | IN_ATTRIB);
  for (std::filesystem::path above = std::filesystem::path(binding_.run_dir).parent_path(); above.has_relative_path();
       above = above.parent_path()) {
    ::inotify_add_watch(watch, above.c_str(), kSelf);
  }
  AwaitPlace();
}

void Session::AwaitPlace() {
  place_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [this, weak = weak_from_this()](const boost::system::error_code& error) {
                      const auto self = weak.lock();
                      if (error || !self || run_.ended) return;
                      ReadFileChanges(place_.native_handle(), [](const FileChange&) {});
                      if (CheckPlace()) AwaitPlace();
                    });
}

bool Session::CheckPlace() {
  if (!displaced_.empty()) return false;
  if (LeadsTo(binding_.run_dir, run_.directory->folder())) return true;
  std::error_code error;
  const std::string now =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", run_.directory->folder()), error).string();
  constexpr std::string_view kRemoved = " (deleted)";
  if (error || now.ends_with(kRemoved) || now == binding_.run_dir) {
    displaced_ =
        fmt::format("the run directory {} was removed during the run: its logs, its journal and its report are lost",
                    Quoted(binding_.run_dir));
  } else {
    displaced_ = fmt::format(
        "the run directory {} was moved to {} during the run: what the job opened by the old path "
        "since then is lost",
        Quoted(binding_.run_dir), Quoted(now));
  }
  run_.console.Warn(displaced_);
  return false;
}

// --- messages of agents --------------------------------------------------------------------------

void Session::OnMessage(std::uint32_t host, ChannelMessage message) {
  if (std::holds_alternative<AgentEmpty>(message) || std::holds_alternative<AgentLost>(message)) {
    links_.SetEnding(host, false);
  }
  if (run_.ended || links_.over(host)) return;
  HostSetup& setup = setups_[host];
  const auto of_host = [&](auto& event) {
    event.host = host;
    HandleEvent(std::move(event));
  };
  std::visit(Overloaded{
                 [&](AgentReady& m) { OnReady(host, m); },
                 [&](AgentFailed& m) { failed_.SetAgentError(host, std::move(m.why)); },
                 [&](AgentUnreachable& m) {
                   if (!run_.elsewhere) return OnLost(host, {host, m.why, 0});
                   OnRefused(host, std::move(m));
                 },
                 [&](AgentLost& m) { OnLost(host, std::move(m)); },
                 [&](AgentSignalled&) { control_.AgentSignalled(host); },
                 [&](HostUnheard&) { outcome_.unheard_host = run_.NameOf(host); },
                 [&](HostPaused& m) { engine_.Paused(m.phrase); },
                 [&](HostCleared& m) {
                   links_.SetEnding(host, true);
                   OnEmpty(host, m.empty);
                 },
                 [&](AgentEmpty& m) { OnEmpty(host, m); },
                 [&](StrayMessage& m) { OnStray(host, m); },
                 // Messages before the first process.
                 [&](CodeMissing& m) { code_.OnMissing(host, m); },
                 [&](CodeReceived& m) { code_.OnTaken(host, m); },
                 [&](CodeReady& m) { setup.OnCodeReady(m); },
                 [&](HostActivated& m) { setup.OnActivated(std::move(m)); },
                 [&](PortsHeld& m) {
                   if (rebinding_.active()) return rebinding_.OnPortsHeld(host, m);
                   setup.OnPortsHeld(m);
                 },
                 [&](DevicesAwaited& m) { setup.OnDevicesAwaited(std::move(m)); },
                 [&](ResourcesAllocated& m) { setup.OnResourcesAllocated(m); },
                 [&](Inspected& m) { preflight_.OnInspected(host, m); },
                 [&](PathsOpen& m) { preflight_.OnPathsOpen(host, m); },
                 [&](PathsProbed& m) { preflight_.OnPathsProbed(host, m); },
                 // Messages about processes.
                 [&](ProcessStarted& m) {
                   orders_.Answered(host);
                   HandleEvent(std::move(m));
                   ReportBegun();
                 },
                 [&](SpawnFailed& m) { OnSpawnFailed(host, std::move(m)); },
                 [&](PtyBytes& m) { terminal_.Written(m); },
                 [&](PtyTaken& m) { terminal_.Taken(m); },
                 // Messages about hosts.
                 [&](ClockCompared& m) { of_host(m); },
                 [&](OutputSeen& m) { of_host(m); },
                 [&](HostDumped& m) { of_host(m); },
                 [&](UsageSampled& m) { usage_.Keep(m); },
                 [&](DiskFilled& m) { faults_.Filled(host, m); },
                 [&](FileBytes& m) { OnFileBytes(host, m); },
                 [&](FilesSent&) { files_.Finish(host); },
                 [](FromAgent&) {},  // from agents below this one, which a run does not request
                 [](AgentExited&) {},
                 [&](auto& event) { HandleEvent(std::move(event)); },
             },
             message);
}

void Session::OnReady(std::uint32_t host, const AgentReady& ready) {
  run_.journal.Record(AgentConnected{host, ready.pid, ready.start_ticks, ready.host_name, ready.mechanisms,
                                     ready.cgroup, ready.descriptors, ready.memory_kib});
  if (ready.version != kProtocolVersion) {
    return OnLost(host, {host, OtherProtocolText(std::to_string(ready.version)), 0});
  }
  setups_[host].Connected(ready);
  if (run_.elsewhere) {
    if (!ready.shares_run_dir) files_.Add(host, ready.host_name);
    run_.journal.Record(HostReached{host, run_.NameOf(host), ready.address, ready.shares_run_dir});
  }
  failed_.Answered(host);
  if (run_.elsewhere && (run_.ended || !run_.preparing())) return;
  preflight_.Inspect(host);
  setups_[host].Begin();
}

void Session::OnRefused(std::uint32_t host, AgentUnreachable why) {
  links_.SetOver(host);
  if (run_.preparing()) return failed_.Refused(host, std::move(why));
  if (!why.abandoned) run_.console.Lost(run_.NameOf(host), why.why);
  HandleEvent(AgentLost{host, why.why, 0});
}

void Session::OnEmpty(std::uint32_t host, AgentEmpty empty) {
  empty.host = host;
  links_.SetOver(host);
  orders_.Lost(host);
  HandleEvent(empty);
}

void Session::OnLost(std::uint32_t host, AgentLost lost) {
  lost.host = host;
  links_.SetOver(host);
  const std::string& error = failed_.agent_error(host);
  if (lost.why.find(error) == std::string::npos) lost.why += fmt::format(": {}", error);
  if (run_.elsewhere && !failed_.answered(host)) {
    return OnRefused(host, {error.empty() ? lost.why : "its agent: " + error, {}});
  }
  failed_.Blame(host, lost.why);
  run_.console.Lost(run_.NameOf(host), lost.why);
  orders_.Lost(host);
  engine_.AskAboutHost(host);
  HandleEvent(std::move(lost));
}

void Session::OnSpawnFailed(std::uint32_t host, SpawnFailed failed) {
  // A failure before the program is executed is caused by the host.
  for (const std::string_view stage : {"descriptors", "log", "clone"}) {
    if (failed.stage == stage) failed_.Blame(host, "no process can be started: " + failed.detail);
  }
  orders_.Answered(host);
  HandleEvent(std::move(failed));
  ReportBegun();
}

void Session::OnStray(std::uint32_t host, const StrayMessage& stray) {
  run_.journal.Record(HostStray{host, stray.what});
  if (!strays_shown_.insert(host).second) return;
  run_.console.Warn(fmt::format("unexpected message from {}, ignored: {}", run_.NameOf(host), stray.what));
}

void Session::OnFileBytes(std::uint32_t host, const FileBytes& bytes) {
  if (!files_.Has(host)) return;
  // While data arrives, the end is not overdue.
  if (supervisor_.phase() == Phase::kFinishing) {
    timers_.Arm(kFinishTimer, run_.clock->Monotonic() + std::uint64_t{kFinishMarginMs} * 1'000'000);
    SetAlarm();
  }
  files_.Keep(host, bytes);
}

// --- decisions of the supervisor -----------------------------------------------------------------

void Session::HandleEvent(const Event& event) {
  std::visit([this](const auto& e) { run_.journal.Record(e); }, event);
  terminal_.Saw(event);
  failures_.Saw(event);
  process_table_.Saw(event, run_.clock->Monotonic());
  run_.console.Saw(event);
  Perform(supervisor_.Step(event, run_.clock->Monotonic()));
}

void Session::Abandon(const std::string& why, const std::vector<std::string>& hints) {
  run_.journal.Record(PreparationFailed{why});
  run_.console.Warn(why);
  for (const std::string& hint : hints) run_.console.Warn("hint: " + hint);
  Perform(supervisor_.Abandon(why, run_.clock->Monotonic()));
}

void Session::Perform(const std::vector<Action>& actions) {
  checkpoints_.WatchIfAwaited();  // before any process gets its checkpoint signal
  const bool again = std::any_of(actions.begin(), actions.end(), [](const Action& action) {
    const auto* start = std::get_if<StartOrdered>(&action);
    return start != nullptr && start->attempt > 0;
  });
  if (again) checkpoints_.UseNewest();
  for (const Action& action : actions) Perform(action);
  if (run_.ended) return End();
  orders_.SendStarts();
  SetAlarm();
}

void Session::Perform(const Action& action) {
  const Overloaded perform{
      [&](const StartOrdered& a) { orders_.Start(a); },
      [&](const StopOrdered& a) { orders_.Stop(a); },
      [&](const DumpOrdered& a) { orders_.Dump(a); },
      [&](const FirstFailure& a) {
        run_.console.Failed(a);
        // An engine that ends the job signals the processes as well, perhaps before their agent.
        if (process_table_.SignalOf(a.process, a.attempt) == SIGTERM) engine_.AskAboutStop();
      },
      [&](const FailureTraced& a) {
        run_.console.Failed({a.process, a.attempt});
      },
      [&](const RestartPlanned& a) { run_.console.Restarting(a); },
      [&](const LimitPassed& a) { run_.console.Passed(a); },
      [&](const RebindOrdered&) { rebinding_.Begin(); },
      [&](const ReplaceOrdered& a) { setups_[a.by].TakePlace(a.host); },
      [&](const FinishOrdered&) { OrderFinish(); },
      Ignoring<PhaseChanged, EndedEarly, StrayEvent, DumpEnded,
               FailureJudged>(),  // only for the journal
  };
  std::visit(Overloaded{
                 [&](const ArmTimer& a) { timers_.Arm(a.timer, a.deadline); },
                 [&](const DisarmTimer& a) { timers_.Disarm(a.timer); },
                 [&](const RequestOutput& a) { links_.SendAll(a); },
                 [&](const EndRun&) { run_.ended = true; },
                 [&](const auto& fact) {
                   run_.journal.Record(fact);  // before the actions that it explains
                   perform(fact);
                 },
             },
             action);
}

void Session::OrderFinish() {
  for (std::uint32_t host = 0; host < links_.size(); ++host) {
    links_.Send(host, Finish{});
    links_.ExpectAnswer(host, false);
  }
  if (run_.elsewhere) run_.Later([this] { HandleRefused(); });
}

void Session::HandleRefused() {
  while (!run_.ended) {
    const std::optional<AgentLost> lost = failed_.TakeLost();
    if (!lost) return;
    run_.journal.Record(*lost);  // not shown, since the refusal was shown already
    Perform(supervisor_.Step(Event(*lost), run_.clock->Monotonic()));
  }
}

void Session::SetAlarm() {
  std::optional<MonotonicNs> earliest = timers_.Earliest();
  if (const auto start = orders_.NextStartAt()) earliest = std::min(earliest.value_or(*start), *start);
  if (earliest) {
    run_.clock->SetAlarm(*earliest, [this] { OnAlarm(); });
  } else {
    run_.clock->ClearAlarm();
  }
}

void Session::OnAlarm() {
  if (run_.ended) return;
  orders_.SendStarts();
  const std::optional<std::uint64_t> due = timers_.TakeDue(run_.clock->Monotonic());
  if (!due) return SetAlarm();
  HandleEvent(DeadlinePassed{*due});  // also sets the alarm for the next deadline
}

// --- the end ---------------------------------------------------------------------------------------

void Session::End() {
  if (git_.DelaysEnd([this] { End(); }) || engine_.DelaysEnd([this] { End(); })) return;
  boost::system::error_code ignored;
  place_.close(ignored);
  if (!run_.request.terse) CheckPlace();
  terminal_.Part();
  if (const auto written = checkpoints_.WrittenUnseen())
    run_.journal.Record(CheckpointSeen{*written, {}, CheckpointAgeMs(*written)});
  checkpoints_.StopWatching();
  timers_.Clear();
  run_.clock->ClearAlarm();
  CorrectOrigin();
  RunEnded ended = supervisor_.Ended(run_.request.pass_exit_code);
  if (ended.cause != Cause::kNone) {
    // Of a command that is about to end, all words are awaited.
    engine_.Hear(transport_.StartWords(links_.AnyEnding() ? EngineInquiry::kWordsWithin : engine_.WaitForWords()));
    ended.why = engine_.Explained(std::move(ended.why));
  }
  const SelfCount count = run_.request.terse ? SelfCount() : CountSelf();
  ended.descriptors = count.descriptors;
  ended.memory_kib = count.memory_kib;
  run_.journal.Record(ended);
  run_.journal.Close(!run_.request.terse);
  failed_.Report();

  outcome_.run_id = binding_.run_id;
  outcome_.run_dir = binding_.run_dir;
  outcome_.outcome = OutcomeName(ended.cause);
  outcome_.exit_code = ended.exit_code;
  outcome_.why = ended.why;
  if (!displaced_.empty()) {
    constexpr int kResultsLost = 3;  // caused by the machine, as after a lost host
    outcome_.exit_code = kResultsLost;
    outcome_.why += (outcome_.why.empty() ? "" : "; ") + displaced_;
  }
  outcome_.job_end = engine_.job_end();
  outcome_.stopped_by_engine = control_.stopped_for_agents();
  run_.console.Finish(EndText(ended), ended.cause == Cause::kNone, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->links_.WhenEnded([it = self.get()] {
      it->notices_.Finish([later = it->weak_from_this()] {
        if (const auto over = later.lock()) over->on_ended_(over->outcome_);
      });
    });
  });
}

// The first process to end is not the first that failed if another one needed long for its exit.
void Session::CorrectOrigin() {
  if (supervisor_.cause() != Cause::kFailed || !supervisor_.first_failure() || run_.request.terse) return;
  run_.journal.Write();
  const Result<RecordedRun> so_far = ReadRun(binding_.run_dir, std::shared_ptr<const Plan>(request_, &request_->plan));
  if (!so_far) return;  // the report says why
  const auto proven = FindProvenOrigin(run_.plan, so_far->history, *supervisor_.first_failure(), so_far->folder.get());
  if (!proven) return;
  const ProcessExited& exit = proven->exit;
  const std::string name = ProcessName(run_.plan, run_.plan.processes[exit.process]);
  run_.journal.Record(EndEvidence{exit.process, exit.attempt, "error_file", proven->evidence, exit.at});
  run_.journal.Record(supervisor_.Correct(exit, fmt::format("{} {}", name, EndingText(run_.plan, exit))));
  run_.console.Warn(fmt::format("{} failed first: {}", name, proven->evidence));
}

std::string Session::EndText(const RunEnded& ended) {
  std::string text =
      fmt::format("{} {}{}{}\n", Printable(run_.plan.name), outcome_.outcome, ended.why.empty() ? "" : ": ", ended.why);
  const bool well = ended.cause == Cause::kNone;
  if (!run_.journal.complete() || (run_.request.terse && well)) return text;
  const ReportFiles written = WriteReportFiles(run_.directory->folder(), binding_.run_dir,
                                               std::shared_ptr<const Plan>(request_, &request_->plan));
  if (written.report) RememberHosts(*written.report);
  if (written.report) text = ReportText(*written.report, run_.console.ViewOfReport(well));
  for (const Diagnostic& problem : written.problems) run_.console.Warn(problem.message);
  if (!displaced_.empty()) text += fmt::format("  {:<10}{}\n", "lost", Printable(displaced_));
  return text;
}

void Session::RememberHosts(const Report& report) const {
  if (!run_.request.on_used_hosts || report.rehearsal) return;
  const auto name_of = [&](std::uint32_t machine) {
    return run_.NamedBy(machine) == nullptr ? OwnHostName() : run_.NameOf(machine);
  };
  std::vector<HostUse> used;
  const std::size_t machines = run_.plan.hosts.size() + run_.request.spares.size();
  for (std::uint32_t machine = 0; machine < machines; ++machine) {
    used.push_back({name_of(machine), static_cast<std::uint64_t>(report.timings.total), {}});
  }
  for (const RecordedFailure& failure : report.failures) {
    if (failure.machine >= used.size()) continue;
    const std::uint64_t at = ParseUtc(failure.at).value_or(WallNowNs()) / 1'000'000'000;
    used[failure.machine].failures.push_back(
        {at, report.run, report.name,
         failure.process ? ProcessName(run_.plan, run_.plan.processes[*failure.process]) : "", failure.attempt,
         failure.step, std::string(FailureClassName(failure.fingerprint.of)), failure.fingerprint.Id(),
         failure.fingerprint.Text()});
  }
  run_.request.on_used_hosts(used);
}

Result<std::unique_ptr<RunInProgress>> RunInProgress::Begin(boost::asio::io_context& io, RunRequest request,
                                                            Transport& transport, Ended ended) {
  // A session requires a valid plan from its construction on.
  if (Diagnostics refusals = Refusals(request, transport); HasErrors(refusals)) return Fail(std::move(refusals));
  request.catch_signals = false;
  auto session = std::make_shared<Session>(io, std::make_shared<const RunRequest>(std::move(request)), transport,
                                           std::move(ended));
  if (Result<void> begun = session->Begin(); !begun) return Fail(std::move(begun.error()));
  return std::unique_ptr<RunInProgress>(new RunInProgress(std::move(session)));
}

RunInProgress::RunInProgress(std::shared_ptr<Session> session) : session_(std::move(session)) {}

RunInProgress::~RunInProgress() = default;

void RunInProgress::Stop(bool now) { session_->Stop(now); }

void RunInProgress::Listen() { session_->ListenNow(); }

Result<RunOutcome> RunPlan(const RunRequest& request, Transport& transport) {
  if (Diagnostics refusals = Refusals(request, transport); HasErrors(refusals)) return Fail(std::move(refusals));
  const PipeSignalIgnored no_pipe_signal;
  boost::asio::io_context io;
  RunOutcome outcome;
  // Does not own the request, which belongs to the caller and outlives the session.
  const auto session = std::make_shared<Session>(
      io, std::shared_ptr<const RunRequest>(std::shared_ptr<void>(), &request), transport, [&](RunOutcome ended) {
        outcome = std::move(ended);
        io.stop();
      });
  if (Result<void> begun = session->Begin(); !begun) return Fail(std::move(begun.error()));
  const auto until_ended = boost::asio::make_work_guard(io);
  io.run();
  return outcome;
}

}  // namespace muster
