#include "spawn/start/spawn_spec.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"

namespace muster {

std::vector<const char*> EnvPointers(const std::vector<std::string>& variables) {
  std::vector<const char*> pointers;
  pointers.reserve(variables.size());
  for (const std::string& variable : variables) pointers.push_back(variable.c_str());
  return pointers;
}

std::string SpawnErrorText(const SpawnError& error) {
  std::string text = fmt::format("{}: {}", SpawnStageName(error.stage), std::strerror(error.error));
  if (!error.detail.empty()) text += ": " + error.detail;
  return text;
}

namespace {

// The result of confstr(_CS_PATH) on Linux.
constexpr std::string_view kDefaultPath = "/bin:/usr/bin";

std::string_view PathOf(const SpawnSpec& spec) {
  for (const char* variable : spec.env) {
    if (std::strncmp(variable, "PATH=", 5) == 0) return variable + 5;
  }
  return kDefaultPath;
}

std::string Join(const std::string& folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  return folder.back() == '/' ? folder + std::string(name) : folder + "/" + std::string(name);
}

// 0 if `path` (seen from the child's folder) is a file that may be executed, else an errno.
int Executable(const SpawnSpec& spec, const std::string& path) {
  const std::string seen = !spec.cwd.empty() && path.front() != '/' ? Join(spec.cwd, path) : path;
  struct stat status = {};
  if (::stat(seen.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return ::faccessat(AT_FDCWD, seen.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

std::string Unusable(const std::string& path, int error) {
  switch (error) {
    case EISDIR:
      return Quoted(path) + " is a directory";
    case EACCES:
      return Quoted(path) + " is not executable";
    default:
      return Quoted(path);
  }
}

// The interpreter named by a "#!" line, if the file begins with one.
std::optional<std::string> Interpreter(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 256> head = {};
  const ssize_t size = file ? ::read(file.get(), head.data(), head.size()) : -1;
  if (size < 2 || head[0] != '#' || head[1] != '!') return std::nullopt;
  std::string line(head.data() + 2, static_cast<std::size_t>(size) - 2);
  line.resize(std::min(line.find('\n'), line.size()));
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  return line.substr(begin, end - begin);
}

// The program in the folders of `path` that the user may have meant. All processes of a role miss the same one, so the
// last answer is kept.
std::optional<std::string> SimilarProgram(const std::string& name, std::string_view path) {
  struct Answer {
    std::string name;
    std::string path;
    std::optional<std::string> similar;
  };
  thread_local Answer last;
  if (last.name == name && last.path == path) return last.similar;
  constexpr std::size_t kMax = 20'000;
  std::vector<std::string> programs;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    std::error_code error;
    for (std::filesystem::directory_iterator it(path.substr(begin, end - begin), error), none;
         !error && it != none && programs.size() < kMax; it.increment(error)) {
      programs.push_back(it->path().filename());
    }
    begin = end + 1;
  }
  std::sort(programs.begin(), programs.end());
  last = {name, std::string(path), Nearest(name, programs)};
  return last.similar;
}

}  // namespace

tl::expected<std::string, SpawnError> FindProgram(const SpawnSpec& spec) {
  const auto fail = [](int error, std::string detail) {
    return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kExec, error, std::move(detail)});
  };
  if (spec.argv.empty() || spec.argv.front().empty()) return fail(EINVAL, "the command is empty");
  const std::string& name = spec.argv.front();

  if (name.find('/') != std::string::npos) {
    const int error = Executable(spec, name);
    if (error != 0) return fail(error, Unusable(name, error));
    return name;
  }

  SpawnError best{SpawnStage::kExec, ENOENT, {}};
  const auto usable = [&](const std::string& candidate) {
    const int error = Executable(spec, candidate);
    // An unusable file that exists explains the failure better than "not found"; a folder explains least.
    const bool telling = error == EACCES || (error == EISDIR && best.error == ENOENT);
    if (telling && best.error != EACCES) best = {SpawnStage::kExec, error, Unusable(candidate, error)};
    return error == 0;
  };

  const std::string_view path = PathOf(spec);
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string candidate = Join(end == begin ? "." : std::string(path.substr(begin, end - begin)), name);
    if (usable(candidate)) return candidate;
    begin = end + 1;
  }
  for (const std::string& folder : spec.search_dirs) {
    const std::string candidate = Join(folder, name);
    if (usable(candidate)) return candidate;
  }

  if (best.error == ENOENT) {
    best.detail = Quoted(name) + " is not on PATH";
    if (name.find(' ') != std::string::npos) {
      best.detail += " (each word of a command stands by itself)";
    } else if (name.ends_with(".py")) {
      best.detail += " (did you mean \"python3\", " + Quoted(name) + "?)";
    } else if (const auto similar = SimilarProgram(name, path))
      best.detail += " (did you mean " + Quoted(*similar) + "?)";
  }
  return tl::unexpected<SpawnError>(std::move(best));
}

std::size_t LongestWord() { return 32U * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::string ExecFailure(const SpawnSpec& spec, const std::string& path, int error) {
  const std::string seen = !spec.cwd.empty() && path.front() != '/' ? Join(spec.cwd, path) : path;
  switch (error) {
    case ENOEXEC:
      return Quoted(path) + " has neither a \"#!\" line nor a known binary format; it is not handed to a shell";
    case ETXTBSY:
      return Quoted(path) + " is open for writing";
    case ENOENT:
    case EACCES:
      if (const auto interpreter = Interpreter(seen)) {
        return fmt::format("{}: its interpreter {} cannot be executed", Quoted(path), Quoted(*interpreter));
      }
      return error == EACCES ? Unusable(path, error) : Quoted(path) + " or the loader it names";
    case E2BIG: {
      std::size_t arguments = 0;
      std::size_t environment = 0;
      std::size_t longest = 0;
      for (const std::string& argument : spec.argv) {
        arguments += argument.size() + 1;
        longest = std::max(longest, argument.size() + 1);
      }
      for (const char* variable : spec.env) {
        const std::size_t size = std::strlen(variable) + 1;
        environment += size;
        longest = std::max(longest, size);
      }
      const std::size_t most = LongestWord();
      if (longest > most) {
        return fmt::format(
            "a word of its command or a variable has {} bytes, and Linux takes {} KiB: write long texts to a file "
            "(job:file)",
            longest, most / 1024);
      }
      return fmt::format("{} bytes of arguments and {} bytes of environment in {} strings are too many for Linux",
                         arguments, environment, spec.argv.size() + spec.env.size());
    }
    default:
      return Quoted(path);
  }
}

std::string BesideOwnProgram(std::string_view name) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : (self.parent_path() / name).string();
}

}  // namespace muster
