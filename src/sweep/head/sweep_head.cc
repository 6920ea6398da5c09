#include "sweep/head/sweep_head.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <errno.h>
#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/own_process.h"
#include "base/values/abnormal_exit.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "run/directory/private_files.h"
#include "run/directory/runtime_directory.h"
#include "run/loop/output.h"
#include "sweep/head/interrupted_attempt.h"
#include "sweep/head/live_trial.h"
#include "sweep/head/raised_descriptor_limit.h"
#include "sweep/head/status_of_sweep.h"
#include "sweep/head/sweep_control.h"
#include "sweep/head/sweep_ending.h"
#include "sweep/head/sweep_hosts.h"
#include "sweep/head/sweep_inputs.h"
#include "sweep/head/sweep_notices.h"
#include "sweep/head/trial_allocations.h"
#include "sweep/head/trial_disk_space.h"
#include "sweep/head/trial_planner.h"
#include "sweep/head/trial_preparation.h"
#include "sweep/index/sweep_index.h"
#include "sweep/record/impossible_reasons.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_journal.h"
#include "sweep/scheduler/sweep_steering.h"
#include "sweep/scheduler/trial_scheduler.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::chrono::seconds kKeeping{1};  // interval of syncing files to disk and updating the index

class SweepHead {
 public:
  SweepHead(const SweepRequest& request, Transport& transport, SweepInputs inputs, SweepIndex index, LoadedSweep loaded,
            SweepJournalWriter journal)
      : request_(request),
        index_(std::move(index)),
        journal_(std::move(journal)),
        inputs_(std::move(inputs)),
        sampler_(inputs_.sampler),
        course_(request.description, sampler_, std::move(loaded.account), PoolOf(request),
                [this](const SweepEntry& entry) { return Write(entry); }),
        err_(io_, request.err),
        rows_(io_, err_, request.progress && !request.quiet && err_.is_terminal()),
        notices_(io_, request, course_.account(),
                 {.running = [this] { return course_.running().size() - course_.running().waiting(); },
                  .warn = [this](const std::string& text) { PrintLine(text); }}),
        signals_(io_),
        keeping_(io_),
        time_is_up_(io_),
        planner_(io_, request.evaluation, request.description, sampler_, std::move(inputs_.files), request.has_context,
                 [this](TrialNumber trial, const CheckpointPlace& place) {
                   return ResumptionOfTrial(request_.folder, course_.account(), trial, place);
                 }),
        prepared_(planner_, course_, sampler_, request.evaluation.recipe_file,
                  {.changed = [this] { Advance(); },
                   .failed = [this](const std::string& why, int code) { Stop(why, code, false); }}),
        watch_(io_),
        trial_setting_{request, io_, watch_, std::move(inputs_.patterns), std::move(inputs_.classes)},
        hosts_(io_, transport, request.allocator == nullptr ? NamesOf(request.hosts) : std::vector<std::string>(),
               request.began.sweep_id, course_,
               {.changed = [this] { Advance(); },
                .say = [this](const std::string& line) { PrintLine(line); },
                .none_left = [this](const std::string& why) { Stop(why, 3, true); }}) {
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
                                      course_.Dropped(trial);
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
  bool MayStart() const { return !allocations_ || allocations_->size() < course_.pool().slots().value_or(1); }
  void Begin(TrialNumber trial, const std::string& job, TrialPlace place);
  void OnLostInQueue(TrialNumber trial, const std::string& job, const std::string& why);
  void ReleaseWaiting();
  void OnReport(TrialNumber trial, const MetricReport& report);
  void OnWaits(TrialNumber trial, const std::string& holders);
  void OnEnded(TrialNumber trial, const RunOutcome& outcome);
  bool DiskHasSpace();
  // Ends what is running; it is retried when the sweep is resumed. The first reason counts.
  void Stop(const std::string& why, int exit_code, bool now);
  tl::expected<SweepLimits, std::string> Steer(const SteeringRequest& request);
  void AwaitSignal();
  void ListenForCommands();
  void Keep();
  void End();
  void FinishHosts(std::function<void()> done);
  SweepStatus Status() const { return StatusOf(request_.description, course_, began_ns_, over_at_begin_); }

  const SweepRequest& request_;
  boost::asio::io_context io_;
  PipeSignalIgnored no_pipe_signal_;
  SweepIndex index_;
  SweepJournalWriter journal_;
  SweepInputs inputs_;
  Sampler& sampler_;
  TrialScheduler course_;
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
  notices_.Saw(entry);
  Show(entry);
  return true;
}

void SweepHead::Show(const SweepEntry& entry) {
  const auto* ended = std::get_if<AttemptEnded>(&entry);
  const bool failed = ended == nullptr || (IsFailure(ended->trial_class) && !ended->interrupted);
  if (!request_.quiet || failed) {
    // The scheduler's state changes only after the entry was written.
    if (const std::string line = EntryLine(request_.description, course_.account(), entry); !line.empty()) {
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
  began.trials = sampler_.size();
  began.pid = ::getpid();
  began.start_ticks = OwnStartTicks();
  began.boot = BootId();
  course_.ResumeFrom(
      began,
      [this](TrialNumber, const OpenTrial& open) {
        return RecoverAttemptEnd(trial_setting_, open.id, open.attempts - 1);
      },
      std::move(reopened));
  static_cast<void>(course_.Steer(request_.steering));  // checked by RunSweep
  over_at_begin_ = course_.account().over().size();
  ListenForCommands();
  const LiveHead announced = LiveHead::Announce(OwnLiveHeadsFolder(), request_.folder, request_.began.sweep_id);
  if (const auto ms = request_.description.budget.time_ms) {
    time_is_up_.expires_after(std::chrono::milliseconds(*ms));
    time_is_up_.async_wait([this](const boost::system::error_code& error) {
      if (error || ending_) return;
      if (why_.empty()) why_ = "its time is up";
      course_.Stop();  // running trials may end
      ReleaseWaiting();
      for (const auto& [trial, live] : live_) {
        if (live->waits()) live->Interrupt(true, why_);  // it has not started
      }
      Advance();
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
      while (auto start = MayStart() ? course_.NextStart() : std::nullopt) Start(*std::move(start));
      while (const auto trial = course_.running().NextToMove()) {
        live_.at(*trial)->Interrupt(true, "its devices are held by others; it starts on another host");
      }
    }
    if ((!settled || hosts_.connects_again()) && !course_.stopping()) return;
    if (live_.empty() && course_.over()) End();
  });
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
  course_.running().Waits(trial, true);
  if (auto requested = allocations_->Request(std::move(start)); !requested) {
    course_.Dropped(trial);
    Stop(Sentence(requested.error()), CodeOf(requested.error()), false);
  }
}

void SweepHead::Begin(TrialNumber trial, const std::string& job, TrialPlace place) {
  auto [began, planned] = prepared_.Take(trial);
  began.job = job;
  for (const SiteHost& host : place.hosts) began.hosts.push_back(host.name);
  course_.running().Waits(trial, false);
  if (!course_.Began(began)) {
    if (allocations_) allocations_->Release(trial, nullptr);
    return;
  }
  ReplayEarlierReports(trial_setting_, course_.account(), began, planned.evaluation.plan,
                       [this, trial](const MetricReport& report) { course_.running().Recalled(trial, report); });
  auto live = LiveTrial::Begin(trial_setting_, began, std::move(planned), std::move(place),
                               {.report = [this, trial](const MetricReport& report) { OnReport(trial, report); },
                                .waits = [this, trial](const std::string& holders) { OnWaits(trial, holders); },
                                .ended = [this, trial](const RunOutcome& outcome) { OnEnded(trial, outcome); }});
  if (!live) {
    // Caused by this machine: the trial is retried when the sweep is resumed.
    TrialScheduler::AttemptEnd end;
    end.interrupted = true;
    end.why = Sentence(live.error());
    if (allocations_) allocations_->Release(trial, nullptr);
    Stop(fmt::format("trial {} cannot be begun: {}", trial, end.why), 3, false);
    return course_.Ended(trial, std::move(end));
  }
  live_[trial] = *std::move(live);
  if (request_.on_begun) request_.on_begun();
}

// As if the job had ended right after its beginning: an attempt that was preempted.
void SweepHead::OnLostInQueue(TrialNumber trial, const std::string& job, const std::string& why) {
  AttemptBegan began = prepared_.Take(trial).began;
  began.job = job;
  if (!course_.Began(began)) return;
  TrialScheduler::AttemptEnd end;
  end.trial_class = TrialClass::kPreempted;
  end.why = why + ", before the trial began";
  course_.Ended(trial, std::move(end));
}

void SweepHead::ReleaseWaiting() {
  if (!allocations_) return;
  for (const TrialNumber trial : allocations_->ReleaseWaiting()) course_.Dropped(trial);
}

void SweepHead::OnReport(TrialNumber trial, const MetricReport& report) {
  const StopRules::Outcome outcome = course_.running().Reported(trial, report);
  notices_.Reported(trial, report);
  const auto live = live_.find(trial);
  if (outcome.stop && live != live_.end()) live->second->StopEarly(outcome.why);
  rows_.Changed();
}

// Reported once: with other sweeps on the machine this is the normal state.
void SweepHead::OnWaits(TrialNumber trial, const std::string& holders) {
  course_.running().Waits(trial, !holders.empty());
  if (!holders.empty() || course_.running().waiting() == 0) holders_ = holders;
  if (!holders.empty() && !std::exchange(wait_reported_, true)) PrintLine("waiting for devices: " + Printable(holders));
  rows_.Changed();
  Advance();
}

void SweepHead::OnEnded(TrialNumber trial, const RunOutcome& outcome) {
  auto live = live_.extract(trial);
  if (live.empty()) return;
  live.mapped()->TakeLastReports();
  TrialScheduler::AttemptEnd end = live.mapped()->End(outcome, course_.running().progress(trial));
  if (IsFailure(end.trial_class) && !DiskHasSpace()) end.interrupted = true;  // not caused by the trial
  course_.Ended(trial, std::move(end));
  notices_.TrialEnded();
  if (allocations_) allocations_->Release(trial, std::move(live.mapped()));
  if (course_.running().waiting() == 0) holders_.clear();
  Advance();
}

void SweepHead::Stop(const std::string& why, int exit_code, bool now) {
  if (why_.empty()) {
    why_ = why;
    exit_code_ = exit_code;
    if (exit_code > 0 && exit_code < 128) PrintLine("error: " + Printable(why));
  }
  course_.Stop();
  ReleaseWaiting();
  for (const auto& [trial, live] : live_) live->Interrupt(now);
  Advance();
}

tl::expected<SweepLimits, std::string> SweepHead::Steer(const SteeringRequest& request) {
  if (const auto steered = course_.Steer(request); !steered) return tl::make_unexpected(steered.error());
  Advance();
  return SweepLimits{course_.planning().MostTrials(), course_.pool().slots(), sampler_.size()};
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
  auto control = ListenForSweep(io_, request_.folder_fd,
                                {.account = course_.account(),
                                 .running = [this] { return course_.running().size() - course_.running().waiting(); },
                                 .waits = [this] { return holders_; },
                                 .stopping = [this] { return course_.stopping(); },
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
                                 .steer = [this](const SteeringRequest& request) { return Steer(request); }});
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
    index_.Commit(course_.account(), journal_.position());
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
  const SweepProgress& account = course_.account();
  outcome_ = OutcomeOf(course_, prepared_.reasons(), why_, exit_code_);
  planner_.GiveUp();
  keeping_.cancel();
  time_is_up_.cancel();
  course_.Left({outcome_.complete, outcome_.why, outcome_.exit_code});
  journal_.Sync();
  index_.Commit(account, journal_.position(), true);
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

Result<SweepOutcome> RunSweep(const SweepRequest& request, Transport& transport) {
  // Freed memory is reused for the next trial, so keep it.
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_TOP_PAD, 1 << 20);
  const RaisedDescriptorLimit many_descriptors;  // each running trial has some
  auto inputs = InputsOf(request);
  if (!inputs) return Fail(inputs.error());
  SweepIndex index = SweepIndex::Open(request.folder);
  LoadedSweep loaded = index.CatchUp();
  auto journal = EntryExists(request.folder_fd, kJournalEntry.name)
                     ? SweepJournalWriter::Continue(request.folder_fd, loaded.position)
                     : SweepJournalWriter::Create(request.folder_fd);
  if (!journal) return Fail(journal.error());
  SweepBegan began = request.began;
  const bool differs = !loaded.account.recipe().empty() && loaded.account.recipe() != began.recipe;
  if (differs && !began.accepted) {
    return Fail(Error("recipe_changed", {}, "the sweep's folder has another recipe than the one that it began with",
                      "muster exited while accepting another one: repeat muster resume --accept"));
  }
  began.accepted = differs;
  auto reopened = request.reopen ? request.reopen(loaded.account) : std::vector<TrialRange>{};
  if (!reopened) return Fail(reopened.error());
  if (const auto& trials = loaded.account.steered().trials) inputs->sampler.Extend(*trials);
  const auto steers =
      SteeringFor(request.steering, inputs->sampler, MostTrials(loaded.account, request.description.budget));
  if (!steers) return Fail(Error("usage", {}, "--add-trials: " + steers.error()));
  SweepHead head(request, transport, *std::move(inputs), std::move(index), std::move(loaded), *std::move(journal));
  return head.Run(std::move(began), *std::move(reopened));
}

}  // namespace muster
