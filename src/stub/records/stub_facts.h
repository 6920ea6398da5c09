// The input of a stub: the processes of its job, their hosts, and the ports on which they accept greetings. A file of
// the rehearsed plan: the head writes it, with placeholders for values that only a start knows, and every stub reads
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "muster/contract.h"

namespace muster {

// The first word of a stub that takes time (stub/program/training_stub.h).
inline constexpr const char* kTrainingOption = "--train";

struct StubPeer {
  std::string name;   // "worker.3"
  std::string plays;  // the role in the contract
  std::string world;
  std::uint32_t host = 0;
  std::optional<std::uint32_t> rank;
  std::uint32_t world_size = 0;
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 1;
  bool first_of_host = false;
  bool first_of_role = false;      // … on its host
  std::string hello;               // the port on which it accepts greetings
  std::vector<std::string> ports;  // its other ports

  bool operator==(const StubPeer&) const = default;
};

struct StubFacts {
  std::string run;
  std::string framework;
  std::optional<std::vector<ContractVariable>> contract;  // nothing: what its variables carry is not known
  std::string device_kind;                                // as DeviceUse::kind of the plan
  std::uint32_t within_ms = 0;
  std::uint32_t workers = 0;
  std::uint32_t servers = 0;
  std::uint32_t worker_hosts = 0;
  std::vector<std::string> addresses;  // by host
  std::vector<StubPeer> processes;     // as in the plan

  bool operator==(const StubFacts&) const = default;
};

std::string StubFactsText(const StubFacts& facts);

// Fails with one sentence for an invalid text, and for invalid hosts and ports.
tl::expected<StubFacts, std::string> ReadStubFacts(std::string_view text);

// Up to this many processes, each connects to all others.
inline constexpr std::size_t kMaxInFull = 128;

// The processes that a process connects to, ascending: all others; of more than kMaxInFull those at distances 1, 2, 4,
// … after it, and the first process of each host to those of the others.
std::vector<std::uint32_t> GreetedBy(const StubFacts& facts, std::uint32_t process);
// … and the processes that connect to it.
std::vector<std::uint32_t> GreetersOf(const StubFacts& facts, std::uint32_t process);

}  // namespace muster
