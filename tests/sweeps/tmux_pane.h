// A program in a real terminal: a pane of a tmux server of its own, which is read as a user sees it.
#pragma once

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "support/await.h"
#include "support/command.h"

namespace muster::testing {

class TmuxPane {
 public:
  // Runs the command in a detached pane of this size. `folder` must exist; the pane's files are there, under `name`.
  TmuxPane(const std::string& folder, const std::string& name, std::size_t columns, std::size_t rows,
           std::vector<std::string> environment, const std::vector<std::string>& command)
      : folder_(folder), socket_(folder + "/" + name + ".tmux"), output_(folder + "/" + name + ".output") {
    std::ofstream{output_};
    // The program starts once its output is recorded.
    const std::string gate = folder + "/" + name + ".gate";
    if (::mkfifo(gate.c_str(), 0600) != 0) throw std::runtime_error("mkfifo " + gate);
    std::vector<std::string> words = {"new-session", "-d",  "-x", std::to_string(columns), "-y", std::to_string(rows),
                                      "--",          "env", "-i"};
    environment.insert(environment.end(), {"LC_ALL=C.UTF-8", "TERM=screen"});
    words.insert(words.end(), environment.begin(), environment.end());
    words.insert(words.end(), {"sh", "-c", "read go < \"$0\"; \"$@\"; echo \"pane: exit $?\"; exec cat", gate});
    words.insert(words.end(), command.begin(), command.end());
    Tmux(words);
    Tmux({"pipe-pane", "exec cat > '" + output_ + "'"});
    std::ofstream(gate) << "go\n";
  }
  TmuxPane(const TmuxPane&) = delete;
  TmuxPane& operator=(const TmuxPane&) = delete;
  ~TmuxPane() { RunCommand({{"/usr/bin/tmux", "-S", socket_, "kill-server"}, Environment(), folder_}); }

  void Type(const std::string& keys) const { Tmux({"send-keys", "-l", keys}); }

  // The screen, line by line, without trailing blanks.
  std::string Screen() const { return Tmux({"capture-pane", "-p"}); }

  // Waits until the screen has all of these texts at once; returns it. Returns the last screen if they do not appear.
  std::string Await(const std::vector<std::string>& texts) const {
    const UniqueFd changes(::inotify_init1(IN_CLOEXEC));
    ::inotify_add_watch(changes.get(), output_.c_str(), IN_MODIFY);
    while (true) {
      std::string screen = Screen();
      bool all = true;
      for (const std::string& text : texts) all = all && screen.find(text) != std::string::npos;
      if (all || !AwaitReadable(changes.get())) return screen;
      std::vector<char> events(4096);
      if (::read(changes.get(), events.data(), events.size()) < 0) return screen;
    }
  }

 private:
  // tmux passes UTF-8 on if its locale has it.
  static std::vector<std::string> Environment() {
    return {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/nonexistent"};
  }

  std::string Tmux(std::vector<std::string> words) const {
    words.insert(words.begin(), {"/usr/bin/tmux", "-u", "-f", "/dev/null", "-S", socket_});
    const CommandResult done = RunCommand({words, Environment(), folder_});
    if (done.exit_code != 0) throw std::runtime_error("tmux: " + done.err);
    return done.out;
  }

  std::string folder_;
  std::string socket_;
  std::string output_;
};

}  // namespace muster::testing
