#include "agent/devices/device_grants.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>

namespace muster {
namespace {

using Devices = std::map<std::string, DeviceHolders>;

bool CanJoin(const DeviceRequest& wish, const DeviceHolders& holders) {
  if (holders.parties.empty()) return true;
  return wish.shared && holders.shared && (wish.per_device == 0 || holders.parties.size() < wish.per_device);
}

// Positions of the candidates that it could use, preferred ones first.
std::vector<std::size_t> Usable(const DeviceRequest& wish, Devices& devices) {
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < wish.candidates.size(); ++i) {
    if (CanJoin(wish, devices[wish.candidates[i]])) usable.push_back(i);
  }
  if (wish.shared) {
    std::stable_sort(usable.begin(), usable.end(), [&](std::size_t a, std::size_t b) {
      return devices[wish.candidates[a]].parties.size() < devices[wish.candidates[b]].parties.size();
    });
  }
  if (usable.size() > wish.count) usable.resize(wish.count);
  std::sort(usable.begin(), usable.end());
  return usable;
}

}  // namespace

std::vector<DeviceGrant> ServeInTurn(const std::vector<WaitingJob>& waiting, Devices devices) {
  std::map<std::string, std::size_t> held;
  for (const auto& [name, holders] : devices) {
    for (const std::string& party : holders.parties) ++held[party];
  }
  std::vector<DeviceGrant> turns;
  std::vector<std::size_t> unfit;
  std::vector<std::size_t> left(waiting.size());
  std::iota(left.begin(), left.end(), 0);
  while (!left.empty()) {
    const auto next = std::min_element(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
      const auto rank = [&](const WaitingJob& job) {
        const bool due = job.overtaken >= kMostDeviceOvertakes;
        return std::tuple(!due, due ? 0 : held[job.party], job.arrival);
      };
      return rank(waiting[a]) < rank(waiting[b]);
    });
    const std::size_t job = *next;
    left.erase(next);
    const WaitingJob& one = waiting[job];
    std::vector<std::size_t> usable = Usable(one.wish, devices);
    const bool served = usable.size() == one.wish.count;
    if (!served) unfit.push_back(job);
    if (!served && one.overtaken < kMostDeviceOvertakes) continue;
    for (const std::size_t position : usable) {
      DeviceHolders& holders = devices[one.wish.candidates[position]];
      holders.shared = served && one.wish.shared;  // a reserved device is reserved exclusively
      holders.parties.push_back(one.party);
    }
    if (!served) continue;
    held[one.party] += one.wish.count;
    std::vector<std::size_t> passes;
    std::copy_if(unfit.begin(), unfit.end(), std::back_inserter(passes), [&](std::size_t other) {
      return std::any_of(usable.begin(), usable.end(), [&](std::size_t position) {
        const std::vector<std::string>& wanted = waiting[other].wish.candidates;
        return std::find(wanted.begin(), wanted.end(), one.wish.candidates[position]) != wanted.end();
      });
    });
    turns.push_back({job, std::move(usable), std::move(passes)});
  }
  return turns;
}

}  // namespace muster
