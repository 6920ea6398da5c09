// See roster.h.
#include "ps_digits/roster.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "ps_digits/cluster_settings.h"
#include "ps_digits/number.h"

namespace ps_digits {
namespace {

// Digits too long for a rank are still a number, which is too large for any role.
std::uint32_t NumericRank(const std::string& digits) {
  return static_cast<std::uint32_t>(ParseInteger(digits, 0, UINT32_MAX).value_or(UINT32_MAX));
}

std::string Counted(std::uint32_t count, Role role) {
  return std::to_string(count) + " " + RoleWord(role) + (count == 1 ? "" : "s");
}

}  // namespace

std::vector<std::uint32_t> AssignRanks(std::span<const Member> members) {
  std::vector<std::uint32_t> ranks(members.size());
  if (std::all_of(members.begin(), members.end(), [](const Member& m) { return AllDigits(m.node_id); })) {
    std::transform(members.begin(), members.end(), ranks.begin(),
                   [](const Member& m) { return NumericRank(m.node_id); });
    return ranks;
  }
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(members[a].address, members[a].node_id) < std::tie(members[b].address, members[b].node_id);
  });
  for (std::size_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = static_cast<std::uint32_t>(rank);
  return ranks;
}

Result<void> Roster::Admit(const Application& application) {
  const auto role = static_cast<Role>(application.role);
  if (role != Role::kWorker && role != Role::kServer) {
    return Failure{"its role (" + std::to_string(application.role) + ") is neither worker nor server"};
  }
  if (!IsNodeId(application.node_id)) return Failure{"its node id is empty, too long or unprintable"};
  if (application.worker_num != worker_num_ || application.server_num != server_num_) {
    return Failure{"it was started with MS_WORKER_NUM=" + std::to_string(application.worker_num) +
                   " MS_SERVER_NUM=" + std::to_string(application.server_num) + ", the scheduler with MS_WORKER_NUM=" +
                   std::to_string(worker_num_) + " MS_SERVER_NUM=" + std::to_string(server_num_)};
  }
  const bool numeric = AllDigits(application.node_id);
  for (const Member& member : members_) {
    const std::string holder = "a " + RoleWord(member.role) + " at " + member.address.text();
    if (member.node_id == application.node_id) {
      return Failure{"the node id " + application.node_id + " is already registered by " + holder};
    }
    // "1" and "01" are different ids but the same rank.
    if (numeric && member.role == role && AllDigits(member.node_id) &&
        NumericRank(member.node_id) == NumericRank(application.node_id)) {
      return Failure{"rank id " + application.node_id + " exists: " + holder + " has the node id " + member.node_id};
    }
  }
  if (CountOf(role) == PlacesFor(role)) {
    return Failure{"it is extra: " + Counted(PlacesFor(role), role) + " wanted, as many have registered"};
  }
  if (numeric && NumericRank(application.node_id) >= PlacesFor(role)) {
    return Failure{"its node id " + application.node_id + " would be its rank, but there are only " +
                   Counted(PlacesFor(role), role)};
  }
  members_.push_back({role, application.node_id, application.address});
  return {};
}

std::uint32_t Roster::CountOf(Role role) const {
  return static_cast<std::uint32_t>(
      std::count_if(members_.begin(), members_.end(), [&](const Member& m) { return m.role == role; }));
}

std::string Roster::Progress() const {
  return std::to_string(CountOf(Role::kWorker)) + " of " + Counted(worker_num_, Role::kWorker) + " and " +
         std::to_string(CountOf(Role::kServer)) + " of " + Counted(server_num_, Role::kServer);
}

std::vector<std::uint32_t> Roster::Ranks() const {
  std::vector<std::uint32_t> ranks(members_.size());
  for (const Role role : {Role::kWorker, Role::kServer}) {
    std::vector<Member> peers;
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].role != role) continue;
      peers.push_back(members_[i]);
      positions.push_back(i);
    }
    const auto peer_ranks = AssignRanks(peers);
    for (std::size_t i = 0; i < peers.size(); ++i) ranks[positions[i]] = peer_ranks[i];
  }
  return ranks;
}

}  // namespace ps_digits
