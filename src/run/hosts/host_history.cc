#include "run/hosts/host_history.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/system/private_files.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "run/hosts/bad_hosts.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {

template <class V>
void Fields(V& v, HostFirstFailure& failure) {
  v("at", failure.at), v("run", AtMost(failure.run, kMaxHistoryText)), v("name", AtMost(failure.name, kMaxHistoryText));
  v("process", AtMost(failure.process, kMaxHistoryText)), v("attempt", failure.attempt), v("step", failure.step);
  v("class", AtMost(failure.failure_class, kMaxHistoryText));
  v("fingerprint", AtMost(failure.fingerprint, kMaxHistoryText)), v("what", AtMost(failure.what, kMaxHistoryText));
}

template <class V>
void Fields(V& v, HostHistory& host) {
  v("host", AtMost(host.host, kMaxHistoryText)), v("runs", host.runs), v("seconds", host.seconds);
  v("failures", host.failures), v("first_seen", host.first_seen), v("last_seen", host.last_seen);
  v("last_failures", AtMost(host.last_failures, kMaxFailuresOfHost));
}

namespace {

constexpr std::size_t kMaxHistoryFile = 16U << 20;

std::string Short(std::string_view text) {
  return std::string(Utf8Prefix(Readable(std::string(text)), kMaxHistoryText));
}

void BringWithinBounds(HostFirstFailure& failure) {
  for (std::string* text :
       {&failure.run, &failure.name, &failure.process, &failure.failure_class, &failure.fingerprint, &failure.what}) {
    *text = Short(*text);
  }
}

std::vector<HostHistory> ParseHistory(std::string_view bytes) {
  std::map<std::string, HostHistory> hosts;
  for (const std::string_view line : TextLines(bytes)) {
    if (hosts.size() == kMaxHistoryHosts) break;
    auto host = FromJson<HostHistory>(line);
    if (host && !host->host.empty()) hosts.try_emplace(host->host, *std::move(host));
  }
  std::vector<HostHistory> list;
  for (auto& [name, host] : hosts) list.push_back(std::move(host));
  return list;
}

}  // namespace

void AddRun(const std::vector<HostUse>& used, std::uint64_t now, std::vector<HostHistory>& hosts) {
  std::map<std::string, HostHistory> by_name;
  for (HostHistory& host : hosts) by_name.try_emplace(host.host, std::move(host));
  for (const HostUse& use : used) {
    const std::string name = Short(use.host);
    if (name.empty()) continue;
    HostHistory& host = by_name[name];
    if (host.runs == 0) {
      host.host = name;
      host.first_seen = now;
    }
    ++host.runs;
    host.seconds += use.seconds;
    host.failures += use.failures.size();
    host.last_seen = std::max(host.last_seen, now);
    host.last_failures.insert(host.last_failures.end(), use.failures.begin(), use.failures.end());
    if (host.last_failures.size() > kMaxFailuresOfHost) {
      host.last_failures.erase(host.last_failures.begin(),
                               host.last_failures.end() - static_cast<std::ptrdiff_t>(kMaxFailuresOfHost));
    }
    for (HostFirstFailure& failure : host.last_failures) BringWithinBounds(failure);
  }
  hosts.clear();
  for (auto& [name, host] : by_name) hosts.push_back(std::move(host));
  if (hosts.size() <= kMaxHistoryHosts) return;
  std::vector<std::uint64_t> seen;
  for (const HostHistory& host : hosts) seen.push_back(host.last_seen);
  std::sort(seen.begin(), seen.end(), std::greater<>());
  const std::uint64_t oldest = seen[kMaxHistoryHosts - 1];
  std::erase_if(hosts, [&](const HostHistory& host) { return host.last_seen < oldest; });
  if (hosts.size() > kMaxHistoryHosts) hosts.resize(kMaxHistoryHosts);  // of those that ended together
}

std::string HostHistoryFile(const std::vector<std::string>& environment) {
  return UserStateFile(environment, "host_history.jsonl");
}

std::vector<HostHistory> ReadHostHistory(const std::string& file) {
  if (file.empty()) return {};
  const Result<std::string> bytes = ReadWholeFile(file, kMaxHistoryFile);
  return bytes ? ParseHistory(*bytes) : std::vector<HostHistory>();
}

HostFailures FailuresOf(const std::vector<HostHistory>& hosts, const std::set<std::string>& names) {
  HostFailures sum;
  for (const HostHistory& host : hosts) {
    if (!names.empty() && !names.contains(host.host)) continue;
    ++sum.hosts;
    sum.seconds += static_cast<double>(host.seconds);
    sum.failures += static_cast<double>(host.failures);
    const auto lost = std::count_if(host.last_failures.begin(), host.last_failures.end(),
                                    [](const HostFirstFailure& failure) { return failure.process.empty(); });
    if (lost > 0) {
      sum.lost += static_cast<double>(host.failures) * static_cast<double>(lost) /
                  static_cast<double>(host.last_failures.size());
    }
  }
  return sum;
}

bool RememberHostUse(const std::string& file, const std::vector<HostUse>& used, std::uint64_t now) {
  return ReplaceUserStateFile(file, [&] {
    std::vector<HostHistory> hosts = ReadHostHistory(file);
    AddRun(used, now, hosts);
    std::string bytes;
    for (const HostHistory& host : hosts) bytes += JsonOf(host) + '\n';
    return bytes;
  });
}

std::string HostHistorySchema() { return SchemaOf(HostHistory()); }

std::vector<ShownHost> ShownHosts(std::vector<HostHistory> history, const std::vector<HostFailure>& own_failures,
                                  const std::vector<std::string>& names) {
  std::map<std::string, ShownHost> hosts;
  for (HostHistory& record : history) hosts[record.host].record = std::move(record);
  for (const HostFailure& failure : own_failures) hosts[failure.host].own_failures.push_back(failure);
  std::vector<std::string> wanted = names;
  if (wanted.empty()) {
    for (const auto& [name, unused] : hosts) wanted.push_back(name);
  }
  std::vector<ShownHost> list;
  for (const std::string& name : wanted) {
    list.push_back(hosts[name]);
    list.back().record.host = name;
  }
  return list;
}

namespace {

std::string Ago(std::uint64_t at, std::uint64_t now) { return AgoText(now - std::min(now, at)) + " ago"; }

std::uint64_t LastSeen(const ShownHost& host) {
  std::uint64_t last = host.record.last_seen;
  for (const HostFailure& failure : host.own_failures) last = std::max(last, failure.at);
  return last;
}

std::optional<std::string> UtcOf(std::uint64_t seconds) {
  if (seconds == 0) return std::nullopt;
  return UtcText(std::min(seconds, std::uint64_t{253'402'300'799}) * 1'000'000'000);  // the year 9999
}

struct HostForms : PartForms {};  // beside Parts() of this file

struct PrintedFailure {
  const HostFirstFailure& failure;
};
template <class V>
void Parts(V& v, const PrintedFailure& printed) {
  const HostFirstFailure& failure = printed.failure;
  v("at", UtcOf(failure.at)), v("run", failure.run), v("name", failure.name);
  v("process", As<NullIfNone>(failure.process)), v("attempt", failure.attempt), v("step", failure.step);
  v("class", failure.failure_class), v("fingerprint", failure.fingerprint), v("what", failure.what);
}

template <class V>
void Parts(V& v, const HostFailure& failure) {
  v("at", UtcOf(failure.at)), v("why", failure.why);
}

template <class V>
void Parts(V& v, const ShownHost& host) {
  std::vector<PrintedFailure> failures;
  for (const HostFirstFailure& failure : host.record.last_failures) failures.push_back({failure});
  v("host", host.record.host), v("runs", host.record.runs), v("seconds", host.record.seconds);
  v("failures", host.record.failures), v("first_seen", UtcOf(host.record.first_seen));
  v("last_seen", UtcOf(LastSeen(host))), v("last_failures", failures), v("own_failures", host.own_failures);
}

struct PrintedHosts {
  const std::vector<ShownHost>& hosts;
};
template <class V>
void Parts(V& v, const PrintedHosts& printed) {
  v("format", 1), v("hosts", printed.hosts);
}

}  // namespace

std::string ShownHostsText(const std::vector<ShownHost>& hosts, bool details, std::uint64_t now) {
  if (hosts.empty()) return "no run of yours has ended on any host yet\n";
  constexpr std::size_t kColumns = 6;
  std::vector<std::array<std::string, kColumns>> rows = {{"host", "runs", "hours", "failures", "own", "last seen"}};
  for (const ShownHost& host : hosts) {
    const std::uint64_t last = LastSeen(host);
    rows.push_back({Printable(host.record.host), std::to_string(host.record.runs),
                    fmt::format("{:.1f}", static_cast<double>(host.record.seconds) / 3'600),
                    std::to_string(host.record.failures), std::to_string(host.own_failures.size()),
                    last == 0 ? "never" : Ago(last, now)});
  }
  std::array<std::size_t, kColumns> widths = {};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  std::string text;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    for (std::size_t i = 0; i + 1 < kColumns; ++i) text += Padded(rows[n][i], widths[i]) + "  ";
    text += rows[n].back() + '\n';
    if (!details || n == 0) continue;
    const ShownHost& host = hosts[n - 1];
    for (auto own = host.own_failures.rbegin(); own != host.own_failures.rend(); ++own) {
      text += fmt::format("  {}: {}\n", Ago(own->at, now), Printable(own->why));
    }
    const std::vector<HostFirstFailure>& last = host.record.last_failures;
    for (auto failure = last.rbegin(); failure != last.rend(); ++failure) {
      text += fmt::format("  {}, {} {}", Ago(failure->at, now), Printable(failure->name), Printable(failure->run));
      if (!failure->process.empty()) text += ", " + Printable(failure->process);
      if (failure->step) text += fmt::format(", step {:.15g}", *failure->step);
      text += fmt::format(": {}\n", Printable(failure->what));
    }
  }
  return text;
}

std::string ShownHostsJson(const std::vector<ShownHost>& hosts) {
  return JsonOf<HostForms>(PrintedHosts{hosts}, 2) + '\n';
}

std::string ShownHostsSchema() {
  const HostFirstFailure failure;
  ShownHost host;
  host.record.last_failures.push_back(failure);
  return SchemaOf<HostForms>(PrintedHosts{{host}});
}

}  // namespace muster
