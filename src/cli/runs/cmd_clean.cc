// muster clean: kills the processes that are left of a run whose head and agent were killed together, and removes old
// run directories.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/system/clock.h"
#include "base/system/own_process.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/lookup/run_argument.h"
#include "run/directory/run_directory.h"
#include "run/directory/runtime_directory.h"
#include "run/journal/run_summary.h"
#include "spawn/leftovers/leftovers.h"
#include "sweep/record/sweep_directory.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

struct CleanOptions {
  std::string run;
  std::string older_than;
  std::string grace = "5s";
  bool dry_run = false;
  bool yes = false;
  bool json = false;
};

struct Cleaned {
  std::string run_dir;
  std::string run_id;
  bool live = false;
  int head = 0;            // of a run that is still active although no process holds this directory
  std::string unreadable;  // why its journal cannot be used
  LeftoverEnd end;
  bool removed = false;
};

// The folder's owner wrote the journal, so root kills only that user's processes for it.
LeftoverMarks MarksOf(const RunTrace& trace, uid_t owner) {
  LeftoverMarks marks;
  if (!IsOwn(owner)) marks.user = owner;
  marks.token = trace.run_id + '/';
  // The machine was rebooted since: recorded pids and groups are meaningless.
  if (trace.boot != BootId()) return marks;
  for (const auto& [pid, start_ticks] : trace.identities) marks.identities.push_back({pid, start_ticks});
  const std::string group = std::filesystem::path(trace.cgroup).filename();
  if (group.starts_with("muster-" + trace.run_id + '-')) marks.cgroup = trace.cgroup;
  return marks;
}

// A directory with its owner.
using Folder = std::pair<std::string, uid_t>;

Cleaned Clean(const Folder& folder, std::chrono::milliseconds grace, bool dry_run) {
  const auto& [run_dir, owner] = folder;
  Cleaned cleaned;
  cleaned.run_dir = run_dir;
  cleaned.live = IsRunLive(run_dir);
  if (cleaned.live) return cleaned;
  const auto trace = TraceRun(run_dir);
  if (!trace) {
    cleaned.unreadable = trace.error().front().message;
    return cleaned;
  }
  cleaned.run_id = trace->run_id;
  if (HeadLives(*trace)) {
    cleaned.live = true;
    cleaned.head = trace->head.first;
    return cleaned;
  }
  const LeftoverMarks marks = MarksOf(*trace, owner);
  if (dry_run) {
    cleaned.end.found = cleaned.end.left = FindLeftovers(marks);
  } else {
    cleaned.end = EndLeftovers(marks, grace);
    RemoveKeptFolder(trace->run_id);
  }
  return cleaned;
}

// Removes the folder, a dangling `latest` beside it, and the folder of the run's name if it is empty then.
Result<void> RemoveRun(const std::string& run_dir) {
  const std::filesystem::path of_name = std::filesystem::path(run_dir).parent_path();
  std::error_code error;
  std::filesystem::remove_all(run_dir, error);
  if (error) return Fail(SystemError("run_dir", "cannot remove " + Quoted(run_dir), error.value()));
  const std::filesystem::path latest = of_name / "latest";
  if (std::filesystem::is_symlink(latest, error) && !std::filesystem::exists(latest, error)) {
    std::filesystem::remove(latest, error);
  }
  std::filesystem::remove(of_name, error);  // fails, as it should, if other runs are in it
  return {};
}

// Nothing was started from it. Its lock is taken first: a sweep may be just about to begin.
Result<void> RemoveUnbegun(const std::string& sweep_dir) {
  const auto held = RunDirectory::HoldAgain(sweep_dir, kSweepDirectories);
  if (!held) return Fail(held.error());
  DiscardDirectory(sweep_dir, kSweepDirectories);
  return {};
}

// What is printed as JSON, its members in the order of their names.
struct PrintedProcess {
  std::int32_t pid = 0;
  std::string process;
  std::string program;
};
template <class V>
void Parts(V& v, const PrintedProcess& printed) {
  v("pid", printed.pid), v("process", printed.process), v("program", printed.program);
}
struct PrintedCleaning {
  Cleaned cleaned;
  bool removed = false;
};
template <class V>
void Parts(V& v, const PrintedCleaning& printed) {
  const Cleaned& cleaned = printed.cleaned;
  std::vector<PrintedProcess> found;
  for (const Leftover& one : cleaned.end.found)
    found.push_back({one.process.pid, Printable(one.name), Printable(one.program)});
  v("found", found), v("killed", cleaned.end.killed), v("left", cleaned.end.left.size()), v("live", cleaned.live);
  v("removed", printed.removed), v("run", cleaned.run_id), v("run_dir", cleaned.run_dir);
}
struct PrintedCleanings {
  std::vector<PrintedCleaning> runs;
};
template <class V>
void Parts(V& v, const PrintedCleanings& printed) {
  v("format", 1), v("runs", printed.runs);
}

// Whether there is nothing to print but that nothing is left.
bool IsQuiet(const Cleaned& cleaned) {
  return cleaned.head == 0 && !cleaned.live && !cleaned.removed && cleaned.end.found.empty() &&
         cleaned.end.left.empty() && cleaned.unreadable.empty();
}

void PrintCleaned(const Cleaned& cleaned, const CleanOptions& options) {
  const std::string where = Printable(cleaned.run_dir);
  if (cleaned.head != 0) {
    std::printf("%s: its run is active (pid %d) and writes to another directory\n", PrintableLines(where).c_str(),
                cleaned.head);
    return;
  }
  if (cleaned.live)
    return static_cast<void>(std::printf("%s: in use by another muster process\n", PrintableLines(where).c_str()));
  if (!cleaned.unreadable.empty())
    std::printf("%s: %s\n", PrintableLines(where).c_str(), Printable(cleaned.unreadable).c_str());
  for (const Leftover& one : cleaned.end.found) {
    std::printf("%s: %s %s, pid %d, %s\n", PrintableLines(where).c_str(),
                one.name.empty() ? "a process" : Printable(one.name).c_str(), Printable(one.program).c_str(),
                one.process.pid, options.dry_run ? "is left" : "was left");
  }
  if (!options.dry_run && !cleaned.end.left.empty()) {
    std::printf("%s: %zu processes cannot be ended\n", PrintableLines(where).c_str(), cleaned.end.left.size());
  } else if (cleaned.end.found.empty() && cleaned.unreadable.empty()) {
    std::printf("%s: nothing is left\n", PrintableLines(where).c_str());
  } else if (!options.dry_run && !cleaned.end.found.empty()) {
    std::printf("%s: %zu ended, %u of them by SIGKILL\n", PrintableLines(where).c_str(), cleaned.end.found.size(),
                cleaned.end.killed);
  }
  if (cleaned.removed)
    std::printf("%s: %s\n", PrintableLines(where).c_str(), options.dry_run ? "would be removed" : "removed");
}

struct CleanChoice {
  std::vector<Folder> folders;
  std::size_t foreign = 0;                  // skipped, of other users
  std::vector<std::string> unbegun_sweeps;  // own, with --older-than: refused or killed before their beginning
};

Result<CleanChoice> Chosen(const CleanOptions& options) {
  CleanChoice choice;
  if (!options.run.empty()) {
    auto folder = FindRun(options.run, DirectoryUse::kControl);
    if (!folder) return Fail(folder.error());
    const auto owner = OwnerOf(*folder);
    if (!owner) return Fail(SystemError("run_dir", "cannot look at " + Quoted(*folder), ENOENT));
    choice.folders.emplace_back(*std::move(folder), *owner);
    return choice;
  }
  double age = 0;
  if (!options.older_than.empty()) {
    const auto given = ParseDuration(options.older_than);
    if (!given) {
      return Fail(Error("usage", {}, "--older-than " + Quoted(options.older_than) + " is not a duration",
                        DurationHint(options.older_than, "write 30d or 12h")));
    }
    age = *given;
  }
  const auto runs_folder = DefaultRunsFolder();
  if (!runs_folder) return Fail(runs_folder.error());
  const DirectoryUse use = options.older_than.empty() ? DirectoryUse::kControl : DirectoryUse::kWrite;
  const auto now = static_cast<double>(WallNowNs());
  for (const FoundRun& kept : RunsBelow(*runs_folder)) {
    if (now - static_cast<double>(kept.made_ns) < age * 1e9) continue;
    if (CheckUse(kept.path, kept.owner, use, "run")) {
      choice.folders.emplace_back(kept.path, kept.owner);
    } else {
      ++choice.foreign;
    }
  }
  if (options.older_than.empty()) return choice;
  const auto sweeps_folder = DefaultSweepsFolder();
  if (!sweeps_folder) return Fail(sweeps_folder.error());
  for (const FoundRun& sweep : RunsBelow(*sweeps_folder, kSweepDirectories)) {
    const bool old = now - static_cast<double>(sweep.made_ns) >= age * 1e9;
    if (!sweep.begun && old && IsOwn(sweep.owner)) choice.unbegun_sweeps.push_back(sweep.path);
  }
  return choice;
}

int RunClean(const CleanOptions& options) {
  const bool remove = !options.older_than.empty();
  const auto grace = ParseDuration(options.grace);
  if (!grace || *grace > 3600) {
    return Refuse({Error("usage", {}, "--grace " + Quoted(options.grace) + " is not a time up to an hour",
                         DurationHint(options.grace, "for example --grace 10s"))});
  }
  const auto chosen = Chosen(options);
  if (!chosen) return Refuse(chosen.error());
  const std::vector<Folder>& folders = chosen->folders;
  if (remove && !options.yes && !options.dry_run && !(folders.empty() && chosen->unbegun_sweeps.empty())) {
    return Refuse(
        {Error("usage", {},
               std::to_string(folders.size() + chosen->unbegun_sweeps.size()) + " run directories would be removed",
               "add --yes to do it, or --dry-run to see them")});
  }

  PrintedCleanings printed;
  int exit_code = kExitOk;
  std::size_t quiet = 0;  // runs of which nothing is left
  for (const Folder& folder : folders) {
    Cleaned cleaned =
        Clean(folder, std::chrono::milliseconds(static_cast<std::int64_t>(*grace * 1000)), options.dry_run);
    if (cleaned.live && !options.run.empty()) exit_code = kExitBusy;
    if (!cleaned.end.left.empty() && !options.dry_run) exit_code = kExitMachine;
    const bool removable = remove && !cleaned.live && (options.dry_run || cleaned.end.left.empty());
    if (removable && !options.dry_run) {
      if (const auto removed = RemoveRun(folder.first); !removed) {
        exit_code = Refuse(removed.error(), false);  // the JSON of the others follows
        continue;
      }
    }
    cleaned.removed = removable;
    if (options.json) {
      printed.runs.push_back({cleaned, cleaned.removed && !options.dry_run});
    } else if (folders.size() > 1 && IsQuiet(cleaned)) {
      ++quiet;
    } else {
      PrintCleaned(cleaned, options);
    }
  }
  if (quiet > 0) std::printf("%s: nothing is left\n", Counted(quiet, "run").c_str());
  for (const std::string& sweep : chosen->unbegun_sweeps) {
    const auto removed = options.dry_run ? Result<void>() : RemoveUnbegun(sweep);
    if (!removed) {
      exit_code = Refuse(removed.error(), false);
    } else if (!options.json) {
      std::printf("%s: %s, a sweep that never began\n", Printable(sweep).c_str(),
                  options.dry_run ? "would be removed" : "removed");
    }
  }
  if (options.json) {
    std::puts(JsonOf<PartForms>(printed, 2).c_str());
  } else if (folders.empty() && chosen->unbegun_sweeps.empty() && chosen->foreign == 0) {
    std::puts(remove ? "there are no runs of that age" : "there are no runs here");
  }
  if (!options.json && chosen->foreign > 0) {
    std::printf("skipped %zu runs of other users\n", chosen->foreign);
  }
  return exit_code;
}

}  // namespace

std::string CleanSchema() { return SchemaOf<PartForms>(PrintedCleanings()); }

std::function<int()> SetupClean(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<CleanOptions>();
  auto* run = app.add_option("RUN", options->run, "path, name, name~1 or id prefix; default: every run here");
  app.add_option("--older-than", options->older_than,
                 "only runs of at least that age; also remove their run directories")
      ->type_name("TIME")
      ->excludes(run);
  app.add_option("--grace", options->grace, "time between SIGTERM and SIGKILL (default: 5s)")->type_name("TIME");
  app.add_flag("--dry-run", options->dry_run, "only show what would be done");
  app.add_flag("--yes", options->yes, "remove run directories without confirmation");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return RunClean(*options); };
}

}  // namespace muster
