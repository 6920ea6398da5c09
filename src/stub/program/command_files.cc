#include "stub/program/command_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "base/values/sha256.h"
#include "base/values/shell_quote.h"
#include "spawn/start/spawn_spec.h"

namespace muster {
namespace {

using Outcome = StubFinding::Outcome;

constexpr std::array<std::string_view, 8> kScripts = {".py", ".sh", ".lua", ".pl", ".rb", ".js", ".jl", ".R"};
constexpr std::array<std::string_view, 22> kData = {
    ".json", ".yaml", ".yml",  ".toml", ".ini", ".cfg",    ".conf",  ".txt", ".csv",     ".tsv",      ".npz",
    ".npy",  ".bin",  ".ckpt", ".pt",   ".pth", ".mindir", ".model", ".h5",  ".parquet", ".tfrecord", ".safetensors"};

template <std::size_t N>
bool EndsWithOne(std::string_view word, const std::array<std::string_view, N>& ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return word.size() > end.size() && word.ends_with(end); });
}

// A word with a slash may be the name of a model or an image, so only words that begin like a path are taken for one.
bool LooksLikePath(std::string_view word) {
  if (word.empty() || word.size() >= PATH_MAX || word.find_first_of("\n\t*?{}$") != std::string_view::npos)
    return false;
  if (word.find("://") != std::string_view::npos) return false;
  return (word.starts_with('/') && word.size() > 1) || word.starts_with("./") || word.starts_with("../") ||
         EndsWithOne(word, kScripts) || EndsWithOne(word, kData);
}

std::string RealPath(const std::string& path) {
  char* const resolved = ::realpath(path.c_str(), nullptr);
  std::string text = resolved == nullptr ? std::string() : resolved;
  std::free(resolved);
  return text;
}

// Sets its length and, if requested and the file is not too long, its hash. Folders and devices have neither.
void Measure(CheckedFile& file, bool read) {
  const UniqueFd opened(::open(file.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status = {};
  if (!opened || ::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  file.bytes = static_cast<std::uint64_t>(status.st_size);
  if (!read || file.bytes > kMaxHashedBytes) return;
  Sha256 hash;
  std::string buffer(std::size_t{1} << 18, '\0');
  for (;;) {
    const ssize_t got = ::read(opened.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) break;
    hash.Add(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
  }
  file.hash = hash.Hex().substr(0, 16);
}

CheckedFile Look(CheckedFile::Kind kind, const std::string& word, const std::string& path, bool read) {
  CheckedFile file{kind, word, RealPath(path), {}, 0, {}};
  if (file.path.empty()) {
    const int error = errno;
    file.why = std::strerror(error);
    // The file cannot be examined. Unlike a missing file, it will not be created by the job.
    std::error_code ignored;
    if (kind == CheckedFile::Kind::kPath && error != ENOENT) file.path = std::filesystem::absolute(path, ignored);
  } else if (::access(file.path.c_str(), R_OK) != 0) {
    file.why = std::strerror(errno);
    if (kind == CheckedFile::Kind::kScript) file.path.clear();
  }
  if (!file.path.empty()) Measure(file, read);
  return file;
}

}  // namespace

void CheckCommandFiles(const RehearsedCommand& command, StubReport& account) {
  if (command.words.empty()) return;
  std::string seen;
  bool failed = false;
  const auto take = [&](CheckedFile file) {
    seen += (seen.empty() ? "" : ", ") + file.word;
    account.files.push_back(std::move(file));
  };
  const auto fail = [&](std::string text, std::string hint) {
    failed = true;
    account.findings.push_back({Check::kFiles, Outcome::kFailed, std::move(text), std::move(hint), {}});
  };
  const auto take_path = [&](CheckedFile file) {
    if (!file.path.empty() && !file.why.empty()) {
      fail(fmt::format("{} cannot be read: {}", Quoted(file.word), file.why),
           "this user needs the right to it, and to the folders above it");
    }
    take(std::move(file));
  };

  SpawnSpec spec;
  spec.argv = command.words;
  spec.search_dirs = command.beside;
  for (char** variable = environ; *variable != nullptr; ++variable) spec.env.push_back(*variable);
  const std::string& name = command.words.front();
  const auto program = FindProgram(spec);
  if (program) {
    take(Look(CheckedFile::Kind::kProgram, name, *program, command.read));
  } else {
    account.files.push_back({CheckedFile::Kind::kProgram, name, {}, SpawnErrorText(program.error()), 0, {}});
    fail("the program cannot be started: " + SpawnErrorText(program.error()),
         "install it there, or bring PATH about with job:activate or env");
  }

  bool script = !command.shell && !EndsWithOne(name, kScripts);
  for (std::size_t i = 1; i < command.words.size() && !command.shell; ++i) {
    std::string word = command.words[i];
    if (word == "-c" || word == "-m" || word == "-e") {  // the next word is code, or a module
      script = false;
      ++i;
      continue;
    }
    if (word.starts_with('-')) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) continue;
      word = word.substr(equals + 1);
      if (LooksLikePath(word)) take_path(Look(CheckedFile::Kind::kPath, word, word, command.read));
      continue;
    }
    if (!LooksLikePath(word)) continue;
    if (!script || !EndsWithOne(word, kScripts)) {
      take_path(Look(CheckedFile::Kind::kPath, word, word, command.read));
      continue;
    }
    script = false;
    CheckedFile file = Look(CheckedFile::Kind::kScript, word, word, command.read);
    if (file.path.empty()) {
      fail(fmt::format("the script {} cannot be read: {}", Quoted(word), file.why),
           "name it from a folder that all hosts have, or bring it: --ship-code");
    }
    take(std::move(file));
  }
  if (!failed) account.findings.push_back({Check::kFiles, Outcome::kOk, seen, {}, {}});
}

}  // namespace muster
