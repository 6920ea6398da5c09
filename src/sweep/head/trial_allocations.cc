#include "sweep/head/trial_allocations.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/values/diagnostics.h"
#include "run/directory/private_files.h"

namespace muster {
namespace {

constexpr const char* kJobs = "jobs";
constexpr std::size_t kMostBytes = 1U << 20;
constexpr std::size_t kLongestId = 64;

// One a line. The file is not trusted: an id becomes a word of a command.
std::vector<std::string> JobsIn(const std::string& text) {
  std::vector<std::string> jobs;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string id = text.substr(begin, end - begin);
    begin = end + 1;
    const bool sound = !id.empty() && id.size() <= kLongestId &&
                       std::isalnum(static_cast<unsigned char>(id.front())) != 0 &&
                       std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (sound) jobs.push_back(std::move(id));
  }
  return jobs;
}

}  // namespace

TrialAllocations::TrialAllocations(boost::asio::io_context& io, TrialAllocator& allocator, int folder, Calls calls)
    : io_(io), allocator_(allocator), folder_(folder), calls_(std::move(calls)), late_(io) {}

void TrialAllocations::CancelLeft() {
  const auto text = ReadFileAt(folder_, kJobs, kMostBytes, O_NOFOLLOW);
  if (!text) return;
  const std::vector<std::string> jobs = JobsIn(*text);
  if (jobs.empty()) return;
  if (const auto cancelled = allocator_.Cancel(jobs); !cancelled) {
    calls_.say(fmt::format("warning: jobs that an earlier head has left may still be there ({}): {}",
                           fmt::join(jobs, ", "), Sentence(cancelled.error())));
    return;
  }
  ::unlinkat(folder_, kJobs, 0);
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
  late_.expires_after(kMostParting);
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
    ::unlinkat(folder_, kJobs, 0);
  } else if (const auto kept = ReplaceFile(folder_, kJobs, text); !kept) {
    calls_.say("warning: " + Sentence(kept.error()));
  }
}

void TrialAllocations::DoneIfEmpty() {
  if (!done_ || !entries_.empty()) return;
  late_.cancel();
  boost::asio::post(io_, std::exchange(done_, nullptr));
}

}  // namespace muster
