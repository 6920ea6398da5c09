#include "run/session/run_opening.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/host_name.h"
#include "base/system/own_process.h"
#include "base/values/fingerprint.h"
#include "plan/text/plan_text.h"
#include "run/directory/private_files.h"
#include "run/directory/run_files.h"
#include "run/directory/run_tags.h"
#include "run/session/live_run.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kRunIdBytes = 6;

// Disk space in bytes for what a run of these processes writes at its end: ends and signals of each process in the
// journal, and the reports with the last lines of logs. A sweep's trial usually writes no report.
std::uint64_t ReservedBytesFor(const Plan& plan, bool terse) {
  constexpr std::uint64_t kOfProcess = 2048;
  constexpr std::uint64_t kMost = 64U << 20;
  return std::min(kMost, (terse ? 32U << 10 : 128U << 10) + kOfProcess * plan.processes.size());
}

}  // namespace

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

Result<void> KeepWords(const LiveRun& run) {
  if (!run.request.keep_words) return {};
  const Result<UniqueFd> words = CreateFile(run.directory->folder(), kHeadLogEntry.name, O_APPEND);
  if (!words) return Fail(words.error());
  if (::dup2(words->get(), run.request.console.err) < 0) return Fail(SystemError("file", kHeadLogEntry.name, errno));
  return {};
}

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
  const SelfCount count = request.terse ? SelfCount() : CountSelf();
  began.descriptors = count.descriptors;
  began.memory_kib = count.memory_kib;
  run.journal.Record(std::move(began));
  return {};
}

}  // namespace muster
