// Parses a line of documented_lines.txt like `muster init --from`; the files it names are in tests/launchers/files.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "base/values/quoting.h"
#include "launchers/launcher_call.h"
#include "launchers/launcher_options.h"
#include "launchers/shell_ranks.h"
#include "support/places.h"

namespace muster::testing {

inline tl::expected<std::string, std::string> ReadTestFile(const std::string& name) {
  std::ifstream file(std::string(MUSTER_SOURCE_DIR) + "/tests/launchers/files/" + name, std::ios::binary);
  if (!file) return tl::unexpected("there is no " + name);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Where the scripts of tests/launchers/files believe to be.
inline ScriptWorld TestWorld() {
  ScriptWorld world;
  world.folder = "/base";
  world.read = [](const std::string& path) { return ReadTestFile(path.starts_with("/base/") ? path.substr(6) : path); };
  return world;
}

// Returns the launcher's name for --from.
inline std::string LauncherOfLine(const std::string& line) {
  const auto words = ShellWords(line);
  if (words->front() == "bash") return "shell";
  // Hydra and Open MPI share names; these options are Hydra's.
  for (const char* option : {" -f ", " -rmk ", "HYDRA_", " -ppn ", " -hosts "}) {
    if (line.find("mp") != std::string::npos && line.find(option) != std::string::npos) return "mpiexec.hydra";
  }
  auto launcher = LauncherOfWords(*words);
  for (std::size_t i = 1; !launcher && i < words->size(); ++i)
    launcher = LauncherOfWords({words->begin() + static_cast<std::ptrdiff_t>(i), words->end()});
  return launcher ? std::string(FactsOf(*launcher).name) : std::string();
}

inline Result<LauncherCall> ReadDocumentedLine(const std::string& line) {
  const auto words = ShellWords(line);
  const std::string launcher = LauncherOfLine(line);
  if (launcher == "shell") return ReadShellRanks(*words, TestWorld(), "/base");
  return ReadLauncherCall(LauncherByName(launcher).value(), *words, ReadTestFile);
}

// Returns the number of processes in the plan of its recipe, on a host with an unknown number of devices.
inline int ProcessesOfPlan(const LauncherCall& call) {
  // One on each host changes files before the start.
  const int files = call.files.empty() ? 0 : call.hosts;
  if (call.framework == "mpi") return 1 + files;
  const int workers = call.total ? *call.total : call.hosts * call.per_host.value_or(1);
  const bool scheduler =
      call.framework == "mindspore" || call.framework == "mindspore-ps" || call.framework == "ps-lite";
  return workers + call.servers + (scheduler ? 1 : 0) + files;
}

}  // namespace muster::testing
