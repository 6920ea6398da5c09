// muster dump: shows what every process of a run is doing now, or was doing at the last dump.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/system/known_secrets.h"
#include "base/system/private_files.h"
#include "base/values/quoting.h"
#include "base/values/rank_set.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/lookup/run_argument.h"
#include "run/control/control_protocol.h"
#include "run/control/journal_feed.h"
#include "run/directory/run_directory.h"
#include "run/report/dump_report.h"
#include "run/report/report_json.h"
#include "sweep/watch/sweep_snapshot.h"

namespace muster {
namespace {

constexpr std::size_t kMaxPlaces = 1'000;
constexpr std::size_t kMaxFile = 16U << 20;

struct DumpOptions {
  std::string run;
  std::string role;
  std::string ranks;
  bool json = false;
};

// Returns the number of a finished dump, or of one that the end of the run cut off.
Result<std::uint32_t> TakeDump(const std::string& folder) {
  Result<ControlConnection> head = ControlConnection::Open(folder);
  if (!head) return Fail(head.error());
  const Result<ControlAnswer> answer = head->Ask({ControlRequest::Ask::kDump});
  if (!answer) return Fail(answer.error());
  boost::asio::io_context io;
  JournalFeed feed(io, folder);
  while (const std::optional<JournalRecord> record = feed.Next()) {
    const auto* ended = std::get_if<DumpEnded>(&record->entry);
    if (ended != nullptr && ended->dump == answer->dump) break;
  }
  return answer->dump;
}

// Prints everything known about one process.
void PrintFile(const std::string& folder, const DumpReport& dump) {
  const DumpGroup& group = dump.groups.front();
  const std::string path =
      fmt::format("{}/{}.{}.{}.txt", dump.folder, group.who.role, group.who.indices.front(), group.first.attempt);
  const UniqueFd at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Result<std::string> text = ReadFileAt(at.get(), path, kMaxFile, O_NOFOLLOW);
  if (!text) return PrintDiagnostics(text.error());
  std::printf("\n");
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    std::printf("%s\n", Printable(WithoutSecrets(text->substr(begin, end - begin))).c_str());
    begin = end + 1;
  }
}

// Requests a dump from a running run; for one that is over, or of another user, the last dump is read.
Result<NamedRunOrSweep> Find(const std::string& run) {
  auto own = FindRunOrSweep(run, DirectoryUse::kControl, Prefer::kLive);
  if (own) return own;
  auto read = FindRunOrSweep(run, DirectoryUse::kRead, Prefer::kLive);
  return read && !IsRunLive(read->folder) ? read : own;
}

Result<DumpFilter> FilterOf(const DumpOptions& options) {
  DumpFilter filter{options.role, {}};
  if (options.ranks.empty()) return filter;
  filter.ranks = RankSet::Parse(options.ranks);
  if (filter.ranks) return filter;
  return Fail(Error("usage", {}, fmt::format("--rank {}: these are no ranks", Quoted(options.ranks)),
                    "numbers and ranges without blanks: 0-3,7"));
}

// A new dump of a running run, else its last one.
Result<DumpReport> DumpOf(const std::string& folder, const DumpFilter& filter) {
  std::uint32_t number = 0;
  if (IsRunLive(folder)) {
    const Result<std::uint32_t> taken = TakeDump(folder);
    if (!taken && IsRunLive(folder)) return Fail(taken.error());
    if (taken) number = *taken;
  }
  return FindDump(folder, number, filter);
}

void PrintDump(const std::string& folder, const DumpReport& dump, const DumpFilter& filter) {
  std::fputs(PrintableLines(DumpText(dump, kMaxPlaces)).c_str(), stdout);
  const bool alone = dump.groups.size() == 1 && dump.groups.front().who.indices.size() == 1;
  if (alone && (filter.ranks || !filter.role.empty())) PrintFile(folder, dump);
}

Result<int> ShowDumpOfRun(const std::string& folder, const DumpFilter& filter, bool json) {
  const Result<DumpReport> dump = DumpOf(folder, filter);
  if (!dump) return Fail(dump.error());
  if (json) {
    std::fputs(DumpJsonText(folder, *dump).c_str(), stdout);
  } else {
    PrintDump(folder, *dump, filter);
  }
  return kExitOk;
}

// The sweep's running trials, one after the other. A trial that has ended meanwhile is skipped.
Result<int> ShowDumpsOfSweep(const std::string& folder, const DumpFilter& filter, bool json) {
  const auto look = ReadSweepSnapshot(folder);
  if (!look) return Fail(look.error());
  if (look->running.empty()) {
    return Fail(
        Error("dump", {}, "no trial of the sweep is running", "muster dump SWEEP:12 shows the last dump of a trial"));
  }
  const std::string word = WordForSweep(folder, look->file.name, look->file.sweep_id);
  nlohmann::ordered_json object = {
      {"format", 1}, {"sweep", look->file.sweep_id}, {"trials", nlohmann::ordered_json::array()}};
  int code = kExitOk;
  bool first = true;
  for (const RunningTrial& running : look->running) {
    const std::string name = word + ":" + running.Word();
    const auto trial = FindRunOrSweep(name, DirectoryUse::kControl, Prefer::kLive);
    const auto dump = trial ? DumpOf(trial->folder, filter) : Result<DumpReport>(Fail(trial.error()));
    if (!dump) {
      std::fflush(stdout);
      PrintDiagnostics(dump.error());
      code = ExitCodeFor(dump.error());
    } else if (json) {
      object["trials"].push_back({{"name", Readable(name)},
                                  {"trial", running.trial},
                                  {"attempt", running.attempt + 1},
                                  {"run_dir", Readable(trial->folder)},
                                  {"dump", nlohmann::ordered_json::parse(DumpJson(*dump))}});
    } else {
      std::printf("%s%s\n", std::exchange(first, false) ? "" : "\n", Printable(name).c_str());
      PrintDump(trial->folder, *dump, filter);
    }
  }
  if (json) {
    std::printf("%s\n", SerializedJson(object, 2).c_str());
  }
  return code;
}

Result<int> ShowDump(const DumpOptions& options) {
  const auto work = Find(options.run);
  if (!work) return Fail(work.error());
  const auto filter = FilterOf(options);
  if (!filter) return Fail(filter.error());
  return work->is_sweep ? ShowDumpsOfSweep(work->folder, *filter, options.json)
                        : ShowDumpOfRun(work->folder, *filter, options.json);
}

int RunDump(const DumpOptions& options) {
  const Result<int> shown = ShowDump(options);
  if (shown) return *shown;
  return Refuse(shown.error());
}

}  // namespace

std::function<int()> SetupDump(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<DumpOptions>();
  AddRunOrSweepArgument(app, options->run);
  app.add_option("--role", options->role, "only processes of this role");
  app.add_option("--rank", options->ranks, "only processes with these ranks; of a single one everything is shown")
      ->type_name("0-3,7");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return RunDump(*options); };
}

}  // namespace muster
