#include "cli/about/pager.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "base/system/write_all.h"
#include "spawn/start/launcher.h"
#include "spawn/start/spawn_spec.h"

namespace muster {
namespace {

// The lines of the terminal behind standard output; 0: there is none.
std::size_t OutputRows() {
  winsize size{};
  return isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

std::string PagerCommand() {
  for (const char* name : {"MUSTER_PAGER", "PAGER"}) {
    if (const char* value = std::getenv(name)) return std::string_view(value) == "cat" ? "" : value;
  }
  return "less";
}

bool Paged(const std::string& command, const std::string& text) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  // As git does: quit at the end of a short text, keep colours, leave the text on the screen.
  if (std::getenv("LESS") == nullptr) environment.emplace_back("LESS=FRX");
  SpawnSpec spec;
  spec.argv = {"/bin/sh", "-c", command};
  spec.env = EnvPointers(environment);
  spec.stdin_fd = reading.get();
  spec.stdout_fd = STDOUT_FILENO;
  spec.stderr_fd = STDERR_FILENO;
  Launcher launcher;
  const auto pager = launcher.Spawn(spec);
  if (!pager) return false;
  reading.reset();
  // Ctrl-C belongs to the pager while it runs; one that ends early takes no more text.
  const auto interrupt = std::signal(SIGINT, SIG_IGN);
  const auto broken = std::signal(SIGPIPE, SIG_IGN);
  static_cast<void>(WriteAll(writing.get(), text));
  writing.reset();
  const EndedProcess ended = ReapAtEnd(pager->ref());
  std::signal(SIGINT, interrupt);
  std::signal(SIGPIPE, broken);
  constexpr int kNotFound = 127;  // of sh
  return ended.signalled || (ended.code != kNotFound && ended.code != kNotFound - 1);
}

}  // namespace

void PrintPaged(const std::string& text) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const std::size_t rows = OutputRows();
  const std::string command = rows == 0 || lines < rows ? std::string() : PagerCommand();
  std::fflush(stdout);
  if (command.empty() || !Paged(command, text)) std::fputs(text.c_str(), stdout);
}

}  // namespace muster
