// muster pack: writes a run directory as an archive, to be used elsewhere with the same commands. Omits secrets, and
// files that are large or not muster's, unless everything is requested.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/command/small_file.h"
#include "cli/command/wait_line.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/stored_recipe.h"
#include "cli/runs/run_commands.h"
#include "code/tar_call.h"
#include "plan/text/plan_json.h"
#include "run/directory/run_directory.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kUsualMost = std::int64_t{64} << 20;

struct PackOptions {
  std::string run;
  std::string out;
  std::string most;
  bool all = false;
};

// Whether the file is muster's, by the first part of its path (docs/run_directory.md).
bool IsMusters(const std::string& path) {
  constexpr std::array<std::string_view, 19> kOwn = {
      "plan.json", "plan.txt",   "binding.json", "inputs.json", "journal.jsonl", "report.json", "tags.json",
      "note.txt",  "report.txt", "head.log",     "recipe",      "context",       "files",       "logs",
      "errors",    "dumps",      "metrics",      "python",      "probe"};
  const std::string first = path.substr(0, path.find('/'));
  return std::find(kOwn.begin(), kOwn.end(), first) != kOwn.end();
}

// Files that are only meaningful on the host of the run: locks and sockets.
bool IsOfTheMoment(const std::string& path) {
  return path == "lock" || path == "control" || path.ends_with(".log.next");
}

// Files with a secret as their content.
std::set<std::string> SecretFiles(const Plan& plan) {
  std::set<std::string> paths;
  for (const auto& [path, file] : plan.files) {
    if (file.content.marked.find("${muster:secret:") != std::string::npos) paths.insert(path);
  }
  return paths;
}

// The kind of special files, which cannot be packed.
const char* KindOf(fs::file_type type) {
  if (type == fs::file_type::fifo) return "a named pipe";
  if (type == fs::file_type::socket) return "a socket";
  return type == fs::file_type::character || type == fs::file_type::block ? "a device" : "no file";
}

struct PackChoice {
  std::vector<std::string> packed;  // sorted
  std::vector<std::string> left;    // lines about omitted files, with reasons
};

Result<PackChoice> Choose(const std::string& run_dir, std::int64_t most, bool all) {
  const auto text = ReadSmallFile(run_dir + "/plan.json", kMaxPlanJsonBytes);
  if (!text) return Fail(Error("run", {}, text.error(), "a run directory holds plan.json"));
  const auto plan = PlanFromJson(*text);
  if (!plan) return Fail(plan.error());
  const std::set<std::string> secrets = SecretFiles(*plan);
  PackChoice choice;
  std::set<std::string> foreign;
  std::error_code error;
  for (fs::recursive_directory_iterator it(run_dir, error), end; !error && it != end; it.increment(error)) {
    const std::string path = it->path().lexically_relative(run_dir);
    std::error_code ignored;
    const fs::file_type type = it->symlink_status(ignored).type();
    if (type == fs::file_type::directory || IsOfTheMoment(path)) continue;
    const bool is_file = type == fs::file_type::regular || type == fs::file_type::symlink;
    const auto size = type == fs::file_type::regular ? static_cast<std::int64_t>(it->file_size(ignored)) : 0;
    if (secrets.contains(path)) {
      choice.left.push_back(path + ": it holds a secret");
    } else if (!all && !IsMusters(path)) {
      foreign.insert(path.substr(0, path.find('/')));
    } else if (!is_file) {
      choice.left.push_back(path + ": " + KindOf(type));
    } else if (!all && size > most) {
      choice.left.push_back(fmt::format("{}: {} MiB", path, size >> 20));
    } else {
      choice.packed.push_back(path);
    }
  }
  if (error) return Fail(SystemError("file", run_dir, error.value()));
  for (const std::string& path : foreign) choice.left.push_back(path + ": the job's own");
  std::sort(choice.packed.begin(), choice.packed.end());
  std::sort(choice.left.begin(), choice.left.end());
  return choice;
}

int RunPack(const PackOptions& options) {
  std::int64_t most = kUsualMost;
  if (!options.most.empty()) {
    const auto bytes = ParseBytes(options.most);
    if (!bytes) {
      return Refuse({Error("usage", {}, "--most " + Quoted(options.most) + ": this is not a size", "--most 64MiB")});
    }
    most = *bytes;
  }
  const auto found = FindRun(options.run);
  if (!found) return Refuse(found.error());
  std::error_code error;
  const std::string run_dir = fs::canonical(*found, error);
  if (error) return Refuse({SystemError("file", *found, error.value())});
  if (IsRunLive(run_dir)) {
    return Refuse({Error("run", {}, fmt::format("run {} is still active: {}", Quoted(*found), HolderOf(run_dir)),
                         "muster watch " + ShellQuoted(options.run) + " waits for its end")});
  }
  const std::string top = fs::path(run_dir).filename();
  const std::string out = fs::absolute(options.out.empty() ? top + ".tar.gz" : options.out, error);
  if (!IsTarName(out)) {
    return Refuse({Error("usage", {}, "-o " + Quoted(options.out) + ": this names no archive",
                         "a name that ends with .tar.gz, .tar.zst or .tar")});
  }
  auto choice = Choose(run_dir, most, options.all);
  if (!choice) return Refuse(choice.error());
  std::erase_if(choice->packed, [&](const std::string& path) { return run_dir + "/" + path == out; });

  TarOrder order{run_dir, choice->packed, top, out, {}};
  for (char** variable = environ; *variable != nullptr; ++variable) order.environment.emplace_back(*variable);
  WaitLine waiting("packing " + *found);
  const std::string why = PackWithTar(order, [&](unsigned seconds) { waiting.Show(seconds); });
  waiting.Clear();
  if (!why.empty()) return Refuse({MachineError("pack", "the run cannot be packed: " + why)});
  for (const std::string& line : choice->left) std::fprintf(stderr, "omitted: %s\n", Printable(line).c_str());
  std::printf("%s\n", Printable(out).c_str());
  return kExitOk;
}

}  // namespace

std::function<int()> SetupPack(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<PackOptions>();
  AddRunArgument(app, options->run);
  app.add_option("-o,--output", options->out, "the archive: FILE.tar.gz (the usual), FILE.tar.zst or FILE.tar")
      ->type_name("FILE");
  app.add_option("--most", options->most, "omit files larger than this (default: 64MiB)")->type_name("SIZE");
  app.add_flag("--all", options->all, "everything, checkpoints and large logs too; never a file with a secret");
  return [options] { return RunPack(*options); };
}

}  // namespace muster
