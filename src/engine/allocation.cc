#include "engine/allocation.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/system/host_name.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "plan/hosts/host_list.h"

namespace muster {
namespace {

constexpr std::size_t kMaxShown = 200;
constexpr std::uint32_t kMaxDevicesPerHost = 4'096;
constexpr std::uint32_t kMaxTasksPerHost = 1'000'000;

std::string Shown(std::string_view text) {
  const std::string_view begin = text.substr(0, kMaxShown);
  return Quoted(begin) + (begin.size() < text.size() ? "…" : "");
}

Diagnostic Unreadable(const EnginePage& page, const std::string& what, std::string_view text) {
  return MachineError("engine", page.name + ": " + what + ", got " + Shown(text));
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
                             "the environment is only a part of the allocation's"));
  }
  return from.variable.empty() ? sources.file(*value) : Result<std::string>(*value);
}

class EngineHostList {
 public:
  explicit EngineHostList(const EnginePage& page) : page_(page) {}

  Result<void> Add(std::string_view name, std::uint32_t tasks = 1) {
    // A user name before an '@' is for ssh.
    if (!IsHostOrAddress(name))
      return Fail(Unreadable(page_, "its list of hosts has an entry that is no host name", name));
    if (hosts_.size() >= kMaxNamedHosts) {
      return Fail(MachineError("engine", page_.name + ": its list has more than 65536 hosts"));
    }
    const auto [host, added] = seen_.emplace(name, hosts_.size());
    if (added) hosts_.push_back({std::string(name), position_, {}, 0});
    ++position_;
    std::uint32_t& sum = *hosts_[host->second].tasks;
    sum = std::min(sum + tasks, kMaxTasksPerHost);
    return {};
  }

  Result<std::vector<AllocatedHost>> Taken(std::string_view text) {
    if (hosts_.empty()) return Fail(Unreadable(page_, "its list of hosts is empty", text));
    if (std::none_of(hosts_.begin(), hosts_.end(), [](const AllocatedHost& host) { return host.tasks > 1U; })) {
      for (AllocatedHost& host : hosts_) host.tasks.reset();
    }
    return std::move(hosts_);
  }

 private:
  const EnginePage& page_;
  std::vector<AllocatedHost> hosts_;
  std::map<std::string, std::size_t, std::less<>> seen_;
  std::uint32_t position_ = 0;
};

std::uint32_t TasksIn(std::string_view text) {
  return std::min(ParseNumber<std::uint32_t>(text).value_or(1), kMaxTasksPerHost);
}

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
  return count == 0 ? kMaxDevicesPerHost
                    : static_cast<std::uint32_t>(std::min<std::uint64_t>(count, kMaxDevicesPerHost));
}

}  // namespace

bool IsInside(const EnginePage& page, const AllocationSources& sources) {
  const auto value = sources.variable(page.inside);
  return value && !value->empty();
}

Result<std::vector<AllocatedHost>> ReadEngineHosts(const EnginePage& page, std::string_view text) {
  EngineHostList list(page);
  Result<void> added;
  const auto add = [&](std::string_view name, std::uint32_t tasks = 1) {
    if (added) added = list.Add(name, tasks);
  };
  switch (page.hosts.form) {
    case HostListForm::kCompressed: {
      const auto hosts = ParseHostList(Trimmed(text), page.name);
      if (!hosts) return Fail(Unreadable(page, "its list of hosts cannot be read", Trimmed(text)));
      for (const SiteHost& host : *hosts) add(host.name, 0);
      break;
    }
    case HostListForm::kLines:
      ForParts(text, "\n", [&](std::string_view line) {
        const std::string_view words = Trimmed(line);
        if (!words.empty()) add(words.substr(0, words.find_first_of(" \t")));
      });
      break;
    case HostListForm::kWords:
      ForParts(text, " \t\r\n", [&](std::string_view name) { add(name); });
      break;
    case HostListForm::kCounts:
      ForParts(text, "\n", [&](std::string_view line) {
        std::vector<std::string_view> words;
        ForParts(line, " \t\r", [&](std::string_view word) { words.push_back(word); });
        if (!words.empty()) add(words.front(), TasksIn(words.size() > 1 ? words[1] : std::string_view()));
      });
      break;
    case HostListForm::kPairs: {
      std::string_view name;
      ForParts(text, " \t\r\n", [&](std::string_view word) {
        if (!name.empty()) add(name, TasksIn(word));
        name = name.empty() ? word : std::string_view();
      });
      if (!name.empty()) return Fail(Unreadable(page, "its list of hosts is names and counts", text));
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
    count = std::min<std::uint64_t>(count, kMaxDevicesPerHost);
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
    host.devices = count == count_of.end() ? 0 : std::min({count->second, of_step, kMaxDevicesPerHost});
  }
  return {};
}

void AddTasks(std::string_view numbers, bool asked, std::vector<AllocatedHost>& hosts) {
  std::vector<std::uint32_t> of_hosts;
  bool sound = true;
  ForParts(Trimmed(numbers), ",", [&](std::string_view part) {
    const std::size_t times = std::min(part.find("(x"), part.size());
    const auto number = ParseNumber<std::uint32_t>(part.substr(0, times));
    std::optional<std::uint32_t> repeated = 1;
    if (times < part.size()) {
      sound = sound && part.ends_with(')');
      repeated = ParseNumber<std::uint32_t>(part.substr(times + 2, part.size() - times - 3));
    }
    sound = sound && number && repeated && *number <= kMaxTasksPerHost && *repeated <= hosts.size();
    if (sound) of_hosts.insert(of_hosts.end(), *repeated, *number);
    sound = sound && of_hosts.size() <= hosts.size();
  });
  const bool more = std::any_of(of_hosts.begin(), of_hosts.end(), [](std::uint32_t one) { return one > 1; });
  if (!sound || of_hosts.size() != hosts.size() || !more) return;
  for (std::size_t i = 0; i < hosts.size(); ++i) (asked ? hosts[i].tasks : hosts[i].room) = of_hosts[i];
}

namespace {

Result<Allocation> AllocationFrom(const EnginePage& page, const AllocationSources& sources) {
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
  if (page.tasks) {
    const auto numbers = sources.variable(page.tasks->variable);
    const auto asked = sources.variable(page.tasks->asked);
    if (numbers) AddTasks(*numbers, asked && !asked->empty(), allocation.hosts);
  }
  if (page.devices) {
    const auto output = sources.output(FilledCommand(page.devices->command, values));
    if (!output) return Fail(output.error());
    if (auto added = AddDevices(page, *output, expand, allocation.hosts); !added) return Fail(std::move(added.error()));
  }
  return allocation;
}

}  // namespace

Result<Allocation> ReadAllocation(const EnginePage& page, const AllocationSources& sources) {
  auto allocation = AllocationFrom(page, sources);
  if (allocation || sources.otherwise.empty()) return allocation;
  for (Diagnostic& problem : allocation.error()) {
    problem.hint += (problem.hint.empty() ? "" : "; ") + sources.otherwise;
  }
  return allocation;
}

std::vector<SiteHost> HostsOf(const Allocation& allocation) {
  std::vector<SiteHost> hosts;
  for (const AllocatedHost& host : allocation.hosts) {
    hosts.push_back({host.name, IsAddress(host.name) ? host.name : std::string(), host.devices, host.tasks, host.room});
  }
  return hosts;
}

}  // namespace muster
