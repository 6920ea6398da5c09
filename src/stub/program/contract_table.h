// What contracts promise their processes, as data: which variable of which framework has a process's rank, the size of
// its world, … and where the meeting point stands. What each variable is for is told in lua/muster/frameworks/.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace muster {

// A number that the plan knows of a process.
enum class Promise : std::uint8_t {
  kRank,
  kWorldSize,
  kLocalRank,
  kLocalSize,
  kWorkers,      // processes that play worker
  kServers,      // … and server
  kWorkerHosts,  // hosts that have workers
  kRole,         // not a number: the contract's word for what the process plays
  kDevice,       // number of its device among those that it can see
};

struct PromisedVariable {
  std::string_view framework;
  std::string_view variable;
  std::string_view plays;  // of whom: "worker", …; empty: all roles of the contract
  Promise promise = Promise::kRank;
  bool always = true;  // false: an option of the contract may leave it out
};

// Those of one framework; none for "none" and for contracts that a recipe brings.
std::span<const PromisedVariable> PromisesOf(std::string_view framework);

struct MeetingPlace {
  std::string_view framework;
  std::string_view plays;    // who listens: the only one that plays this, or the one of rank 0 in its world
  std::string_view address;  // the variable that has it
  std::string_view port;     // … and its port; empty: `address` has both, joined by ':'
};

// Null for a framework whose processes do not meet anywhere.
const MeetingPlace* MeetingOf(std::string_view framework);

// "MS_WORKER" for a worker of mindspore; empty if the framework has no such word.
std::string_view RoleWord(std::string_view framework, std::string_view plays);

// Whether muster knows what the framework promises: every contract of its own, "none" included.
bool IsKnownContract(std::string_view framework);

}  // namespace muster
