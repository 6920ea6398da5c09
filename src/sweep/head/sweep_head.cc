#include "sweep/head/sweep_head.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/own_process.h"
#include "base/system/private_files.h"
#include "base/values/abnormal_exit.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "metrics/log_patterns.h"
#include "muster/exit_code.h"
#include "run/control/control_server.h"
#include "run/directory/runtime_directory.h"
#include "run/loop/output.h"
#include "sweep/head/live_trial.h"
#include "sweep/head/optimizer_pipe.h"
#include "sweep/head/sweep_hosts.h"
#include "sweep/head/sweep_notices.h"
#include "sweep/head/trial_planner.h"
#include "sweep/index/sweep_index.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_edit.h"
#include "sweep/record/sweep_journal.h"
#include "sweep/record/sweep_status.h"
#include "sweep/trial/trial_class.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// Raises this process's limit to its maximum for the lifetime of this object; processes that it starts get the original
// limit (transport/local_transport.h).
class RaisedDescriptorLimit {
 public:
  RaisedDescriptorLimit() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit raised = {before_.rlim_max, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &raised);
  }
  ~RaisedDescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  RaisedDescriptorLimit(const RaisedDescriptorLimit&) = delete;
  RaisedDescriptorLimit& operator=(const RaisedDescriptorLimit&) = delete;

 private:
  rlimit before_ = {};
};

// With less disk space, no trial is begun: it could not write its own files.
constexpr std::uint64_t kFreeBytesOfTrial = 1U << 20;

// Why no trial can begin; empty if one can. `folder` is for the text, `descriptor` an open one of it.
std::string FullDiskText(int descriptor, const std::string& folder) {
  struct statvfs disk {};
  if (::fstatvfs(descriptor, &disk) != 0) return {};
  const std::uint64_t left = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (left >= kFreeBytesOfTrial) return {};
  return fmt::format("the disk of {} is full ({} KiB are left)", Quoted(folder), left >> 10);
}

// What a sweep's head makes of its request before it begins, and what can be wrong with it.

struct SweepPoints {
  std::unique_ptr<const CompiledSpace> space;  // of the sampler
  std::unique_ptr<Sampler> sampler;
  std::unique_ptr<TrialPoints> points;  // of the sampler
};

// `edits`: as of TrialPoints.
Result<SweepPoints> PointsOf(const SweepDescription& sweep, std::uint64_t edits) {
  if (Diagnostics problems = CheckSweep(sweep); HasErrors(problems)) return Fail(std::move(problems));
  auto compiled = CompiledSpace::Of(sweep.space);
  if (!compiled) return Fail(compiled.error());
  auto space = std::make_unique<const CompiledSpace>(*std::move(compiled));
  auto sampler = Sampler::Of(*space, sweep.sampler);
  if (!sampler) return Fail(sampler.error());
  auto points = std::make_unique<TrialPoints>(**sampler, sweep, edits);
  return SweepPoints{std::move(space), *std::move(sampler), std::move(points)};
}

struct SweepInputs : SweepPoints {
  DeviceBudget costs;  // of attempts under earlier heads
  // Of an optimizer: what it hears of the entries, and that about earlier ones.
  std::unique_ptr<OptimizerLines> lines;
  std::string history;
  LogPatterns patterns;
  ClassPatterns classes;
  RecipeFiles files;
};

// Fails if the description is invalid, or the recipe's files cannot be opened.
Result<SweepInputs> InputsOf(const SweepRequest& request, std::uint64_t edits) {
  auto points = PointsOf(request.description, edits);
  if (!points) return Fail(points.error());
  const MetricsChoice& metrics = request.description.metrics;
  auto patterns = LogPatterns::Of(metrics.patterns, metrics.place);
  if (!patterns) return Fail(patterns.error());
  auto classes = ClassPatterns::Of(request.description.retry.patterns, request.description.retry.place);
  if (!classes) return Fail(classes.error());
  auto files = RecipeFiles::Open(request.evaluation.recipe_file, request.evaluation.libraries);
  if (!files) return Fail(files.error());
  std::unique_ptr<OptimizerLines> lines;
  if (KindOf(request.description.sampler).pipes) lines = std::make_unique<OptimizerLines>(request.description);
  return SweepInputs{*std::move(points),   DeviceBudget(request.description),
                     std::move(lines),     {},
                     *std::move(patterns), *std::move(classes),
                     *std::move(files)};
}

// Gives the points every entry of the journal until now, and `also` likewise.
void ReplayEntries(int folder, TrialPoints& points, const std::function<void(const SweepEntry&)>& also = {}) {
  std::string stopped;
  ReadSweepJournal(
      folder, {},
      [&](const SweepRecord& record) {
        points.Take(record.entry);
        if (also) also(record.entry);
      },
      stopped);
}

// The status of a running sweep, from the state of its scheduler.

// `began_ns` is the monotonic time at which the head started, `over_at_begin` how many trials were over then. The
// arguments must outlive the status.
SweepStatus StatusOf(const SweepDescription& sweep, const TrialScheduler& scheduler, std::uint64_t began_ns,
                     std::uint64_t over_at_begin) {
  const HostPool& pool = scheduler.pool();
  SweepStatus status;
  status.progress = &scheduler.progress();
  status.sweep = &sweep;
  status.waiting = scheduler.running().waiting();
  status.running = scheduler.running().size() - status.waiting;
  status.devices_in_use = pool.devices_in_use() - scheduler.running().devices_awaited();
  if (pool.own_hosts()) {
    status.awaited = "hosts";
  } else {
    for (const PoolHost& host : pool.hosts()) status.devices += host.devices * pool.per_device();
  }
  status.seconds = InSeconds(MonotonicNowNs() - began_ns);
  status.over_at_begin = over_at_begin;
  return status;
}

// The outcome of a sweep's head: its exit code and reason, from the state of the scheduler and the head at the end.

// `why` and `exit_code`: what stopped the sweep; empty and 0 if nothing did. `reasons`: why points are impossible that
// were judged before any trial began.
SweepOutcome OutcomeOf(const TrialScheduler& scheduler, const ImpossibleReasons& reasons, const std::string& why,
                       int exit_code) {
  const SweepProgress& progress = scheduler.progress();
  SweepOutcome outcome;
  outcome.complete = scheduler.complete();
  const std::string hopeless = scheduler.Hopeless();
  outcome.exit_code = exit_code;
  outcome.why = why;
  if (outcome.why.empty() && outcome.complete) outcome.why = "all trials have ended";
  if (outcome.why.empty() && !hopeless.empty()) {
    outcome.why = hopeless;
    outcome.exit_code = kExitMachine;
  }
  if (outcome.why.empty()) outcome.why = "--max-trials reached";
  if (outcome.exit_code == 0 && progress.failed() > 0) outcome.exit_code = kExitTrialsFailed;
  if (outcome.complete && progress.trials() == 0) {
    outcome.why = "there is no trial in this part";
  } else if (outcome.exit_code == 0 && outcome.complete && progress.begun() == 0) {
    outcome.why = reasons.Text();
    outcome.exit_code = kExitRecipe;
  }
  return outcome;
}

// The control socket of a sweep: like that of a run (run/control/control_server.h, docs/control.md), with trials
// instead of processes. A sweep has no processes of its own to dump or to list.

struct SweepControlCalls {
  const SweepProgress& progress;  // outlives the server
  std::function<std::size_t()> running;
  std::function<std::string()> waits;  // which devices it waits for and who holds them; empty if no trial waits
  std::function<bool()> stopping;
  std::function<std::uint64_t()> records;
  std::function<std::uint32_t()> stops;
  std::function<bool(bool now)> stop;
  // Opens the control socket of a running trial; false if it is not running.
  std::function<bool(TrialNumber trial)> open;
  // Changes the limits of the sweep, and returns those now. The error is a sentence.
  std::function<tl::expected<SweepLimits, std::string>(const SteeringRequest& request)> steer;
  // Carries out an edit, and returns the limits then. The error is a sentence.
  std::function<tl::expected<SweepLimits, std::string>(const std::string& edit)> edit;
};

// As ControlServer::Listen.
Result<std::unique_ptr<ControlServer>> ListenForSweep(boost::asio::io_context& io, int folder,
                                                      SweepControlCalls calls) {
  const auto shared = std::make_shared<SweepControlCalls>(std::move(calls));
  const auto status = [shared] {
    const SweepProgress& progress = shared->progress;
    RunStatus now;
    now.run = progress.sweep_id();
    now.name = progress.name();
    now.pid = ::getpid();
    now.phase = shared->stopping() ? "stopping" : "running";
    now.records = shared->records();
    now.stops = shared->stops();
    now.waits = shared->waits();
    RoleStatus trials;
    trials.name = "trial";
    trials.running = static_cast<std::uint32_t>(shared->running());
    trials.ended = static_cast<std::uint32_t>(progress.over().size());
    const std::uint64_t possible = progress.trials() - progress.impossible().size();
    trials.waiting =
        static_cast<std::uint32_t>(possible - std::min<std::uint64_t>(possible, trials.ended + trials.running));
    now.roles.push_back(std::move(trials));
    return now;
  };
  return ControlServer::Listen(
      io, folder,
      {.status = status,
       .stop = [shared](bool now, bool) { return shared->stop(now); },
       .dump = [] { return tl::make_unexpected(std::string("a sweep has no processes of its own: name a trial")); },
       .dumping = [] { return 0U; },
       .processes = [] { return ProcessStatuses{}; },
       .open = [shared](TrialNumber trial) -> tl::expected<void, std::string> {
         if (shared->open(trial)) return {};
         return tl::make_unexpected(fmt::format("trial {} is not running", trial));
       },
       .steer =
           [shared](const ControlRequest& request) {
             return shared->steer(
                 {request.slots, request.add_trials, request.points, request.unskip, request.device_hours});
           },
       .edit = [shared](const std::string& edit) { return shared->edit(edit); }});
}

constexpr std::chrono::seconds kKeeping{1};  // interval of syncing files to disk and updating the index

class SweepHead {
 public:
  // An edit changes the description and the evaluation of the request.
  SweepHead(SweepRequest& request, Transport& transport, SweepInputs inputs, SweepIndex index, LoadedSweep loaded,
            SweepJournalWriter journal)
      : request_(request),
        index_(std::move(index)),
        journal_(std::move(journal)),
        inputs_(std::move(inputs)),
        points_(*inputs_.points),
        scheduler_(request.description, points_, std::move(loaded.progress), PoolOf(request),
                   [this](const SweepEntry& entry) { return Write(entry); }),
        err_(io_, request.err),
        rows_(io_, err_, request.progress && !request.quiet && err_.is_terminal()),
        notices_(io_, request, scheduler_.progress(),
                 {.running = [this] { return scheduler_.running().size() - scheduler_.running().waiting(); },
                  .warn = [this](const std::string& text) { PrintLine(text); }}),
        signals_(io_),
        keeping_(io_),
        time_is_up_(io_),
        planner_(io_, request.evaluation, request.description, points_, std::move(inputs_.files), request.has_context,
                 [this](TrialNumber trial, const CheckpointPlace& place) {
                   return ResumptionOfTrial(request_.folder, scheduler_.progress(), trial, place);
                 }),
        prepared_(planner_, scheduler_, points_, request.evaluation.recipe_file,
                  {.changed = [this] { Advance(); },
                   .failed = [this](const std::string& why, int code) { Stop(why, code, false); }}),
        watch_(io_),
        trial_setting_{request, io_, watch_, std::move(inputs_.patterns), std::move(inputs_.classes)},
        hosts_(io_, transport, request.allocator == nullptr ? NamesOf(request.hosts) : std::vector<std::string>(),
               request.began.sweep_id, scheduler_,
               {.changed = [this] { Advance(); },
                .say = [this](const std::string& line) { PrintLine(line); },
                .none_left = [this](const std::string& why) { Stop(why, 3, true); }}) {
    scheduler_.JudgeBy(request.run.verdict_rules);
    scheduler_.RecallCosts(std::move(inputs_.costs));
    scheduler_.RecallBy(
        [this](const std::function<void(const SweepEntry&)>& take) {
          std::string stopped;
          ReadSweepJournal(
              request_.folder_fd, {}, [&](const SweepRecord& record) { take(record.entry); }, stopped);
        },
        [this](const AttemptBegan& attempt) { return LastFailureOf(request_.folder, attempt); });
    if (request.allocator == nullptr) return;
    allocations_.emplace(
        io_, *request.allocator, request.folder_fd,
        TrialAllocations::Calls{.queued =
                                    [this](const std::string& job) {
                                      if (!std::exchange(wait_reported_, true))
                                        PrintLine("waiting for " + Printable(job));
                                      if (request_.on_begun) request_.on_begun();
                                    },
                                .granted = [this](TrialNumber trial, const std::string& job,
                                                  TrialPlace place) { Begin(trial, job, std::move(place)); },
                                .refused =
                                    [this](TrialNumber trial, const std::string& why) {
                                      scheduler_.Dropped(trial);
                                      Stop(fmt::format("trial {} gets no hosts: {}", trial, why), 3, false);
                                    },
                                .lost = [this](TrialNumber trial, const std::string& job,
                                               const std::string& why) { OnLostInQueue(trial, job, why); },
                                .changed = [this] { Advance(); },
                                .say = [this](const std::string& line) { PrintLine(line); }});
  }

  // Including finished trials to be retried.
  SweepOutcome Run(SweepBegan began, std::vector<TrialRange> reopened);

 private:
  bool Write(const SweepEntry& entry);
  void Show(const SweepEntry& entry);
  void Show(const std::string& lines) { err_.Write(FittedLines(lines, err_.columns())); }
  void PrintLine(const std::string& line) { Show("muster: " + line + "\n"); }

  // Schedules a check for what can be done now; repeated calls are combined.
  void Advance();
  // Begins the trial, or requests its hosts first.
  void Start(TrialQueue::Start start);
  // Jobs that the engine has not taken back yet count as well.
  bool MayStart() const { return !allocations_ || allocations_->size() < scheduler_.pool().slots().value_or(1); }
  void Begin(TrialNumber trial, const std::string& job, TrialPlace place);
  // Starts the optimizer, if the points come from one, and asks it for those that are wanted.
  void StartOptimizer();
  void AskOptimizer();
  // By the results so far.
  void StopIfDecided();
  // Starts no further trials; running ones come to their end.
  void StopStarting(const std::string& why, int exit_code);
  void OnLostInQueue(TrialNumber trial, const std::string& job, const std::string& why);
  void SetRunTimes();
  void ReleaseWaiting();
  void OnReport(TrialNumber trial, const MetricValues& report);
  void OnWaits(TrialNumber trial, const std::string& holders);
  void OnEnded(TrialNumber trial, const RunOutcome& outcome);
  bool DiskHasSpace();
  // Ends what is running; it is retried when the sweep is resumed. The first reason counts.
  void Stop(const std::string& why, int exit_code, bool now);
  tl::expected<SweepLimits, std::string> Steer(const SteeringRequest& request);
  SweepLimits Limits();
  tl::expected<SweepLimits, std::string> Edit(const std::string& id);
  // From the moment from which the edit holds; the rest of the sweep still is as it was.
  Result<void> CarryOut(const SweepEdit& edit, SweepEdited edited, const TrialSet& chosen, SweepPoints points);
  void AwaitSignal();
  void ListenForCommands();
  void Keep();
  void End();
  void FinishHosts(std::function<void()> done);
  SweepStatus Status() const { return StatusOf(request_.description, scheduler_, began_ns_, over_at_begin_); }

  SweepRequest& request_;
  boost::asio::io_context io_;
  PipeSignalIgnored no_pipe_signal_;
  SweepIndex index_;
  SweepJournalWriter journal_;
  SweepInputs inputs_;
  TrialPoints& points_;
  TrialScheduler scheduler_;
  Output err_;
  ProgressDisplay rows_;
  SweepNotices notices_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer keeping_;
  boost::asio::steady_timer time_is_up_;
  TrialPlanner planner_;
  TrialPreparation prepared_;
  MetricsWatch watch_;
  TrialSetting trial_setting_;
  std::map<TrialNumber, std::unique_ptr<LiveTrial>> live_;
  std::unique_ptr<ControlServer> control_;
  std::uint64_t began_ns_ = 0;
  std::uint64_t over_at_begin_ = 0;
  bool going_on_ = false;
  bool index_reported_ = false;
  bool wait_reported_ = false;
  std::string holders_;  // processes that hold devices a trial waits for; empty if none waits
  bool kept_ = true;     // nothing has been written since the last Keep()
  bool ending_ = false;
  bool unwritable_ = false;
  std::uint32_t stops_asked_ = 0;
  std::string why_;  // why it was stopped
  int exit_code_ = 0;
  SweepOutcome outcome_;
  std::shared_ptr<OptimizerPipe> optimizer_;
  std::optional<TrialAllocations> allocations_;  // with an allocator
  SweepHosts hosts_;                             // last: destroyed first
};

bool SweepHead::Write(const SweepEntry& entry) {
  if (unwritable_) return false;  // later entries must not follow a missing one
  const std::uint64_t wall = WallNowNs();
  if (const int error = journal_.Append(entry, wall); error != 0) {
    unwritable_ = true;
    Stop(fmt::format("the journal cannot be written: {}", ::strerror(error)), 3, true);
    return false;
  }
  kept_ = false;
  index_.Take({journal_.position().seq, UtcText(wall), entry});
  if (inputs_.lines) {
    const std::string lines = inputs_.lines->Take(entry);
    optimizer_ ? optimizer_->Tell(lines) : void(inputs_.history += lines);
  }
  notices_.Saw(entry);
  Show(entry);
  return true;
}

void SweepHead::Show(const SweepEntry& entry) {
  const auto* ended = std::get_if<AttemptEnded>(&entry);
  const bool failed = ended == nullptr || (IsFailure(ended->trial_class) && !ended->interrupted);
  if (!request_.quiet || failed) {
    // The scheduler's state changes only after the entry was written.
    if (const std::string line = EntryLine(request_.description, scheduler_.progress(), entry); !line.empty()) {
      PrintLine(line);
    }
  }
  rows_.Changed();
}

SweepOutcome SweepHead::Run(SweepBegan began, std::vector<TrialRange> reopened) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) {
    boost::system::error_code ignored;
    if (!IsIgnored(signal)) signals_.add(signal, ignored);
  }
  AwaitSignal();
  began_ns_ = MonotonicNowNs();
  began.trials = points_.size();
  if (const auto& seeds = request_.description.sampler.seeds) began.seeds = {seeds->param, seeds->count, seeds->median};
  began.pid = ::getpid();
  began.start_ticks = OwnStartTicks();
  began.boot = BootId();
  scheduler_.ResumeFrom(
      began,
      [this](TrialNumber, const OpenTrial& open) {
        return RecoverAttemptEnd(trial_setting_, open.id, open.attempts - 1);
      },
      std::move(reopened));
  // Once in the journal they are those of the sweep, whatever a changed file says.
  const SweepProgress& before = scheduler_.progress();
  const bool is_first_part = request_.description.sampler.shard == 0;  // the others would try them as well
  if (is_first_part && before.judged_to() == 0 && before.steered().points.empty()) {
    scheduler_.Choose(request_.description.seed_points);
  }
  static_cast<void>(scheduler_.Steer(request_.steering));  // checked by RunSweep
  over_at_begin_ = scheduler_.progress().over().size();
  StopIfDecided();  // by a head that died before the sweep had ended
  StartOptimizer();
  ListenForCommands();
  const LiveHead announced = LiveHead::Announce(OwnLiveHeadsFolder(), request_.folder, request_.began.sweep_id);
  if (const auto ms = request_.description.budget.time_ms) {
    time_is_up_.expires_after(std::chrono::milliseconds(*ms));
    time_is_up_.async_wait([this](const boost::system::error_code& error) {
      if (!error && !ending_) StopStarting("its time is up", 0);
    });
  }
  rows_.Begin([this](std::size_t columns, std::size_t most) { return StatusRows(Status(), columns, most); });
  if (!index_.damage().empty()) {
    PrintLine(fmt::format("warning: the index was damaged and is recreated from the journal: {}",
                          Printable(index_.damage())));
  }
  Keep();
  if (allocations_) allocations_->CancelLeft();
  hosts_.ConnectAll();
  Advance();
  io_.run();
  return outcome_;
}

void SweepHead::Advance() {
  if (std::exchange(going_on_, true)) return;
  boost::asio::post(io_, [this] {
    going_on_ = false;
    if (ending_) return;
    prepared_.Advance();
    const bool settled = hosts_.settled();
    if (settled && DiskHasSpace()) {
      SetRunTimes();
      while (auto start = MayStart() ? scheduler_.NextStart() : std::nullopt) Start(*std::move(start));
      while (const auto trial = scheduler_.running().NextToMove()) {
        live_.at(*trial)->Interrupt(true, "its devices are held by others; it starts on another host");
      }
    }
    AskOptimizer();
    if ((!settled || hosts_.connects_again()) && !scheduler_.stopping()) return;
    const bool idle = live_.empty() && scheduler_.running().empty();
    if (idle && !scheduler_.stopping() && !scheduler_.over()) {
      if (const std::string over = scheduler_.OverBudget(); !over.empty()) StopStarting(over, 0);
    }
    if (live_.empty() && scheduler_.over()) End();
  });
}

void SweepHead::SetRunTimes() {
  if (!MaxDeviceHours(scheduler_.progress(), request_.description.budget)) return;
  std::map<TrialNumber, std::uint64_t> times;
  for (const auto& [trial, live] : live_) times[trial] = live->ran_ms();
  scheduler_.SetRunTimes(std::move(times));
}

void SweepHead::StartOptimizer() {
  if (!inputs_.lines) return;
  const std::string begin = OptimizerLines::Begin(request_.description, request_.began.sweep_id, points_.size());
  auto started =
      OptimizerPipe::Start(io_, request_.description, *inputs_.space, begin + std::exchange(inputs_.history, {}),
                           {.answered =
                                [this](std::uint64_t first, const std::vector<Point>& points) {
                                  points_.Offer(first, points);
                                  Advance();
                                },
                            // It may fail while an entry is written.
                            .failed =
                                [this](const std::string& why) {
                                  boost::asio::post(io_, [this, why] {
                                    if (!ending_) StopStarting(why, kExitRecipe);
                                  });
                                }});
  if (started) {
    optimizer_ = *std::move(started);
  } else {
    StopStarting("the optimizer cannot be started: " + started.error(), kExitRecipe);
  }
}

void SweepHead::AskOptimizer() {
  const auto& wanted = points_.wanted();
  if (!optimizer_ || !wanted || scheduler_.stopping() || wanted->first < scheduler_.progress().judged_to()) return;
  if (optimizer_->Ask(wanted->first, wanted->count)) return points_.Await();
  const bool idle = live_.empty() && scheduler_.running().empty() && scheduler_.progress().open().empty();
  if (idle) StopStarting("the optimizer waits for results, and no trial runs: it answered no points", kExitRecipe);
}

void SweepHead::StopIfDecided() {
  for (const std::string& why : {scheduler_.failed_alike(), scheduler_.no_gain()}) {
    if (!why.empty() && why_.empty()) StopStarting(why, 0);
  }
}

void SweepHead::StopStarting(const std::string& why, int exit_code) {
  if (why_.empty()) {
    why_ = why;
    exit_code_ = exit_code;
    if (exit_code > 0) PrintLine("error: " + Printable(why));
  }
  scheduler_.Stop();
  ReleaseWaiting();
  for (const auto& [trial, live] : live_) {
    if (live->waits()) live->Interrupt(true, why_);  // it has not started
  }
  Advance();
}

bool SweepHead::DiskHasSpace() {
  const std::string full = FullDiskText(request_.folder_fd, request_.folder);
  if (!full.empty()) Stop(full, 3, false);
  return full.empty();
}

void SweepHead::Start(TrialQueue::Start start) {
  if (!allocations_) {
    TrialPlace place{.hosts = {}, .transport = hosts_.TransportFor(start.hosts)};
    for (const std::uint32_t host : start.hosts) {
      if (!request_.hosts.empty()) place.hosts.push_back(request_.hosts[host]);
    }
    return Begin(start.trial, {}, std::move(place));
  }
  const TrialNumber trial = start.trial;
  scheduler_.running().Waits(trial, true);
  if (auto requested = allocations_->Request(std::move(start)); !requested) {
    scheduler_.Dropped(trial);
    Stop(Sentence(requested.error()), CodeOf(requested.error()), false);
  }
}

void SweepHead::Begin(TrialNumber trial, const std::string& job, TrialPlace place) {
  auto [began, planned] = prepared_.Take(trial);
  began.job = job;
  for (const SiteHost& host : place.hosts) began.hosts.push_back(host.name);
  scheduler_.running().Waits(trial, false);
  if (!scheduler_.Began(began)) {
    if (allocations_) allocations_->Release(trial, nullptr);
    return;
  }
  ReplayEarlierReports(trial_setting_, scheduler_.progress(), began, planned.evaluation.plan,
                       [this, trial](const MetricValues& report) { scheduler_.running().Recalled(trial, report); });
  auto live = LiveTrial::Begin(trial_setting_, began, std::move(planned), std::move(place),
                               {.report = [this, trial](const MetricValues& report) { OnReport(trial, report); },
                                .waits = [this, trial](const std::string& holders) { OnWaits(trial, holders); },
                                .ended = [this, trial](const RunOutcome& outcome) { OnEnded(trial, outcome); }});
  if (!live) {
    // Caused by this machine: the trial is retried when the sweep is resumed.
    TrialScheduler::AttemptEnd end;
    end.interrupted = true;
    end.why = Sentence(live.error());
    if (allocations_) allocations_->Release(trial, nullptr);
    Stop(fmt::format("trial {} cannot be begun: {}", trial, end.why), 3, false);
    return scheduler_.Ended(trial, std::move(end));
  }
  live_[trial] = *std::move(live);
  if (request_.on_begun) request_.on_begun();
}

// As if the job had ended right after its beginning: an attempt that was preempted.
void SweepHead::OnLostInQueue(TrialNumber trial, const std::string& job, const std::string& why) {
  AttemptBegan began = prepared_.Take(trial).began;
  began.job = job;
  if (!scheduler_.Began(began)) return;
  TrialScheduler::AttemptEnd end;
  end.trial_class = TrialClass::kPreempted;
  end.why = why + ", before the trial began";
  scheduler_.Ended(trial, std::move(end));
}

void SweepHead::ReleaseWaiting() {
  if (!allocations_) return;
  for (const TrialNumber trial : allocations_->ReleaseWaiting()) scheduler_.Dropped(trial);
}

void SweepHead::OnReport(TrialNumber trial, const MetricValues& report) {
  const StopRules::Outcome outcome = scheduler_.running().Reported(trial, report);
  notices_.Reported(trial, report);
  const auto live = live_.find(trial);
  if (outcome.stop && live != live_.end()) live->second->StopEarly(outcome.why);
  rows_.Changed();
}

// Reported once: with other sweeps on the machine this is the normal state.
void SweepHead::OnWaits(TrialNumber trial, const std::string& holders) {
  scheduler_.running().Waits(trial, !holders.empty());
  if (!holders.empty() || scheduler_.running().waiting() == 0) holders_ = holders;
  if (!holders.empty() && !std::exchange(wait_reported_, true)) PrintLine("waiting for devices: " + Printable(holders));
  rows_.Changed();
  Advance();
}

void SweepHead::OnEnded(TrialNumber trial, const RunOutcome& outcome) {
  auto live = live_.extract(trial);
  if (live.empty()) return;
  live.mapped()->TakeLastReports();
  TrialScheduler::AttemptEnd end = live.mapped()->End(outcome, scheduler_.running().progress(trial));
  if (IsFailure(end.trial_class) && !DiskHasSpace()) end.interrupted = true;  // not caused by the trial
  scheduler_.Ended(trial, std::move(end));
  StopIfDecided();
  notices_.TrialEnded();
  if (allocations_) allocations_->Release(trial, std::move(live.mapped()));
  if (scheduler_.running().waiting() == 0) holders_.clear();
  Advance();
}

void SweepHead::Stop(const std::string& why, int exit_code, bool now) {
  if (why_.empty()) {
    why_ = why;
    exit_code_ = exit_code;
    if (exit_code > 0 && exit_code < 128) PrintLine("error: " + Printable(why));
  }
  scheduler_.Stop();
  ReleaseWaiting();
  for (const auto& [trial, live] : live_) live->Interrupt(now);
  Advance();
}

tl::expected<SweepLimits, std::string> SweepHead::Steer(const SteeringRequest& request) {
  SteeringRequest complete = request;
  for (Point& point : complete.points) {
    auto completed = CompletePoint(request_.description.space, std::move(point));
    if (!completed) return tl::make_unexpected(Sentence(completed.error()));
    point = *std::move(completed);
  }
  if (const auto steered = scheduler_.Steer(complete); !steered) return tl::make_unexpected(steered.error());
  Advance();
  return Limits();
}

SweepLimits SweepHead::Limits() {
  return {MaxDeviceHours(scheduler_.progress(), request_.description.budget), scheduler_.planning().MostTrials(),
          scheduler_.pool().slots(), points_.size()};
}

tl::expected<SweepLimits, std::string> SweepHead::Edit(const std::string& id) {
  const auto refuse = [](const Diagnostics& problems) { return tl::make_unexpected(Sentence(problems)); };
  if (ending_ || scheduler_.stopping()) {
    return tl::make_unexpected(std::string("the sweep is ending: edit it once it has ended"));
  }
  if (!IsEditId(id)) return tl::make_unexpected("there is no edit " + Quoted(id));
  auto edit = ReadEdit(request_.folder_fd, ProposedEditName(id));
  if (!edit) return refuse(edit.error());
  auto described = ParseSweepFile(edit->sweep, request_.folder);
  if (!described) return refuse(described.error());
  auto& [file, sweep] = *described;
  if (file.sweep_id != request_.began.sweep_id) return tl::make_unexpected(std::string("it edits another sweep"));
  if (auto sound = CheckEdit(request_.description, sweep, true); !sound) return refuse(sound.error());

  SweepEdited edited;
  edited.edit = edit->id;
  edited.from = scheduler_.progress().judged_to();
  const auto trials = ReadTrialsSoFar(request_.folder_fd, edited.from);
  if (!trials) return refuse(trials.error());
  auto kept = KeptPoints(*trials, edited.from, sweep.space, sweep.sampler);
  if (!kept) return refuse(kept.error());
  sweep.sampler.kept = *std::move(kept);
  sweep.sampler.edited_at = edited.from;
  // The points refer to the description of the request.
  SweepDescription before = std::exchange(request_.description, std::move(sweep));
  const auto restore = [&](const Diagnostics& problems) {
    request_.description = std::move(before);
    return tl::make_unexpected(Sentence(problems));
  };
  auto points = PointsOf(request_.description, scheduler_.progress().edits() + 1);
  if (!points) return restore(points.error());
  ReplayEntries(request_.folder_fd, *points->points);
  points->points->Take(edited);
  edited.trials = points->points->size();
  if (const auto& seeds = request_.description.sampler.seeds) {
    edited.seeds = {seeds->param, seeds->count, seeds->median};
  }
  file.trials = edited.trials;
  edit->sweep = SweepFileText(file, SweepDescriptionValue(request_.description));
  if (auto held = WriteEdit(request_.folder_fd, kEditEntry.name, *edit); !held) return restore(held.error());
  if (auto carried = CarryOut(*edit, std::move(edited), trials->chosen, *std::move(points)); !carried) {
    Stop("its edit cannot be carried out: " + Sentence(carried.error()) + "; muster resume repeats that", 3, false);
    return restore(carried.error());
  }
  Advance();
  return Limits();
}

Result<void> SweepHead::CarryOut(const SweepEdit& edit, SweepEdited edited, const TrialSet& chosen,
                                 SweepPoints points) {
  ReleaseWaiting();
  if (auto replaced = ReplaceEditedRecipe(request_.folder_fd, edit); !replaced) return replaced;
  auto stored = request_.stored();
  if (!stored) return Fail(stored.error());
  auto files = RecipeFiles::Open(stored->evaluation.recipe_file, stored->evaluation.libraries);
  if (!files) return Fail(files.error());
  edited.accepted = stored->recipe != scheduler_.progress().recipe();
  edited.recipe = stored->recipe;
  const std::vector<SweepEntry> entries = EntriesOfEdit(std::move(edited), scheduler_.progress(), chosen);
  if (!scheduler_.RecordEdit(entries)) return Fail(MachineError("sweep", "the journal cannot be written"));
  for (const SweepEntry& entry : entries) {
    if (!std::holds_alternative<SweepEdited>(entry)) points.points->Take(entry);
  }
  if (const int error = journal_.Sync(); error != 0) {
    return Fail(SystemError("sweep", "the journal cannot be synced to disk", error));
  }
  if (auto finished = FinishEdit(request_.folder_fd, edit); !finished) return finished;
  request_.evaluation = std::move(stored->evaluation);
  *inputs_.points = std::move(*points.points);
  inputs_.sampler = std::move(points.sampler);
  inputs_.space = std::move(points.space);
  planner_.Edited(*std::move(files));
  prepared_.Edited();
  scheduler_.Edited();
  return {};
}

void SweepHead::AwaitSignal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    if (ending_) {  // notifications may be all that the end waits for
      notices_.GiveUp();
      return AwaitSignal();
    }
    if (++stops_asked_ == 1)
      PrintLine("stopping; running trials are retried after muster resume (again: stop at once)");
    Stop("ended by " + SignalName(signal), 128 + signal, stops_asked_ > 1);
    AwaitSignal();
  });
}

void SweepHead::ListenForCommands() {
  auto control =
      ListenForSweep(io_, request_.folder_fd,
                     {.progress = scheduler_.progress(),
                      .running = [this] { return scheduler_.running().size() - scheduler_.running().waiting(); },
                      .waits = [this] { return holders_; },
                      .stopping = [this] { return scheduler_.stopping(); },
                      .records = [this] { return journal_.position().seq; },
                      .stops = [this] { return stops_asked_; },
                      .stop =
                          [this](bool now) {
                            const std::uint32_t times = now ? 2 : 1;
                            if (times <= stops_asked_) return false;
                            stops_asked_ = times;
                            Stop("another command stopped it", 128 + SIGTERM, now);
                            return true;
                          },
                      .open =
                          [this](TrialNumber trial) {
                            const auto live = live_.find(trial);
                            if (live != live_.end()) live->second->Listen();
                            return live != live_.end();
                          },
                      .steer = [this](const SteeringRequest& request) { return Steer(request); },
                      .edit = [this](const std::string& edit) { return Edit(edit); }});
  if (!control) return PrintLine(Sentence(control.error()));
  control_ = *std::move(control);
}

// Once a second: syncs what was written, and follows the metrics of trials that have lasted.
void SweepHead::Keep() {
  for (const auto& [trial, live] : live_) live->FollowMetrics();
  if (!std::exchange(kept_, true)) {
    if (const int error = journal_.Sync(); error != 0) {
      Stop(fmt::format("the journal cannot be synced to disk: {}", ::strerror(error)), 3, false);
    }
    index_.Commit(scheduler_.progress(), journal_.position());
    if (!index_.problem().empty() && !std::exchange(index_reported_, true)) {
      PrintLine(fmt::format("the index cannot be written, so looking at the sweep takes longer: {}", index_.problem()));
    }
  }
  keeping_.expires_after(kKeeping);
  keeping_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !ending_) Keep();
  });
}

void SweepHead::End() {
  ending_ = true;
  const SweepProgress& progress = scheduler_.progress();
  outcome_ = OutcomeOf(scheduler_, prepared_.reasons(), why_, exit_code_);
  planner_.GiveUp();
  keeping_.cancel();
  time_is_up_.cancel();
  optimizer_.reset();
  scheduler_.Left({outcome_.complete, outcome_.why, outcome_.exit_code});
  journal_.Sync();
  index_.Commit(progress, journal_.position(), true);
  rows_.End();
  if (!request_.quiet || outcome_.exit_code != 0) Show(SummaryText(Status(), outcome_.why));
  control_.reset();
  FinishHosts([this] {
    notices_.Finish([this] {
      boost::system::error_code ignored;
      signals_.clear(ignored);
      if (err_.empty()) return io_.stop();
      err_.OnProgress([this] {
        if (err_.empty()) io_.stop();
      });
    });
  });
}

void SweepHead::FinishHosts(std::function<void()> done) {
  if (allocations_) return allocations_->Finish(std::move(done));
  hosts_.Finish(std::move(done));
}

}  // namespace

Result<SweepOutcome> RunSweep(SweepRequest request, Transport& transport) {
  const RaisedDescriptorLimit many_descriptors;  // each running trial has some
  SweepIndex index = SweepIndex::Open(request.folder);
  LoadedSweep loaded = index.CatchUp();
  auto inputs = InputsOf(request, loaded.progress.edits());
  if (!inputs) return Fail(inputs.error());
  auto journal = EntryExists(request.folder_fd, kJournalEntry.name)
                     ? SweepJournalWriter::Continue(request.folder_fd, loaded.position)
                     : SweepJournalWriter::Create(request.folder_fd);
  if (!journal) return Fail(journal.error());
  SweepBegan began = request.began;
  const bool differs = !loaded.progress.recipe().empty() && loaded.progress.recipe() != began.recipe;
  if (differs && !began.accepted) {
    return Fail(Error("recipe_changed", {}, "the sweep's folder has another recipe than the one that it began with",
                      "muster exited while accepting another one: repeat muster resume --accept"));
  }
  began.accepted = differs;
  auto reopened = request.reopen ? request.reopen(loaded.progress) : std::vector<TrialRange>{};
  if (!reopened) return Fail(reopened.error());
  const bool has_budget = MaxDeviceHours(loaded.progress, request.description.budget) || request.steering.device_hours;
  if (!inputs->points->is_sequence() || !loaded.progress.steered().points.empty() || has_budget) {
    ReplayEntries(request.folder_fd, *inputs->points, [&](const SweepEntry& entry) {
      inputs->costs.Take(entry);
      if (inputs->lines) inputs->history += inputs->lines->Take(entry);
    });
  }
  if (const auto& trials = loaded.progress.steered().trials) inputs->points->Extend(*trials);
  const auto steers =
      SteeringFor(request.steering, *inputs->points, MostTrials(loaded.progress, request.description.budget));
  if (!steers)
    return Fail(Error("usage", {}, (request.steering.add_trials > 0 ? "--add-trials: " : "--try: ") + steers.error()));
  if (const auto unskips = CheckUnskip(request.steering.unskip, loaded.progress); !unskips) {
    return Fail(Error("usage", {}, "--unskip " + unskips.error()));
  }
  SweepHead head(request, transport, *std::move(inputs), std::move(index), std::move(loaded), *std::move(journal));
  return head.Run(std::move(began), *std::move(reopened));
}

}  // namespace muster
