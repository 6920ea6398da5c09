#include "launchers/host_words.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/values/parse_number.h"
#include "base/values/shell_quote.h"
#include "plan/hosts/host_list.h"

namespace muster {
namespace {

bool IsHere(const std::string& name) { return name == "localhost" || name == "127.0.0.1" || name == "::1"; }

// Calls `take` for each part between separators, until it fails.
template <class Take>
Result<void> EachPart(std::string_view text, char separator, const Take& take) {
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (auto taken = take(text.substr(0, end)); !taken) return taken;
    if (end == text.size()) return {};
    text.remove_prefix(end + 1);
  }
}

NamedHosts Named(std::vector<SiteHost> hosts) {
  NamedHosts named;
  named.count = static_cast<int>(hosts.size());
  named.list = hosts;
  bool equal = true, numbers = false;
  for (const SiteHost& host : hosts) {
    named.slots += static_cast<int>(host.devices.value_or(1));
    equal = equal && host.devices == hosts.front().devices;
    numbers = numbers || host.devices.value_or(1) != 1;
  }
  if (equal && hosts.front().devices) named.each = static_cast<int>(*hosts.front().devices);
  if (hosts.size() == 1 && IsHere(hosts.front().name)) return named;
  // A host without a number has one slot.
  for (SiteHost& host : hosts) {
    if (!numbers) host.devices.reset();
  }
  named.options = "--host " + ShellQuoted(HostListText(hosts));
  return named;
}

}  // namespace

Result<NamedHosts> HostsOfList(std::string_view text) {
  std::vector<SiteHost> hosts;
  const auto add = [&hosts](std::string_view part) -> Result<void> {
    auto read = ParseHostList(part, "the list of hosts");
    if (!read) return Fail(read.error());
    for (SiteHost& one : *read) {
      const std::uint32_t slots = one.devices.value_or(1);
      const auto same =
          std::find_if(hosts.begin(), hosts.end(), [&one](const SiteHost& host) { return host.name == one.name; });
      if (same != hosts.end()) {
        same->devices = *same->devices + slots;
      } else {
        one.devices = slots;
        hosts.push_back(std::move(one));
      }
    }
    return {};
  };
  if (text.find('[') != std::string_view::npos) {
    if (auto added = add(text); !added) return Fail(added.error());
  } else if (auto added = EachPart(text, ',', add); !added) {
    return Fail(added.error());
  }
  return Named(std::move(hosts));
}

Result<NamedHosts> HostsOfFile(std::string_view text, const std::string& file) {
  auto hosts = ParseHostFile(text, file);
  if (!hosts) return Fail(hosts.error());
  if (hosts->empty()) return Fail(Error("hosts", {}, Quoted(file) + " names no host"));
  return Named(*std::move(hosts));
}

Result<NamedHosts> HostsOfSlots(std::string_view text) {
  std::vector<SiteHost> hosts;
  std::vector<std::string> devices;
  const auto read = EachPart(text, '@', [&](std::string_view part) -> Result<void> {
    const std::size_t colon = std::min(part.find(':'), part.size());
    auto host = ParseHostList(part.substr(0, colon), "the hosts");
    if (!host) return Fail(host.error());
    const std::string_view slots = part.substr(std::min(colon + 1, part.size()));
    if (!slots.empty())
      host->front().devices = static_cast<std::uint32_t>(std::count(slots.begin(), slots.end(), ',') + 1);
    devices.emplace_back(slots);
    hosts.push_back(std::move(host->front()));
    return {};
  });
  if (!read) return Fail(read.error());
  NamedHosts named = Named(hosts);
  // `muster run --devices` applies to all hosts.
  const bool alike =
      std::all_of(devices.begin(), devices.end(), [&](const std::string& one) { return one == devices.front(); });
  if (!alike) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      named.own_devices += fmt::format("{}{} {}", i == 0 ? "" : ", ", hosts[i].name,
                                       devices[i].empty() ? std::string_view("all") : std::string_view(devices[i]));
    }
  }
  if (!alike || devices.front().empty()) return named;
  for (SiteHost& host : hosts) host.devices.reset();
  named.options = named.options.empty() ? std::string() : "--host " + ShellQuoted(HostListText(hosts)) + " ";
  named.options += "--devices " + devices.front();
  return named;
}

Result<NamedHosts> FilteredHosts(const NamedHosts& file, std::string_view include, std::string_view exclude, int nodes,
                                 int gpus) {
  const auto wrong = [](const std::string& what) { return Fail(Error("usage", {}, "deepspeed: " + what)); };
  if (!include.empty() && !exclude.empty()) return wrong("--include and --exclude exclude each other");
  if ((nodes > 0 || gpus > 0) && (!include.empty() || !exclude.empty()))
    return wrong("--num_nodes and --num_gpus cannot be combined with --include and --exclude");
  std::map<std::string, std::vector<int>> slots_of;
  for (const SiteHost& host : file.list) {
    std::vector<int>& slots = slots_of[host.name];
    slots.resize(host.devices.value_or(1));
    std::iota(slots.begin(), slots.end(), 0);
  }
  const auto all = slots_of;
  if (!include.empty()) slots_of.clear();
  const auto part = [&](std::string_view node) -> Result<void> {
    const std::size_t colon = std::min(node.find(':'), node.size());
    const std::string name(node.substr(0, colon));
    const auto known = all.find(name);
    if (known == all.end()) return wrong("host " + Quoted(name) + " is not in the host file");
    std::vector<int>& slots = slots_of[name];
    if (colon == node.size()) {
      slots = include.empty() ? std::vector<int>() : known->second;
      return {};
    }
    if (!include.empty()) slots.clear();
    return EachPart(node.substr(colon + 1), ',', [&](std::string_view text) -> Result<void> {
      const auto slot = ParseNumber<int>(text);
      if (!slot || *slot < 0 || *slot >= static_cast<int>(known->second.size()))
        return wrong("host " + Quoted(name) + " has no slot " + Quoted(std::string(text)) + " in the host file");
      std::erase(slots, *slot);
      if (!include.empty()) slots.push_back(*slot);
      return {};
    });
  };
  if (const std::string_view filter = include.empty() ? exclude : include; !filter.empty()) {
    if (auto read = EachPart(filter, '@', part); !read) return Fail(read.error());
  }
  std::vector<SiteHost> hosts;
  std::vector<std::vector<int>> chosen;
  for (SiteHost host : file.list) {
    const auto found = slots_of.find(host.name);
    if (found == slots_of.end() || found->second.empty()) continue;
    if (nodes > 0 && static_cast<int>(hosts.size()) == nodes) break;
    std::vector<int> slots = found->second;
    if (gpus > 0) slots.resize(static_cast<std::size_t>(gpus));
    if (gpus > 0) std::iota(slots.begin(), slots.end(), 0);
    std::sort(slots.begin(), slots.end());
    host.devices = static_cast<std::uint32_t>(slots.size());
    hosts.push_back(std::move(host));
    chosen.push_back(std::move(slots));
  }
  if (hosts.empty()) return wrong("no host is left");
  if (nodes > static_cast<int>(hosts.size()))
    return wrong("--num_nodes " + std::to_string(nodes) + ", and the host file has " + std::to_string(hosts.size()));
  NamedHosts named = Named(hosts);
  // A single slot is a number, too: `--host a` alone would be a host with all of its devices.
  if (!named.options.empty()) named.options = "--host " + ShellQuoted(HostListText(hosts));
  const bool alike =
      std::all_of(chosen.begin(), chosen.end(), [&](const std::vector<int>& one) { return one == chosen.front(); });
  const auto from_zero = [](const std::vector<int>& one) { return one.back() == static_cast<int>(one.size()) - 1; };
  if (!alike && !std::all_of(chosen.begin(), chosen.end(), from_zero)) {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      named.own_devices += fmt::format("{}{} {}", i == 0 ? "" : ", ", hosts[i].name, fmt::join(chosen[i], ","));
    }
  }
  if (alike && !from_zero(chosen.front())) {
    for (SiteHost& host : hosts) host.devices.reset();
    named.options = named.options.empty() ? std::string() : "--host " + ShellQuoted(HostListText(hosts)) + " ";
    named.options += "--devices ";
    for (std::size_t i = 0; i < chosen.front().size(); ++i)
      named.options += (i == 0 ? "" : ",") + std::to_string(chosen.front()[i]);
  }
  return named;
}

NamedHosts HostsFilledByHydra(const NamedHosts& hosts, int processes, std::optional<int> per_host) {
  std::vector<SiteHost> filled = hosts.list;
  for (SiteHost& host : filled) host.devices = 0;
  while (processes > 0) {
    const int before = processes;
    for (std::size_t i = 0; i < filled.size() && processes > 0; ++i) {
      const int here = std::min(processes, per_host.value_or(static_cast<int>(hosts.list[i].devices.value_or(1))));
      filled[i].devices = *filled[i].devices + static_cast<std::uint32_t>(here);
      processes -= here;
    }
    if (processes == before) break;
  }
  std::erase_if(filled, [](const SiteHost& host) { return *host.devices == 0; });
  return filled.empty() ? hosts : Named(std::move(filled));
}

}  // namespace muster
