#include "stub/program/training_stub.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "stub/records/stub_failure.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongArguments = 2;
constexpr std::size_t kWords = 10;
constexpr int kServesMs = 200;

volatile std::sig_atomic_t asked_for_checkpoint = 0;
volatile std::sig_atomic_t asked_to_fail = 0;  // a StubFailure + 1

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
  std::optional<StubFailure> defect;  // in every attempt, …
  std::uint64_t defect_step = 0;      // … when it does this step; 0: before the first
};

std::string NameAt(const std::string& pattern, std::uint64_t step) {
  std::string name;
  for (const char c : pattern) name += c == '*' ? std::to_string(step) : std::string(1, c);
  return name;
}

// Writes the file. Returns an errno, or 0.
int Write(const fs::path& path, const std::string& text) {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return errno;
  if (const int failed = WriteAll(file.get(), text); failed != 0) return failed;
  return ::close(file.release()) == 0 ? 0 : errno;
}

// Complete at once, by renaming: a stub that is killed while it writes leaves only what has the ending ".tmp". Returns
// an errno, or 0.
int Save(const Training& training, const fs::path& path, std::uint64_t step) {
  const fs::path draft = path.string() + ".tmp";
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  fs::remove_all(draft, error);
  const fs::path content = training.complete.empty() ? draft : draft / training.complete;
  if (!training.complete.empty()) fs::create_directories(content.parent_path(), error);
  if (error) return error.value();
  if (const int failed = Write(content, std::to_string(step) + "\n"); failed != 0) return failed;
  if (fs::is_directory(path, error)) fs::remove_all(path, error);
  fs::rename(draft, path, error);
  if (error) return error.value();
  if (training.file.empty()) return 0;
  const fs::path names = fs::path(training.dir) / training.file;
  if (const int failed = Write(names.string() + ".tmp", path.string() + "\n"); failed != 0) return failed;
  return std::rename((names.string() + ".tmp").c_str(), names.c_str()) == 0 ? 0 : errno;
}

std::optional<std::uint64_t> StepOf(const Training& training) {
  if (training.newest.empty()) return 0;
  const fs::path path(training.newest);
  std::ifstream in(training.complete.empty() ? path : path / training.complete);
  std::uint64_t step = 0;
  if (!(in >> step)) return std::nullopt;
  return step;
}

// What Python prints of an exception that nobody handles.
int Raise(std::string_view function, std::string_view call, const std::string& exception) {
  WriteAll(STDERR_FILENO, fmt::format("Traceback (most recent call last):\n  File \"train.py\", line 88, in <module>\n"
                                      "    main()\n  File \"train.py\", line 61, in {}\n    {}\n{}\n",
                                      function, call, exception));
  return kFailed;
}

std::string OsError(int error, const std::string& path = {}) {
  return fmt::format("OSError: [Errno {}] {}{}", error, std::strerror(error), path.empty() ? "" : ": '" + path + "'");
}

// The errno of a second socket on the same port.
int TakenPort() {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  const UniqueFd first(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const UniqueFd second(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool taken = ::bind(first.get(), generic, length) == 0 && ::listen(first.get(), 1) == 0 &&
                     ::getsockname(first.get(), generic, &length) == 0 && ::bind(second.get(), generic, length) != 0;
  return taken ? errno : 0;
}

// For a peer that sends nothing.
[[noreturn]] void AwaitPeer() {
  std::array<int, 2> ends = {-1, -1};
  char byte = 0;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::_Exit(kFailed);
  for (;;) ::recv(ends[0], &byte, 1, 0);
}

int Fail(StubFailure way, std::uint64_t cause) {
  static constexpr std::array<std::string_view, 4> kExceptions = {
      "RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)",
      "ValueError: loss is nan", "ConnectionResetError: [Errno 104] Connection reset by peer",
      "IndexError: index out of range in self"};
  switch (way) {
    case StubFailure::kExit:
      return kFailed;
    case StubFailure::kException:
      return Raise("main", "loss = step(batch)", std::string(kExceptions[cause % kExceptions.size()]));
    case StubFailure::kMemory:
      return Raise("main", "loss = step(batch)",
                   "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity "
                   "of 79.15 GiB of which 1.21 GiB is free.");
    case StubFailure::kPort:
      return Raise("main", "server.bind(address)", OsError(TakenPort()));
    case StubFailure::kHang:
      for (;;) ::pause();
    case StubFailure::kWait:
      break;
  }
  AwaitPeer();
}

// What fails at some time has one cause or another, whatever the step.
int FailAsAsked() {
  return Fail(static_cast<StubFailure>(std::exchange(asked_to_fail, 0) - 1), static_cast<std::uint64_t>(::getpid()));
}

int Train(const Training& training) {
  const auto from = StepOf(training);
  if (!from) return Raise("main", "state = load(path)", OsError(errno == 0 ? EIO : errno, training.newest));
  const char* const path = std::getenv("MUSTER_METRICS");
  const UniqueFd metrics(path == nullptr ? -1 : ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (training.defect && training.defect_step == 0) return Fail(*training.defect, 0);
  for (std::uint64_t step = *from + 1; step <= training.steps; ++step) {
    std::this_thread::sleep_for(training.step);
    if (asked_to_fail != 0) return FailAsAsked();
    if (training.defect && training.defect_step == step) return Fail(*training.defect, step);
    if (metrics) WriteAll(metrics.get(), fmt::format("{{\"step\": {}}}\n", step));
    WriteAll(STDOUT_FILENO, fmt::format("step {}\n", step));
    const bool asked = std::exchange(asked_for_checkpoint, 0) != 0;
    if (training.dir.empty() || (step % training.every != 0 && !asked)) continue;
    const fs::path checkpoint = fs::path(training.dir) / NameAt(training.name, step);
    if (const int failed = Save(training, checkpoint, step); failed != 0)
      return Raise("save", "torch.save(state, path)", OsError(failed, checkpoint.string()));
  }
  return kDone;
}

// "exception@40"; empty: none.
bool TakeDefect(std::string_view text, Training& training) {
  if (text.empty()) return true;
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return false;
  const auto step = ParseNumber<std::uint64_t>(text.substr(at + 1));
  training.defect = StubFailureNamed(text.substr(0, at));
  training.defect_step = step.value_or(0);
  return training.defect && step;
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
  training = {*steps,   std::chrono::milliseconds(*step_ms),
              *every,   *signal,
              words[4], words[5],
              words[6], words[7],
              words[8], {},
              0};
  if (!TakeDefect(words[9], training)) return kWrongArguments;
  if (training.signal > 0) std::signal(training.signal, [](int) { asked_for_checkpoint = 1; });
  for (std::size_t i = 0; i < kStubFailureNames.size(); ++i)
    std::signal(SignalOf(static_cast<StubFailure>(i)), [](int number) { asked_to_fail = number - SIGRTMIN; });
  if (serves && training.defect) return Fail(*training.defect, 0);
  while (serves) {
    ::poll(nullptr, 0, kServesMs);
    if (asked_to_fail != 0) return FailAsAsked();
  }
  return Train(training);
}

}  // namespace muster
