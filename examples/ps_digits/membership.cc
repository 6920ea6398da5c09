// See membership.h.
#include "ps_digits/membership.h"

#include <array>
#include <utility>

#include "ps_digits/last_words.h"

namespace ps_digits {
namespace {

std::string Limit(const char* variable, const std::optional<std::chrono::seconds>& timeout) {
  return "within " + std::to_string(timeout ? timeout->count() : 0) + " s (" + variable + ")";
}

}  // namespace

Membership::Membership(const ClusterSettings& settings, std::unique_ptr<Link> link)
    : settings_(settings),
      link_(std::move(link)),
      scheduler_("the scheduler at " + settings.scheduler.text()),
      self_(RoleWord(settings.role) + " " + settings.node_id),
      pulse_(settings.node_timeout, Clock::now()) {}

Result<Membership> Membership::Connect(const ClusterSettings& settings) {
  std::optional<Clock::time_point> until;
  if (settings.topology_timeout) until = Clock::now() + *settings.topology_timeout;
  auto socket = ConnectWithRetry(settings.scheduler, until);
  if (!socket) {
    return Failure{RoleWord(settings.role) + " " + settings.node_id + ": did not reach the scheduler " +
                   Limit("MS_TOPO_TIMEOUT", settings.topology_timeout) + ": " + socket.error().message};
  }
  return Membership(settings, std::make_unique<Link>(std::move(*socket), settings.scheduler, kMaxMessageBytes));
}

Result<Address> Membership::LocalAddress() const {
  const auto local = LocalEndpoint(link_->socket());
  if (!local) return local.error();
  return local->address;
}

Result<Topology> Membership::Register(std::uint16_t port) {
  link_->Send(ps_digits::Register{static_cast<std::uint8_t>(settings_.role), settings_.node_id, port,
                                  settings_.worker_num, settings_.server_num});
  // The scheduler began to wait before this process registered, so it gives up first and reports which processes are
  // missing. This limit is for a scheduler that does not.
  std::optional<Clock::time_point> until;
  if (settings_.topology_timeout) until = Clock::now() + *settings_.topology_timeout;
  const std::array<Link*, 1> links = {link_.get()};
  while (!topology_) {
    if (const auto waited = WaitForLinks(links, nullptr, Earlier(until, pulse_.next())); !waited) return waited.error();
    const auto now = Clock::now();
    if (const auto tended = Tend(now); !tended) return tended.error();
    if (!topology_ && until && now >= *until) {
      return Failure{"the cluster was not complete " + Limit("MS_TOPO_TIMEOUT", settings_.topology_timeout)};
    }
  }
  self_ = RoleWord(settings_.role) + " " + std::to_string(topology_->rank) + " (" + settings_.node_id + ")";
  return std::move(*topology_);
}

Result<void> Membership::Tend(Clock::time_point now) {
  while (auto message = link_->Next()) {
    missed_beats_ = 0;
    if (const auto taken = Take(*message); !taken) return taken.error();
  }
  if (has_left_) return {};
  if (link_->fault()) return Failure{scheduler_ + " " + *link_->fault()};
  if (!pulse_.IsDue(now)) return {};
  if (pulse_.TooLong(++missed_beats_)) {
    return Failure{scheduler_ + " gave no sign of life " + Limit("MS_NODE_TIMEOUT", settings_.node_timeout)};
  }
  link_->Send(Heartbeat{});
  return {};
}

Result<void> Membership::Take(Message& message) {
  if (std::holds_alternative<Heartbeat>(message)) return {};
  if (const auto* failed = std::get_if<Failed>(&message)) return Relayed(*failed);
  if (const auto* refused = std::get_if<Refused>(&message)) {
    return Failure{scheduler_ + " refused this process: " + Printable(refused->reason)};
  }
  if (std::holds_alternative<Unregistered>(message)) {
    has_left_ = true;
    return {};
  }
  auto* topology = std::get_if<Topology>(&message);
  const std::uint32_t places = settings_.role == Role::kWorker ? settings_.worker_num : settings_.server_num;
  if (topology == nullptr || topology->rank >= places || topology->servers.size() != settings_.server_num) {
    return Failure{scheduler_ + " sent something that makes no sense here"};
  }
  topology_ = std::move(*topology);
  return {};
}

}  // namespace ps_digits
