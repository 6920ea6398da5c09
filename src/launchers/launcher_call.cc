#include "launchers/launcher_call.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tl/expected.hpp>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_json.h"
#include "muster/site.h"
#include "muster/value.h"
#include "plan/hosts/host_list.h"
#include "settings/values/value_yaml.h"

namespace muster {
namespace {

// Parses host arguments of other launchers, with the number of processes per host. Pure: text in, numbers and the
// arguments for `muster run` out.

struct NamedHosts {
  int count = 0;
  int slots = 0;            // of all hosts
  std::optional<int> each;  // if all hosts have the same number
  std::string options;      // for `muster run`: "--host a:4,b:4"; empty for this host alone
  std::vector<SiteHost> list;
  // The numbers of the devices, "n1 2-7, n2 0-7", where `options` cannot say them: --devices is the same for all hosts.
  std::string own_devices;
};

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

// "a:4,b:4"; a host without a number gets one slot for each occurrence. Errors are those of ParseHostList.
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

// The content of a host file, as ParseHostFile reads it; a host without a number has one slot.
Result<NamedHosts> HostsOfFile(std::string_view text, const std::string& file) {
  auto hosts = ParseHostFile(text, file);
  if (!hosts) return Fail(hosts.error());
  if (hosts->empty()) return Fail(Error("hosts", {}, Quoted(file) + " names no host"));
  return Named(*std::move(hosts));
}

// DeepSpeed's "NAME:SLOT,SLOT@NAME": numbers of devices; a host without them uses all of its own.
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

// The hosts and devices of a host file that DeepSpeed's options leave, by the rules of its runner: `include` or
// `exclude`, then the first `nodes`, then devices 0 to `gpus` - 1 of each. Empty and 0: not given. Kind "usage": what
// the runner refuses, with its reason.
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

// The hosts with the numbers of processes that Hydra starts on each: hosts are filled in order, `per_host` or their
// slots at a time, again from the first one while processes are left.
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

// Parses the core lists that msrun's --bind_core takes from MindSpore 2.7 on: {"device0": ["0-9"], "device1":
// ["10-19"]}.

constexpr std::size_t kMaxBytes = 1U << 20;
constexpr std::int64_t kMaxCores = 1 << 20;

std::optional<std::int64_t> NumberIn(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 0 && number < kMaxCores ? std::optional(number) : std::nullopt;
}

// The number of cores in "A-B" or "A"; nothing for other texts.
std::optional<std::int64_t> CoresIn(const std::string& range) {
  const std::size_t dash = range.find('-');
  const auto first = NumberIn(std::string_view(range).substr(0, dash));
  const auto last = dash == std::string::npos ? first : NumberIn(std::string_view(range).substr(dash + 1));
  return first && last && *first <= *last ? std::optional(*last - *first + 1) : std::nullopt;
}

bool NamesADevice(std::string_view name) {
  constexpr std::string_view kDevice = "device";
  return name.starts_with(kDevice) && NumberIn(name.substr(kDevice.size()));
}

// The number of cores of each device, if all devices have the same number; nothing if the numbers differ. An error is a
// sentence: the text is no JSON object of names "deviceN" with lists of "A-B". The list "scheduler" is not counted.
tl::expected<std::optional<int>, std::string> CoresOfEach(std::string_view json) {
  const auto value = ValueFromJsonText(json, kMaxBytes);
  if (!value || value->AsMap() == nullptr)
    return tl::make_unexpected("expected True, False or a JSON object of core lists");
  std::optional<std::int64_t> each;
  bool differ = false;
  for (const auto& [name, list] : *value->AsMap()) {
    if (!NamesADevice(name) && name != "scheduler") {
      return tl::make_unexpected(Quoted(name) + " is no device: expected \"device0\", \"device1\", …");
    }
    std::int64_t cores = 0;
    for (const Value& range : list.AsList() == nullptr ? Value::List{list} : *list.AsList()) {
      const std::string* text = range.AsString();
      const auto count = text == nullptr || list.AsList() == nullptr ? std::nullopt : CoresIn(*text);
      if (!count) return tl::make_unexpected("the cores of " + Quoted(name) + " are no list of \"A-B\"");
      cores += *count;
    }
    if (name == "scheduler") continue;
    differ = differ || (each && *each != cores);
    each = cores;
  }
  if (!each || differ || *each < 1 || *each >= kMaxCores) return std::nullopt;
  return static_cast<int>(*each);
}

using Words = std::vector<std::pair<std::string, std::string>>;

std::string TextOf(const Value& value) {
  if (const std::string* text = value.AsString()) return *text;
  if (const Value::List* list = value.AsList()) {
    std::string text;
    for (const Value& one : *list) text += (text.empty() ? "" : ",") + TextOf(one);
    return text;
  }
  return ToText(value);
}

// Nested maps ("fsdp_config") hold options of their own; those of fp8 have no prefix.
void AddWords(const Value::Map& map, Words& words) {
  for (const auto& [name, value] : map) {
    if (value.IsNull()) continue;
    if (const Value::Map* inner = value.AsMap()) {
      AddWords(*inner, words);
    } else {
      words.emplace_back("--" + name, TextOf(value));
    }
  }
}

tl::unexpected<Diagnostics> Wrong(const std::string& file, std::uint32_t line, const std::string& what) {
  Place place;
  place.file = file;
  place.line = line;
  return Fail(Error("usage", place, what));
}

}  // namespace

Result<Words> WordsOfAccelerateFile(std::string_view text, const std::string& file) {
  const auto read = ValueFromYamlText(text);
  if (!read) return Wrong(file, read.error().line, read.error().message);
  const Value::Map* map = read->value.AsMap();
  if (map == nullptr) return Wrong(file, 1, "expected a map of Accelerate's settings");
  Value::Map settings = *map;
  Words words;
  const auto taken = [&settings](const char* name) {
    const auto found = settings.find(name);
    if (found == settings.end()) return std::string();
    std::string value = TextOf(found->second);
    settings.erase(found);
    return value;
  };
  const std::string where = taken("compute_environment");
  if (!where.empty() && where != "LOCAL_MACHINE")
    return Wrong(file, 1, fmt::format("compute_environment {} starts no process here", Quoted(where)));
  const std::string kind = taken("distributed_type");
  if (kind == "TPU" || kind == "XLA")
    return Wrong(file, 1,
                 "distributed_type " + Quoted(kind) + " starts workers by the TPU runtime, which has no counterpart");
  if (kind == "DEEPSPEED") words.emplace_back("--use_deepspeed", "true");
  if (kind == "FSDP") words.emplace_back("--use_fsdp", "true");
  if (kind == "MEGATRON_LM") words.emplace_back("--use_megatron_lm", "true");
  if (kind == "MULTI_CPU") words.emplace_back("--cpu", "true");
  // Settings for TPUs, which such a file contains even without TPUs.
  for (const char* name : {"tpu_env", "tpu_use_cluster", "tpu_use_sudo", "downcast_bf16", "tpu_name", "tpu_zone",
                           "commands", "command_file"}) {
    const auto found = settings.find(name);
    if (found == settings.end()) continue;
    const std::string value = TextOf(found->second);
    if (found->second.IsNull() || value.empty() || value == "{}" || value == "false" || value == "no") {
      settings.erase(found);
    }
  }
  // Without distribution Accelerate starts one process, whatever the file says about their number: that comes second.
  if (kind == "NO") words.emplace_back("--num_processes", "1");
  AddWords(settings, words);
  return words;
}

namespace {

constexpr int kMsrunDefault = 8;    // workers, in all and per host
constexpr int kMaxSimulation = 3;   // level
constexpr int kMaxSimulated = 128;  // processes on one host
constexpr const char* kNamedHosts = "named the hosts";

std::optional<int> Number(std::string_view text, int least) {
  const auto number = ParseNumber<int>(text);
  return number && *number >= least ? number : std::nullopt;
}

bool ShowsDevices(std::string_view variable) {
  return variable == "CUDA_VISIBLE_DEVICES" || variable == "ASCEND_RT_VISIBLE_DEVICES" ||
         variable == "HIP_VISIBLE_DEVICES" || variable == "ROCR_VISIBLE_DEVICES";
}

class CallReader {
 public:
  CallReader(KnownLauncher launcher, const std::vector<std::string>& words, const ReadText& read_text)
      : facts_(&FactsOf(launcher)), words_(words), read_text_(read_text) {}

  Result<LauncherCall> Read() {
    call_.uses.resize(words_.size());
    if (auto front = TakeWordsInFront(); !front) return Fail(front.error());
    call_.framework = facts_->framework;
    if (auto taken = TakeVariablesOfTorchrun(); !taken) return Fail(taken.error());
    while (at_ < words_.size() && words_[at_].starts_with('-') && words_[at_] != "--") {
      const std::size_t begin = at_;
      auto read = ReadOption();
      Use(begin, at_, WordUse::Kind::kOption);
      if (!read) return Fail(read.error());
    }
    if (at_ < words_.size() && words_[at_] == "--") {
      Use(at_, at_ + 1, WordUse::Kind::kOption);
      ++at_;
    }
    if (at_ == words_.size()) {
      return Wrong("there is no program",
                   fmt::format("give the whole command line: muster init --from {0} -- {0} … PROGRAM", facts_->name));
    }
    if (auto program = TakeProgram(); !program) return Fail(program.error());
    Use(at_, words_.size(), WordUse::Kind::kProgram);
    return Settled();
  }

 private:
  tl::unexpected<Diagnostics> Wrong(const std::string& what, const std::string& hint) const {
    return Fail(Error("usage", {}, fmt::format("{}: {}", facts_->name, what), hint));
  }

  // Options with the same effect are listed once.
  void LeaveOut(const std::string& option, std::string what_it_did) {
    const auto same = std::find_if(call_.left_out.begin(), call_.left_out.end(),
                                   [&](const auto& one) { return one.second == what_it_did; });
    if (same != call_.left_out.end()) {
      same->first += ", " + option;
    } else {
      call_.left_out.emplace_back(option, std::move(what_it_did));
    }
  }

  void Set(std::string_view name, std::string value) { Set(name, CallWord{std::move(value)}); }

  void Set(std::string_view name, CallWord value) {
    const auto set =
        std::find_if(call_.env.begin(), call_.env.end(), [name](const auto& one) { return one.first == name; });
    if (set != call_.env.end()) {
      set->second = std::move(value);
    } else {
      call_.env.emplace_back(name, std::move(value));
    }
  }

  void TakeAssignment(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (ShowsDevices(name)) {
      TakeDevices(word, word.substr(equals + 1));
    } else if (name.starts_with("PET_")) {
      pet_.emplace_back(name, word.substr(equals + 1));
    } else {
      Set(name, word.substr(equals + 1));
    }
  }

  void Use(std::size_t begin, std::size_t end, WordUse::Kind kind) {
    ++rule_;
    for (std::size_t i = begin; i < std::min(end, call_.uses.size()); ++i) {
      // A word that two rules read would mean two things.
      if (call_.uses[i].kind == WordUse::Kind::kNone) call_.uses[i] = {kind, rule_};
    }
  }

  std::string Shown(std::size_t begin, std::size_t end) const {
    return ShellQuoted(std::vector<std::string>(words_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                words_.begin() + static_cast<std::ptrdiff_t>(end)));
  }

  // The end of the options from at_ + 1 on; those of `with_value` ("-n -u") have a value behind them.
  std::size_t EndOfOptions(std::string_view with_value) const {
    std::size_t end = at_ + 1;
    while (end < words_.size() && words_[end].starts_with('-') && words_[end] != "-") {
      const std::string padded = " " + std::string(with_value) + " ";
      end += padded.find(" " + words_[end] + " ") != std::string::npos ? 2 : 1;
    }
    return std::min(end, words_.size());
  }

  // Variables, and programs that start another one, up to the launcher's name.
  Result<void> TakeWordsInFront() {
    while (at_ < words_.size()) {
      if (IsAssignment(words_[at_])) {
        Use(at_, at_ + 1, WordUse::Kind::kVariable);
        TakeAssignment(words_[at_++]);
        continue;
      }
      // `--from torchrun` includes the older module.
      if (facts_->launcher == KnownLauncher::kTorchrun &&
          WordsOfItsName(FactsOf(KnownLauncher::kTorchLaunch), words_, at_) > 0) {
        facts_ = &FactsOf(KnownLauncher::kTorchLaunch);
      }
      if (const std::size_t own = WordsOfItsName(*facts_, words_, at_); own > 0) {
        Use(at_, at_ + own, WordUse::Kind::kLauncher);
        TakeName(at_ + own);
        return {};
      }
      const std::vector<std::string> rest(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
      if (const auto named = LauncherOfWords(rest)) {
        return Wrong(fmt::format("this is a command line of {}", FactsOf(*named).name),
                     fmt::format("muster init --from {} -- …", FactsOf(*named).name));
      }
      const std::size_t before = at_;
      auto wrapper = TakeWrapper();
      if (!wrapper) return wrapper;
      if (at_ > before) {
        Use(before, at_, WordUse::Kind::kWrapper);
        continue;
      }
      // Without the launcher's name the words begin with its options or the program.
      const bool may_start_one = !words_[at_].starts_with('-') && !words_[at_].ends_with(".py");
      for (std::size_t later = at_ + 1; may_start_one && later < words_.size(); ++later) {
        for (std::size_t i = 0; i < kLauncherCount; ++i) {
          const LauncherFacts& facts = FactsOf(static_cast<KnownLauncher>(i));
          if (WordsOfItsName(facts, words_, later) == 0) continue;
          return Wrong(fmt::format("{} is in front of {}, and muster does not know what it does",
                                   Quoted(Shown(at_, later)), facts.name),
                       "omit it here; what every process needs in front of its command is the role's `wrap`");
        }
      }
      return {};
    }
    return {};
  }

  // Reads one program that starts another one, with its options; at_ stays where it is if there is none.
  Result<void> TakeWrapper() {
    const std::string_view name = FileName(words_[at_]);
    const std::size_t begin = at_;
    const auto omitted = [&](std::size_t end, std::string what) {
      LeaveOut(Shown(begin, end), std::move(what));
      at_ = end;
    };
    const auto kept = [&](std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) call_.wrap.push_back(words_[i]);
      at_ = end;
    };
    if (name == "nohup" || name == "setsid" || name == "disown") {
      omitted(EndOfOptions(""), "kept processes alive after the terminal was closed; `muster run --detach` does");
    } else if (name == "exec" || name == "command") {
      omitted(EndOfOptions("-a"), "is a word of the shell");
    } else if (name == "time") {
      omitted(EndOfOptions("-o -f"), "measured the launcher's time; `muster report` has the run's");
    } else if (name == "env") {
      return TakeEnv();
    } else if (name == "timeout") {
      const std::size_t end = std::min(EndOfOptions("-s -k --signal --kill-after") + 1, words_.size());
      omitted(end, "limited the time of the launcher; here `limits = { time = \"1h\" }` in the role");
    } else if (name == "stdbuf") {
      kept(EndOfOptions("-i -o -e --input --output --error"));
    } else if (name == "nice") {
      kept(EndOfOptions("-n --adjustment"));
    } else if (name == "ionice") {
      kept(EndOfOptions("-c -n --class --classdata"));
    } else if (name == "numactl") {
      kept(
          EndOfOptions("-i -p -P -m -w -N -C --interleave --preferred --preferred-many --membind --weighted-interleave "
                       "--cpunodebind --physcpubind --length --offset --shm --shmid"));
    } else if (name == "taskset") {
      // The mask or list follows the options.
      kept(std::min(EndOfOptions("") + 1, words_.size()));
    } else if (name == "srun") {
      return TakeSrun();
    } else if (name == "sudo" || name == "su" || name == "doas" || name == "runuser") {
      return Wrong(
          Quoted(std::string(name)) + " starts the launcher as another user, and processes run as the user of muster",
          "omit it, and start muster as that user");
    }
    return {};
  }

  Result<void> TakeEnv() {
    const std::size_t begin = at_++;
    while (at_ < words_.size() && words_[at_].starts_with('-')) {
      const std::string& word = words_[at_++];
      if (word == "--") break;
      if (word == "-u" || word == "--unset") {
        if (at_ == words_.size()) return Wrong(Quoted(Shown(begin, at_)) + " needs a name", {});
        call_.unset.push_back(words_[at_++]);
      } else if (word.starts_with("--unset=")) {
        call_.unset.push_back(word.substr(8));
      } else {
        return Wrong(Quoted(Shown(begin, at_)) + " changes the environment in a way that has no counterpart",
                     "omit it; `env = { NAME = muster.unset }` in the role removes a variable");
      }
    }
    return {};
  }

  // srun starts the launcher on each node of an allocation; muster starts the processes of all nodes.
  Result<void> TakeSrun() {
    for (std::size_t end = at_ + 1; end < words_.size(); ++end) {
      if (WordsOfItsName(*facts_, words_, end) == 0) continue;
      LeaveOut(
          Shown(at_, end),
          "started the launcher on the nodes of an allocation; within one, or with `muster run --on slurm`, muster "
          "starts the processes of all nodes");
      at_ = end;
      return {};
    }
    return Wrong(fmt::format("srun starts another program than {}", facts_->name),
                 "framework = { \"mpi\", start = \"srun\" } starts MPI ranks by srun");
  }

  // The launcher's own name, up to `end`: its workers run in the Python that runs the launcher.
  void TakeName(std::size_t end) {
    const std::string& first = words_[at_];
    if (IsPython(first)) {
      if (first != "python" && first != "python3") interpreter_ = first;
      std::size_t options = at_ + 1;
      while (options < end && words_[options].starts_with('-') && words_[options] != "-m")
        options += words_[options] == "-W" || words_[options] == "-X" ? 2 : 1;
      if (options > at_ + 1 && Shown(at_ + 1, options) != "-u")
        LeaveOut(Shown(at_ + 1, options), "were options of the launcher's own Python, not of its workers'");
    } else if (const std::size_t slash = first.rfind('/');
               slash != std::string::npos && facts_->framework == "torch" && !first.starts_with("/usr/bin/")) {
      // The launcher's first line names the Python beside it.
      interpreter_ = first.substr(0, slash + 1) + "python3";
    }
    at_ = end;
  }

  // torchrun reads an option that the line does not have from PET_NAME.
  Result<void> TakeVariablesOfTorchrun() {
    for (const auto& [name, value] : pet_) {
      if (facts_->launcher != KnownLauncher::kTorchrun && facts_->launcher != KnownLauncher::kTorchLaunch) {
        Set(name, value);
        continue;
      }
      std::string option = "--" + name.substr(4);
      std::transform(option.begin(), option.end(), option.begin(), [](unsigned char c) { return std::tolower(c); });
      const LauncherOption* known = FindOption(*facts_, option);
      if (known == nullptr) {
        LeaveOut(name, "is no option of torchrun");
      } else if (known->values > 0) {
        if (auto taken = Take(*known, option, {value}); !taken) return taken;
      } else if (value != "0" && !value.empty()) {
        if (auto taken = Take(*known, option, {}); !taken) return taken;
      }
    }
    return {};
  }

  void TakeDevices(const std::string& shown, const std::string& devices) {
    if (devices == "all") return LeaveOut(shown, "chose the devices, all of them; so does muster");
    LeaveOut(shown, "chose the devices: `muster run … --devices " + devices + "`");
    devices_chosen_ = static_cast<int>(std::count(devices.begin(), devices.end(), ',')) + 1;
  }

  Result<void> ReadOption() {
    const std::string& word = words_[at_++];
    std::size_t equals = word.find('=');
    const LauncherOption* option = FindOption(*facts_, word.substr(0, equals));
    std::string name = word.substr(0, equals);
    std::vector<std::string> values;
    if (option == nullptr && !facts_->any_dashes && word.size() > 2 && word[1] != '-') {
      // A short option joined with its value: -r3.
      option = FindOption(*facts_, word.substr(0, 2));
      if (option != nullptr && option->values == 1) {
        name = word.substr(0, 2);
        equals = 1;
      } else {
        option = nullptr;
      }
    }
    if (option == nullptr) {
      const std::string guess = DidYouMean(name, OptionNames(*facts_));
      return Wrong("unknown option " + Quoted(name),
                   guess.starts_with("did")
                       ? guess
                       : "omit it, and add its effect to the recipe: muster docs coming-from lists the known ones");
    }
    if (equals != std::string::npos) values.push_back(word.substr(equals + 1));
    const bool pair_in_one =
        option->effect == OptionEffect::kVariableAndValue && at_ < words_.size() && IsAssignment(words_[at_]);
    const std::size_t wanted = pair_in_one ? 1 : static_cast<std::size_t>(option->values);
    while (values.size() < wanted) {
      if (at_ == words_.size()) return Wrong(Quoted(name) + " needs a value", {});
      // As argparse reads it: a word that begins with '-' is a value only if it is a number or has a blank.
      const std::string& next = words_[at_];
      if (facts_->calls_python && next.size() > 1 && next.front() == '-' && next.find(' ') == std::string::npos &&
          !IsDigit(next[1]) && next[1] != '.') {
        return Wrong(fmt::format("{} needs a value, and {} is an option", Quoted(name), Quoted(next)),
                     fmt::format("a value that begins with '-' is written {}={}", name, next));
      }
      values.push_back(words_[at_++]);
    }
    if (values.size() > wanted) return Wrong(Quoted(name) + " takes no value", {});
    return Take(*option, name, values);
  }

  Result<int> Count(const std::string& name, const std::string& text, int least) {
    const auto number = Number(text, least);
    if (!number)
      return Wrong(fmt::format("{} {}: expected a whole number of at least {}", name, Quoted(text), least), {});
    return *number;
  }

  Result<void> TakeHosts(const std::string& shown, Result<NamedHosts> hosts) {
    if (!hosts) return Fail(hosts.error());
    named_ = *std::move(hosts);
    LeaveOut(shown, kNamedHosts);  // which words name them is known at the end
    return {};
  }

  std::string WordsOfHosts() const {
    return named_->options.empty() ? "named this host, where muster starts processes unless other hosts are named"
                                   : "named the hosts: `muster run … " + named_->options + "`";
  }

  Result<void> Take(const LauncherOption& option, const std::string& name, const std::vector<std::string>& values) {
    const std::string value = values.empty() ? std::string(option.text) : values.front();
    const std::string shown = ShellQuoted(name) + (values.empty() ? std::string() : " " + ShellQuoted(values));
    switch (option.effect) {
      case OptionEffect::kHosts: {
        const std::size_t colon = value.find(':');
        if (colon != std::string::npos)
          LeaveOut(shown,
                   "let the number of hosts change during the run; a muster job keeps the size of its plan, the "
                   "largest here");
        auto count = Count(name, value.substr(colon == std::string::npos ? 0 : colon + 1), 1);
        if (count) call_.hosts = *count, hosts_given_ = true;
        return count.map([](int) {});
      }
      case OptionEffect::kPerHost:
        return TakePerHost(name, value, shown);
      case OptionEffect::kTotal: {
        auto count = Count(name, value, 1);
        if (count) call_.total = *count;
        return count.map([](int) {});
      }
      case OptionEffect::kHostList:
        return TakeHosts(shown, HostsOfList(value));
      case OptionEffect::kSlots:
        include_ = value;
        include_shown_ = shown;
        return {};
      case OptionEffect::kExcludes:
        exclude_ = value;
        exclude_shown_ = shown;
        return {};
      case OptionEffect::kHostFile: {
        const auto text = read_text_(value);
        host_file_read_ = text.has_value();
        if (text) return TakeHosts(shown, HostsOfFile(*text, value));
        LeaveOut(shown, "named the hosts: `muster run … --hostfile " + ShellQuoted(value) + "`");
        return {};
      }
      case OptionEffect::kDevices:
        TakeDevices(shown, value);
        return {};
      case OptionEffect::kRestarts: {
        auto count = Count(name, value, 0);
        if (count) call_.restarts = *count;
        return count.map([](int) {});
      }
      case OptionEffect::kModule:
        module_ = true;
        return {};
      case OptionEffect::kNoPython:
        no_python_ = true;
        return {};
      case OptionEffect::kNoLocalRank:
        no_local_rank_ = true;
        return {};
      case OptionEffect::kFolder:
        call_.cwd = value;
        return {};
      case OptionEffect::kVariable:
      case OptionEffect::kVariableAndValue: {
        const std::size_t equals = value.find('=');
        if (values.size() == 2) {
          Set(value, values[1]);
        } else if (equals == std::string::npos) {
          // Ranks on other hosts get only the variables that mpirun passes on.
          call_.mpi_args.push_back(name);
          call_.mpi_args.push_back(value);
        } else {
          Set(value.substr(0, equals), value.substr(equals + 1));
        }
        return {};
      }
      case OptionEffect::kUnset:
        for (std::size_t begin = 0; begin <= value.size();) {
          const std::size_t end = std::min(value.find(',', begin), value.size());
          if (end > begin) call_.unset.push_back(value.substr(begin, end - begin));
          begin = end + 1;
        }
        return {};
      case OptionEffect::kSets:
        Set(option.text, value);
        return {};
      case OptionEffect::kSetsLower: {
        std::string lower = value;
        std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
        Set(option.text, lower);
        return {};
      }
      case OptionEffect::kSetsMebibytes: {
        auto count = Count(name, value, 0);
        if (count) Set(option.text, std::to_string(std::int64_t{*count} << 20));
        return count.map([](int) {});
      }
      case OptionEffect::kAssigns: {
        const std::size_t equals = option.text.find('=');
        Set(option.text.substr(0, equals), std::string(option.text.substr(equals + 1)));
        return {};
      }
      case OptionEffect::kMapping:
        if (value.starts_with("ppr:") && value.ends_with(":node")) {
          auto count = Count(name, value.substr(4, value.size() - 9), 1);
          if (!count) return Fail(count.error());
          call_.per_host = *count;
        }
        [[fallthrough]];
      case OptionEffect::kKept:
        call_.mpi_args.push_back(name);
        call_.mpi_args.insert(call_.mpi_args.end(), values.begin(), values.end());
        return {};
      case OptionEffect::kKeptWords: {
        const auto words = ShellWords(value);
        if (!words) return Wrong(name + ": " + words.error(), {});
        call_.mpi_args.insert(call_.mpi_args.end(), words->begin(), words->end());
        return {};
      }
      case OptionEffect::kConfigFile:
        return TakeConfigFile(value);
      case OptionEffect::kBinding:
        return TakeBinding(value, shown);
      case OptionEffect::kSimulation:
      case OptionEffect::kSimulatedRank: {
        auto number = Count(name, value, -1);
        if (number && *number >= 0)
          (option.effect == OptionEffect::kSimulation ? simulation_ : simulated_rank_) = *number;
        if (number && option.effect == OptionEffect::kSimulation && *number > kMaxSimulation)
          return Wrong(fmt::format("--sim_level {}: expected 0 to {}", *number, kMaxSimulation), {});
        return number.map([](int) {});
      }
      case OptionEffect::kNodeRank: {
        auto number = Count(name, value, -1);
        if (number) node_rank_ = *number, node_rank_shown_ = shown;
        return number.map([](int) {});
      }
      case OptionEffect::kTrueOrFalse:
        if (value != "True" && value != "False")
          return Wrong(fmt::format("{} {}: expected True or False", name, Quoted(value)), {});
        [[fallthrough]];
      case OptionEffect::kLeftOut:
        LeaveOut(shown, std::string(option.text));
        return {};
      case OptionEffect::kRefused:
        return Wrong(fmt::format("{} {}", name, option.text), {});
    }
    return {};
  }

  // msrun reads "true" and "True" alike.
  Result<void> TakeBinding(const std::string& value, const std::string& shown) {
    call_.cores.clear();
    if (value == "False" || value == "false") return {};
    if (value == "True" || value == "true") {
      call_.cores = "auto";
      return {};
    }
    const auto each = CoresOfEach(value);
    if (!each) return Wrong("--bind_core " + Quoted(value) + ": " + each.error(), {});
    if (*each) {
      call_.cores = std::to_string(**each);
      LeaveOut(shown, "named the cores of each worker; `cores = N` in the role gives each process as many of its own");
    } else {
      LeaveOut(shown,
               "bound workers to cores, a different number for each; `cores = N` in the role gives each "
               "process as many");
    }
    return {};
  }

  Result<void> TakePerHost(const std::string& name, const std::string& value, const std::string& shown) {
    const bool counts_devices = value == "auto" || value == "gpu" || value == "xpu" || value == "npu";
    if (facts_->framework == "torch" && (counts_devices || value == "cpu")) {
      one_per_device_ = counts_devices;
      if (value == "cpu")
        LeaveOut(shown, "started a worker for each processor of the host; one here, more with per_host=N");
      return {};
    }
    auto count = Count(name, value, 1);
    if (count) call_.per_host = *count;
    return count.map([](int) {});
  }

  // The file's settings apply as if they were options before all others.
  Result<void> TakeConfigFile(const std::string& path) {
    const auto text = read_text_(path);
    if (!text) return Wrong("the file " + Quoted(path) + " cannot be read: " + text.error(), {});
    auto options = WordsOfAccelerateFile(*text, path);
    if (!options) return Fail(options.error());
    config_read_ = true;
    const LauncherCall said = call_;
    std::map<std::string, std::string> counts;
    for (const auto& [name, value] : *options) {
      const LauncherOption* option = FindOption(*facts_, name);
      if (const auto [first, is_new] = counts.emplace(name, value); !is_new) {
        if (first->second != value)
          LeaveOut(fmt::format("{}: {} {}", path, name.substr(2), value), "did not count: distributed_type is NO");
        continue;
      }
      if (option == nullptr) {
        LeaveOut(path + ": " + name.substr(2), "is not known to `muster init`");
        continue;
      }
      // An option without a value is either present or not.
      if (option->values == 0 && value != "true") continue;
      auto taken = option->values == 0 ? Take(*option, name, {}) : Take(*option, name, {value});
      if (!taken) return taken;
    }
    // Options on the command line win.
    if (said.total) call_.total = said.total;
    if (said.hosts != 1) call_.hosts = said.hosts;
    if (said.per_host) call_.per_host = said.per_host;
    for (const auto& [name, value] : said.env) Set(name, value);
    return {};
  }

  Result<void> TakeProgram() {
    const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(at_);
    const std::vector<std::string> program(begin, words_.end());
    if (facts_->framework == "mpi" && std::find(program.begin(), program.end(), ":") != program.end()) {
      return Wrong(
          "starts several programs (`:`) whose ranks share one MPI_COMM_WORLD, and a role of framework mpi starts one",
          "write a program that chooses by its rank what to do");
    }
    if (module_ || (facts_->calls_python && !no_python_ && program.front().ends_with(".py")))
      call_.command.push_back({interpreter_});
    if (module_) call_.command.push_back({"-m"});
    for (const std::string& word : program) {
      call_.command.push_back({word});
      if (&word == &program.front() && !facts_->local_rank.empty() && !no_local_rank_)
        call_.command.push_back({std::string(facts_->local_rank), CallWord::Number::kLocalRank});
    }
    return {};
  }

  // The number of processes depends on several options, and on the launcher's defaults.
  Result<LauncherCall> Settled() {
    if (auto settled = SettleFilters(); !settled) return Fail(settled.error());
    if (named_) SettleHosts();
    switch (facts_->launcher) {
      case KnownLauncher::kMsrun:
        if (auto settled = SettleMsrun(); !settled) return Fail(settled.error());
        break;
      case KnownLauncher::kTorchrun:
      case KnownLauncher::kTorchLaunch:
        if (!call_.per_host && !one_per_device_) call_.per_host = 1;
        break;
      case KnownLauncher::kAccelerate:
        if (!config_read_)
          LeaveOut("no --config_file",
                   "read `~/.cache/huggingface/accelerate/default_config.yaml`, if there is one: name it to have it "
                   "translated");
        if (!call_.total && HasVariable("ACCELERATE_USE_CPU")) call_.total = 1;
        if (call_.total && *call_.total % call_.hosts != 0)
          return Wrong(
              fmt::format("--num_processes {} is not a multiple of --num_machines {}", *call_.total, call_.hosts), {});
        if (call_.total) call_.per_host = *call_.total / call_.hosts;
        call_.total.reset();
        break;
      case KnownLauncher::kDeepspeed:
        break;
      case KnownLauncher::kHorovodrun:
        // As in Horovod's documentation for mpirun.
        call_.mpi_args.insert(call_.mpi_args.begin(), {"--bind-to", "none", "--map-by", "slot", "--mca", "pml", "ob1",
                                                       "--mca", "btl", "^openib"});
        [[fallthrough]];
      case KnownLauncher::kMpirun:
      case KnownLauncher::kHydra:
        if (call_.total && call_.per_host) {
          // As many hosts as that needs, the last one perhaps with fewer.
          call_.hosts = (*call_.total + *call_.per_host - 1) / *call_.per_host;
        }
        if (!call_.total && !call_.per_host) {
          LeaveOut("no number of processes",
                   "started a process for each slot of the hosts; one here, more with workers=N");
          call_.total = 1;
        }
        break;
    }
    if (devices_chosen_ && !call_.per_host && !call_.total) call_.per_host = *devices_chosen_;
    return std::move(call_);
  }

  // DeepSpeed's choice among the hosts of its file.
  Result<void> SettleFilters() {
    const bool of_deepspeed = facts_->launcher == KnownLauncher::kDeepspeed;
    if (!host_file_read_) {
      if (!include_.empty()) {
        if (auto taken = TakeHosts(include_shown_, HostsOfSlots(include_)); !taken) return taken;
      }
      if (named_) LeaveOutOwnDevices(include_shown_);
      if (!exclude_.empty())
        LeaveOut(exclude_shown_,
                 "excluded devices of hosts; list those that are used: `muster run --host NAME --devices 0,1`");
      return {};
    }
    if (!of_deepspeed && include_.empty() && exclude_.empty()) return {};
    const int nodes = of_deepspeed && hosts_given_ ? call_.hosts : 0;
    auto left = FilteredHosts(*named_, include_, exclude_, nodes, of_deepspeed ? call_.per_host.value_or(0) : 0);
    if (!left) return Fail(left.error());
    named_ = *std::move(left);
    for (const std::string* shown : {&include_shown_, &exclude_shown_}) {
      if (!shown->empty())
        LeaveOut(*shown, "chose among the hosts and devices of the file; --host here has those that are left");
    }
    LeaveOutOwnDevices(include_.empty() ? exclude_shown_ : include_shown_);
    return {};
  }

  // `muster run` takes the first devices of each host, or the same ones of all.
  void LeaveOutOwnDevices(const std::string& shown) {
    if (named_->own_devices.empty()) return;
    LeaveOut(shown, fmt::format("chose other devices on each host ({}), and `muster run --devices` is for all hosts: "
                                "set the variable for visible devices on each host, or use the same ones",
                                named_->own_devices));
  }

  // Hosts on the command line determine the numbers that it does not set.
  void SettleHosts() {
    if (facts_->launcher == KnownLauncher::kHydra && call_.total) {
      const int once = call_.per_host ? *call_.per_host * named_->count : named_->slots;
      if (*call_.total > once || call_.per_host) {
        named_ = HostsFilledByHydra(*named_, *call_.total, call_.per_host);
        call_.per_host.reset();
      }
    }
    for (auto& [shown, what] : call_.left_out) {
      if (what == kNamedHosts) what = WordsOfHosts();
    }
    const int in_all = named_->slots;
    if (!hosts_given_) call_.hosts = named_->count;
    if (!call_.per_host && named_->each && (!call_.total || *call_.total == in_all)) call_.per_host = named_->each;
    if (!call_.per_host && !call_.total) {
      call_.total = in_all;
    } else if (call_.per_host && call_.total && *call_.total == *call_.per_host * call_.hosts) {
      call_.total.reset();
    }
  }

  // msrun's options are the total number and the number on this host.
  Result<void> SettleMsrun() {
    const int total = call_.total.value_or(kMsrunDefault);
    const int here = call_.per_host.value_or(std::min(total, kMsrunDefault));
    call_.total.reset();
    if (simulation_) {
      call_.framework = "none";
      Set("MS_SIMULATION_LEVEL", std::to_string(*simulation_));
      const bool single = simulated_rank_ || here > kMaxSimulated;
      call_.per_host = single ? 1 : here;
      if (single && !simulated_rank_)
        LeaveOut("--local_worker_num " + std::to_string(here), "is above 128, for which msrun simulates one process");
      if (simulated_rank_) {
        Set("RANK_ID", std::to_string(*simulated_rank_));
      } else {
        Set("RANK_ID", CallWord{{}, CallWord::Number::kRank, std::max(node_rank_.value_or(0), 0) * here});
      }
      Set("RANK_SIZE", std::to_string(total));
      Set("MS_WORKER_NUM", std::to_string(total));
      Set("DEVICE_ID", CallWord{{}, CallWord::Number::kLocalRank});
      if (node_rank_ && simulated_rank_) LeaveOut(node_rank_shown_, "chose a rank, as --sim_rank_id does");
      return {};
    }
    if (node_rank_)
      LeaveOut(node_rank_shown_, "numbered this host; one muster command starts all hosts and numbers them");
    if (total % here != 0) {
      // The last host has fewer.
      call_.hosts = (total + here - 1) / here;
      call_.per_host = here;
      call_.total = total;
      return {};
    }
    call_.hosts = total / here;
    call_.per_host = here;
    return {};
  }

  bool HasVariable(std::string_view name) const {
    return std::any_of(call_.env.begin(), call_.env.end(), [name](const auto& one) { return one.first == name; });
  }

  const LauncherFacts* facts_;
  const std::vector<std::string>& words_;
  const ReadText& read_text_;
  std::size_t at_ = 0;
  LauncherCall call_;
  int rule_ = 0;
  std::string interpreter_ = "python3";
  std::vector<std::pair<std::string, std::string>> pet_;  // PET_NAME and its value
  std::string include_, include_shown_, exclude_, exclude_shown_, node_rank_shown_;
  std::optional<NamedHosts> named_;
  std::optional<int> devices_chosen_, simulation_, simulated_rank_, node_rank_;
  bool hosts_given_ = false, host_file_read_ = false;
  bool module_ = false, no_python_ = false, no_local_rank_ = false, one_per_device_ = false, config_read_ = false;
};

}  // namespace

Result<LauncherCall> ReadLauncherCall(KnownLauncher launcher, const std::vector<std::string>& words,
                                      const ReadText& read_text) {
  return CallReader(launcher, words, read_text).Read();
}

}  // namespace muster
