// The settings of the dial-back transport: which command starts the agents, and where they look for their head.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "spawn/start/limited_command.h"

namespace muster {

// The agents that one command is to start.
struct AgentsToStart {
  std::string agent;               // path of muster-agent on the nodes
  std::string dial_file;           // its argument there: `muster-agent --dial FILE`
  std::vector<std::string> nodes;  // one agent on each; the names of the hosts that are to be connected, in their order
};

// A command that starts them, and that ends when they end, or before.
struct AgentStart {
  std::vector<std::string> argv;  // argv[0] is looked up on PATH
  // Changes to the environment of this process: "NAME=value" sets a variable, "NAME" removes it.
  std::vector<std::string> environment = {};
};

// How to find out whether the nodes are paused: a command, and what to say by its output; empty: they are not.
struct PauseQuestion {
  AgentStart command;
  std::function<std::string(const CommandOutput& answer)> phrase;
};

struct DialSettings {
  // Pure words; called once for all hosts whose connections are opened in one turn of the loop.
  std::function<AgentStart(const AgentsToStart& agents)> start = {};
  std::string agent = {};  // path of muster-agent on the nodes; empty: the one beside this program
  // Where the dial file goes: an absolute path that the nodes see too. Made with mode 0700 if it is not there.
  std::string folder = {};
  // The variable that holds the node's name in the environment of an agent (SLURMD_NODENAME); empty: the host name.
  std::string node_variable = {};
  // At which this machine is reached, to be tried in this order; empty: all of its addresses.
  std::vector<std::string> addresses = {};
  std::optional<PauseQuestion> paused = {};  // asked when agents are silent
  // For an agent to connect after the command has been started, …
  std::chrono::milliseconds connect_time{60'000};
  // … and after it has ended.
  std::chrono::milliseconds exit_time{2'000};
};

}  // namespace muster
