// State that the parts of an agent share (its process, its run directory, its phase, and the counts that it reports
// at the end), and the interface of the parts that have processes of their own: which children they own, and shutting
// down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <sys/resource.h>
#include <sys/types.h>

#include "agent/host/host_folder.h"
#include "agent/processes/exit_inspector.h"
#include "base/system/mechanism.h"
#include "spawn/leftovers/confinement.h"
#include "spawn/start/launcher.h"
#include "wire/protocol/protocol.h"

namespace muster {

// State of an agent's process that remains when the process serves one run after the other.
struct AgentProcess {
  // Arguments: RLIMIT_NOFILE of the processes that it starts; path of muster-agent; disabled mechanisms.
  AgentProcess(rlimit child_descriptors_limit, std::string program_path, const Without& without_mechanisms)
      : child_descriptors(child_descriptors_limit),
        program(std::move(program_path)),
        without(without_mechanisms),
        launcher(MechanismsBut(without)) {}

  rlimit child_descriptors;
  std::string program;
  Without without;
  Launcher launcher;
  MemoryKills memory_kills;
};

// State that the parts of an agent share: its process, its run directory, its phase, and the counts that it reports at
// the end.

class AgentPart;

struct AgentState {
  enum class Phase : std::uint8_t {
    kServing,
    kFinishing,  // after Finish: running processes are being killed
    kOver
  };
  struct Calls {
    std::function<void(const AgentMessage&)> send;
    // A part has no child left, or another condition for the end has changed.
    std::function<void()> emptied;
    // Calls back once everything that was sent has been written to the connection.
    std::function<void(std::function<void()>)> when_sent;
  };

  // `the_process` must outlive this object.
  AgentState(boost::asio::io_context& the_io, AgentProcess& the_process, std::optional<PidNamespace> the_space,
             Calls calls)
      : io(the_io),
        process(the_process),
        space(std::move(the_space)),
        send(std::move(calls.send)),
        emptied(std::move(calls.emptied)),
        host_folder(
            io, run_folder,
            {.send = [this](const FileBytes& bytes) { send(bytes); }, .when_sent = std::move(calls.when_sent)}) {}
  AgentState(const AgentState&) = delete;
  AgentState& operator=(const AgentState&) = delete;

  bool serving() const { return phase == Phase::kServing; }
  // Whether it executes commands that are only allowed before the first start.
  bool preparing() const { return serving() && started == 0; }

  boost::asio::io_context& io;
  AgentProcess& process;
  const std::optional<PidNamespace> space;  // the PID namespace whose init it is
  const std::function<void(const AgentMessage&)> send;
  const std::function<void()> emptied;
  RunFolder run_folder;
  HostFolder host_folder;
  std::vector<AgentPart*> parts;

  Phase phase = Phase::kServing;
  std::uint32_t host = 0;           // number of this host in the plan
  std::size_t own_descriptors = 0;  // open before the first start

  // Reported by AgentEmpty.
  std::uint32_t started = 0;
  std::uint32_t reaped = 0;
  std::uint32_t adopted = 0;
  std::set<std::string> means;
};

// Interface of the parts of an agent that have processes of their own: which children they own, and shutting down.
//
// Independent of commands and messages; a part has a function Do() for each command that it executes
// (agent/program/agent.cc has the table of them).
class AgentPart {
 public:
  // The child's pidfd, once for the handle and once for the loop; the index of its log.
  static constexpr std::size_t kDescriptorsPerChild = 3;

  AgentPart() = default;
  virtual ~AgentPart() = default;
  AgentPart(const AgentPart&) = delete;
  AgentPart& operator=(const AgentPart&) = delete;

  // Whether `pid` is a child that this part started and has not reaped yet.
  virtual bool Owns(pid_t pid) const = 0;
  // A child that it owns has exited. True if the part has reaped it; false if a pidfd is about to report it.
  virtual bool ChildEnded(pid_t pid) = 0;
  // Whether it has no child.
  virtual bool empty() const = 0;
  // Maximum number of descriptors that it has open, beyond those that were open before the first start.
  virtual std::size_t descriptors() const { return 0; }

  // Starts nothing more and kills its children; calls AgentState::emptied once they are reaped.
  virtual void Finish() = 0;
  // Cancels everything: children are forgotten, to be killed by other means, and nothing is reported any more.
  virtual void Abandon() = 0;
};

}  // namespace muster
