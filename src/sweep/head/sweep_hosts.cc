#include "sweep/head/sweep_hosts.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/system/private_files.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "sweep/record/sweep_directory.h"

namespace muster {

std::vector<std::string> NamesOf(const std::vector<SiteHost>& hosts) {
  std::vector<std::string> names;
  for (const SiteHost& host : hosts) names.push_back(host.name);
  if (names.empty()) names.emplace_back();
  return names;
}

HostPool PoolOf(const SweepRequest& request) {
  const BudgetChoice& budget = request.description.budget;
  if (request.allocator != nullptr) {
    return HostPool::OfOwnHosts(request.devices, request.allocator->most_hosts(), budget.slots, budget.devices);
  }
  std::vector<PoolHost> pool;
  for (const SiteHost& host : request.hosts) pool.push_back({host.name, host.devices.value_or(request.devices), 1});
  if (pool.empty()) pool.push_back({"", request.devices, 1});
  return {std::move(pool), budget.slots, budget.devices, budget.per_device.value_or(1)};
}

SweepHosts::SweepHosts(boost::asio::io_context& io, Transport& transport, std::vector<std::string> names,
                       const std::string& id, TrialScheduler& scheduler, Calls calls)
    : io_(io),
      scheduler_(scheduler),
      calls_(std::move(calls)),
      agents_(io, transport, std::move(names), id,
              {.ready = [this](std::uint32_t host, const AgentReady& ready) { OnReady(host, ready); },
               .refused = [this](std::uint32_t host, const AgentUnreachable& why) { OnNone(host, why.why); },
               .lost = [this](std::uint32_t host, const AgentLost& lost) { OnLost(host, lost.why); }}) {}

bool SweepHosts::settled() const {
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    if (!agents_.ready(host) && !scheduler_.pool().closed(host)) return false;
  }
  return true;
}

void SweepHosts::Finish(std::function<void()> done) {
  finishing_ = true;
  agents_.Finish(std::move(done));
}

void SweepHosts::OnReady(std::uint32_t host, const AgentReady& ready) {
  if (counted_.insert(host).second) scheduler_.hosts().pool().SetCores(host, ready.cores);
  if (connecting_again_.erase(host) > 0) scheduler_.hosts().Open(host);
  calls_.changed();
}

// A host that was connected is tried again: an agent may have been killed, or a connection cut.
void SweepHosts::OnLost(std::uint32_t host, const std::string& why) {
  if (finishing_) return;
  if (scheduler_.stopping() || ++losses_[host] > kMaxLosses) return OnNone(host, why);
  scheduler_.hosts().Close(host);
  connecting_again_.insert(host);
  const std::string& name = scheduler_.pool().hosts()[host].name;
  calls_.say(fmt::format("the agent of {} is lost ({}); another one is started",
                         name.empty() ? "this machine" : Printable(name), Printable(why)));
  boost::asio::post(io_, [this, host] {
    if (!finishing_) agents_.Connect(host);
  });
}

void SweepHosts::OnNone(std::uint32_t host, const std::string& why) {
  if (finishing_) return;
  connecting_again_.erase(host);
  const auto& hosts = scheduler_.pool().hosts();
  if (hosts[host].name.empty()) {
    calls_.none_left("there is no agent: " + why);
  } else {
    scheduler_.hosts().Quarantine(hosts[host].name, why, false);
    bool any = !connecting_again_.empty();
    for (std::uint32_t other = 0; other < hosts.size(); ++other) any = any || !scheduler_.pool().closed(other);
    if (!any) calls_.none_left("no host is left; the last one: " + why);
  }
  calls_.changed();
}

namespace {

constexpr std::size_t kMaxId = 64;

// One a line. The file is not trusted: an id becomes a word of a command.
std::vector<std::string> JobsIn(const std::string& text) {
  std::vector<std::string> jobs;
  for (const std::string_view id : TextLines(text)) {
    const bool sound = !id.empty() && id.size() <= kMaxId &&
                       std::isalnum(static_cast<unsigned char>(id.front())) != 0 &&
                       std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (sound) jobs.emplace_back(id);
  }
  return jobs;
}

}  // namespace

TrialAllocations::TrialAllocations(boost::asio::io_context& io, TrialAllocator& allocator, int folder, Calls calls)
    : io_(io), allocator_(allocator), folder_(folder), calls_(std::move(calls)), late_(io) {}

void TrialAllocations::CancelLeft() {
  const auto text = ReadFileAt(folder_, kAllocationsEntry.name, kAllocationsEntry.most, O_NOFOLLOW);
  if (!text) return;
  const std::vector<std::string> jobs = JobsIn(*text);
  if (jobs.empty()) return;
  if (const auto cancelled = allocator_.Cancel(jobs); !cancelled) {
    calls_.say(fmt::format("warning: jobs that an earlier head has left may still be there ({}): {}",
                           fmt::join(jobs, ", "), Sentence(cancelled.error())));
    return;
  }
  ::unlinkat(folder_, kAllocationsEntry.name, 0);
}

std::size_t TrialAllocations::waiting() const {
  return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(),
                                                [](const Entry& entry) { return entry.state == State::kWaiting; }));
}

Result<void> TrialAllocations::Request(TrialQueue::Start start) {
  Entry* const entry = &entries_.emplace_back(Entry{std::move(start)});
  auto allocation = allocator_.Request(
      io_, static_cast<std::uint32_t>(entry->start.needs.size()),
      {.known =
           [this, entry] {
             Keep();
             if (entry->state == State::kWaiting) calls_.queued(entry->allocation->job());
           },
       .granted =
           [this, entry](TrialPlace place) {
             if (entry->state != State::kWaiting) return;
             entry->state = State::kGranted;
             calls_.granted(entry->start.trial, entry->allocation->job(), std::move(place));
           },
       .ended = [this, entry](const std::string& why, bool refused) { OnEnded(entry, why, refused); }});
  if (!allocation) {
    entries_.pop_back();
    return Fail(std::move(allocation.error()));
  }
  entry->allocation = *std::move(allocation);
  return {};
}

void TrialAllocations::Release(TrialNumber trial, std::unique_ptr<LiveTrial> over) {
  for (Entry& entry : entries_) {
    if (entry.start.trial != trial || entry.state != State::kGranted) continue;
    entry.state = State::kParting;
    entry.over = std::move(over);
    entry.allocation->Release();
    return;
  }
}

std::vector<TrialNumber> TrialAllocations::ReleaseWaiting() {
  std::vector<TrialNumber> trials;
  for (Entry& entry : entries_) {
    if (entry.state != State::kWaiting) continue;
    entry.state = State::kParting;
    trials.push_back(entry.start.trial);
    entry.allocation->Release();
  }
  return trials;
}

void TrialAllocations::Finish(std::function<void()> done) {
  done_ = std::move(done);
  late_.expires_after(kMaxParting);
  late_.async_wait([this](const boost::system::error_code& error) {
    if (error || !done_) return;
    for (const Entry& entry : entries_) {
      calls_.say(entry.allocation->job() + " was not taken back: muster resume does that, or the engine's own command");
    }
    std::exchange(done_, nullptr)();
  });
  DoneIfEmpty();
}

// It may be called from within the allocation, which is destroyed later.
void TrialAllocations::OnEnded(Entry* entry, const std::string& why, bool refused) {
  const bool waited = std::exchange(entry->state, State::kParting) == State::kWaiting;
  if (waited && refused) calls_.refused(entry->start.trial, why);
  if (waited && !refused) calls_.lost(entry->start.trial, entry->allocation->job(), why);
  boost::asio::post(io_, [this, entry] { Remove(entry); });
}

void TrialAllocations::Remove(Entry* entry) {
  if (entry->state != State::kParting) return;
  entries_.remove_if([entry](const Entry& one) { return &one == entry; });
  Keep();
  calls_.changed();
  DoneIfEmpty();
}

void TrialAllocations::Keep() {
  std::string text;
  for (const Entry& entry : entries_) {
    if (entry.allocation && !entry.allocation->id().empty()) text += entry.allocation->id() + "\n";
  }
  if (text.empty()) {
    ::unlinkat(folder_, kAllocationsEntry.name, 0);
  } else if (const auto kept = ReplaceFile(folder_, kAllocationsEntry.name, text); !kept) {
    calls_.say("warning: " + Sentence(kept.error()));
  }
}

void TrialAllocations::DoneIfEmpty() {
  if (!done_ || !entries_.empty()) return;
  late_.cancel();
  boost::asio::post(io_, std::exchange(done_, nullptr));
}

}  // namespace muster
