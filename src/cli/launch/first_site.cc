#include "cli/launch/first_site.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/unique_fd.h"
#include "base/system/write_all.h"
#include "base/values/shell_quote.h"
#include "plan/hosts/host_list.h"
#include "run/directory/private_files.h"

namespace muster {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

constexpr const char* kRest = R"lua(
  -- How the hosts are reached: "ssh", or "local" for jobs on this machine alone.
  -- transport = "ssh",

  -- What processes inherit, before activation and recipe have their say.
  -- environment = {
  --   set   = { NCCL_SOCKET_IFNAME = "ib0" },
  --   unset = { "LD_PRELOAD" },
  --   pass  = { "HOME", "USER", "LANG", "LC_*" },  -- nothing else, but PATH
  -- },

  -- Where runs/ is kept; relative to this file, as all paths here. "group": its group may read them.
  -- run_root = "/scratch/me",
  -- access   = "group",

  -- Recipes of others: muster run @acme/gpt.
  -- libraries = { acme = "libraries/acme" },

  -- What every plan has to fulfil.
  -- rules = "policy.lua",
}
)lua";

// The line, commented out if the value is unknown.
std::string Fact(const std::string& name, const std::string& value, const std::string& otherwise) {
  return value.empty() ? fmt::format("  -- {} = {},\n", name, otherwise) : fmt::format("  {} = {},\n", name, value);
}

}  // namespace

std::string FirstSite(std::span<const InspectedHost> hosts, bool here) {
  std::vector<SiteHost> reached;
  std::vector<SiteHost> others;
  std::uint64_t memory = 0;
  std::uint32_t devices = 0;
  for (const InspectedHost& host : hosts) {
    if (!host.why.empty()) {
      others.push_back({host.name, {}, {}});
      continue;
    }
    reached.push_back({host.name, {}, host.facts.devices > 0 ? std::optional(host.facts.devices) : std::nullopt});
    if (host.facts.memory_bytes > 0) {
      memory = memory == 0 ? host.facts.memory_bytes : std::min(memory, host.facts.memory_bytes);
    }
    devices = host.facts.devices;
  }
  std::string text =
      "-- Facts about the machines of this site, as muster doctor --write-site found them. Parameters are the "
      "recipes'.\n"
      "-- muster docs site lists the fields. Nearer files win: this one if it lies above the folder that muster "
      "is\n"
      "-- called in, then ~/.config/muster/site.lua, then /etc/muster/site.lua.\n"
      "local muster = require \"muster\"\n\nreturn muster.site {\n"
      "  -- Available hosts with their numbers of devices. Recipes set how many they use.\n";
  text += Fact("hosts", here || reached.empty() ? "" : fmt::format("\"{}\"", HostListText(reached)), "\"n[01-04]:8\"");
  if (!others.empty()) text += fmt::format("  -- not reached: {}\n", HostListText(others));
  text += "\n  -- Devices of a host without a number of its own.\n";
  text += Fact("devices", here && devices > 0 ? std::to_string(devices) : "", "8");
  text += here ? "\n  -- Memory of a host.\n" : "\n  -- Memory of a host: the least that any has.\n";
  const std::string most = memory >= kGiB ? fmt::format("\"{}GiB\"", memory / kGiB)
                           : memory > 0   ? std::to_string(memory)
                                          : "";
  text += Fact("memory", most, "\"512GiB\"");
  return text + kRest;
}

Result<void> WriteNewSite(const std::string& file, const std::string& text) {
  const UniqueFd made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!made && errno == EEXIST) {
    return Fail(
        Error("site", {}, Quoted(file) + " already exists, and is not overwritten", "name another: --write-site FILE"));
  }
  if (!made) return Fail(SystemError("site", "cannot write " + Quoted(file), errno));
  if (const int error = WriteAll(made.get(), text); error != 0) {
    return Fail(SystemError("site", "cannot write " + Quoted(file), error));
  }
  return {};
}

}  // namespace muster
