// What the variables of a framework's contract carry, so that a rehearsal can compare them with the plan. Declared by
// the contract's page (lua/muster/frameworks/NAME.lua), or by a contract of a recipe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct ContractVariable {
  enum class Meaning : std::uint8_t {
    kRank,
    kWorldSize,
    kLocalRank,
    kLocalSize,
    kCount,        // processes in the role `of`
    kWorkerHosts,  // hosts with workers
    kRole,         // not a number: the contract's word for the role
    kTasks,        // JSON of TensorFlow: the addresses of all tasks
    kAddress,   // of the rendezvous endpoint: a process in the role `of` listens there, of ranked ones that of rank 0
    kPort,      // … its port
    kEndpoint,  // … both, joined by ':'
  };
  std::string name;
  std::vector<std::string> roles;  // contract roles whose processes get it; empty: all of the contract
  Meaning is = Meaning::kRank;
  std::string of = {};
  std::map<std::string, std::string> words = {};  // kRole: by role; one that is missing is its own word
  bool optional = false;                          // an option of the contract may omit it

  bool operator==(const ContractVariable&) const = default;
};

// By Meaning: also the names in contracts.
inline constexpr std::array<std::string_view, 11> kMeaningNames = {
    "rank", "world_size", "local_rank", "local_size", "count",   "worker_hosts",
    "role", "tasks",      "address",    "port",       "endpoint"};

}  // namespace muster
