// Admits processes and assigns ranks: the scheduler's rules, which are MindSpore's. Independent of sockets: a
// registration is a value here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ps_digits/address.h"
#include "ps_digits/failure.h"
#include "ps_digits/role.h"

namespace ps_digits {

struct Member {
  Role role = Role::kWorker;
  std::string node_id;
  Address address;
};

// If all node ids are numbers, each number is the rank. Otherwise the members are sorted by address (by number), then
// by node id (as a string: w10 before w2), and numbered from 0. All members have the same role; the result is in their
// order.
std::vector<std::uint32_t> AssignRanks(std::span<const Member> members);

class Roster {
 public:
  Roster(std::uint32_t worker_num, std::uint32_t server_num) : worker_num_(worker_num), server_num_(server_num) {}

  // The registration data of a process. The role is a number because it comes from the network; the counts are from the
  // process's own environment, and must equal the scheduler's.
  struct Application {
    std::uint8_t role = 0;
    std::string node_id;
    Address address;
    std::uint32_t worker_num = 0;
    std::uint32_t server_num = 0;
  };

  // The failure says why the process is not admitted. Members stay in the order of admission.
  Result<void> Admit(const Application& application);

  const std::vector<Member>& members() const { return members_; }
  bool complete() const { return members_.size() == std::size_t{worker_num_} + server_num_; }
  std::uint32_t CountOf(Role role) const;
  // "3 of 4 workers and 2 of 2 servers"
  std::string Progress() const;

  // One rank per member; only once complete.
  std::vector<std::uint32_t> Ranks() const;

 private:
  std::uint32_t PlacesFor(Role role) const { return role == Role::kWorker ? worker_num_ : server_num_; }

  std::uint32_t worker_num_;
  std::uint32_t server_num_;
  std::vector<Member> members_;
};

}  // namespace ps_digits
