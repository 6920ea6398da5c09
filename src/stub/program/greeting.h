// Greeting: every stub connects to the others and to the meeting point, and waits until those that greet it have. One
// epoll loop, no thread; everything ends at a time limit.
//
// What comes over a connection is a line of at most kMaxLine bytes and believed only as far as it fits: anybody may
// connect.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stub/records/stub_account.h"
#include "stub/records/stub_facts.h"

namespace muster {

struct Greeting {
  std::uint32_t process = 0;  // one's own
  // Where the framework's processes meet; empty: this process goes to no such place.
  std::string meeting_address;
  std::uint16_t meeting_port = 0;
  std::uint32_t host_of_meeting = 0;    // the process that is there
  std::vector<std::uint32_t> visitors;  // if that is oneself: who comes
};

// "muster-stub 1 RUN PROCESS WALL-NS\n"
inline constexpr std::size_t kMaxLine = 160;
std::string GreetingLine(const std::string& run, std::uint32_t process, std::uint64_t wall_ns);

struct GreetingSaid {
  std::uint32_t process = 0;
  std::uint64_t wall_ns = 0;
};
// Nothing unless the line, without its end, is a greeting of that run.
bool ReadGreeting(const std::string& line, const std::string& run, GreetingSaid& said);

// Findings of kPorts, kMeeting and kHello, and the clocks of other hosts. Returns when all is done, at the limit, or on
// SIGTERM, which the caller has blocked.
void Greet(const StubFacts& facts, const Greeting& greeting, StubAccount& account);

}  // namespace muster
