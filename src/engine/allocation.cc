#include "engine/allocation.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/system/host_name.h"
#include "base/values/shell_quote.h"
#include "engine/command_template.h"
#include "plan/hosts/host_list.h"

namespace muster {
namespace {

constexpr std::size_t kMostShown = 200;
constexpr std::uint32_t kMostDevicesPerHost = 4'096;

std::string Shown(std::string_view text) {
  const std::string_view begin = text.substr(0, kMostShown);
  return Quoted(begin) + (begin.size() < text.size() ? "…" : "");
}

Diagnostic Unreadable(const EnginePage& page, const std::string& what, std::string_view text) {
  return MachineError("engine", page.name + ": " + what + ", got " + Shown(text),
                      "--on local runs on this machine, --host names hosts");
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// Calls `each` for every part between the separators; blanks count as one separator.
template <class Each>
void ForParts(std::string_view text, std::string_view separators, Each each) {
  for (std::size_t begin = text.find_first_not_of(separators); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    each(text.substr(begin, end - begin));
    begin = text.find_first_not_of(separators, end);
  }
}

Result<std::string> TextFrom(const EnginePage& page, const EngineText& from, const TemplateValues& values,
                             const AllocationSources& sources) {
  if (!from.command.empty()) return sources.output(FilledCommand(from.command, values));
  const std::string& name = from.variable.empty() ? from.file : from.variable;
  const auto value = sources.variable(name);
  if (!value || value->empty()) {
    return Fail(MachineError("engine", page.name + ": " + page.inside + " is set, and " + name + " is not",
                             "the environment is only a part of the allocation's; --on local runs on this machine"));
  }
  return from.variable.empty() ? sources.file(*value) : Result<std::string>(*value);
}

class EngineHostList {
 public:
  explicit EngineHostList(const EnginePage& page) : page_(page) {}

  Result<void> Add(std::string_view name) {
    // A user name before an '@' is for ssh.
    if (!IsHostOrAddress(name))
      return Fail(Unreadable(page_, "its list of hosts has an entry that is no host name", name));
    if (hosts_.size() >= kMaxNamedHosts) {
      return Fail(MachineError("engine", page_.name + ": its list has more than 65536 hosts"));
    }
    if (seen_.insert(std::string(name)).second) hosts_.push_back({std::string(name), position_, {}});
    ++position_;
    return {};
  }

  Result<std::vector<AllocatedHost>> Taken(std::string_view text) {
    if (hosts_.empty()) return Fail(Unreadable(page_, "its list of hosts is empty", text));
    return std::move(hosts_);
  }

 private:
  const EnginePage& page_;
  std::vector<AllocatedHost> hosts_;
  std::set<std::string> seen_;
  std::uint32_t position_ = 0;
};

// "4,8(IDX:0,2-3)" behind "KIND:" or "KIND:TYPE:"; nothing if the kind is another.
std::uint64_t CountOf(std::string_view gres, const std::vector<std::string>& kinds) {
  const std::size_t colon = gres.find(':');
  if (colon == std::string_view::npos || std::find(kinds.begin(), kinds.end(), gres.substr(0, colon)) == kinds.end()) {
    return 0;
  }
  std::string_view rest = gres.substr(0, gres.find('('));
  rest = rest.substr(rest.rfind(':') + 1);
  std::uint64_t count = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), count);
  return count;
}

// Parts of "gpu:2(IDX:0-1),npu:1(IDX:4,6)": commas in parentheses do not separate.
template <class Each>
void ForResources(std::string_view text, Each each) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    each(text.substr(begin, i - begin));
    begin = i + 1;
  }
}

// How many devices a step of the job gets on each node: N of "TresPerNode=gres:gpu:N", or of "gres/gpu:N".
std::uint32_t StepDevices(std::string_view output, const std::vector<std::string>& kinds) {
  std::uint64_t count = 0;
  ForParts(output, " \t\r\n", [&](std::string_view word) {
    constexpr std::string_view kName = "TresPerNode=";
    if (!word.starts_with(kName)) return;
    ForResources(word.substr(kName.size()), [&](std::string_view tres) {
      if (tres.starts_with("gres:") || tres.starts_with("gres/")) count += CountOf(tres.substr(5), kinds);
    });
  });
  return count == 0 ? kMostDevicesPerHost
                    : static_cast<std::uint32_t>(std::min<std::uint64_t>(count, kMostDevicesPerHost));
}

}  // namespace

bool IsInside(const EnginePage& page, const AllocationSources& sources) {
  const auto value = sources.variable(page.inside);
  return value && !value->empty();
}

Result<std::vector<AllocatedHost>> ReadEngineHosts(const EnginePage& page, std::string_view text) {
  EngineHostList list(page);
  Result<void> added;
  const auto add = [&](std::string_view name) {
    if (added) added = list.Add(name);
  };
  switch (page.hosts.form) {
    case HostListForm::kCompressed: {
      const auto hosts = ParseHostList(Trimmed(text), page.name);
      if (!hosts) return Fail(Unreadable(page, "its list of hosts cannot be read", Trimmed(text)));
      for (const SiteHost& host : *hosts) add(host.name);
      break;
    }
    case HostListForm::kLines:
      ForParts(text, "\n", [&](std::string_view line) {
        const std::string_view words = Trimmed(line);
        if (!words.empty()) add(words.substr(0, words.find_first_of(" \t")));
      });
      break;
    case HostListForm::kWords:
      ForParts(text, " \t\r\n", add);
      break;
    case HostListForm::kPairs: {
      bool is_name = true;
      ForParts(text, " \t\r\n", [&](std::string_view word) {
        if (is_name) add(word);
        is_name = !is_name;
      });
      if (!is_name) return Fail(Unreadable(page, "its list of hosts is names and counts", text));
      break;
    }
  }
  if (!added) return Fail(std::move(added.error()));
  return list.Taken(text);
}

Result<void> AddDevices(const EnginePage& page, std::string_view output, const ExpandHosts& expand,
                        std::vector<AllocatedHost>& hosts) {
  std::map<std::string, std::uint32_t, std::less<>> count_of;
  bool any = false;
  std::string_view nodes;
  Result<void> read;
  ForParts(output, " \t\r\n", [&](std::string_view word) {
    if (word.starts_with("Nodes=")) nodes = word.substr(6);
    if (!word.starts_with("GRES=") || nodes.empty() || !read) return;
    const auto named = expand(nodes);
    if (!named) {
      read = Fail(named.error());
      return;
    }
    std::uint64_t count = 0;
    ForResources(word.substr(5), [&](std::string_view gres) { count += CountOf(gres, page.devices->kinds); });
    count = std::min<std::uint64_t>(count, kMostDevicesPerHost);
    any = any || count > 0;
    for (const AllocatedHost& host : *named) count_of[host.name] += static_cast<std::uint32_t>(count);
    nodes = {};
  });
  // An allocation without any may be of a site that does not count devices.
  if (!read || !any) return read;
  // An exclusive job has all devices of its nodes, but each of its steps gets as many as the job asked for.
  const std::uint32_t of_step = StepDevices(output, page.devices->kinds);
  for (AllocatedHost& host : hosts) {
    const auto count = count_of.find(host.name);
    host.devices = count == count_of.end() ? 0 : std::min({count->second, of_step, kMostDevicesPerHost});
  }
  return {};
}

Result<Allocation> ReadAllocation(const EnginePage& page, const AllocationSources& sources) {
  Allocation allocation;
  TemplateValues values;
  auto job = TextFrom(page, page.job, values, sources);
  if (!job) return Fail(std::move(job.error()));
  allocation.job = Trimmed(*job);
  if (allocation.job.empty() || allocation.job.size() > 256 ||
      std::any_of(allocation.job.begin(), allocation.job.end(),
                  [](char c) { return static_cast<unsigned char>(c) <= ' '; })) {
    return Fail(Unreadable(page, "the id of its job is a word", *job));
  }
  values.texts["job"] = allocation.job;
  auto text = TextFrom(page, page.hosts.text, values, sources);
  if (!text) return Fail(std::move(text.error()));
  const auto expand = [&](std::string_view list) {
    auto hosts = ReadEngineHosts(page, list);
    if (hosts || page.hosts.expand.empty()) return hosts;
    // A notation that only the engine's own command expands.
    values.texts["list"] = Trimmed(list);
    const auto lines = sources.output(FilledCommand(page.hosts.expand, values));
    if (!lines) return Result<std::vector<AllocatedHost>>(Fail(lines.error()));
    EnginePage one_a_line = page;
    one_a_line.hosts.form = HostListForm::kLines;
    return ReadEngineHosts(one_a_line, *lines);
  };
  auto hosts = expand(*text);
  if (!hosts) return Fail(std::move(hosts.error()));
  allocation.hosts = *std::move(hosts);
  if (page.devices) {
    const auto output = sources.output(FilledCommand(page.devices->command, values));
    if (!output) return Fail(output.error());
    if (auto added = AddDevices(page, *output, expand, allocation.hosts); !added) return Fail(std::move(added.error()));
  }
  return allocation;
}

std::vector<SiteHost> HostsOf(const Allocation& allocation) {
  std::vector<SiteHost> hosts;
  for (const AllocatedHost& host : allocation.hosts) {
    hosts.push_back({host.name, IsAddress(host.name) ? host.name : std::string(), host.devices});
  }
  return hosts;
}

}  // namespace muster
