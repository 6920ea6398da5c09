// Sends the code of a run (--ship-code) to hosts that lack it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "run/start/host_files.h"
#include "wire/protocol/protocol.h"

namespace muster {

class AgentLinks;
class RunBinding;
struct LiveRun;

class CodeDelivery {
 public:
  CodeDelivery(LiveRun& run, AgentLinks& links, RunBinding& bound) : run_(run), links_(links), bound_(bound) {}

  // Offers the code to the host. Returns false if the run ships none.
  bool Begin(std::uint32_t host);
  void OnMissing(std::uint32_t host, const CodeMissing& wanted);
  void OnTaken(std::uint32_t host, const CodeReceived& taken);
  // Returns whether the host has the code, whose paths are then used for its processes. If not, the run was abandoned.
  bool OnReady(std::uint32_t host, const CodeReady& ready);

  // "34 of 120 MB of code sent"; empty if no transfer is in progress.
  std::string Text() const;

 private:
  // Abandons the run if `error`, the reason why the transfer cannot continue, is not empty.
  void Check(std::uint32_t host, const std::string& error);

  LiveRun& run_;
  AgentLinks& links_;
  RunBinding& bound_;
  std::map<std::uint32_t, CodeShipment> shipments_;  // by host: incomplete transfers
};

}  // namespace muster
