#include "cli/sweeps/submit_sweep.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/own_environment.h"
#include "base/system/private_files.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "cli/command/command_output.h"
#include "cli/command/small_file.h"
#include "cli/jobs/follow_job.h"
#include "cli/jobs/job_of_run.h"
#include "cli/lookup/run_argument.h"
#include "engine/engine_calls.h"
#include "run/directory/job_record.h"
#include "sweep/watch/watch_sweep.h"
#include "transport/watched_command.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kMaxLine = 300;
// A request that has not left the queue by then is cancelled by another command.
constexpr std::chrono::seconds kReturnTime{30};

std::string_view NameOf(std::string_view variable) { return variable.substr(0, variable.find('=')); }

// `before` with `added` on top.
std::vector<std::string> Merged(std::vector<std::string> before, const std::vector<std::string>& added) {
  std::erase_if(before, [&](const std::string& variable) {
    return std::any_of(added.begin(), added.end(),
                       [&](const std::string& one) { return NameOf(one) == NameOf(variable); });
  });
  before.insert(before.end(), added.begin(), added.end());
  return before;
}

class EngineAllocation final : public TrialAllocation {
 public:
  EngineAllocation(boost::asio::io_context& io, const EnginePage& page, const Without& without,
                   const AgentSettings& agents, std::uint32_t hosts, Calls calls)
      : io_(io), page_(page), without_(without), agents_(agents), hosts_(hosts), calls_(std::move(calls)) {}

  Result<void> Begin(const std::vector<std::string>& words) {
    auto held = HeldCommand::Start(
        io_, words, kAfterEnvironment,
        {.printed = [this] { OnPrinted(); }, .heard = [this] { OnHeard(); }, .ended = [this] { OnEnded(); }});
    if (!held) {
      return Fail(MachineError("engine", fmt::format("{}: {}: {}", page_.name, words.front(), held.error())));
    }
    held_ = *std::move(held);
    return {};
  }

  const std::string& job() const override { return job_; }
  const std::string& id() const override { return id_; }

  void Release() override {
    released_ = true;
    if (orphaned_) return Cancel();
    held_->Release();
    // A command that waits in the queue does not read its stdin.
    if (!granted_) held_->AskToEnd(kReturnTime);
  }

 private:
  void OnHeard() {
    if (id_.empty()) Know(AllocatedJob(page_, held_->words()));
  }

  void Know(const std::string& id) {
    if (id.empty()) return;
    id_ = id;
    job_ = page_.name + " job " + id;
    calls_.known();
  }

  void OnPrinted() {
    if (granted_) return;
    const auto environment = EnvironmentIn(held_->output());
    if (!environment) return;
    granted_ = true;
    auto place = PlaceIn(*environment);
    if (place) return calls_.granted(*std::move(place));
    problem_ = Sentence(place.error());
    held_->Release();
  }

  Result<TrialPlace> PlaceIn(const std::vector<std::string>& environment) {
    auto allocation = AllocationOf(page_, environment);
    if (!allocation) return Fail(allocation.error());
    if (id_.empty()) Know(allocation->job);
    std::vector<SiteHost> hosts = HostsOf(*allocation);
    if (hosts.size() < hosts_) {
      return Fail(
          MachineError("engine", fmt::format("{} has {} hosts, and {} were requested", job_, hosts.size(), hosts_)));
    }
    TrialPlace place;
    place.engine = std::make_shared<const EngineJob>(EngineJob{page_, id_});
    std::vector<std::string> own;
    for (const char* variable : OwnEnvironment()) own.emplace_back(variable);
    const std::vector<std::string> added = AddedVariables(environment, own);
    AgentSettings agents = agents_;
    place.environment = WithoutVariables(Merged(agents.environment, added), page_.own);
    auto transport = TransportInto({page_, *std::move(allocation)}, without_, std::move(agents), added);
    if (!transport) return Fail(transport.error());
    place.transport = *std::move(transport);
    place.spares.assign(hosts.begin() + hosts_, hosts.end());
    hosts.resize(hosts_);
    place.hosts = std::move(hosts);
    return place;
  }

  // A command that was killed has left the job, which may have hosts: the trial there goes on.
  void OnEnded() {
    OnHeard();
    if (!held_->killed() || id_.empty()) return End();
    orphaned_ = true;
    if (!granted_ || released_) Cancel();
  }

  void Cancel() {
    if (cancel_) return;
    const std::vector<std::string> jobs = {id_};
    for (const EngineCall& call : CancelCalls(page_, jobs)) {
      auto cancel = HeldCommand::Start(io_, call.words, {}, {.printed = {}, .heard = {}, .ended = [this] { End(); }});
      if (cancel) cancel_ = *std::move(cancel);
    }
    if (!cancel_) boost::asio::post(io_, [this] { End(); });
  }

  void End() {
    if (!problem_.empty()) return calls_.ended(problem_, true);
    std::string why = PhraseOfWords(page_, id_, held_->words());
    if (why.empty()) why = Printable(LastLine(held_->words()).substr(0, kMaxLine));
    if (why.empty()) why = "its command " + held_->EndText();
    calls_.ended(why, id_.empty());
  }

  boost::asio::io_context& io_;
  const EnginePage& page_;
  const Without& without_;
  const AgentSettings& agents_;
  const std::uint32_t hosts_;
  const Calls calls_;
  std::string id_;
  std::string job_;
  std::string problem_;  // why the allocation cannot be used
  bool granted_ = false;
  bool released_ = false;
  bool orphaned_ = false;  // the command was killed, and the job may be there
  std::shared_ptr<HeldCommand> held_;
  std::shared_ptr<HeldCommand> cancel_;
};

}  // namespace

EngineAllocator::EngineAllocator(EnginePage page, EngineSettings settings, std::string name, const Without& without,
                                 AgentSettings agents)
    : page_(std::move(page)),
      settings_(std::move(settings)),
      name_(std::move(name)),
      without_(without),
      agents_(std::move(agents)) {}

Result<std::unique_ptr<TrialAllocation>> EngineAllocator::Request(boost::asio::io_context& io, std::uint32_t hosts,
                                                                  TrialAllocation::Calls calls) {
  const auto words = AllocateWords(page_, settings_, name_, NodesOf(settings_).value_or(hosts));
  if (!words) return Fail(words.error());
  auto allocation = std::make_unique<EngineAllocation>(io, page_, without_, agents_, hosts, std::move(calls));
  if (auto begun = allocation->Begin(*words); !begun) return Fail(begun.error());
  return allocation;
}

Result<void> EngineAllocator::Cancel(const std::vector<std::string>& ids) {
  const EngineJobs jobs(page_);
  const auto states = jobs.States(ids);
  if (!states) return Fail(states.error());
  std::vector<std::string> left;
  for (const auto& [id, status] : *states) {
    if (!IsOver(status.state) && status.state != JobState::kVanished) left.push_back(id);
  }
  return left.empty() ? Result<void>() : jobs.Cancel(left);
}

namespace {

std::uintmax_t JournalSize(const std::string& folder) {
  std::error_code error;
  const auto size = std::filesystem::file_size(kJournalEntry.In(folder), error);
  return error ? 0 : size;
}

// The script of the job that continues the sweep in that directory.
Result<void> CompleteCall(RequestedSweep& requested, const std::string& folder, std::vector<std::string> words) {
  BatchCall& call = requested.call;
  call.job.output = kJobOutputEntry.In(folder);
  call.job.notice = "TERM";  // a stop of the sweep, whatever announces it
  const std::string page = AbsolutePath(requested.page);
  words.insert(words.begin(), folder);
  if (!page.empty()) words.insert(words.end(), {"--engine", page});
  return CompleteBatchCall(call, requested.plan, "resume", words, {});
}

// job.sh and job.json. The lock is held until they are written.
Result<void> WriteJob(RequestedSweep& requested, const SweepFile& file, const RunDirectory& directory,
                      std::vector<std::string> words) {
  if (auto done = CompleteCall(requested, directory.path(), std::move(words)); !done) return done;
  const BatchCall& call = requested.call;
  JobRecord record;
  record.engine = call.page.name;
  record.page = AbsolutePath(requested.page);
  record.run = file.sweep_id;
  record.name = file.name;
  record.submitted_at = UtcText(WallNowNs());
  if (auto written = WriteJobRecord(directory.folder(), record); !written) return written;
  ::unlinkat(directory.folder(), kJobIdEntry.name, 0);  // of an earlier job
  ::unlinkat(directory.folder(), kJobEndEntry.name, 0);
  return ReplaceFile(directory.folder(), kJobScriptEntry.name, call.script);
}

int Follow(const JobOfRun& job, const std::string& folder, std::uintmax_t journal_before, const StartOptions& start) {
  JobWait wait;
  wait.on_state = [&](const std::string& state) {
    if (!start.quiet)
      std::fprintf(stderr, "muster: %s: %s\n", PrintableLines(job.Text()).c_str(), PrintableLines(state).c_str());
  };
  wait.on_interrupt = [&] {
    if (const auto stopped = StopJob(job, false); !stopped) PrintDiagnostics(stopped.error());
  };
  const WaitOutcome waited = AwaitHead(
      job, [&] { return JournalSize(folder) > journal_before; }, wait);
  if (waited.end == WaitEnd::kOver) {
    std::fprintf(stderr, "muster: %s ended before the sweep began: %s; its output is in %s\n",
                 PrintableLines(job.Text()).c_str(), PrintableLines(StatusText(waited.status)).c_str(),
                 Printable(kJobOutputEntry.In(folder)).c_str());
    return ExitCodeOf(waited.status);
  }
  const char* terminal = std::getenv("TERM");
  const bool progress = !start.no_progress && terminal != nullptr && std::string_view(terminal) != "dumb";
  const auto code = WatchSweep(folder, {.json = false, .progress = progress});
  return code ? *code : Refuse(code.error());
}

}  // namespace

Result<RequestedSweep> RequestHostsFor(const SweepOptions& options) {
  SweepOptions here = options;
  here.recipe.engine = EngineOptions();
  here.recipe.engine.on = "local";
  Evaluator evaluator;
  const auto described = DescribeSweep(here, evaluator);
  if (!described) return Fail(described.error());
  auto first = FirstEvaluation(*described, evaluator);
  if (!first) return Fail(first.error());
  auto call = AllocationFor(options.recipe, AllocationNeeds{static_cast<std::uint32_t>(first->plan.hosts.size()),
                                                            std::move(first->engine_settings)});
  if (!call) return Fail(call.error());
  if (!RequeueOf(call->page, call->settings).on.empty()) {
    PrintDiagnostics({Warning("engine", {}, "a sweep is not requeued by itself: requeue has no effect",
                              "muster resume SWEEP --on " + call->page.name + " continues it")});
    for (const EngineOption& option : call->page.options) {
      if (option.type == EngineOptionType::kRequeue) call->settings.erase(option.name);
    }
  }
  RequestedSweep requested{*std::move(call), options, std::move(first->plan), options.recipe.engine.page};
  requested.options.recipe = requested.call.asking;
  requested.each_trial = EachTrialOf(requested.call.page, requested.call.settings) != nullptr;
  return requested;
}

Result<void> CheckEachTrialIsOutside(const EngineOptions& options) {
  if (options.slurm.empty() && options.settings.empty()) return {};
  const auto engine = ChosenEngine(options);
  if (!engine) return Fail(engine.error());
  if (!*engine || !(*engine)->allocation) return {};
  const auto settings = SettingsFor((*engine)->page, options, {});
  if (!settings) return Fail(settings.error());
  const EngineSetting* each = EachTrialOf((*engine)->page, *settings);
  if (each == nullptr || !each->source.starts_with("--")) return {};
  return Fail(
      Error("usage", {},
            each->source + " each_trial: this is inside " + AllocationText(**engine) + ", whose hosts the trials share",
            "call it outside of an allocation, or leave each_trial out"));
}

void PlanForAllocations(const RequestedSweep& requested, EvaluationOptions& evaluation) {
  const BatchCall& call = requested.call;
  const auto devices = DevicesOf(call.page, call.settings);
  if (!requested.each_trial || !devices) return;
  evaluation.site.devices_per_host = devices;
  for (const EngineOption& option : call.page.options) {
    const auto setting = option.devices ? call.settings.find(option.name) : call.settings.end();
    if (setting == call.settings.end()) continue;
    evaluation.site.sources["devices"] = call.page.name + "." + option.name + " from " + setting->second.source;
  }
}

Result<void> CheckEachTrial(const RequestedSweep& requested, const SweepDescription& sweep,
                            std::optional<std::uint32_t> slots) {
  const std::string option = requested.call.page.name + ".each_trial";
  if (!slots) {
    return Fail(Error("usage", {}, option + " needs --slots: how many jobs the sweep has in the queue at a time",
                      "--slots 8, or budget = { slots = 8 } in the sweep's file"));
  }
  if (sweep.budget.per_device) {
    return Fail(Error("usage", {}, option + " and --per-device: trials in jobs of their own share no device",
                      "leave one of them out"));
  }
  return {};
}

SweepOptions WithEngineOf(const SweepContinuation& continuation, SweepOptions options) {
  EngineOptions engine = continuation.hosts.engine;
  const EngineOptions before = options.recipe.engine;
  if (engine.on.empty() && engine.page.empty()) {
    engine.on = before.on;
    engine.page = before.page;
  }
  // Later words win.
  engine.slurm.insert(engine.slurm.begin(), before.slurm.begin(), before.slurm.end());
  engine.settings.insert(engine.settings.begin(), before.settings.begin(), before.settings.end());
  options.recipe.engine = std::move(engine);
  return options;
}

Result<void> CheckSubmission(const RequestedSweep& requested, const std::string& sweeps_folder) {
  RequestedSweep tried = requested;
  return CompleteCall(tried, AbsolutePath(sweeps_folder) + "/new", {});
}

int SubmitSweep(RequestedSweep requested, const SweepFile& file, RunDirectory directory, bool is_new,
                const StartOptions& start, const std::vector<std::string>& words) {
  const std::string folder = directory.path();
  const auto refuse = [&](const Diagnostics& problems) {
    if (is_new) DiscardDirectory(folder, kSweepDirectories);
    return Refuse(problems);
  };
  if (auto written = WriteJob(requested, file, directory, words); !written) return refuse(written.error());
  const std::uintmax_t before = JournalSize(folder);
  const UniqueFd opened(::open(PrintableLines(folder).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  { const RunDirectory released = std::move(directory); }  // the head of the job takes the lock
  const auto id = EngineJobs(requested.call.page).Submit(kJobScriptEntry.In(folder), requested.call.script);
  if (!id) return refuse(id.error());
  if (auto written = WriteJobId(opened.get(), *id); !written) PrintDiagnostics(written.error());
  const auto job = FindJobOfRun(folder);
  if (!job) return Refuse(job.error());
  if (!*job) return kExitMachine;
  if (!start.quiet || start.detach) {
    std::fprintf(stderr, "muster: sweep %s of %s submitted as %s, in %s\n", file.sweep_id.c_str(),
                 Printable(file.name).c_str(), PrintableLines((*job)->Text()).c_str(), Printable(folder).c_str());
  }
  if (start.detach) {
    std::printf("%s %s\n", file.sweep_id.c_str(), PrintableLines(folder).c_str());
    return kExitOk;
  }
  return Follow(**job, folder, before, start);
}

int SubmitContinuation(const SweepContinuation& continuation) {
  const auto found = FindSweep(continuation.sweep, DirectoryUse::kWrite);
  if (!found) return Refuse(found.error());
  auto directory = HoldSweepDirectory(*found);
  if (!directory) return Refuse(directory.error());
  if (auto edited = CarryOutHeldEdit(*directory); !edited) return Refuse(edited.error());
  const auto file = ReadSweepFile(directory->path());
  if (!file) return Refuse(file.error());
  SweepContinuation here = continuation;  // valid in the sweep's folder, too
  here.sweep = directory->path();
  here.hosts.engine.page = AbsolutePath(here.hosts.engine.page);
  const auto notify = ParseNotify(continuation.start.notify);
  if (!notify) return Refuse(notify.error());
  std::error_code error;
  std::filesystem::current_path(file->cwd, error);  // recipe and job script refer to it
  if (error) {
    return Refuse(
        {MachineError("cwd", "the folder that the sweep was begun in cannot be entered: " + Quoted(file->cwd))});
  }
  auto words = ParseSweepArguments(file->words);
  if (!words) return Refuse(words.error());
  if (auto known = KeepKnown(directory->path(), words->sweep); !known) return Refuse(known.error());
  const SweepOptions options = WithEngineOf(here, words->sweep);
  const auto changes = ChangesOfSweep(directory->path());
  if (!changes) return Refuse(changes.error());
  if (!changes->empty() && !continuation.accept) {
    std::fputs(changes->c_str(), stderr);
    return Refuse({Error("recipe_changed", {}, "the inputs of the sweep's trials have changed since it began",
                         "continue with muster resume --accept, which keeps all results, or restore the recipe")});
  }
  auto requested = RequestHostsFor(options);
  if (!requested) return Refuse(requested.error());
  if (requested->each_trial) {
    { const RunDirectory released = *std::move(directory); }
    return ContinueSweep(here);
  }
  std::vector<std::string> further;
  if (continuation.accept) further.emplace_back("--accept");
  const SteeringRequest& steering = continuation.steering;
  if (steering.slots) further.insert(further.end(), {"--slots", std::to_string(*steering.slots)});
  if (steering.add_trials > 0) further.insert(further.end(), {"--add-trials", std::to_string(steering.add_trials)});
  if (steering.device_hours) {
    further.insert(further.end(), {"--max-device-hours", fmt::format("{}", *steering.device_hours)});
  }
  for (const std::string& value : steering.unskip) further.insert(further.end(), {"--unskip", value});
  for (const std::string& point : continuation.tries) further.insert(further.end(), {"--try", point});
  const std::vector<std::string> words_of_notify = NotifyWords(*notify);
  further.insert(further.end(), words_of_notify.begin(), words_of_notify.end());
  return SubmitSweep(*std::move(requested), *file, *std::move(directory), false, continuation.start, further);
}

}  // namespace muster
