#include "spawn/leftovers/final_commands.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "spawn/leftovers/descendants.h"

namespace muster {
namespace {

constexpr std::size_t kCommands = 64;
constexpr std::size_t kBytes = 4000;

enum class State : std::uint32_t { kFree, kChanging, kSet };

struct Entry {
  std::atomic<State> state = State::kFree;
  std::atomic<std::uint32_t> running = 0;  // processes that need it
  pid_t owner = 0;
  std::uint64_t owner_start = 0;
  std::size_t size = 0;
  std::array<char, kBytes> words = {};  // each ends with a zero byte
};

struct List {
  std::atomic<std::uint32_t> set = 0;  // entries in use: none in most runs, and then no page of them is touched
  std::array<Entry, kCommands> entries = {};
};

// Shared memory, so that the list is complete even if its writer is killed.
List* list = nullptr;

std::string Joined(const std::vector<std::string>& command) {
  std::string joined;
  for (const std::string& word : command) joined.append(word).push_back('\0');
  return joined;
}

// Not by the pid alone: init processes of several PID namespaces have the same one.
bool IsOurs(const Entry& entry) {
  const auto self = entry.owner == ::getpid() ? Identify(entry.owner) : std::nullopt;
  return self && self->start_ticks == entry.owner_start;
}

Entry* Find(std::string_view joined) {
  if (list->set == 0) return nullptr;
  for (Entry& entry : list->entries) {
    if (entry.state == State::kSet && IsOurs(entry) && std::string_view(entry.words.data(), entry.size) == joined)
      return &entry;
  }
  return nullptr;
}

// Whether its owner is this process or has exited. A reused pid has another start time.
bool IsDue(const Entry& entry) {
  if (entry.owner == ::getpid()) return IsOurs(entry);
  const auto now = Identify(entry.owner);
  return !now || now->start_ticks != entry.owner_start;
}

void Run(const Entry& entry, std::chrono::milliseconds patience) {
  std::vector<char*> argv;
  std::array<char, kBytes> words = entry.words;
  for (std::size_t at = 0; at < entry.size; at += std::strlen(&words[at]) + 1) argv.push_back(&words[at]);
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) ::posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, fd);
  // Guards and agents block and ignore signals that the command needs.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  pid_t pid = -1;
  if (::posix_spawnp(&pid, argv.front(), &files, &attributes, argv.data(), environ) == 0) {
    const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    pollfd ready = {pidfd.get(), POLLIN, 0};
    int left = pidfd ? ::poll(&ready, 1, static_cast<int>(patience.count())) : 1;
    if (left == 0) ::kill(pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
}

}  // namespace

void FinalCommands::Share() {
  if (list != nullptr) return;
  void* const place = ::mmap(nullptr, sizeof *list, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  // Zero bytes are the initial value of every entry: constructing them would touch all pages.
  if (place != MAP_FAILED) list = static_cast<List*>(place);
}

bool FinalCommands::Begun(const std::vector<std::string>& command) {
  const std::string joined = Joined(command);
  if (list == nullptr || joined.empty() || joined.size() > kBytes) return false;
  if (Entry* known = Find(joined)) {
    ++known->running;
    return true;
  }
  const auto self = Identify(::getpid());
  for (Entry& entry : list->entries) {
    State free = State::kFree;
    if (!self || !entry.state.compare_exchange_strong(free, State::kChanging)) continue;
    entry.owner = self->pid;
    entry.owner_start = self->start_ticks;
    entry.size = joined.size();
    joined.copy(entry.words.data(), joined.size());
    entry.running = 1;
    entry.state = State::kSet;
    ++list->set;
    return true;
  }
  return false;
}

void FinalCommands::Ended(const std::vector<std::string>& command) {
  Entry* const known = list == nullptr || command.empty() ? nullptr : Find(Joined(command));
  if (known != nullptr && known->running > 0) --known->running;
}

std::uint32_t FinalCommands::RunNeeded(std::chrono::milliseconds patience) {
  std::uint32_t run = 0;
  if (list == nullptr || list->set == 0) return run;
  for (Entry& entry : list->entries) {
    State set = State::kSet;
    if (entry.state != State::kSet || !IsDue(entry) || !entry.state.compare_exchange_strong(set, State::kChanging))
      continue;
    if (entry.running > 0) {
      Run(entry, patience);
      ++run;
    }
    entry.state = State::kFree;
    --list->set;
  }
  return run;
}

}  // namespace muster
