#include "plan/hosts/host_list.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/system/host_name.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

constexpr std::uint32_t kMaxDevicesPerHost = 4096;

// Names of hosts are equal if they differ in case alone (RFC 4343); a user name in front does not.
std::string Folded(std::string_view name) {
  const std::size_t user = name.find('@') == std::string_view::npos ? 0 : name.find('@') + 1;
  std::string folded(name);
  std::transform(folded.begin() + static_cast<std::ptrdiff_t>(user), folded.end(),
                 folded.begin() + static_cast<std::ptrdiff_t>(user),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return folded;
}

class HostFileReader {
 public:
  explicit HostFileReader(std::string what, Place place = {}) : what_(std::move(what)), place_(std::move(place)) {}

  // Appends the hosts of a list.
  Result<void> List(std::string_view text, std::optional<std::uint32_t> devices) {
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (i < text.size() && text[i] == '[') ++depth;
      if (i < text.size() && text[i] == ']') --depth;
      if (depth < 0 || depth > 1) return Bad(text, "its brackets do not match");
      if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
      if (depth != 0) return Bad(text, "its brackets do not match");
      if (auto read = Entry(text.substr(begin, i - begin), devices); !read) return read;
      begin = i + 1;
    }
    return {};
  }

  void At(Place place) { place_ = std::move(place); }
  std::vector<SiteHost> Taken() { return std::move(hosts_); }

  tl::unexpected<Diagnostics> Bad(std::string_view text, const std::string& why) const {
    return Fail(Error("hosts", place_, what_ + ": " + Quoted(std::string(text)) + ": " + why,
                      "for example n[01-04]:8,login:4"));
  }

 private:
  // NAME or NAME:DEVICES, brackets included.
  Result<void> Entry(std::string_view entry, std::optional<std::uint32_t> devices) {
    if (entry.empty()) return Bad(entry, "a name is empty");
    if (entry.front() == '[' && entry.find(':') < entry.find(']')) return Address(entry, devices);
    std::string_view name = entry;
    if (const std::size_t colon = entry.find(':'); colon != std::string_view::npos) {
      name = entry.substr(0, colon);
      auto own = Devices(entry, entry.substr(colon + 1));
      if (!own) return Fail(own.error());
      devices = *own;
    }
    std::vector<std::string> names = {""};
    if (auto expanded = Expand(entry, name, names); !expanded) return expanded;
    for (std::string& each : names) {
      if (!IsHostName(each)) {
        return Bad(each, "is not a host name: letters, digits, '.', '_' and '-', not beginning with '-'");
      }
      if (auto added = Add(std::move(each), devices); !added) return added;
    }
    return {};
  }

  // [2001:db8::1] or [2001:db8::1]:DEVICES
  Result<void> Address(std::string_view entry, std::optional<std::uint32_t> devices) {
    const std::size_t close = entry.find(']');
    std::string address(entry.substr(1, close - 1));
    if (!IsAddress(address)) return Bad(entry, "is not an IP address");
    if (std::string_view rest = entry.substr(close + 1); !rest.empty()) {
      if (rest.front() != ':') return Bad(entry, "the address can only be followed by ':' and the number of devices");
      auto own = Devices(entry, rest.substr(1));
      if (!own) return Fail(own.error());
      devices = *own;
    }
    return Add(std::move(address), devices);
  }

  Result<std::uint32_t> Devices(std::string_view entry, std::string_view text) const {
    const auto devices = ParseNumber<std::uint32_t>(text);
    if (!devices || *devices > kMaxDevicesPerHost) {
      return Bad(entry, "':' must be followed by the number of devices, 0 to " + std::to_string(kMaxDevicesPerHost));
    }
    return *devices;
  }

  // Appends all expansions of `name` to every prefix in `names`.
  Result<void> Expand(std::string_view entry, std::string_view name, std::vector<std::string>& names) const {
    while (!name.empty()) {
      const std::size_t open = name.find('[');
      for (std::string& each : names) each += name.substr(0, open);
      if (open == std::string_view::npos) break;
      const std::size_t close = name.find(']', open);
      auto numbers = Numbers(entry, name.substr(open + 1, close - open - 1));
      if (!numbers) return Fail(numbers.error());
      if (names.size() * numbers->size() > kMaxNamedHosts) return TooMany();
      std::vector<std::string> longer;
      longer.reserve(names.size() * numbers->size());
      for (const std::string& each : names) {
        for (const std::string& number : *numbers) longer.push_back(each + number);
      }
      names = std::move(longer);
      name.remove_prefix(close + 1);
    }
    return {};
  }

  // "01-04,7"
  Result<std::vector<std::string>> Numbers(std::string_view entry, std::string_view text) const {
    std::vector<std::string> numbers;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const std::string_view range = text.substr(begin, end - begin);
      begin = end + 1;
      const std::size_t dash = range.find('-');
      const std::string_view low_text = range.substr(0, dash);
      const std::string_view high_text = dash == std::string_view::npos ? low_text : range.substr(dash + 1);
      const auto low = ParseNumber<std::uint64_t>(low_text);
      const auto high = ParseNumber<std::uint64_t>(high_text);
      if (!low || !high || *high < *low || !IsDigits(low_text) || !IsDigits(high_text)) {
        return Bad(entry, "brackets must contain numbers and ranges: [1-4,7]");
      }
      if (*high - *low >= kMaxNamedHosts || numbers.size() + (*high - *low) >= kMaxNamedHosts) return TooMany();
      for (std::uint64_t number = *low; number <= *high; ++number) {
        std::string digits = std::to_string(number);
        if (digits.size() < low_text.size()) digits.insert(0, low_text.size() - digits.size(), '0');
        numbers.push_back(std::move(digits));
      }
    }
    return numbers;
  }

  Result<void> Add(std::string name, std::optional<std::uint32_t> devices) {
    if (!seen_.insert(Folded(name)).second) return Bad(name, "the host is named twice");
    if (hosts_.size() >= kMaxNamedHosts) return TooMany();
    SiteHost host{name, IsAddress(name) ? name : std::string(), devices};
    hosts_.push_back(std::move(host));
    return {};
  }

  tl::unexpected<Diagnostics> TooMany() const {
    return Fail(Error("hosts", place_, what_ + ": more than " + std::to_string(kMaxNamedHosts) + " hosts"));
  }

  std::string what_;
  Place place_;
  std::vector<SiteHost> hosts_;
  std::set<std::string> seen_;
};

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlank = " \t\r";
  for (std::size_t begin = line.find_first_not_of(kBlank); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlank, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlank, end);
  }
  return words;
}

// "slots = 2" as "slots=2"
std::string WithoutBlanksAroundEquals(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ' || line[i] == '\t') {
      const std::size_t next = line.find_first_not_of(" \t", i);
      if (next != std::string_view::npos && line[next] == '=') continue;
      if (!text.empty() && text.back() == '=') continue;
    }
    text += line[i];
  }
  return text;
}

// The name without the digits at its end.
std::string_view NamePrefix(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return last == std::string_view::npos ? std::string_view() : name.substr(0, last + 1);
}

}  // namespace

Result<std::vector<SiteHost>> ParseHostList(std::string_view text, const std::string& what) {
  HostFileReader reader(what);
  if (auto read = reader.List(text, std::nullopt); !read) return Fail(read.error());
  return reader.Taken();
}

Result<std::vector<SiteHost>> ParseHostFile(std::string_view text, const std::string& file) {
  HostFileReader reader("the host file");
  std::uint32_t number = 0;
  if (constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf"; text.starts_with(kByteOrderMark))
    text.remove_prefix(kByteOrderMark.size());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    reader.At({file, ++number});
    const std::string joined = WithoutBlanksAroundEquals(line.substr(0, line.find('#')));
    const std::vector<std::string_view> words = Words(joined);
    if (words.empty()) continue;
    std::optional<std::uint32_t> devices, most;
    for (std::size_t i = 1; i < words.size(); ++i) {
      std::string_view word = words[i];
      const bool is_most = word.starts_with("max_slots=") || word.starts_with("max-slots=");
      if (is_most) word.remove_prefix(10);
      if (word.starts_with("slots=")) word.remove_prefix(6);
      auto& read = is_most ? most : devices;
      read = ParseNumber<std::uint32_t>(word);
      if (!read || *read > kMaxDevicesPerHost) {
        return reader.Bad(words[i], "a name can only be followed by slots=N, its number of devices");
      }
    }
    // Open MPI: a host with a maximum alone has as many slots.
    if (!devices) devices = most;
    if (auto read = reader.List(words.front(), devices); !read) return Fail(read.error());
  }
  auto hosts = reader.Taken();
  if (hosts.empty()) return Fail(Error("hosts", {file, 0}, "the host file names no host", "write one name per line"));
  return hosts;
}

Result<std::vector<SiteHost>> WithoutHosts(std::vector<SiteHost> hosts, std::span<const SiteHost> excluded) {
  std::set<std::string> names;
  for (const SiteHost& host : excluded) names.insert(Folded(host.name));
  std::set<std::string> known;
  for (const SiteHost& host : hosts) known.insert(Folded(host.name));
  for (const SiteHost& host : excluded) {
    if (known.contains(Folded(host.name))) continue;
    return Fail(
        Error("hosts", {}, "--exclude " + host.name + ": no such host is named", "named are " + HostListText(hosts)));
  }
  std::erase_if(hosts, [&](const SiteHost& host) { return names.contains(Folded(host.name)); });
  if (hosts.empty()) return Fail(Error("hosts", {}, "--exclude leaves no host"));
  return hosts;
}

std::string HostListText(std::span<const SiteHost> hosts) {
  std::string text;
  for (std::size_t i = 0; i < hosts.size();) {
    const SiteHost& first = hosts[i];
    const std::string_view stem = NamePrefix(first.name);
    const std::string_view digits = std::string_view(first.name).substr(stem.size());
    std::size_t run = 1;
    std::string_view last = digits;
    while (!stem.empty() && !digits.empty() && first.address.empty() && i + run < hosts.size()) {
      const SiteHost& next = hosts[i + run];
      const std::string_view its = std::string_view(next.name).substr(std::min(stem.size(), next.name.size()));
      const auto before = ParseNumber<std::uint64_t>(last);
      const bool follows = NamePrefix(next.name) == stem && next.devices == first.devices && before &&
                           ParseNumber<std::uint64_t>(its) == *before + 1 &&
                           (its.size() == digits.size() || (its.size() > digits.size() && its.front() != '0'));
      if (!follows) break;
      last = its;
      ++run;
    }
    if (!text.empty()) text += ',';
    if (run > 1) {
      text += std::string(stem) + '[' + std::string(digits) + '-' + std::string(last) + ']';
    } else {
      text += AddressBeforePort(first.name);
    }
    if (first.devices) text += ':' + std::to_string(*first.devices);
    i += run;
  }
  return text;
}

}  // namespace muster
