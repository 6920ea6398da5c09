// Validates settings over the whole job: the schema's rules between settings, what attributes require of the number
// and modes of processes, and the files and folders that several processes of a host would write. Paths are texts of
// the plan; accesses no disk.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "muster/mindspore/context.h"

namespace muster {

// Computes the folders and files that processes write because of their contexts, as MindSpore builds the paths, and
// finds processes of a host that share one. Paths are texts of the plan; accesses no disk.

struct WritingProcess {
  std::string name;  // "worker.2"
  const Context* context = nullptr;
  std::uint32_t host = 0;
  std::string cwd;                                          // empty: the folder muster was called from
  std::function<std::string(const std::string&)> variable;  // returns a variable of its environment; empty if not set
};

struct WrittenPath {
  std::size_t process = 0;  // index into the processes given
  std::string path;         // relative to the folder muster was called from, or absolute; may contain placeholders
};

// All paths that processes write because of one attribute.
struct WrittenPaths {
  const Attribute* attribute = nullptr;
  std::vector<WrittenPath> paths;  // in the order of the processes
};

std::vector<WrittenPaths> PredictWrittenPaths(const Context& job, std::span<const WritingProcess> processes);

// Warnings of kind "shared_path", one for each line of the recipe that makes processes of one host share a path.
Diagnostics CheckWrittenPaths(const std::vector<WrittenPaths>& written, std::span<const WritingProcess> processes);

}  // namespace muster
