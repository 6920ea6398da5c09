#include "launchers/host_words.h"

#include <algorithm>
#include <vector>

#include "base/values/shell_quote.h"
#include "plan/hosts/host_list.h"

namespace muster {
namespace {

bool IsHere(const std::string& name) { return name == "localhost" || name == "127.0.0.1"; }

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
  if (!alike || devices.front().empty()) return named;
  for (SiteHost& host : hosts) host.devices.reset();
  named.options = named.options.empty() ? std::string() : "--host " + ShellQuoted(HostListText(hosts)) + " ";
  named.options += "--devices " + devices.front();
  return named;
}

}  // namespace muster
