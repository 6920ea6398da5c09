// A run in the background, started by `muster run --detach`, and its state. Cleans up after a failed test.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/run_folder.h"

namespace muster::testing {

// A folder with a recipe; its `body` may use `probe`.
class BackgroundRun : public ::testing::Test, public RunFolder {
 protected:
  ~BackgroundRun() override {
    if (::faccessat(AT_FDCWD, RunDir().c_str(), F_OK, 0) == 0) Muster({"stop", RunDir(), "--now", "--wait"});
    AwaitNothingLeft();  // a head releases its folder a moment before it exits
    // Kills a head that could not be asked to stop; its agent stops the rest.
    for (const pid_t left : ProcessesWith(Folder())) {
      const UniqueFd process = PidFd(left);
      if (!process) continue;  // it has exited meanwhile
      ADD_FAILURE() << "process " << left << " is left";
      ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
      AwaitReadable(process.get());
    }
  }

  CommandResult Detach(const std::string& body, Words more = {}) {
    WriteRecipe(body);
    Words words = {"run", "recipe.lua", "--detach", "--run-dir", RunDir()};
    words.insert(words.end(), more.begin(), more.end());
    return Muster(words);
  }

  std::vector<json> Journal() const {
    std::vector<json> records;
    std::ifstream journal(RunDir() + "/journal.jsonl");
    for (std::string line; std::getline(journal, line);) records.push_back(json::parse(line));
    return records;
  }
  json Record(const std::string& event) const {
    for (const json& record : Journal()) {
      if (record["event"] == event) return record;
    }
    return {};
  }

  // Connects to the control socket, whatever the length of its path.
  UniqueFd Connect() const {
    const UniqueFd folder(::open(RunDir().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string path = "/proc/self/fd/" + std::to_string(folder.get()) + "/control";
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
  static void Say(const UniqueFd& socket, const std::string& text) {
    EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Returns the next line; empty at the end.
  static std::string Hear(const UniqueFd& socket) {
    std::string line;
    for (char c = 0; AwaitReadable(socket.get()) && ::read(socket.get(), &c, 1) == 1;) {
      if (c == '\n') return line;
      line += c;
    }
    return line;
  }

  void AwaitPhase(const std::string& phase) const {
    const auto is_it = [&](const json& record) { return record["event"] == "phase" && record["to"] == phase; };
    const UniqueFd watcher = Connect();
    Say(watcher, "{\"format\":1,\"ask\":\"watch\"}\n");
    Hear(watcher);
    const std::vector<json> before = Journal();
    if (std::any_of(before.begin(), before.end(), is_it)) return;
    for (std::string line = Hear(watcher); !line.empty(); line = Hear(watcher)) {
      if (is_it(json::parse(line))) return;
    }
    ADD_FAILURE() << "the run never came to " << phase;
  }
};

}  // namespace muster::testing
