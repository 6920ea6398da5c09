// muster report-metric: reports metrics from shells and other programs, as muster_context.report does from Python.
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
#include "base/values/json_text.h"
#include "base/values/shell_quote.h"
#include "base/values/utf8.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/runs/run_commands.h"
#include "run/directory/metrics_line.h"
#include "run/metrics/log_patterns.h"

namespace muster {
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
  if (line.size() > kLongestMetricsLine) {
    return Refuse(
        {Error("metrics", {}, fmt::format("the line has {} bytes; {} are read", line.size(), kLongestMetricsLine))});
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
