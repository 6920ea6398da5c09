// How the command line of a container runtime is written. A plain value from the runtime's page
// (lua/muster/containers/NAME.lua); what a role puts into a container is Container in plan.h.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace muster {

// Words may contain {name}, {run}, {cwd} and {image}. In `run`, a word that is only {mounts}, {variables}, {devices},
// {descriptors}, {output} or {options} stands for the words of that list.
struct ContainerRuntime {
  std::string name;                      // "podman"
  std::vector<std::string> run;          // the words before the command
  std::string script;                    // shell commands on the host that may put words before "$@"; or empty
  std::vector<std::string> mount;        // of a mount: {source}, {target}; {mode} is "rw" or "ro"
  std::vector<std::string> variable;     // of a variable that the runtime takes from its own environment: {variable}
  std::string variable_prefix;           // … where its name has this prefix
  std::vector<std::string> value;        // of a variable in `own`: {variable}, {value}
  std::vector<std::string> own;          // variables that change the runtime itself: it keeps the host's value
  std::vector<std::string> devices;      // for the job's kind of devices
  std::vector<std::string> descriptors;  // to pass {count} descriptors from number 3; empty: it passes none
  std::vector<std::string> output;       // for an output that is a file
  std::vector<std::string> terminal;     // for an output that is a terminal
  std::vector<std::string> remove;       // removes all containers of {run}; empty: it leaves none
  std::map<std::string, std::string> exit_codes;  // exit codes of the runtime itself, and their meaning

  bool operator==(const ContainerRuntime&) const = default;
};

}  // namespace muster
