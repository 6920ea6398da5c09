// Connects every stub to its peers and to the rendezvous endpoint, and waits for the connections of its peers. One
// epoll loop, no thread, with a time limit for everything.
//
// Input is one line of at most kMaxLine bytes per connection, and is validated: any process may
// connect.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stub/records/stub_facts.h"
#include "stub/records/stub_report.h"

namespace muster {

struct Greeting {
  std::uint32_t process = 0;  // this process
  // The framework's rendezvous endpoint; empty: this process does not use one.
  std::string rendezvous_address;
  std::uint16_t rendezvous_port = 0;
  std::uint32_t host_of_rendezvous = 0;  // the process that listens there
  std::vector<std::uint32_t> visitors;   // if that is this process: the processes that connect
};

// "muster-stub 1 RUN PROCESS WALL-NS\n"
inline constexpr std::size_t kMaxLine = 160;
std::string GreetingLine(const std::string& run, std::uint32_t process, std::uint64_t wall_ns);

struct ReceivedGreeting {
  std::uint32_t process = 0;
  std::uint64_t wall_ns = 0;
};
// Nothing unless the line, without its end, is a greeting of that run.
bool ReadGreeting(const std::string& line, const std::string& run, ReceivedGreeting& said);

// Adds findings of kPorts, kRendezvousEndpoint and kHello, and the clock offsets of other hosts. Returns when all is
// done, at the time limit, or on SIGTERM, which the caller has blocked.
void Greet(const StubFacts& facts, const Greeting& greeting, StubReport& report);

}  // namespace muster
