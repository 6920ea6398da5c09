#include "agent/devices/core_shares.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/values/number_list.h"

namespace muster {
namespace {

using Group = std::vector<std::uint32_t>;

std::size_t CoresOf(const HostCores::Node& node) {
  std::size_t count = 0;
  for (const Group& group : node.groups) count += group.size();
  return count;
}

std::size_t CoresOf(const std::vector<HostCores::Node>& nodes) {
  std::size_t count = 0;
  for (const HostCores::Node& node : nodes) count += CoresOf(node);
  return count;
}

std::vector<std::uint32_t> Flat(const std::vector<Group>& groups) {
  std::vector<std::uint32_t> cores;
  for (const Group& group : groups) cores.insert(cores.end(), group.begin(), group.end());
  return cores;
}

std::vector<std::uint32_t> AllOf(const std::vector<HostCores::Node>& nodes) {
  std::vector<std::uint32_t> cores;
  for (const HostCores::Node& node : nodes) {
    const std::vector<std::uint32_t> of_node = Flat(node.groups);
    cores.insert(cores.end(), of_node.begin(), of_node.end());
  }
  return cores;
}

std::string ListText(std::vector<std::uint32_t> cores) {
  std::sort(cores.begin(), cores.end());
  return NumberListText(cores);
}

// The nodes without these cores; empty groups and nodes are omitted.
std::vector<HostCores::Node> Without(const std::vector<HostCores::Node>& nodes, const std::set<std::uint32_t>& cores) {
  std::vector<HostCores::Node> left;
  for (const HostCores::Node& node : nodes) {
    HostCores::Node kept{node.id, {}};
    for (const Group& group : node.groups) {
      Group rest;
      std::copy_if(group.begin(), group.end(), std::back_inserter(rest),
                   [&](auto core) { return !cores.contains(core); });
      if (!rest.empty()) kept.groups.push_back(std::move(rest));
    }
    if (!kept.groups.empty()) left.push_back(std::move(kept));
  }
  return left;
}

class Sharing {
 public:
  Sharing(const HostCores& host, const std::vector<CoreRequest>& wishes,
          std::vector<std::optional<std::uint32_t>> nodes)
      : host_(host), wishes_(wishes), node_of_(std::move(nodes)), pool_(host.nodes) {
    node_of_.resize(wishes.size());
    shares_.of.resize(wishes.size());
  }

  tl::expected<CoreShares, std::string> Run() {
    if (std::string why = Lists(); !why.empty()) return tl::unexpected(std::move(why));
    if (std::string why = Counts(); !why.empty()) return tl::unexpected(std::move(why));
    EqualShares();
    for (std::vector<std::uint32_t>& cores : shares_.of) std::sort(cores.begin(), cores.end());
    return std::move(shares_);
  }

 private:
  std::string Lists() {
    const std::vector<std::uint32_t> all = AllOf(host_.nodes);
    const std::set<std::uint32_t> usable(all.begin(), all.end());
    std::set<std::uint32_t> listed;
    for (std::size_t i = 0; i < wishes_.size(); ++i) {
      const CoreRequest& wish = wishes_[i];
      if (wish.kind != CoreRequest::Kind::kList) continue;
      std::vector<std::uint32_t> beyond;
      for (const std::uint32_t core : wish.list) {
        if (!usable.contains(core)) beyond.push_back(core);
      }
      if (!beyond.empty()) {
        return fmt::format("role {} names the cores {}; muster may use {}", wish.role, ListText(beyond), ListText(all));
      }
      shares_.of[i] = wish.list;
      listed.insert(wish.list.begin(), wish.list.end());
    }
    if (std::vector<HostCores::Node> left = Without(pool_, listed); !left.empty()) pool_ = std::move(left);
    return {};
  }

  std::string Counts() {
    std::uint64_t wanted = 0;
    for (const CoreRequest& wish : wishes_) {
      if (wish.kind == CoreRequest::Kind::kCount) wanted += wish.count;
    }
    if (wanted > CoresOf(pool_)) {
      return fmt::format("the processes that request a number of cores need {}, but only {} are available ({})", wanted,
                         CoresOf(pool_), ListText(AllOf(pool_)));
    }
    if (host_.quota && static_cast<double>(wanted) > *host_.quota) {
      shares_.notes.push_back(
          fmt::format("{} cores are allocated, but the quota of the cgroup is {:g} cores", wanted, *host_.quota));
    }
    for (std::size_t i = 0; i < wishes_.size(); ++i) {
      if (wishes_[i].kind != CoreRequest::Kind::kCount) continue;
      shares_.of[i] = TakeOwn(wishes_[i].count, node_of_[i]);
      pool_ = Without(pool_, {shares_.of[i].begin(), shares_.of[i].end()});
    }
    counted_ = wanted;
    return {};
  }

  // From the node of the process's device, else from the node with the most free cores, else from several nodes.
  std::vector<std::uint32_t> TakeOwn(std::size_t count, std::optional<std::uint32_t> near) const {
    const HostCores::Node* from = nullptr;
    for (const HostCores::Node& node : pool_) {
      if (CoresOf(node) < count) continue;
      if (near == node.id) return First(Flat(node.groups), count);
      if (from == nullptr || CoresOf(node) > CoresOf(*from)) from = &node;
    }
    return First(from == nullptr ? AllOf(pool_) : Flat(from->groups), count);
  }

  static std::vector<std::uint32_t> First(std::vector<std::uint32_t> cores, std::size_t count) {
    cores.resize(count);
    return cores;
  }

  void EqualShares() {
    std::vector<std::size_t> equals;
    for (std::size_t i = 0; i < wishes_.size(); ++i) {
      if (wishes_[i].kind == CoreRequest::Kind::kAuto) equals.push_back(i);
    }
    if (equals.empty()) return;
    if (pool_.empty()) {
      pool_ = host_.nodes;
      shares_.notes.push_back(
          "all cores are allocated to processes that request a number of them; the other processes share these cores");
    } else {
      KeepWithinQuota();
    }
    const std::vector<std::uint32_t> all = AllOf(pool_);
    if (equals.size() > all.size()) {
      shares_.notes.push_back(fmt::format("{} processes share {} core{}: they take turns", equals.size(), all.size(),
                                          all.size() == 1 ? "" : "s"));
      for (std::size_t i = 0; i < equals.size(); ++i) shares_.of[equals[i]] = {all[i * all.size() / equals.size()]};
      return;
    }
    const std::vector<std::vector<std::size_t>> on_node = Spread(equals);
    for (std::size_t n = 0; n < pool_.size(); ++n) Split(pool_[n], on_node[n]);
  }

  void KeepWithinQuota() {
    if (!host_.quota) return;
    const double left = *host_.quota - static_cast<double>(counted_);
    const std::size_t most = left < 1 ? 1 : static_cast<std::size_t>(left);
    while (CoresOf(pool_) > most) {
      auto fullest = std::max_element(pool_.begin(), pool_.end(),
                                      [](const auto& a, const auto& b) { return CoresOf(a) < CoresOf(b); });
      Group& last = fullest->groups.back();
      last.pop_back();
      if (last.empty()) fullest->groups.pop_back();
      if (fullest->groups.empty()) pool_.erase(fullest);
    }
  }

  // Assigns processes to nodes: those with a device near a node to that node while it has a core for each; the others
  // so that all nodes are equally full, consecutive processes together.
  std::vector<std::vector<std::size_t>> Spread(const std::vector<std::size_t>& equals) const {
    std::vector<std::vector<std::size_t>> on_node(pool_.size());
    std::vector<std::size_t> free;
    for (const std::size_t i : equals) {
      std::size_t n = 0;
      while (n < pool_.size() && pool_[n].id != node_of_[i]) ++n;
      const bool fits = n < pool_.size() && on_node[n].size() < CoresOf(pool_[n]);
      (fits ? on_node[n] : free).push_back(i);
    }
    std::vector<std::size_t> more(pool_.size());
    for (std::size_t i = 0; i < free.size(); ++i) {
      std::size_t best = 0;
      for (std::size_t n = 1; n < pool_.size(); ++n) {
        const auto fill = [&](std::size_t node) { return on_node[node].size() + more[node] + 1; };
        if (fill(n) * CoresOf(pool_[best]) < fill(best) * CoresOf(pool_[n])) best = n;
      }
      ++more[best];
    }
    auto next = free.begin();
    for (std::size_t n = 0; n < pool_.size(); ++n) {
      for (; more[n] > 0; --more[n]) on_node[n].push_back(*next++);
    }
    return on_node;
  }

  void Split(const HostCores::Node& node, const std::vector<std::size_t>& processes) {
    std::vector<Group> units = node.groups;
    if (processes.size() > units.size()) {
      units.clear();
      for (const std::uint32_t core : Flat(node.groups)) units.push_back({core});
    }
    for (std::size_t i = 0; i < processes.size(); ++i) {
      const auto first = static_cast<std::ptrdiff_t>(i * units.size() / processes.size());
      const auto last = static_cast<std::ptrdiff_t>((i + 1) * units.size() / processes.size());
      shares_.of[processes[i]] = Flat(std::vector<Group>(units.begin() + first, units.begin() + last));
    }
  }

  const HostCores& host_;
  const std::vector<CoreRequest>& wishes_;
  std::vector<std::optional<std::uint32_t>> node_of_;  // by wish: the node near its devices
  std::vector<HostCores::Node> pool_;                  // cores still available
  std::uint64_t counted_ = 0;                          // cores allocated by count
  CoreShares shares_;
};

}  // namespace

tl::expected<CoreShares, std::string> ShareCores(const HostCores& host, const std::vector<CoreRequest>& wishes,
                                                 const std::vector<std::optional<std::uint32_t>>& nodes) {
  return Sharing(host, wishes, nodes).Run();
}

}  // namespace muster
