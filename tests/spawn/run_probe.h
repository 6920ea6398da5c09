// Starts a probe through a Launcher, waits for its end and stores its output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "spawn/start/launcher.h"
#include "spawn/start/reap.h"
#include "support/await.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster::testing {

inline std::string ProbePath() { return std::string(MUSTER_TESTS_DIR) + "/probe"; }

struct ProbeRun {
  std::vector<std::string> lines;
  EndedProcess ended;
};

// Redirects stdout to a file and replaces argv; uses the rest of `spec` unchanged.
inline std::optional<ProbeRun> RunProbe(Launcher& launcher, SpawnSpec spec, std::vector<std::string> verbs) {
  const TempDir folder;
  const std::string path = folder / "out";
  const UniqueFd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  spec.argv = {ProbePath()};
  spec.argv.insert(spec.argv.end(), verbs.begin(), verbs.end());
  spec.stdout_fd = out.get();
  auto spawned = launcher.Spawn(spec);
  if (!spawned) {
    ADD_FAILURE() << SpawnErrorText(spawned.error());
    return std::nullopt;
  }
  const EndedProcess ended = ReapAtEnd(spawned->ref());
  return ProbeRun{LinesOf(path), ended};
}

}  // namespace muster::testing
