// Brings the code of a run (--ship-code) to hosts that do not have it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "run/start/code_shipment.h"
#include "wire/protocol/code_messages.h"

namespace muster {

class AgentLinks;
class RunBinding;
struct LiveRun;

class CodeDelivery {
 public:
  CodeDelivery(LiveRun& run, AgentLinks& links, RunBinding& bound) : run_(run), links_(links), bound_(bound) {}

  // Offers the code to the host. False if the run ships none.
  bool Begin(std::uint32_t host);
  void OnMissing(std::uint32_t host, const CodeMissing& wanted);
  void OnTaken(std::uint32_t host, const CodeReceived& taken);
  // Whether the host has its code now: its processes find it there. If not, the run was abandoned.
  bool OnReady(std::uint32_t host, const CodeReady& ready);

  // "34 of 120 MB of code sent"; empty if none is on its way.
  std::string Text() const;

 private:
  // Why it cannot go on; empty: it can.
  void Check(std::uint32_t host, const std::string& error);

  LiveRun& run_;
  AgentLinks& links_;
  RunBinding& bound_;
  std::map<std::uint32_t, CodeShipment> shipments_;  // by host: those that are not complete
};

}  // namespace muster
