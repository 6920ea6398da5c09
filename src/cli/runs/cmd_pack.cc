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

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/known_secrets.h"
#include "base/system/own_environment.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/small_file.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_argument.h"
#include "code/tar_archive.h"
#include "plan/text/plan_json.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_files.h"
#include "wire/files/run_layout.h"

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

Packing PackingOf(const std::string& path) {
  const RunEntry* const entry = RunEntryOf(path);
  if (IsNextLog(path)) return Packing::kNever;
  return entry == nullptr ? Packing::kWithAll : entry->packing;
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
  std::vector<std::string> packed;   // sorted
  std::vector<std::string> left;     // lines about omitted files, with reasons
  std::vector<std::string> unknown;  // secrets whose values cannot be read here
};

Result<PackChoice> Choose(const std::string& run_dir, std::int64_t most, bool all) {
  const auto text = ReadSmallFile(kPlanEntry.In(run_dir), kPlanEntry.most);
  if (!text) return Fail(Error("run", {}, text.error(), "a run directory holds plan.json"));
  const auto plan = PlanFromJson(*text);
  if (!plan) return Fail(plan.error());
  const std::set<std::string> secrets = SecretFiles(*plan);
  PackChoice choice;
  choice.unknown = HideSecretsOf(*plan);
  std::set<std::string> foreign;
  std::error_code error;
  for (fs::recursive_directory_iterator it(run_dir, error), end; !error && it != end; it.increment(error)) {
    const std::string path = it->path().lexically_relative(run_dir);
    std::error_code ignored;
    const fs::file_type type = it->symlink_status(ignored).type();
    const Packing packing = PackingOf(path);
    if (type == fs::file_type::directory || packing == Packing::kNever) continue;
    if (type == fs::file_type::symlink && path == kPythonEntry.name) continue;  // of a trial: to the sweep's copy
    const bool is_file = type == fs::file_type::regular || type == fs::file_type::symlink;
    const auto size = type == fs::file_type::regular ? static_cast<std::int64_t>(it->file_size(ignored)) : 0;
    if (secrets.contains(path)) {
      choice.left.push_back(path + ": it holds a secret");
    } else if (!all && packing == Packing::kWithAll) {
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

// Files with what programs wrote, or what is quoted of it; not those that a reader compares with a hash.
bool QuotesOutput(const std::string& path) {
  const RunEntry* const entry = RunEntryOf(path);
  return entry != nullptr && entry->quotes_output;
}

// Copies of files in which known secrets are overwritten, below a temporary folder that is removed at the end.
class MaskedCopies {
 public:
  MaskedCopies() = default;
  ~MaskedCopies() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  MaskedCopies(const MaskedCopies&) = delete;
  MaskedCopies& operator=(const MaskedCopies&) = delete;

  const std::string& folder() const { return folder_; }

  // How many values were overwritten in the copy of run_dir/path; 0: there are none, and no copy.
  Result<std::size_t> Copy(const std::string& run_dir, const std::string& path) {
    const UniqueFd from(::open((run_dir + "/" + path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!from) return Fail(SystemError("file", path, errno));
    auto found = Overwrite(from.get(), -1);
    if (!found || *found == 0) return found;
    if (auto made = MakeFolder(); !made) return Fail(made.error());
    const fs::path copy = fs::path(folder_) / path;
    std::error_code error;
    fs::create_directories(copy.parent_path(), error);
    struct stat status {};
    if (error || ::fstat(from.get(), &status) != 0)
      return Fail(SystemError("file", path, error ? error.value() : errno));
    const UniqueFd to(::open(copy.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!to || ::lseek(from.get(), 0, SEEK_SET) != 0) return Fail(SystemError("file", copy, errno));
    if (auto written = Overwrite(from.get(), to.get()); !written) return written;
    const std::array<timespec, 2> times = {status.st_atim, status.st_mtim};
    if (::fchmod(to.get(), status.st_mode & 0777U) != 0 || ::futimens(to.get(), times.data()) != 0) {
      return Fail(SystemError("file", copy, errno));
    }
    return found;
  }

 private:
  Result<void> MakeFolder() {
    if (!folder_.empty()) return {};
    std::error_code error;
    std::string name = fs::temp_directory_path(error) / "muster-pack-XXXXXX";
    if (error || ::mkdtemp(name.data()) == nullptr)
      return Fail(SystemError("file", name, error ? error.value() : errno));
    folder_ = name;
    return {};
  }

  // In pieces, since logs may be large. `to` -1: only counts.
  static Result<std::size_t> Overwrite(int from, int to) {
    constexpr std::size_t kPiece = 1U << 20;
    std::string text;
    std::size_t found = 0;
    for (bool more = true; more;) {
      const std::size_t had = text.size();
      text.resize(had + kPiece);
      const ssize_t got = ::read(from, text.data() + had, kPiece);
      if (got < 0 && errno != EINTR) return Fail(SystemError("file", "cannot read a file of the run", errno));
      text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      more = got != 0;
      std::string rest = text.substr(more ? WithoutPartOfASecret(text) : text.size());
      text.resize(text.size() - rest.size());
      found += OverwriteSecrets(text);
      if (const int error = to < 0 ? 0 : WriteAll(to, text); error != 0) {
        return Fail(SystemError("file", "cannot write a copy of a file", error));
      }
      text = std::move(rest);
    }
    return found;
  }

  std::string folder_;
};

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

  MaskedCopies copies;
  TarOrder order;
  order.folder = run_dir;
  order.top = top;
  order.out = out;
  std::size_t masked = 0;
  for (const std::string& path : choice->packed) {
    std::size_t values = 0;
    if (QuotesOutput(path) && !fs::is_symlink(run_dir + "/" + path, error)) {
      const auto copied = copies.Copy(run_dir, path);
      if (!copied) return Refuse(copied.error());
      values = *copied;
    }
    (values > 0 ? order.copied : order.paths).push_back(path);
    masked += values;
  }
  order.copies = copies.folder();
  order.environment = OwnVariables();
  WaitLine waiting("packing " + *found);
  const std::string why = PackWithTar(order, [&](unsigned seconds) { waiting.Show(seconds); });
  waiting.Clear();
  if (!why.empty()) return Refuse({MachineError("pack", "the run cannot be packed: " + why)});
  if (masked > 0) {
    std::fprintf(stderr, "masked: values of secrets, %zu times in %zu of the files\n", masked, order.copied.size());
  }
  for (const std::string& name : choice->unknown) {
    std::fprintf(
        stderr,
        "note: the value of the secret %s is not available here: if programs printed it, the archive contains it\n",
        Quoted(name).c_str());
  }
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
