#include "agent/devices/resource_allocation.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "agent/devices/host_cores.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"

namespace muster {
namespace {

const char* OwnVariable(const char* name) { return std::getenv(name); }

// "… of alice (uid 1000), since 2026-11-22 02:30:12 UTC". The name comes from the environment: looking it up could wait
// for a network.
std::string Holder(const std::string& whose) {
  const char* name = OwnVariable("USER");
  const std::string user = name == nullptr || *name == '\0' ? fmt::format("uid {}", ::geteuid())
                                                            : fmt::format("{} (uid {})", Printable(name), ::geteuid());
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  char since[32] = {};
  std::strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return fmt::format("{} of {}, since {}", whose, user, since);
}

// "0-1": the numbers of the devices that muster may use.
std::string AllOf(const VisibleDevices& sight) {
  std::vector<std::uint32_t> all(sight.devices.size());
  std::iota(all.begin(), all.end(), 0U);
  return all.empty() ? "none" : NumberListText(all);
}

// Positions of the devices that may be taken, in the order of preference; or why there are not
// enough.
tl::expected<std::vector<std::size_t>, std::string> Candidates(const AllocateResources& asked,
                                                               const VisibleDevices& sight) {
  std::vector<std::size_t> positions;
  const std::string limit = sight.limit.empty() ? std::string() : fmt::format(" ({})", sight.limit);
  if (asked.any && asked.given.empty()) {
    for (std::size_t i = 0; i < sight.devices.size(); ++i) positions.push_back(i);
    if (positions.size() >= asked.devices.size()) return positions;
    return tl::unexpected(fmt::format("{} devices are required, but only {} are available{}", asked.devices.size(),
                                      positions.size(), limit));
  }
  std::vector<std::uint32_t> beyond;
  if (asked.any) {
    for (const std::uint32_t position : asked.given) {
      positions.push_back(position);
      if (position >= sight.devices.size()) beyond.push_back(position);
    }
    if (beyond.empty() && positions.size() >= asked.devices.size()) return positions;
    if (beyond.empty()) {
      return tl::unexpected(
          fmt::format("{} devices are required, but --devices names {}", asked.devices.size(), positions.size()));
    }
    return tl::unexpected(fmt::format("--devices names device{} {}, and muster may use {}{}",
                                      beyond.size() == 1 ? "" : "s", NumberListText(beyond), AllOf(sight), limit));
  }
  for (const std::uint32_t number : asked.devices) {
    const std::uint32_t position = number < asked.given.size() ? asked.given[number] : number;
    positions.push_back(position);
    if (position >= sight.devices.size()) beyond.push_back(position);
  }
  if (beyond.empty()) return positions;
  return tl::unexpected(fmt::format("the job uses device{} {}, and muster may use {}{}", beyond.size() == 1 ? "" : "s",
                                    NumberListText(beyond), AllOf(sight), limit));
}

}  // namespace

ResourceAllocation::ResourceAllocation(boost::asio::io_context& io, Calls calls)
    : calls_(std::move(calls)), watch_(io), patience_(io.get_executor()), again_(io.get_executor()) {}

void ResourceAllocation::Refuse(std::string why) {
  GiveUp();
  given_.devices.clear();
  given_.error = std::move(why);
  calls_.given(given_);
}

void ResourceAllocation::Give(const AllocateResources& asked) {
  asked_ = asked;
  if (asked_.devices.empty()) return GiveCores();
  const std::uint32_t highest = asked_.devices.back();
  std::uint32_t least = std::max(highest + 1, asked_.host_devices);
  if (!asked_.given.empty()) least = *std::max_element(asked_.given.begin(), asked_.given.end()) + 1;
  sight_ = FindVisibleDevices(asked_.kind, least, OwnVariable);
  auto candidates = Candidates(asked_, sight_);
  if (!candidates) return Refuse(std::move(candidates.error()));
  possible_ = *std::move(candidates);
  candidates_ = possible_;
  request_.devices = {
      {}, asked_.devices.size(), asked_.shared || asked_.per_device > 1, asked_.per_device > 1 ? asked_.per_device : 0};
  for (const std::size_t position : candidates_) request_.devices.candidates.push_back(sight_.devices[position].lease);
  request_.whose = Holder(asked_.whose);
  request_.owner = asked_.owner;
  request_.job = asked_.job;
  const char* folder = OwnVariable("MUSTER_LEASES");
  leases_.emplace(LeaseFolder(folder == nullptr ? "" : folder));
  patient_ = asked_.wait_ms > 0;
  if (patient_ && asked_.wait_ms != kWaitForEver) {
    patience_.expires_after(std::chrono::milliseconds(asked_.wait_ms));
    patience_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      patient_ = false;
      if (!awaiting_) return;
      looked_at_ = {};
      TryAgain();
    });
  }
  TryAgain();
}

void ResourceAllocation::TryAgain() {
  constexpr std::chrono::seconds kKnown{5};
  if (looking_) return;
  if (LooksAtUsers() && std::chrono::steady_clock::now() - looked_at_ >= kKnown) return LookAtUsers();
  Take();
}

void ResourceAllocation::LookAtUsers() {
  looking_ = true;
  calls_.ask_users(asked_.kind, [this, serving = std::weak_ptr<bool>(serving_)](const DeviceUserTexts& users) {
    if (serving.expired()) return;
    looking_ = false;
    OnUsers(users);
  });
}

void ResourceAllocation::OnUsers(const DeviceUserTexts& users) {
  looked_at_ = std::chrono::steady_clock::now();
  std::vector<std::string> skipped;
  std::vector<std::size_t> candidates = possible_;
  std::erase_if(candidates, [&](std::size_t position) {
    const HostDevice& device = sight_.devices[position];
    auto used = users.find(device.lease);
    if (used == users.end()) used = users.find(device.name);
    // The processes of another job of muster's: its lease says when it is over.
    if (used == users.end() || leases_->IsLeased(device.lease)) return false;
    skipped.push_back(fmt::format("device {} by {}", device.name, used->second));
    return true;
  });
  in_use_ = fmt::format("{}", fmt::join(skipped, ", "));
  if (candidates != candidates_) {
    leases_->Withdraw();  // it waits in line for the other ones
    candidates_ = std::move(candidates);
    request_.devices.candidates.clear();
    for (const std::size_t position : candidates_)
      request_.devices.candidates.push_back(sight_.devices[position].lease);
  }
  if (candidates_.size() >= asked_.devices.size()) return Take();
  const std::string why = fmt::format("{} {} required and not free: {}", asked_.devices.size(),
                                      asked_.devices.size() == 1 ? "device is" : "devices are", in_use_);
  if (!patient_) return Refuse(why + "; name devices with --devices to take them anyway");
  watch_.Stop();
  Await("in use: " + in_use_);
  again_.expires_after(std::chrono::seconds(2));
  again_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !looking_) LookAtUsers();
  });
}

void ResourceAllocation::Await(std::string why) {
  if (std::exchange(awaiting_, true)) return;
  calls_.awaited({0, static_cast<std::uint32_t>(asked_.devices.size()), std::move(why)});
}

void ResourceAllocation::Take() {
  constexpr std::uint32_t kBriefly = 100;  // ms, for other processes that are choosing: it is retried
  auto taken = patient_ ? leases_->TakeInTurn(request_, kBriefly) : leases_->Take(request_);
  if (taken) return GiveDevices(*taken);
  const std::size_t count = asked_.devices.size();
  const std::string wanted = fmt::format("{} {} required", count, count == 1 ? "device is" : "devices are");
  if (!patient_ || !taken.error().passes) {
    return Refuse(
        fmt::format("{}{}{}: {}", wanted, asked_.any ? " and not free" : "",
                    awaiting_ ? fmt::format(" after {}", DurationText(static_cast<double>(asked_.wait_ms) / 1000)) : "",
                    taken.error().why));
  }
  Await(taken.error().why);
  if (!watch_.started()) watch_.Start(leases_->folder(), [this] { TryAgain(); });
}

void ResourceAllocation::GiveDevices(const DeviceLeases::Taken& taken) {
  watch_.Stop();
  patience_.cancel();
  again_.cancel();
  if (!in_use_.empty()) given_.notes.push_back(fmt::format("devices: skipped, because in use: {}", in_use_));
  node_of_device_.resize(std::size_t{asked_.devices.back()} + 1);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const HostDevice& device = sight_.devices[candidates_[taken[i]]];
    given_.devices.push_back(device.name);
    node_of_device_[asked_.devices[i]] = device.node;
  }
  GiveCores();
}

void ResourceAllocation::GiveCores() {
  if (asked_.cores.empty()) return calls_.given(given_);
  std::vector<std::optional<std::uint32_t>> nodes;
  for (const CoreRequest& request : asked_.cores) {
    const bool known = !request.devices.empty() && request.devices.front() < node_of_device_.size();
    nodes.push_back(known ? node_of_device_[request.devices.front()] : std::nullopt);
  }
  auto shares = ShareCores(ReadHostCores(OwnCores()), asked_.cores, nodes);
  if (!shares) return Refuse("cores: " + shares.error());
  given_.cores = std::move(shares->of);
  for (std::string& note : shares->notes) given_.notes.push_back("cores: " + std::move(note));
  calls_.given(given_);
}

void ResourceAllocation::StopWaiting() {
  watch_.Stop();
  patience_.cancel();
  again_.cancel();
  serving_.reset();
  if (leases_) leases_->Withdraw();
}

void ResourceAllocation::GiveUp() {
  StopWaiting();
  if (leases_) leases_->GiveUp();
  leases_.reset();
}

}  // namespace muster
