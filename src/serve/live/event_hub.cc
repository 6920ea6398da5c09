#include "serve/live/event_hub.h"

#include <algorithm>
#include <utility>

#include <errno.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"

namespace muster {

void LiveCurve::MarkSent(std::uint64_t event) {
  sent = x.size();
  replaced = false;
  version = event;
}

nlohmann::json LiveCurve::Points(const std::string& key, const std::string& metric, std::size_t from,
                                 std::size_t to) const {
  const auto part = [&](const auto& all) {
    return nlohmann::json(
        std::vector(all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(to)));
  };
  nlohmann::json json = {
      {"key", Readable(key)}, {"metric", Readable(metric)}, {"x", part(x)}, {"y", part(y)}, {"total", points}};
  if (from == 0) json["replace"] = true;
  if (points > x.size()) {
    json["left_out"] = part(left_out);
    json["mean"] = part(mean);
  }
  return json;
}

nlohmann::json LiveCurve::News(const std::string& key, const std::string& metric) const {
  return Points(key, metric, replaced ? 0 : sent, x.size());
}

nlohmann::json LiveCurve::Sent(const std::string& key, const std::string& metric) const {
  return Points(key, metric, 0, std::min(sent, x.size()));  // some may have been left out since
}

void LiveCurves::Add(const MetricValues& report) {
  ++reports_;
  if (step_.empty()) step_ = StepMetric(report);
  const auto step = step_.empty() ? report.end() : report.find(step_);
  if (step != report.end()) {
    at_ = FiniteNumber(step->second);
  } else if (step_.empty()) {
    at_ = static_cast<double>(reports_);
  }
  if (!at_) return;
  for (const auto& [name, value] : report) {
    const std::optional<double> number = name == step_ ? std::nullopt : FiniteNumber(value);
    if (!number || (curves_.size() >= kMaxMetricNames && !curves_.contains(name))) continue;
    curves_[name].Add(*at_, *number);
  }
}

namespace {

bool IsFolder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

PathWatch::PathWatch(boost::asio::io_context& io) : changes_(io) {}

PathWatch::~PathWatch() {
  boost::system::error_code ignored;
  changes_.close(ignored);
}

Result<void> PathWatch::Start() {
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify) return Fail(SystemError("inotify", "changes of files cannot be followed", errno));
  changes_.assign(inotify.release());
  Await();
  return {};
}

void PathWatch::Await() {
  changes_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    ReadFileChanges(changes_.native_handle(), [this](const FileChange& change) {
      if (change.watch >= 0) return Tell(change.watch, change.name, change.mask);
      std::vector<int> all;
      for (const auto& [watch, unused] : watchers_) all.push_back(watch);
      for (const int watch : all) Tell(watch, {}, IN_Q_OVERFLOW);
    });
    Await();
  });
}

void PathWatch::Tell(int watch, std::string_view name, std::uint32_t mask) {
  const auto found = watchers_.find(watch);
  if (found == watchers_.end()) return;
  const std::vector<Watcher> watchers = found->second;  // a copy: calls may change it
  constexpr std::uint32_t kAlways = IN_IGNORED | IN_Q_OVERFLOW;
  for (const Watcher& watcher : watchers) {
    const auto known = watches_.find(watcher.number);
    if (known == watches_.end() || known->second != watch) continue;  // removed by one of the calls
    if ((mask & (watcher.mask | kAlways)) != 0) watcher.changed(name, mask);
  }
  if ((mask & IN_IGNORED) == 0) return;  // the folder is gone
  watchers_.erase(watch);
  std::erase_if(watches_, [watch](const auto& one) { return one.second == watch; });
}

int PathWatch::AddWatcher(int number, const std::string& folder, std::uint32_t mask, Changed changed) {
  if (!changes_.is_open()) return 0;
  // Two watchers of a folder share its watch.
  const int watch =
      ::inotify_add_watch(changes_.native_handle(), folder.c_str(), mask | IN_MASK_ADD | IN_ONLYDIR | IN_DONT_FOLLOW);
  if (watch < 0) return 0;
  watchers_[watch].push_back({number, mask, std::move(changed)});
  watches_[number] = watch;
  return number;
}

int PathWatch::Add(const std::string& folder, std::uint32_t mask, Changed changed) {
  return AddWatcher(++last_number_, folder, mask, std::move(changed));
}

void PathWatch::Remove(int number) {
  const auto watch = watches_.find(number);
  if (watch == watches_.end()) return;
  const auto watchers = watchers_.find(watch->second);
  std::erase_if(watchers->second, [number](const Watcher& watcher) { return watcher.number == number; });
  if (watchers->second.empty()) {
    ::inotify_rm_watch(changes_.native_handle(), watch->second);
    watchers_.erase(watchers);
  }
  watches_.erase(watch);
}

int PathWatch::AwaitFolder(const std::string& folder, std::function<void()> exists) {
  const int number = ++last_number_;
  if (IsFolder(folder)) {
    exists();
    return 0;
  }
  LookFor(number, folder, std::make_shared<std::function<void()>>(std::move(exists)));
  return number;
}

// Watches the nearest parent that exists, until the next one is created.
void PathWatch::LookFor(int number, const std::string& folder, const std::shared_ptr<std::function<void()>>& exists) {
  for (;;) {
    if (IsFolder(folder)) {
      Remove(number);
      return (*exists)();
    }
    std::string parent = folder.substr(0, folder.rfind('/'));
    std::string awaited = folder;
    while (parent.size() > 1 && !IsFolder(parent)) {
      awaited = parent;
      parent = parent.substr(0, parent.rfind('/'));
    }
    Remove(number);
    const int added = AddWatcher(number, parent.empty() ? "/" : parent, IN_CREATE | IN_MOVED_TO,
                                 [this, number, folder, exists](std::string_view, std::uint32_t mask) {
                                   if ((mask & IN_IGNORED) == 0) LookFor(number, folder, exists);
                                 });
    // What was created before the watch is seen by looking once more.
    if (added == 0 || !IsFolder(awaited)) return;
  }
}

}  // namespace muster
