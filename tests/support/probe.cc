// probe: the tests' child process. Executes its arguments in order. Every verb that prints prints one line, so that
// tests wait for lines and never for a time.
//
//   args env cwd fds signals ids nofile   print the process's own, as one line of JSON
//   print TEXT                            print TEXT
//   exit N · die SIGNAL · wait            exit, kill itself, or wait for ever
//   ignore-term · on-term N               from now on: ignore SIGTERM; print "term" at SIGTERM and exit with N
//   child · session · daemon              fork a process that waits for ever and ignores SIGTERM: in this process
//   group;
//                                         in its own session; in its own session and orphaned at once
//   orphans N                             fork N orphans that exit at once
//   bomb N                                processes that fork processes, N in total, and never exit
//   flood LINES WIDTH NAME                print LINES lines of WIDTH bytes that begin with NAME and a number
//   cores                                 print the cores it may run on, as one line of JSON
//   hold FOLDER                           lock a file in FOLDER for each of $MUSTER_DEVICES until it exits; exit with
//   92
//                                         if another process has locked one
//   record FILE WORD                      append one line to FILE: WORD, $MUSTER_DEVICES and CLOCK_MONOTONIC in ns
//   allocate MIB · burn MS                use that much more memory; use that much processor time
//   stop                                  stop itself (SIGSTOP)
//   file PATH · await PATH                create a file and its folders; wait until a file exists
//   listen PORT                           listen on that TCP port of 127.0.0.1
//   terminal                              print the state of its terminal, as one line of JSON
//   converse                              print "ready"; from now on "interrupted" at SIGINT, "window ROWS COLUMNS"
//   when
//                                         that changes, "heard LINE" for each line; continue at the line "bye"
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using nlohmann::json;

void PrintLine(std::string line) {
  line += '\n';
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t size = ::write(STDOUT_FILENO, line.data() + at, line.size() - at);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) std::exit(99);
    at += static_cast<std::size_t>(size);
  }
}

void PrintJson(const json& value) { PrintLine(value.dump(-1, ' ', false, json::error_handler_t::replace)); }

void MakeFile(const std::filesystem::path& path) {
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << "here\n";
}

void AwaitFile(const std::filesystem::path& path) {
  const int watch = ::inotify_init1(IN_CLOEXEC);
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  if (::inotify_add_watch(watch, folder.c_str(), IN_CREATE | IN_MOVED_TO) < 0) std::exit(98);
  while (!std::filesystem::exists(path)) {
    std::array<char, 4096> events = {};
    if (::read(watch, events.data(), events.size()) <= 0) std::exit(98);
  }
  ::close(watch);
}

void Listen(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::exit(97);
  if (::listen(socket, 8) != 0) std::exit(97);
}

json Cores() {
  cpu_set_t set = {};
  if (::sched_getaffinity(0, sizeof set, &set) != 0) std::exit(94);
  json cores = json::array();
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

void HoldDevices(const std::string& folder) {
  const char* devices = std::getenv("MUSTER_DEVICES");
  std::istringstream names(devices == nullptr ? "" : devices);
  for (std::string name; std::getline(names, name, ',');) {
    // Stays open: the lock ends with the process.
    const int file = ::open((folder + "/" + name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::flock(file, LOCK_EX | LOCK_NB) != 0) {
      PrintLine("device " + name + " is somebody else's");
      std::exit(92);
    }
  }
}

// Uses one write, so that lines of several processes are not mixed.
void Record(const std::string& path, const std::string& word) {
  const char* devices = std::getenv("MUSTER_DEVICES");
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::string line = word + " " + (devices == nullptr ? "-" : devices) + " " +
                           std::to_string(now.tv_sec * 1'000'000'000LL + now.tv_nsec) + "\n";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || ::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::exit(93);
  ::close(file);
}

[[noreturn]] void WaitForEver() {
  for (;;) ::pause();
}

json Descriptors() {
  json fds = json::object();
  DIR* directory = ::opendir("/proc/self/fd");
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || name == std::to_string(::dirfd(directory))) continue;
    std::array<char, 4096> target = {};
    const ssize_t size = ::readlink(("/proc/self/fd/" + name).c_str(), target.data(), target.size());
    fds[name] = std::string(target.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  }
  ::closedir(directory);
  return fds;
}

json Signals() {
  json signals = json::object();
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("SigBlk:") || line.starts_with("SigIgn:")) signals[line.substr(0, 6)] = line.substr(8);
  }
  return signals;
}

int exit_on_term = 0;

void OnTerm(int) {
  constexpr std::array<char, 5> kLine = {'t', 'e', 'r', 'm', '\n'};
  if (::write(STDOUT_FILENO, kLine.data(), kLine.size()) < 0) ::_exit(98);
  ::_exit(exit_on_term);
}

// Forks a process that calls `prepare` and then waits for ever; returns after `prepare`.
void ForkWaiting(const std::function<void()>& prepare) {
  std::array<int, 2> ready = {};
  if (::pipe(ready.data()) != 0) std::exit(97);
  const pid_t pid = ::fork();
  if (pid < 0) std::exit(96);
  if (pid == 0) {
    std::signal(SIGTERM, SIG_IGN);
    prepare();
    ::close(ready[0]);
    ::close(ready[1]);
    WaitForEver();
  }
  ::close(ready[1]);
  char byte = 0;
  while (::read(ready[0], &byte, 1) < 0 && errno == EINTR) {
  }
  ::close(ready[0]);
}

void OrphanItself() {
  ::setsid();
  const pid_t pid = ::fork();
  if (pid != 0) ::_exit(pid > 0 ? 0 : 95);
}

void ForkOrphans(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      static_cast<void>(::fork());  // both processes exit; the inner one is an orphan
      ::_exit(0);
    }
    if (pid > 0) ::waitpid(pid, nullptr, 0);
  }
}

// Each process forks while the total is not reached, so that killing one leaves others that fork.
void Bomb(int total) {
  void* page = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) std::exit(94);
  auto* left = new (page) std::atomic<int>(total);
  while (left->fetch_sub(1) > 0) {
    if (::fork() == 0) ::setsid();
  }
  WaitForEver();
}

struct Verb {
  int arguments;
  std::function<void(char** arguments)> act;
};

winsize Window() {
  winsize size = {};
  ::ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
  return size;
}

json Terminal() {
  const int own = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  return {{"ttys", {::isatty(0) == 1, ::isatty(1) == 1, ::isatty(2) == 1}},
          {"controlling", own >= 0},
          {"leads", ::getsid(0) == ::getpid()},
          {"foreground", ::tcgetpgrp(0) == ::getpgrp()},
          {"rows", Window().ws_row},
          {"columns", Window().ws_col}};
}

void OnInterrupt(int) {
  constexpr std::array<char, 12> kLine = {'i', 'n', 't', 'e', 'r', 'r', 'u', 'p', 't', 'e', 'd', '\n'};
  if (::write(STDOUT_FILENO, kLine.data(), kLine.size()) < 0) ::_exit(98);
}

void OnWindow(int) {
  std::array<char, 64> line = {};
  const int size = std::snprintf(line.data(), line.size(), "window %d %d\n", Window().ws_row, Window().ws_col);
  if (::write(STDOUT_FILENO, line.data(), static_cast<std::size_t>(size)) < 0) ::_exit(98);
}

void Converse() {
  // Interrupted system calls continue.
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGWINCH, OnWindow);
  PrintLine("ready");
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "bye") return;
    PrintLine("heard " + line);
  }
  std::exit(92);
}

int Number(const char* text) { return std::atoi(text); }

const std::map<std::string, Verb>& Verbs(const std::vector<std::string>& all, char** environment) {
  static const std::map<std::string, Verb> verbs = {
      {"args", {0, [&all](char**) { PrintJson(all); }}},
      {"env",
       {0,
        [environment](char**) {
          json variables = json::array();
          for (char** one = environment; *one != nullptr; ++one) variables.push_back(*one);
          PrintJson(variables);
        }}},
      {"cwd",
       {0,
        [](char**) {
          std::array<char, 4096> path = {};
          PrintJson(::getcwd(path.data(), path.size()) != nullptr ? path.data() : "");
        }}},
      {"fds", {0, [](char**) { PrintJson(Descriptors()); }}},
      {"signals", {0, [](char**) { PrintJson(Signals()); }}},
      {"ids",
       {0,
        [](char**) {
          PrintJson({{"pid", ::getpid()}, {"ppid", ::getppid()}, {"group", ::getpgid(0)}, {"session", ::getsid(0)}});
        }}},
      {"nofile",
       {0,
        [](char**) {
          rlimit limit = {};
          ::getrlimit(RLIMIT_NOFILE, &limit);
          PrintJson(limit.rlim_cur);
        }}},
      {"cores", {0, [](char**) { PrintJson(Cores()); }}},
      {"hold", {1, [](char** a) { HoldDevices(a[0]); }}},
      {"record", {2, [](char** a) { Record(a[0], a[1]); }}},
      {"print", {1, [](char** a) { PrintLine(a[0]); }}},
      {"exit", {1, [](char** a) { ::_exit(Number(a[0])); }}},
      {"die",
       {1,
        [](char** a) {
          const rlimit no_core = {0, 0};
          ::setrlimit(RLIMIT_CORE, &no_core);
          std::signal(Number(a[0]), SIG_DFL);  // a sanitizer may have installed a handler
          ::kill(::getpid(), Number(a[0]));
          WaitForEver();
        }}},
      {"wait", {0, [](char**) { WaitForEver(); }}},
      {"ignore-term", {0, [](char**) { std::signal(SIGTERM, SIG_IGN); }}},
      {"on-term",
       {1,
        [](char** a) {
          exit_on_term = Number(a[0]);
          std::signal(SIGTERM, OnTerm);
        }}},
      {"child", {0, [](char**) { ForkWaiting([] {}); }}},
      {"session", {0, [](char**) { ForkWaiting([] { ::setsid(); }); }}},
      {"daemon", {0, [](char**) { ForkWaiting(OrphanItself); }}},
      {"orphans", {1, [](char** a) { ForkOrphans(Number(a[0])); }}},
      {"bomb", {1, [](char** a) { Bomb(Number(a[0])); }}},
      {"flood",
       {3,
        [](char** a) {
          for (int i = 0; i < Number(a[0]); ++i) {
            std::string line = std::string(a[2]) + " " + std::to_string(i) + " ";
            line.resize(std::max(line.size(), static_cast<std::size_t>(Number(a[1]))), '.');
            PrintLine(line);
          }
        }}},
      // Prints this many bytes "x" without a newline.
      {"fill",
       {1,
        [](char** a) {
          const std::string block(64U << 10, 'x');
          for (long left = std::atol(a[0]); left > 0;) {
            const ssize_t size = ::write(STDOUT_FILENO, block.data(),
                                         std::min<std::size_t>(block.size(), static_cast<std::size_t>(left)));
            if (size <= 0) std::exit(99);
            left -= size;
          }
        }}},
      {"allocate",
       {1,
        [](char** a) {
          const std::size_t bytes = static_cast<std::size_t>(Number(a[0])) << 20;
          void* const pages =
              ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
          if (pages == MAP_FAILED) std::exit(99);
        }}},
      {"burn",
       {1,
        [](char** a) {
          timespec used{};
          const auto ms = [&] { return used.tv_sec * 1'000 + used.tv_nsec / 1'000'000; };
          while (ms() < Number(a[0])) ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        }}},
      {"stop", {0, [](char**) { ::raise(SIGSTOP); }}},
      {"file", {1, [](char** a) { MakeFile(a[0]); }}},
      {"await", {1, [](char** a) { AwaitFile(a[0]); }}},
      {"terminal", {0, [](char**) { PrintJson(Terminal()); }}},
      {"converse", {0, [](char**) { Converse(); }}},
      {"listen", {1, [](char** a) { Listen(Number(a[0])); }}},
  };
  return verbs;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> all(argv, argv + argc);
  const auto& verbs = Verbs(all, environ);
  for (int i = 1; i < argc; ++i) {
    const auto found = verbs.find(argv[i]);
    // Arguments after "--" are data for "args".
    if (found == verbs.end() && std::string(argv[i]) == "--") break;
    if (found == verbs.end() || i + found->second.arguments >= argc) {
      std::fprintf(stderr, "probe: %s?\n", argv[i]);
      return 93;
    }
    found->second.act(argv + i + 1);
    i += found->second.arguments;
  }
  return 0;
}
