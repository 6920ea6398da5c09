#include "serve/live/event_hub.h"

#include <array>
#include <cmath>
#include <utility>

#include <errno.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"

namespace muster {
namespace {

constexpr std::size_t kMaxCurves = kMaxMetricNames;
constexpr std::array<std::string_view, 5> kSteps = {"step", "global_step", "iteration", "iter", "epoch"};

std::optional<double> FiniteOf(const Value& value) {
  if (const std::int64_t* whole = value.AsInt()) return static_cast<double>(*whole);
  const double* number = value.AsDouble();
  return number != nullptr && std::isfinite(*number) ? std::optional(*number) : std::nullopt;
}

}  // namespace

void LiveCurve::Add(double at, double value) {
  ++total;
  x.push_back(at);
  y.push_back(value);
  left_out.push_back(waiting.points);
  mean.push_back(waiting.mean);
  waiting = {};
  if (x.size() <= kMaxPoints) return;
  constexpr std::size_t kGroup = 4;
  std::size_t kept = 0;
  for (std::size_t from = 0; from < x.size(); from += kGroup) {
    const auto begin = y.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = y.begin() + static_cast<std::ptrdiff_t>(std::min(from + kGroup, y.size()));
    auto [low, high] = std::minmax_element(begin, end);
    if (high < low) std::swap(low, high);
    std::array<std::size_t, 2> chosen = {static_cast<std::size_t>(low - y.begin()),
                                         static_cast<std::size_t>(high - y.begin())};
    for (std::size_t i = from; i < std::min(from + kGroup, y.size()); ++i) {
      waiting.Add(left_out[i], mean[i]);
      if (i != chosen[0] && i != chosen[1]) {
        waiting.Add(1, y[i]);
        continue;
      }
      x[kept] = x[i];
      y[kept] = y[i];
      left_out[kept] = waiting.points;
      mean[kept++] = waiting.mean;
      waiting = {};
    }
  }
  x.resize(kept);
  y.resize(kept);
  left_out.resize(kept);
  mean.resize(kept);
  replaced = true;
}

void LiveCurves::Add(const MetricValues& report) {
  ++reports_;
  for (std::size_t i = 0; step_.empty() && i < kSteps.size(); ++i) {
    if (report.contains(std::string(kSteps[i]))) step_ = kSteps[i];
  }
  const auto step = step_.empty() ? report.end() : report.find(step_);
  if (step != report.end()) {
    at_ = FiniteOf(step->second);
  } else if (step_.empty()) {
    at_ = static_cast<double>(reports_);
  }
  if (!at_) return;
  for (const auto& [name, value] : report) {
    const std::optional<double> number = name == step_ ? std::nullopt : FiniteOf(value);
    if (!number || (curves_.size() >= kMaxCurves && !curves_.contains(name))) continue;
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
