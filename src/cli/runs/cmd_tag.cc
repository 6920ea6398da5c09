// What users and programs add to a run. muster tag and muster note: change the tags and the note of a run, a sweep or
// a trial after its start. muster report-metric: reports metrics from shells and other programs, as
// muster_context.report does from Python.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/lookup/run_argument.h"
#include "metrics/log_patterns.h"
#include "metrics/metric_history.h"
#include "run/directory/run_tags.h"

namespace muster {

// muster tag and muster note: change the tags and the note of a run, a sweep or a trial after its start.

namespace {

struct TagOptions {
  std::vector<std::string> words;  // RUN or SWEEP, and changes
};

int RunTag(const TagOptions& options) {
  const std::vector<std::string> changes(options.words.begin() + 1, options.words.end());
  const auto target = FindRunOrSweep(options.words.front(),
                                     changes.empty() ? DirectoryUse::kRead : DirectoryUse::kWrite, Prefer::kNewest);
  if (!target) return Refuse(target.error());
  const UniqueFd folder(::open(target->folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  auto tags = ChangedTags(ReadTags(folder.get()), changes);
  if (!tags) return Refuse(tags.error());
  if (!changes.empty()) {
    if (auto written = WriteTags(folder.get(), *tags); !written) return Refuse(written.error());
  }
  for (const std::string& tag : *tags) std::printf("%s\n", Printable(tag).c_str());
  return kExitOk;
}

struct NoteOptions {
  std::string word;
  std::vector<std::string> text;
  bool remove = false;
};

int RunNote(const NoteOptions& options) {
  const bool changes = options.remove || !options.text.empty();
  if (options.remove && !options.text.empty()) {
    return Refuse({Error("usage", {}, "--remove removes the note, and a text would replace it", "give one of them")});
  }
  const auto target =
      FindRunOrSweep(options.word, changes ? DirectoryUse::kWrite : DirectoryUse::kRead, Prefer::kNewest);
  if (!target) return Refuse(target.error());
  const UniqueFd folder(::open(target->folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::string text;
  for (const std::string& word : options.text) text += (text.empty() ? "" : " ") + word;
  if (changes) {
    if (auto written = WriteNote(folder.get(), text); !written) return Refuse(written.error());
  }
  if (const std::string note = ReadNote(folder.get()); !note.empty())
    std::printf("%s\n", PrintableLines(NoteText(note, 0)).c_str());
  return kExitOk;
}

}  // namespace

std::function<int()> SetupNote(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<NoteOptions>();
  AddRunOrSweepArgument(app, options->word);
  app.get_option("RUN")->required();
  app.add_option("TEXT", options->text, "replaces the note; without a text, the note is printed")->type_name("TEXT …");
  app.add_flag("--remove", options->remove, "remove the note");
  return [options] { return RunNote(*options); };
}

std::function<int()> SetupTag(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<TagOptions>();
  app.add_option(
         "RUN", options->words,
         "a RUN, a SWEEP or SWEEP:12, then changes: TAG or NAME=VALUE adds, NAME- removes; prints the resulting "
         "tags")
      ->type_name("RUN [TAG …]")
      ->required();
  return [options] { return RunTag(*options); };
}

// muster report-metric: reports metrics from shells and other programs, as muster_context.report does from Python.

namespace {

constexpr const char* kVariable = "MUSTER_METRICS";

struct ReportMetricOptions {
  std::string file;
  std::vector<std::string> words;  // NAME=VALUE
};

Value Written(const std::string& text) {
  if (text == "true" || text == "false") return Value(text == "true");
  return ValueWritten(text);
}

int RunReportMetric(const ReportMetricOptions& options) {
  Value::Map values;
  for (const std::string& word : options.words) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos || sign == 0 || !IsUtf8(word)) {
      return Refuse({Error("metrics", {}, "a metric is NAME=VALUE, got " + Quoted(word), "such as loss=0.3")});
    }
    const std::string name = word.substr(0, sign);
    if (!values.emplace(name, Written(word.substr(sign + 1))).second) {
      return Refuse({Error("metrics", {}, "the metric " + Quoted(name) + " is given twice")});
    }
  }
  const char* const given = std::getenv(kVariable);
  const std::string path = !options.file.empty() ? options.file : given != nullptr ? given : "";
  if (path.empty()) {
    return Refuse({Error("metrics", {}, fmt::format("{} is not set: this is no process of a run", kVariable),
                         "--file FILE names the file to which the line is to be added")});
  }
  const std::string line = JsonText(Value(std::move(values))) + "\n";
  if (line.size() > kMaxMetricsLine) {
    return Refuse(
        {Error("metrics", {}, fmt::format("the line has {} bytes; {} are read", line.size(), kMaxMetricsLine))});
  }
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!file) return Refuse({SystemError("file", Quoted(path), errno)});
  // A single write, so that lines of other processes do not mix with it.
  const ssize_t written = ::write(file.get(), line.data(), line.size());
  if (written < 0) return Refuse({SystemError("file", Quoted(path), errno)});
  if (static_cast<std::size_t>(written) < line.size()) {
    return Refuse({MachineError("file", fmt::format("only {} of {} bytes were written to {}: is the disk full?",
                                                    written, line.size(), Quoted(path)))});
  }
  return kExitOk;
}

}  // namespace

std::function<int()> SetupReportMetric(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<ReportMetricOptions>();
  app.add_option("--file", options->file, "the file that gets the line (default: $MUSTER_METRICS)")->type_name("FILE");
  app.add_option(
         "METRIC", options->words,
         "NAME=VALUE: number, true, false, else text; non-finite numbers become null. All arguments form one report")
      ->type_name("NAME=VALUE …")
      ->required();
  return [options] { return RunReportMetric(*options); };
}

}  // namespace muster
