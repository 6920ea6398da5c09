// Messages of the agent protocol: properties of a host, and whether other hosts can reach it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/host_facts.h"

namespace muster {

// A folder whose file system is inspected, and its label.
struct FolderQuery {
  std::string what;
  std::string path;  // absolute; need not exist
};

// A program to look up as a start would.
struct ProgramQuery {
  std::string name;
  std::string search_path;  // PATH
};

// Requests the properties of this host. The agent answers with one Inspected. Allowed at any time, one at a time.
struct Inspect {
  std::vector<FolderQuery> places;
  std::vector<ProgramQuery> programs;
  std::vector<std::string> pythons;      // looked up on the PATH of `environment`, and queried for their packages
  std::vector<std::string> packages;     // names of distributions
  std::vector<std::string> variables;    // of the agent's environment: NAME or PREFIX*
  std::vector<std::string> environment;  // "NAME=value": the environment of the Python interpreters
  std::vector<std::string> search_dirs;  // as in StartProcess
  std::string cwd;                       // absolute: base of relative names
  bool trials = false;                   // whether to probe kernel mechanisms and limits, and to look up the host's
                                         // name
  std::uint32_t within_ms = 0;           // time limit; facts that are unknown by then are omitted
};

// Listen at these held ports and at one more chosen by the kernel, until ClosePaths, so that other hosts can test
// whether they can connect. Answered by PathsOpen. Sent before any start.
struct OpenPaths {
  std::vector<std::uint16_t> ports;
};

struct PathTarget {
  std::string address;  // an IP literal
  std::uint16_t port = 0;
};

// Tests connections to these targets. Answered by PathsProbed.
struct ProbePaths {
  std::vector<PathTarget> targets;
  std::uint32_t within_ms = 0;  // time limit for all of them together
};

// Stop listening: later connections reach the job's own processes. Answered by PathsOpen with port 0.
struct ClosePaths {
  bool unused = false;
};

// Answer to Inspect. Texts come from files and programs of the host and are untrusted.
struct Inspected {
  HostFacts facts;
  std::string error;              // which facts are unknown and why; empty: none
  std::uint64_t asked_at = 0;     // wall clock of the host when Inspect arrived
  std::uint64_t answered_at = 0;  // wall clock of the host when this message was sent
};

// Answer to OpenPaths.
struct PathsOpen {
  std::uint16_t port = 0;  // the port chosen by the kernel
  std::string error;       // why the agent does not listen; empty: it does
};

// Answer to ProbePaths: per target, in order, why it cannot be reached; empty if it can.
struct PathsProbed {
  std::vector<std::string> errors;
};

}  // namespace muster
