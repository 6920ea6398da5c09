#include "plan/hosts/placement.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include "base/values/text_parts.h"

namespace muster {
namespace {

std::string ProductText(const std::vector<NamedCount>& by) {
  std::string text;
  for (const NamedCount& factor : by) {
    text += (text.empty() ? "" : " × ") + factor.name + " " + std::to_string(factor.count);
  }
  return text;
}

}  // namespace

Result<std::int64_t> ExactQuotient(const NamedCount& dividend, const std::vector<NamedCount>& by, const Place& place) {
  std::vector<NamedCount> all{dividend};
  all.insert(all.end(), by.begin(), by.end());
  for (const NamedCount& each : all) {
    if (each.count < 1) {
      return Fail(Error("range", place, each.name + " = " + std::to_string(each.count) + " must be at least 1"));
    }
  }
  std::int64_t product = 1;
  for (const NamedCount& factor : by) {
    if (factor.count > std::numeric_limits<std::int64_t>::max() / product) {
      return Fail(Error("range", place, "the product " + ProductText(by) + " is too large"));
    }
    product *= factor.count;
  }
  if (dividend.count % product == 0) return dividend.count / product;
  std::string message =
      dividend.name + " = " + std::to_string(dividend.count) + " can not be divided by " + ProductText(by);
  if (by.size() > 1) message += " = " + std::to_string(product);
  std::string hint;
  const std::int64_t below = dividend.count - dividend.count % product;
  if (below > 0) {
    hint = dividend.name + " could be " + std::to_string(below);
    if (below <= std::numeric_limits<std::int64_t>::max() - product) hint += " or " + std::to_string(below + product);
  } else {
    hint = dividend.name + " must be at least " + std::to_string(product);
  }
  return Fail(Error("division", place, std::move(message), std::move(hint)));
}

StagePosition StageOf(std::uint32_t rank, std::uint32_t world_size, std::uint32_t stages) {
  const std::uint32_t stage_size = world_size / stages;
  return {rank / stage_size, rank % stage_size};
}

Result<Mesh> Mesh::Make(std::vector<MeshAxis> axes, const Place& place) {
  if (axes.empty()) return Fail(Error("mesh", place, "a mesh needs at least one axis"));
  std::uint64_t size = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name.empty())
      return Fail(Error("mesh", place, "axis " + std::to_string(i + 1) + " of the mesh has no name"));
    for (std::size_t j = 0; j < i; ++j) {
      if (axes[j].name == axes[i].name) {
        return Fail(Error("mesh", place, "the mesh has two axes named \"" + axes[i].name + "\""));
      }
    }
    if (axes[i].size == 0) return Fail(Error("mesh", place, "axis " + axes[i].name + " of the mesh has size 0"));
    size *= axes[i].size;
    if (size > std::numeric_limits<std::uint32_t>::max())
      return Fail(Error("mesh", place, "the mesh has too many ranks"));
  }
  Mesh mesh;
  mesh.axes_ = std::move(axes);
  mesh.size_ = static_cast<std::uint32_t>(size);
  return mesh;
}

Result<std::vector<std::uint32_t>> Mesh::Coords(std::uint32_t rank, const Place& place) const {
  if (rank >= size_) {
    return Fail(Error("range", place,
                      "rank " + std::to_string(rank) + " is not in the mesh of " + std::to_string(size_) + " ranks"));
  }
  std::vector<std::uint32_t> coords(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    coords[i] = rank % axes_[i].size;
    rank /= axes_[i].size;
  }
  return coords;
}

Result<std::uint32_t> Mesh::Rank(const std::vector<std::uint32_t>& coords, const Place& place) const {
  if (coords.size() != axes_.size()) {
    return Fail(
        Error("range", place,
              std::to_string(coords.size()) + " coordinates for a mesh of " + std::to_string(axes_.size()) + " axes"));
  }
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (coords[i] >= axes_[i].size) {
      return Fail(Error("range", place,
                        axes_[i].name + " = " + std::to_string(coords[i]) + " is not below the axis's size " +
                            std::to_string(axes_[i].size)));
    }
    rank = rank * axes_[i].size + coords[i];
  }
  return rank;
}

namespace {

// Next free device of each host: devices are allocated from the lowest number up.
using NextDevice = std::vector<std::uint32_t>;

struct Seats {
  std::vector<std::uint32_t> hosts;     // hosts that the role may use, in order
  std::vector<std::uint64_t> per_host;  // processes on each of them
};

// How many processes of the role the host can still take.
std::uint64_t FreeSlots(const RoleLayout& role, const PlanHost& host, std::uint32_t taken) {
  return (host.devices - taken) / role.devices;
}

Diagnostic NotEnough(const RoleLayout& role, std::uint64_t count, const Seats& seats,
                     const std::vector<PlanHost>& hosts, const NextDevice& next) {
  std::uint64_t offered = 0;
  std::uint64_t free = 0;
  std::uint64_t free_slots = 0;
  for (const std::uint32_t host : seats.hosts) {
    offered += hosts[host].devices;
    free += hosts[host].devices - next[host];
    free_slots += FreeSlots(role, hosts[host], next[host]);
  }
  std::string message = role.name + ": " + (count == 1 ? "1 process" : std::to_string(count) + " processes") +
                        " with " + Counted(role.devices, "device") + (count == 1 ? "" : " each") + " need " +
                        std::to_string(count * role.devices) + ", but " + Counted(seats.hosts.size(), "host") + " " +
                        (seats.hosts.size() == 1 ? "offers " : "offer ") + std::to_string(offered);
  if (free < offered) message += ", " + std::to_string(offered - free) + " of them taken by other roles";
  Diagnostic diagnostic = Error("devices", role.place, std::move(message),
                                free_slots == 0 ? "raise devices_per_host or lower devices"
                                                : "at most " + std::to_string(free_slots) +
                                                      " fit: lower the count, or raise hosts or devices_per_host");
  if (free_slots > 0 && free >= count * role.devices) {
    diagnostic.notes.push_back({"all devices of a process are on one host", {}});
  }
  return diagnostic;
}

Result<Seats> HostsOf(const RoleLayout& role, const std::vector<PlanHost>& hosts) {
  Seats seats;
  if (hosts.empty()) return Fail(Error("placement", role.place, role.name + ": there are no hosts"));
  seats.hosts = role.hosts;
  for (std::size_t i = 0; i < seats.hosts.size(); ++i) {
    if (seats.hosts[i] >= hosts.size()) {
      return Fail(Error("placement", role.place, role.name + ": there is no host " + std::to_string(seats.hosts[i]),
                        "hosts are numbered 0 to " + std::to_string(hosts.size() - 1)));
    }
  }
  std::vector<std::uint32_t> sorted = seats.hosts;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return Fail(Error("placement", role.place, role.name + ": a host is named twice"));
  }
  if (seats.hosts.empty()) {
    const std::size_t usable = role.plays == "scheduler" ? 1 : hosts.size();
    for (std::size_t host = 0; host < usable; ++host) seats.hosts.push_back(static_cast<std::uint32_t>(host));
  }
  return seats;
}

// Contiguous blocks of equal size; the first blocks take the remainder.
std::vector<std::uint64_t> Dealt(std::uint64_t count, std::size_t hosts) {
  std::vector<std::uint64_t> blocks(hosts, count / hosts);
  for (std::size_t i = 0; i < count % hosts; ++i) ++blocks[i];
  return blocks;
}

// Fills hosts in order up to `most` of each, and returns how many processes are left.
std::uint64_t Fill(std::uint64_t count, const std::vector<std::uint64_t>& most, std::vector<std::uint64_t>& per_host) {
  for (std::size_t i = 0; i < most.size(); ++i) {
    const std::uint64_t here = std::min(count, most[i]);
    per_host.push_back(here);
    count -= here;
  }
  return count;
}

// Dealt, but a host gets at most its number in `most`. Returns how many processes are left.
std::uint64_t DealUpTo(std::uint64_t count, const std::vector<std::uint64_t>& most,
                       std::vector<std::uint64_t>& per_host) {
  per_host.assign(most.size(), 0);
  while (count > 0) {
    std::vector<std::size_t> open;
    std::uint64_t least = count;
    for (std::size_t i = 0; i < most.size(); ++i) {
      if (per_host[i] == most[i]) continue;
      open.push_back(i);
      least = std::min(least, most[i] - per_host[i]);
    }
    if (open.empty()) break;
    const std::uint64_t each = std::min<std::uint64_t>(least, count / open.size());
    if (each == 0) open.resize(std::min<std::size_t>(open.size(), count));
    for (const std::size_t i : open) per_host[i] += std::max<std::uint64_t>(each, 1);
    count -= open.size() * std::max<std::uint64_t>(each, 1);
  }
  return count;
}

// How many processes without devices a host can still take; empty: unknown, or not counted for the role.
struct FreeOfHosts {
  std::vector<std::uint32_t> slots;
  std::vector<std::uint32_t> room;

  void Take(std::uint32_t host, std::uint64_t processes) {
    for (std::vector<std::uint32_t>* free : {&slots, &room}) {
      if (!free->empty())
        (*free)[host] -= static_cast<std::uint32_t>(std::min<std::uint64_t>(processes, (*free)[host]));
    }
  }
};

std::vector<std::uint64_t> OfSeats(const Seats& seats, const std::vector<std::uint32_t>& of_hosts) {
  std::vector<std::uint64_t> numbers;
  for (const std::uint32_t host : seats.hosts) numbers.push_back(of_hosts[host]);
  return numbers;
}

Result<Seats> SeatsOf(const RoleLayout& role, const std::vector<PlanHost>& hosts, const NextDevice& next,
                      const FreeOfHosts& free) {
  if (!role.count && !role.per_host) {
    return Fail(Error("placement", role.place, role.name + " has neither count nor per_host", "give one of the two"));
  }
  auto seats = HostsOf(role, hosts);
  if (!seats) return seats;
  const std::uint64_t each = role.per_host.value_or(*(role.count ? role.count : role.per_host));
  const std::uint64_t count = role.count ? *role.count : (each > kMaxProcesses ? each : each * seats->hosts.size());
  if (count > kMaxProcesses) {
    return Fail(
        Error("range", role.place,
              role.name + ": " + std::to_string(count) + " processes are more than " + std::to_string(kMaxProcesses)));
  }
  const bool pack = role.spread == Spread::kPack || (role.spread == Spread::kDefault && role.devices > 0);
  if (role.per_host && role.count) {
    if (*role.per_host < count && count > *role.per_host * seats->hosts.size()) {
      return Fail(Error("placement", role.place,
                        role.name + ": " + (count == 1 ? "1 process" : std::to_string(count) + " processes") +
                            " with at most " + std::to_string(*role.per_host) + " per host do not fit on " +
                            Counted(seats->hosts.size(), "host"),
                        "raise per_host or hosts"));
    }
    Fill(count, std::vector<std::uint64_t>(seats->hosts.size(), *role.per_host), seats->per_host);
  } else if (role.per_host) {
    seats->per_host.assign(seats->hosts.size(), each);
  } else if (!free.slots.empty() && role.spread != Spread::kDeal) {
    const auto beyond = Dealt(Fill(count, OfSeats(*seats, free.slots), seats->per_host), seats->hosts.size());
    for (std::size_t i = 0; i < beyond.size(); ++i) seats->per_host[i] += beyond[i];
  } else if (!free.room.empty() && role.spread == Spread::kDefault) {
    const auto beyond = Dealt(DealUpTo(count, OfSeats(*seats, free.room), seats->per_host), seats->hosts.size());
    for (std::size_t i = 0; i < beyond.size(); ++i) seats->per_host[i] += beyond[i];
  } else if (!pack) {
    seats->per_host = Dealt(count, seats->hosts.size());
  } else if (role.devices == 0) {
    seats->per_host.assign(seats->hosts.size(), 0);
    seats->per_host.front() = count;
  } else {
    std::vector<std::uint64_t> most;
    for (const std::uint32_t host : seats->hosts) most.push_back(FreeSlots(role, hosts[host], next[host]));
    if (Fill(count, most, seats->per_host) > 0) return Fail(NotEnough(role, count, *seats, hosts, next));
  }
  for (std::size_t i = 0; role.devices > 0 && i < seats->hosts.size(); ++i) {
    const std::uint32_t host = seats->hosts[i];
    if (seats->per_host[i] <= FreeSlots(role, hosts[host], next[host])) continue;
    Seats only{{host}, {}};
    return Fail(NotEnough(role, seats->per_host[i], only, hosts, next));
  }
  return seats;
}

// Counts processes of one world, or of one role without ranks, per host in order.
struct Company {
  std::uint32_t size = 0;
  std::vector<std::uint32_t> on_host;
};

}  // namespace

Result<std::vector<Placed>> PlaceProcesses(const std::vector<RoleLayout>& roles, const std::vector<PlanHost>& hosts,
                                           const std::vector<std::uint32_t>& slots,
                                           const std::vector<std::uint32_t>& room) {
  NextDevice next(hosts.size(), 0);
  // A number of a host counts devices if a role takes devices.
  const bool devices_taken =
      std::any_of(roles.begin(), roles.end(), [](const RoleLayout& role) { return role.devices > 0; });
  FreeOfHosts free;
  if (!devices_taken && slots.size() == hosts.size()) free.slots = slots;
  if (!devices_taken && room.size() == hosts.size()) free.room = room;
  std::vector<Placed> placed;
  Diagnostics problems;
  std::uint64_t devices = 0;
  std::map<std::string, Company> companies;  // by world; "role NAME" cannot clash, since worlds contain no blanks
  const auto company_name = [](const RoleLayout& role) {
    return role.world.empty() ? "role " + role.name : role.world;
  };

  for (std::size_t r = 0; r < roles.size(); ++r) {
    const RoleLayout& role = roles[r];
    const bool by_slots = role.plays == "worker";
    auto seats = SeatsOf(role, hosts, next, by_slots ? free : FreeOfHosts());
    if (!seats) {
      problems.insert(problems.end(), seats.error().begin(), seats.error().end());
      continue;
    }
    std::uint64_t count = 0;
    for (const std::uint64_t here : seats->per_host) count += here;
    devices += count * role.devices;
    if (placed.size() + count > kMaxProcesses || devices > kMaxDevices) {
      problems.push_back(
          Error("range", role.place,
                "the job needs more than " + (devices > kMaxDevices ? std::to_string(kMaxDevices) + " devices"
                                                                    : std::to_string(kMaxProcesses) + " processes")));
      break;
    }
    Company& company = companies[company_name(role)];
    company.on_host.resize(hosts.size(), 0);
    std::uint32_t index = 0;
    for (std::size_t i = 0; i < seats->hosts.size(); ++i) {
      const std::uint32_t host = seats->hosts[i];
      if (by_slots) free.Take(host, seats->per_host[i]);
      for (std::uint64_t n = 0; n < seats->per_host[i]; ++n) {
        Placed process;
        process.role = static_cast<std::uint32_t>(r);
        process.index = index++;
        if (!role.world.empty()) process.rank = company.size;
        ++company.size;
        process.local_rank = company.on_host[host]++;
        process.host = host;
        for (std::uint32_t d = 0; d < role.devices; ++d) process.devices.push_back(next[host]++);
        placed.push_back(std::move(process));
      }
    }
  }
  if (!problems.empty()) return Fail(std::move(problems));

  std::vector<const Company*> company_of(roles.size());
  for (std::size_t r = 0; r < roles.size(); ++r) company_of[r] = &companies[company_name(roles[r])];
  for (Placed& process : placed) {
    const Company& company = *company_of[process.role];
    process.world_size = process.rank ? company.size : 0;
    process.local_size = company.on_host[process.host];
  }
  return placed;
}

}  // namespace muster
