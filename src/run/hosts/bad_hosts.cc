#include "run/hosts/bad_hosts.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "run/hosts/host_differences.h"

namespace muster {
namespace {

constexpr std::size_t kMaxBytes = 1U << 20;
constexpr std::size_t kMaxFailures = 1'000;
constexpr std::size_t kMaxWhy = 200;
constexpr std::uint64_t kDay = 86'400;
// The weight of one failure after eight half-lives.
constexpr double kForgotten = 1.0 / 256;

double WeightOf(const HostFailure& failure, std::uint64_t now) {
  const double age = static_cast<double>(now - std::min(now, failure.at));
  return std::exp2(-age / static_cast<double>(std::chrono::seconds(kHalfLife).count()));
}

std::vector<HostFailure> ParseBadHosts(const std::string& bytes) {
  std::vector<HostFailure> failures;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    const auto json = ValueFromJsonText(bytes.substr(at, end - at));
    at = end + 1;
    const Value::Map* fields = json ? json->AsMap() : nullptr;
    if (fields == nullptr) continue;
    const auto text = [&](const char* name) {
      const auto found = fields->find(name);
      return found == fields->end() ? nullptr : found->second.AsString();
    };
    const auto when = fields->find("at");
    const std::int64_t* seconds = when == fields->end() ? nullptr : when->second.AsInt();
    if (seconds == nullptr || *seconds < 0 || text("host") == nullptr || text("why") == nullptr) continue;
    failures.push_back({static_cast<std::uint64_t>(*seconds), *text("host"), *text("why")});
  }
  return failures;
}

std::string LineOf(const HostFailure& failure) {
  return JsonText(Value(Value::Map{{"at", static_cast<std::int64_t>(failure.at)},
                                   {"host", failure.host},
                                   {"why", failure.why.substr(0, kMaxWhy)}})) +
         '\n';
}

}  // namespace

std::string AgoText(std::uint64_t seconds) {
  if (seconds < 60) return "less than a minute";
  if (seconds < 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 2 * kDay) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} days", seconds / kDay);
}

double WeightAt(const std::vector<HostFailure>& failures, std::uint64_t now) {
  double weight = 0;
  for (const HostFailure& failure : failures) weight += WeightOf(failure, now);
  return weight;
}

std::vector<std::string> BadHostLines(const std::vector<HostFailure>& failures, const std::vector<std::string>& hosts,
                                      std::uint64_t now) {
  std::map<std::string, std::vector<HostFailure>> by_host;
  for (const HostFailure& failure : failures) by_host[failure.host].push_back(failure);
  std::vector<std::string> lines;
  for (const std::string& host : hosts) {
    const auto found = by_host.find(host);
    if (found == by_host.end() || WeightAt(found->second, now) < kWorthReporting) continue;
    // Of several in the same second, the one that was recorded last.
    const HostFailure& last = *std::max_element(found->second.rbegin(), found->second.rend(),
                                                [](const HostFailure& a, const HostFailure& b) { return a.at < b.at; });
    const auto today = std::count_if(found->second.begin(), found->second.end(),
                                     [&](const HostFailure& each) { return each.at + kDay > now; });
    const std::uint64_t ago = now - std::min(now, last.at);
    const bool within_day = today > 0;
    const auto times = within_day ? static_cast<std::size_t>(today) : found->second.size();
    lines.push_back(fmt::format(
        "{} failed {}{}; last {} ago: {}", Printable(host), times == 1 ? "once" : fmt::format("{} times", times),
        within_day ? " in the last day" : " in the last days", AgoText(ago), Printable(last.why)));
  }
  return lines;
}

std::string UserStateFile(const std::vector<std::string>& environment, const std::string& name) {
  const std::string state = ValueOf(environment, "XDG_STATE_HOME");
  if (state.starts_with('/')) return state + "/muster/" + name;
  const std::string home = ValueOf(environment, "HOME");
  return home.starts_with('/') ? home + "/.local/state/muster/" + name : std::string();
}

bool ReplaceUserStateFile(const std::string& file, const std::function<std::string()>& made) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  // The lock is on the folder, because the file itself is replaced.
  const UniqueFd at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at || ::flock(at.get(), LOCK_EX) != 0) return false;
  return ReplaceFile(at.get(), std::filesystem::path(file).filename(), made()).has_value();
}

std::string BadHostsFile(const std::vector<std::string>& environment) {
  return UserStateFile(environment, "hosts.jsonl");
}

std::vector<HostFailure> ReadBadHosts(const std::string& file) {
  const Result<std::string> bytes = ReadWholeFile(file, kMaxBytes);
  return bytes ? ParseBadHosts(*bytes) : std::vector<HostFailure>();
}

bool RememberBadHosts(const std::string& file, const std::vector<HostFailure>& failures) {
  return ReplaceUserStateFile(file, [&] {
    std::vector<HostFailure> all = ReadBadHosts(file);
    all.insert(all.end(), failures.begin(), failures.end());
    std::uint64_t now = 0;
    for (const HostFailure& failure : failures) now = std::max(now, failure.at);
    std::erase_if(all, [&](const HostFailure& each) { return WeightOf(each, now) < kForgotten; });
    if (all.size() > kMaxFailures) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(kMaxFailures));
    std::string bytes;
    for (const HostFailure& failure : all) bytes += LineOf(failure);
    return bytes;
  });
}

}  // namespace muster
