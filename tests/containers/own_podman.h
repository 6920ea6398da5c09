// A podman of the test program's own (tests/containers/make-podman), with the image muster-test: made before the first
// test, and removed with all that it holds after the last one.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/command.h"
#include "support/places.h"
#include "support/temp_dir.h"

#define SKIP_WITHOUT_PODMAN() \
  if (!OwnPodman::Missing().empty()) GTEST_SKIP() << OwnPodman::Missing()

namespace muster::testing {

class OwnPodman {
 public:
  // Why this machine cannot have one; empty if it can.
  static std::string Missing() {
    if (::geteuid() != 0) return "a podman of the test's own needs root";
    for (const char* program : {"/usr/bin/podman", "/usr/sbin/runc", "/bin/busybox"}) {
      if (::access(program, X_OK) != 0) return std::string(program) + " is missing (tools/setup --all installs it)";
    }
    return {};
  }

  static const OwnPodman& Get() { return *Made(); }
  static void Remove() { Made().reset(); }

  ~OwnPodman() { RunCommand({.argv = {Maker(), "down", folder_.path()}, .env = kEnvironment}); }
  OwnPodman(const OwnPodman&) = delete;
  OwnPodman& operator=(const OwnPodman&) = delete;

  // The search path of a muster that is to find it, and its whole environment.
  std::string Path() const { return "PATH=" + folder_.path() + ":/usr/sbin:/usr/bin:/sbin:/bin"; }
  std::vector<std::string> Environment() const { return {Path(), "HOME=/root", "XDG_STATE_HOME=" + folder_.path()}; }
  // The words that call a command with it, and with these variables.
  std::vector<std::string> Before(const std::vector<std::string>& variables = {}) const {
    std::vector<std::string> words = Environment();
    words.insert(words.begin(), "/usr/bin/env");
    words.insert(words.end(), variables.begin(), variables.end());
    return words;
  }

  // The lines that it writes.
  std::string Ask(std::vector<std::string> words) const {
    words.insert(words.begin(), folder_ / "podman");
    const CommandResult answer = RunCommand({.argv = words, .env = kEnvironment});
    EXPECT_EQ(answer.exit_code, 0) << answer.err;
    return answer.out;
  }
  // The containers that it has a record of, running or not.
  std::string Containers() const { return Ask({"ps", "--all", "--format={{.Names}} {{.Status}}"}); }

 private:
  inline static const std::vector<std::string> kEnvironment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"};

  OwnPodman() {
    const CommandResult made = RunCommand({.argv = {Maker(), folder_.path()}, .env = kEnvironment});
    if (made.exit_code != 0) throw std::runtime_error("make-podman: " + made.err);
  }
  static std::string Maker() { return std::string(MUSTER_SOURCE_DIR) + "/tests/containers/make-podman"; }
  static std::unique_ptr<OwnPodman>& Made() {
    static std::unique_ptr<OwnPodman> made(new OwnPodman);
    return made;
  }

  TempDir folder_;
};

}  // namespace muster::testing
