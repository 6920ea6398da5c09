// Hosts whose devices a run waits for, asked one after the other, and what it waits for.
//
// Two jobs that each hold what the other waits for would wait for ever. By asking all hosts in one order, by the names
// that these have for themselves, one of the two gets the first host and the other none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/event.h"
#include "wire/protocol/device_messages.h"

namespace muster {

class AgentLinks;
struct LiveRun;

class DeviceQueue {
 public:
  DeviceQueue(LiveRun& run, AgentLinks& links) : run_(run), links_(links) {}

  // The first host is asked once all hosts with devices are here.
  void Add(std::uint32_t host, const std::string& host_name, const AllocateResources& asked);
  // The host that was asked last has given its devices.
  void AskNext();

  // "2 devices of node-1" are held by others, or nothing is waited for any more.
  void SetWaiting(const std::string& for_what, const std::string& holders);
  void StopWaiting();
  // "2 devices: pid 4711"; empty: nothing is waited for.
  const std::string& waiting() const { return waiting_; }

 private:
  struct Request {
    std::uint32_t host = 0;
    std::string host_name;
    AllocateResources asked;
  };

  LiveRun& run_;
  AgentLinks& links_;
  std::vector<Request> requests_;  // in the order in which they are sent, once all are here
  std::size_t sent_ = 0;           // how many of them have been
  MonotonicNs since_ = 0;          // the first of them was
  std::string waiting_;
};

}  // namespace muster
