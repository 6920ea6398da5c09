#include "stub/program/training_stub.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr int kDone = 0;
constexpr int kCannotSave = 1;
constexpr int kWrongArguments = 2;
constexpr std::size_t kWords = 9;

volatile std::sig_atomic_t asked_for_checkpoint = 0;

struct Training {
  std::uint64_t steps = 0;
  std::chrono::milliseconds step{0};
  std::uint64_t every = 0;
  int signal = 0;
  std::string dir;
  std::string name;
  std::string file;
  std::string complete;
  std::string newest;
};

std::string NameAt(const std::string& pattern, std::uint64_t step) {
  std::string name;
  for (const char c : pattern) name += c == '*' ? std::to_string(step) : std::string(1, c);
  return name;
}

bool Written(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  return !out.fail();
}

// Complete at once, by renaming: a stub that is killed while it writes leaves only what has the ending ".tmp".
bool Save(const Training& training, std::uint64_t step) {
  const fs::path path = fs::path(training.dir) / NameAt(training.name, step);
  const fs::path draft = path.string() + ".tmp";
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  fs::remove_all(draft, error);
  const fs::path content = training.complete.empty() ? draft : draft / training.complete;
  if (!training.complete.empty()) fs::create_directories(content.parent_path(), error);
  if (!Written(content, std::to_string(step) + "\n")) return false;
  if (fs::is_directory(path, error)) fs::remove_all(path, error);
  fs::rename(draft, path, error);
  if (error) return false;
  if (training.file.empty()) return true;
  const fs::path names = fs::path(training.dir) / training.file;
  return Written(names.string() + ".tmp", path.string() + "\n") &&
         std::rename((names.string() + ".tmp").c_str(), names.c_str()) == 0;
}

std::optional<std::uint64_t> StepOf(const Training& training) {
  if (training.newest.empty()) return 0;
  const fs::path path(training.newest);
  std::ifstream in(training.complete.empty() ? path : path / training.complete);
  std::uint64_t step = 0;
  if (!(in >> step)) return std::nullopt;
  return step;
}

int CannotSave(const std::string& what) {
  std::fprintf(stderr, "the checkpoint cannot be %s\n", what.c_str());
  return kCannotSave;
}

int Train(const Training& training) {
  const auto from = StepOf(training);
  if (!from) return CannotSave("read: " + training.newest);
  const char* const path = std::getenv("MUSTER_METRICS");
  const UniqueFd metrics(path == nullptr ? -1 : ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  for (std::uint64_t step = *from + 1; step <= training.steps; ++step) {
    std::this_thread::sleep_for(training.step);
    if (metrics) WriteAll(metrics.get(), fmt::format("{{\"step\": {}}}\n", step));
    WriteAll(STDOUT_FILENO, fmt::format("step {}\n", step));
    const bool asked = std::exchange(asked_for_checkpoint, 0) != 0;
    if (training.dir.empty() || (step % training.every != 0 && !asked)) continue;
    if (!Save(training, step)) return CannotSave("written: " + training.dir);
  }
  return kDone;
}

}  // namespace

int TrainingStubMain(std::span<char* const> words) {
  if (words.size() != kWords) return kWrongArguments;
  Training training;
  const bool serves = std::string_view(words[0]) == "-";
  const auto steps = ParseNumber<std::uint64_t>(serves ? "0" : words[0]);
  const auto step_ms = ParseNumber<std::uint32_t>(words[1]);
  const auto every = ParseNumber<std::uint64_t>(words[2]);
  const auto signal = ParseNumber<int>(words[3]);
  if (!steps || !step_ms || !every || *every == 0 || !signal) return kWrongArguments;
  training = {*steps,  std::chrono::milliseconds(*step_ms), *every, *signal, words[4], words[5], words[6], words[7],
              words[8]};
  if (training.signal > 0) std::signal(training.signal, [](int) { asked_for_checkpoint = 1; });
  while (serves) ::pause();
  return Train(training);
}

}  // namespace muster
