// The variables of each framework's contract, as data: those with a process's rank, its world size, …, and those with
// the rendezvous endpoint. lua/muster/frameworks/ documents the purpose of each variable.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace muster {

// A property of a process that the plan knows.
enum class Promise : std::uint8_t {
  kRank,
  kWorldSize,
  kLocalRank,
  kLocalSize,
  kWorkers,      // processes in the worker role
  kServers,      // processes in the server role
  kWorkerHosts,  // hosts with workers
  kRole,         // not a number: the contract's word for the role
  kDevice,       // number of its device among its visible ones
};

struct PromisedVariable {
  std::string_view framework;
  std::string_view variable;
  std::string_view plays;  // the contract role: "worker", …; empty: all roles
  Promise promise = Promise::kRank;
  bool always = true;  // false: an option of the contract may omit it
};

// The variables of one framework; empty for "none" and for contracts that a recipe defines.
std::span<const PromisedVariable> PromisesOf(std::string_view framework);

struct RendezvousVariables {
  std::string_view framework;
  std::string_view plays;    // the process that listens: the only one of this role, or that of rank 0 in its world
  std::string_view address;  // the variable with its address
  std::string_view port;     // … and its port; empty: `address` has both, joined by ':'
};

// Null for a framework without a rendezvous endpoint.
const RendezvousVariables* RendezvousOf(std::string_view framework);

// "MS_WORKER" for a worker of mindspore; empty if the framework has no such word.
std::string_view RoleWord(std::string_view framework, std::string_view plays);

// Whether muster knows the contract's variables: every built-in contract, "none" included.
bool IsKnownContract(std::string_view framework);

}  // namespace muster
