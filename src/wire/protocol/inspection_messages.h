// Messages of the agent protocol: what a host is like, and whether others can reach it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/host_facts.h"

namespace muster {

// A folder about whose file system is asked, and what it is called.
struct FolderQuery {
  std::string what;
  std::string path;  // absolute; need not be there
};

// A program that is looked for as a start would.
struct ProgramQuery {
  std::string name;
  std::string search_path;  // PATH
};

// What is this host like? Answered by one Inspected. At any time, one at a time.
struct Inspect {
  std::vector<FolderQuery> places;
  std::vector<ProgramQuery> programs;
  std::vector<std::string> pythons;      // looked for on the PATH of `environment`, and asked for their packages
  std::vector<std::string> packages;     // names of distributions
  std::vector<std::string> variables;    // of the agent's own: NAME or PREFIX*
  std::vector<std::string> environment;  // "NAME=value": what pythons begin with
  std::vector<std::string> search_dirs;  // as in StartProcess
  std::string cwd;                       // absolute: where relative names begin
  bool trials = false;                   // whether to try what the host lets an agent do, and to look up its name
  std::uint32_t within_ms = 0;           // then what is not known yet is not told
};

// Listen at these ports, which are held, and at one more of the kernel's choice, so that other hosts can try whether
// they get there: until ClosePaths. Answered by PathsOpen. Before any start.
struct OpenPaths {
  std::vector<std::uint16_t> ports;
};

struct PathTarget {
  std::string address;  // an IP literal
  std::uint16_t port = 0;
};

// Can these be connected to? Answered by PathsProbed.
struct ProbePaths {
  std::vector<PathTarget> targets;
  std::uint32_t within_ms = 0;  // for all of them together
};

// Answered by PathsOpen with port 0: who connects from then on reaches the job's own processes.
struct ClosePaths {
  bool unused = false;
};

// Answer to Inspect. Texts come from files and programs of the host and are not trusted.
struct Inspected {
  HostFacts facts;
  std::string error;              // what of them is not known, and why; empty: all is told
  std::uint64_t asked_at = 0;     // by the host's wall clock: when Inspect came, …
  std::uint64_t answered_at = 0;  // … and when this went
};

// Answer to OpenPaths.
struct PathsOpen {
  std::uint16_t port = 0;  // the one of the kernel's choice
  std::string error;       // why it does not listen; empty: it does
};

// Answer to ProbePaths: of each target, in order, why it cannot be reached; empty: it can.
struct PathsProbed {
  std::vector<std::string> errors;
};

}  // namespace muster
