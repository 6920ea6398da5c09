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
#include "base/system/self_count.h"
#include "base/values/columns.h"
#include "base/values/diagnostic_text.h"
#include "base/values/fingerprint.h"
#include "base/values/shell_quote.h"
#include "run/console/progress_display.h"
#include "run/directory/live_heads.h"
#include "run/directory/private_files.h"
#include "run/loop/output.h"
#include "run/loop/pipe_signal_ignored.h"
#include "run/loop/signal_state.h"
#include "sweep/head/interrupted_attempt.h"
#include "sweep/head/live_trial.h"
#include "sweep/head/raised_descriptor_limit.h"
#include "sweep/head/sweep_control.h"
#include "sweep/head/sweep_ending.h"
#include "sweep/head/sweep_hosts.h"
#include "sweep/head/trial_disk_space.h"
#include "sweep/head/trial_planner.h"
#include "sweep/index/sweep_index.h"
#include "sweep/record/impossible_reasons.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_journal.h"
#include "sweep/record/sweep_status.h"
#include "sweep/scheduler/sweep_steering.h"
#include "sweep/scheduler/trial_scheduler.h"

namespace muster {
namespace {

constexpr std::size_t kRunIdBytes = 6;
constexpr std::size_t kComparedAtOnce = 16;  // with the plans of the evaluator that stays alive
constexpr std::chrono::seconds kKeeping{1};  // interval of syncing files to disk and updating the index

int CodeOf(const Diagnostics& problems) { return problems.front().blame == Blame::kMachine ? 3 : 2; }

class SweepHead {
 public:
  SweepHead(const SweepRequest& request, Transport& transport, Sampler& sampler, SweepIndex index, LoadedSweep loaded,
            SweepJournalWriter journal, LogPatterns patterns, ClassPatterns classes, RecipeFiles files)
      : request_(request),
        index_(std::move(index)),
        journal_(std::move(journal)),
        sampler_(sampler),
        course_(request.description, sampler, std::move(loaded.account),
                PoolOf(request.hosts, request.devices, request.description.budget),
                [this](const SweepEntry& entry) { return Write(entry); }),
        err_(io_, request.err),
        rows_(io_, err_, request.progress && !request.quiet && err_.is_terminal()),
        signals_(io_),
        keeping_(io_),
        time_is_up_(io_),
        planner_(io_, request.evaluation, request.description, sampler, std::move(files), request.has_context,
                 [this](TrialNumber trial, const CheckpointPlace& place) {
                   return ResumptionOfTrial(request_.folder, course_.account(), trial, place);
                 }),
        watch_(io_),
        trial_setting_{request, io_, watch_, std::move(patterns), std::move(classes)},
        hosts_(io_, transport, request.hosts, request.began.sweep_id, course_,
               {.changed = [this] { Advance(); },
                .say = [this](const std::string& line) { PrintLine(line); },
                .none_left = [this](const std::string& why) { Stop(why, 3, true); }}) {}

  // Including finished trials to be retried.
  SweepOutcome Run(SweepBegan began, std::vector<TrialRange> reopened);

 private:
  bool Write(const SweepEntry& entry);
  void Show(const SweepEntry& entry);
  // On a terminal, cuts lines to its width.
  void Show(const std::string& lines) {
    constexpr std::size_t kIndent = 8;
    err_.Write(WrappedLines(lines, err_.columns(), kIndent));
  }
  void PrintLine(const std::string& line) { Show("muster: " + line + "\n"); }

  // Schedules a check for what can be done now; repeated calls are combined.
  void Advance();
  void Judge();
  void OnJudged(TrialNumber first, Result<PointsJudged> judged);
  void Plan(TrialNumber trial);
  void OnPlanned(TrialNumber trial, Result<TrialPlanner::Planned> made);
  void Start(TrialQueue::Start start);
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
  SweepStatus Status() const;

  const SweepRequest& request_;
  boost::asio::io_context io_;
  PipeSignalIgnored no_pipe_signal_;
  SweepIndex index_;
  SweepJournalWriter journal_;
  Sampler& sampler_;
  TrialScheduler course_;
  Output err_;
  ProgressDisplay rows_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer keeping_;
  boost::asio::steady_timer time_is_up_;
  TrialPlanner planner_;
  std::map<TrialNumber, TrialPlanner::Planned> planned_;
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
  std::string why_;            // why it was stopped
  ImpossibleReasons reasons_;  // of points judged before any trial began
  int exit_code_ = 0;
  SweepOutcome outcome_;
  SweepHosts hosts_;  // last: destroyed first
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

SweepStatus SweepHead::Status() const {
  SweepStatus status;
  status.account = &course_.account();
  status.sweep = &request_.description;
  status.waiting = course_.running().waiting();
  status.running = live_.size() - status.waiting;
  status.devices_in_use = course_.pool().devices_in_use() - course_.running().devices_awaited();
  for (const PoolHost& host : course_.pool().hosts()) status.devices += host.devices * course_.pool().per_device();
  status.seconds = static_cast<double>(MonotonicNowNs() - began_ns_) / 1e9;
  status.over_at_begin = over_at_begin_;
  return status;
}

SweepOutcome SweepHead::Run(SweepBegan began, std::vector<TrialRange> reopened) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
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
    Judge();
    while (const auto trial = course_.planning().NextToPlan()) Plan(*trial);
    const bool settled = hosts_.settled();
    if (settled && DiskHasSpace()) {
      while (auto start = course_.NextStart()) Start(*std::move(start));
      while (const auto trial = course_.running().NextToMove()) {
        live_.at(*trial)->Interrupt(true, "its devices are held by others; it starts on another host");
      }
    }
    if ((!settled || hosts_.connects_again()) && !course_.stopping()) return;
    if (live_.empty() && course_.over()) End();
  });
}

void SweepHead::Judge() {
  const auto batch = course_.planning().NextToJudge();
  if (!batch) return;
  planner_.Judge(batch->first, batch->second,
                 [this, first = batch->first](Result<PointsJudged> judged) { OnJudged(first, std::move(judged)); });
}

void SweepHead::OnJudged(TrialNumber first, Result<PointsJudged> judged) {
  if (!judged) Stop(Sentence(judged.error()), CodeOf(judged.error()), false);
  if (judged && course_.account().begun() == 0) reasons_.Keep(*judged);
  course_.planning().Judged(judged ? *std::move(judged) : PointsJudged{first, 0, {}});
  Advance();
}

void SweepHead::Plan(TrialNumber trial) {
  planner_.Plan(trial, course_.planning().Following(kComparedAtOnce),
                [this, trial](Result<TrialPlanner::Planned> planned) { OnPlanned(trial, std::move(planned)); });
}

void SweepHead::OnPlanned(TrialNumber trial, Result<TrialPlanner::Planned> made) {
  if (!made) {
    const Diagnostic& first = made.error().front();
    if (IsNotOfThePoint(made.error()) || first.kind == "plan_differs") {
      Stop(Sentence(made.error()), CodeOf(made.error()), false);
      course_.planning().Abandoned(trial);
    } else {
      course_.planning().MarkImpossible(trial, first.message,
                                        RecipePlaceText(first.place, request_.evaluation.recipe_file));
    }
    return Advance();
  }
  auto planned = course_.planning().Planned(trial, made->plan_id, NeedsOf(made->evaluation.plan));
  if (!planned) {
    Stop(Sentence(planned.error()), 2, false);
  } else {
    planned_[trial] = *std::move(made);
  }
  Advance();
}

bool SweepHead::DiskHasSpace() {
  const std::string full = FullDiskText(request_.folder_fd, request_.folder);
  if (!full.empty()) Stop(full, 3, false);
  return full.empty();
}

void SweepHead::Start(TrialQueue::Start start) {
  const TrialNumber trial = start.trial;
  auto planned = planned_.extract(trial);
  AttemptBegan began;
  began.trial = trial;
  began.attempt = course_.NextAttempt(trial);
  began.point = sampler_.At(trial);
  began.id = PointId(began.point);
  began.plan = course_.planning().PlanOf(trial);
  began.run_id = RandomHex(kRunIdBytes);
  for (const std::uint32_t host : start.hosts) {
    if (!request_.hosts.empty()) began.hosts.push_back(request_.hosts[host].name);
  }
  if (const auto& resumed = planned.mapped().resumed) began.resumed = resumed->from;
  if (!course_.Began(began)) return;
  ReplayEarlierReports(trial_setting_, course_.account(), began, planned.mapped().evaluation.plan,
                       [this, trial](const MetricReport& report) { course_.running().Recalled(trial, report); });
  auto live = LiveTrial::Begin(trial_setting_, began, std::move(planned.mapped()), start.hosts,
                               hosts_.TransportFor(start.hosts),
                               {.report = [this, trial](const MetricReport& report) { OnReport(trial, report); },
                                .waits = [this, trial](const std::string& holders) { OnWaits(trial, holders); },
                                .ended = [this, trial](const RunOutcome& outcome) { OnEnded(trial, outcome); }});
  if (!live) {
    // Caused by this machine: the trial is retried when the sweep is resumed.
    TrialScheduler::AttemptEnd end;
    end.interrupted = true;
    end.why = Sentence(live.error());
    Stop(fmt::format("trial {} cannot be begun: {}", trial, end.why), 3, false);
    return course_.Ended(trial, std::move(end));
  }
  live_[trial] = *std::move(live);
  if (request_.on_begun) request_.on_begun();
}

void SweepHead::OnReport(TrialNumber trial, const MetricReport& report) {
  const StopRules::Outcome outcome = course_.running().Reported(trial, report);
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
    if (++stops_asked_ == 1)
      PrintLine("stopping; running trials are retried after muster resume (again: stop at once)");
    Stop(fmt::format("ended by {}", signal == SIGINT ? "Ctrl-C" : ::strsignal(signal)), 128 + signal, stops_asked_ > 1);
    AwaitSignal();
  });
}

void SweepHead::ListenForCommands() {
  auto control = ListenForSweep(io_, request_.folder_fd,
                                {.account = course_.account(),
                                 .running = [this] { return live_.size() - course_.running().waiting(); },
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
  outcome_ = OutcomeOf(course_, reasons_, why_, exit_code_);
  planner_.GiveUp();
  keeping_.cancel();
  time_is_up_.cancel();
  course_.Left({outcome_.complete, outcome_.why, outcome_.exit_code});
  journal_.Sync();
  index_.Commit(account, journal_.position(), true);
  rows_.End();
  if (!request_.quiet || outcome_.exit_code != 0) Show(SummaryText(Status(), outcome_.why));
  control_.reset();
  hosts_.Finish([this] {
    boost::system::error_code ignored;
    signals_.clear(ignored);
    if (err_.empty()) return io_.stop();
    err_.OnProgress([this] {
      if (err_.empty()) io_.stop();
    });
  });
}

}  // namespace

Result<SweepOutcome> RunSweep(const SweepRequest& request, Transport& transport) {
  // Freed memory is reused for the next trial, so keep it.
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_TOP_PAD, 1 << 20);
  const RaisedDescriptorLimit many_descriptors;  // each running trial has some
  if (Diagnostics problems = CheckSweep(request.description); HasErrors(problems)) return Fail(std::move(problems));
  auto space = CompiledSpace::Of(request.description.space);
  if (!space) return Fail(space.error());
  auto sampler = Sampler::Of(*space, request.description.sampler);
  if (!sampler) return Fail(sampler.error());
  const MetricsChoice& metrics = request.description.metrics;
  auto patterns = LogPatterns::Of(metrics.patterns, metrics.place);
  if (!patterns) return Fail(patterns.error());
  auto classes = ClassPatterns::Of(request.description.retry.patterns, request.description.retry.place);
  if (!classes) return Fail(classes.error());
  auto files = RecipeFiles::Open(request.evaluation.recipe_file, request.evaluation.libraries);
  if (!files) return Fail(files.error());
  SweepIndex index = SweepIndex::Open(request.folder);
  LoadedSweep loaded = index.CatchUp();
  auto journal = EntryExists(request.folder_fd, "journal.jsonl")
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
  if (const auto& trials = loaded.account.steered().trials) sampler->Extend(*trials);
  const auto steers = SteeringFor(request.steering, *sampler, MostTrials(loaded.account, request.description.budget));
  if (!steers) return Fail(Error("usage", {}, "--add-trials: " + steers.error()));
  SweepHead head(request, transport, *sampler, std::move(index), std::move(loaded), *std::move(journal),
                 *std::move(patterns), *std::move(classes), *std::move(files));
  return head.Run(std::move(began), *std::move(reopened));
}

}  // namespace muster
