// Requests devices from hosts, one after the other, and tracks which devices the run waits for.
//
// Two jobs could wait for each other for ever, each holding devices that the other needs. All hosts are therefore
// requested in one order, by their own host names: one of the two jobs gets the first host, and the other none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/event.h"
#include "wire/protocol/protocol.h"

namespace muster {

class AgentLinks;
struct LiveRun;

class DeviceQueue {
 public:
  DeviceQueue(LiveRun& run, AgentLinks& links) : run_(run), links_(links) {}

  // Sends the first request once all hosts with devices have been added.
  void Add(std::uint32_t host, const std::string& host_name, const AllocateResources& asked);
  // Sends the next request: the current host has allocated its devices.
  void AskNext();

  // Other jobs hold what the run waits for ("2 devices of node-1"), or the wait is over.
  void SetWaiting(const std::string& for_what, const std::string& holders);
  void StopWaiting();
  // "2 devices: pid 4711"; empty: the run waits for no devices.
  const std::string& waiting() const { return waiting_; }

 private:
  struct Request {
    std::uint32_t host = 0;
    std::string host_name;
    AllocateResources asked;
  };

  LiveRun& run_;
  AgentLinks& links_;
  std::vector<Request> requests_;  // in the order in which they are sent, once all are added
  std::size_t sent_ = 0;           // number of requests sent
  MonotonicNs since_ = 0;          // when the first was sent
  std::string waiting_;
};

}  // namespace muster
