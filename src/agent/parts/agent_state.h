// State that the parts of an agent share: its process, its run directory, its phase, and the counts that it reports at
// the end.
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

#include "agent/host/host_folder.h"
#include "agent/host/run_folder.h"
#include "agent/parts/agent_process.h"
#include "spawn/leftovers/confinement.h"
#include "wire/protocol/protocol.h"

namespace muster {

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

}  // namespace muster
