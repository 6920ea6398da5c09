// muster logs: what the processes of a run wrote, safe for a terminal unless --raw is given.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/suggest.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"
#include "cli/run_argument.h"
#include "run/log_follow.h"
#include "run/report.h"

namespace muster {
namespace {

struct Options {
  std::string run;
  std::string role;
  std::optional<std::uint32_t> index;
  std::optional<std::uint32_t> rank;
  std::optional<std::uint64_t> tail;
  bool raw = false;
};

struct Log {
  std::string process;  // "worker.2"
  std::string path;
};

// The logs of the chosen processes, by role, index and attempt.
Result<std::vector<Log>> ChosenLogs(const Report& report, const Options& options) {
  std::vector<Log> logs;
  std::vector<std::string> roles;
  bool chosen = false;
  for (const ProcessReport& process : report.processes) {
    if (std::find(roles.begin(), roles.end(), process.role) == roles.end()) roles.push_back(process.role);
    if (!options.role.empty() && process.role != options.role) continue;
    if (options.index && process.index != *options.index) continue;
    if (options.rank && process.rank != options.rank) continue;
    chosen = true;
    const std::string name = process.role + "." + std::to_string(process.index);
    for (const AttemptReport& attempt : process.attempts) {
      const std::string path = report.run_dir + "/logs/" + name + "." + std::to_string(attempt.attempt) + ".log";
      // A log is a file. A process that put a link in its place does not choose what its reader is shown.
      std::error_code error;
      if (std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::regular) {
        logs.push_back({name, path});
      }
    }
  }
  if (!chosen) {
    return Fail(Error(
        "logs", {}, "the run has no such process",
        options.role.empty() ? std::string("muster report shows which there are") : DidYouMean(options.role, roles)));
  }
  return logs;
}

// Offset at which the last `lines` lines of the file begin; reads from the end, block by block.
std::uint64_t TailOffset(std::ifstream& file, std::uint64_t lines) {
  constexpr std::uint64_t kBlock = 64U << 10;
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::uint64_t>(file.tellg());
  std::uint64_t newlines = 0;
  std::vector<char> block;
  for (std::uint64_t end = size; end > 0;) {
    const std::uint64_t begin = end > kBlock ? end - kBlock : 0;
    block.resize(end - begin);
    file.seekg(static_cast<std::streamoff>(begin));
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    for (std::uint64_t i = block.size(); i > 0; --i) {
      if (block[i - 1] != '\n' || begin + i == size) continue;  // the final newline ends the last line
      if (++newlines == lines) return begin + i;
    }
    end = begin;
  }
  return 0;
}

// False once nobody reads our output any more.
bool Show(const Log& log, const Options& options, bool prefixed) {
  std::ifstream file(log.path, std::ios::binary);
  const std::uint64_t offset = options.tail ? TailOffset(file, std::max<std::uint64_t>(*options.tail, 1)) : 0;
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  LineCutter cutter;
  const auto show = [&](std::string_view piece, bool continues) {
    std::string line = PrefixedLine(log.process, piece, continues);
    const std::size_t prefix = log.process.size() + 3;  // " | " or " + "
    std::fwrite(line.data() + (prefixed ? 0 : prefix), 1, line.size() - (prefixed ? 0 : prefix), stdout);
  };
  std::vector<char> block(64U << 10);
  while (file && std::ferror(stdout) == 0) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    const std::string_view bytes(block.data(), static_cast<std::size_t>(file.gcount()));
    if (options.raw) {
      std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    } else {
      cutter.Feed(bytes, show);
    }
  }
  if (!options.raw) cutter.Flush(show);
  return std::ferror(stdout) == 0;
}

int Run(const Options& options) {
  const auto folder = FindRun(options.run);
  if (!folder) {
    PrintDiagnostics(folder.error());
    return ExitCodeFor(folder.error());
  }
  const auto report = MakeReport(*folder);
  const auto logs = report ? ChosenLogs(*report, options) : tl::unexpected(report.error());
  if (!logs) {
    PrintDiagnostics(logs.error());
    return ExitCodeFor(logs.error());
  }
  if (options.tail && *options.tail == 0) return kExitOk;
  const bool prefixed = logs->size() > 1;
  for (const Log& log : *logs) {
    if (!Show(log, options, prefixed)) break;
  }
  return kExitOk;
}

}  // namespace

std::function<int()> SetupLogs(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<Options>();
  AddRunArgument(app, options->run);
  app.add_option("--role", options->role, "only processes of this role");
  auto* index = app.add_option("--index", options->index, "only the process with this number in its role");
  app.add_option("--rank", options->rank, "only the process with this rank")->excludes(index);
  app.add_option("--tail", options->tail, "only the last N lines of each")->type_name("N");
  app.add_flag("--raw", options->raw, "the bytes as they were written, without prefix");
  return [options] { return Run(*options); };
}

}  // namespace muster
