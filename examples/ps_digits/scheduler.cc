// See scheduler.h.
#include "ps_digits/scheduler.h"

#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include "ps_digits/last_words.h"
#include "ps_digits/lobby.h"
#include "ps_digits/pulse.h"
#include "ps_digits/roster.h"

namespace ps_digits {
namespace {

std::uint64_t RandomJob() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

class Scheduler {
 public:
  Scheduler(const ClusterSettings& settings, Socket listener)
      : settings_(settings),
        lobby_(std::move(listener)),
        roster_(settings.worker_num, settings.server_num),
        pulse_(settings.node_timeout, Clock::now()) {
    if (settings.topology_timeout) topology_deadline_ = Clock::now() + *settings.topology_timeout;
  }

  Result<void> Run() {
    while (!AllHaveLeft()) {
      if (const auto turned = Turn(); !turned) return LastWords("scheduler", turned.error(), SeatLinks());
    }
    FlushLinks(SeatLinks());
    std::puts("all workers and servers have unregistered");
    return {};
  }

 private:
  // A connected member, at the same position as in the roster.
  struct Seat {
    std::unique_ptr<Link> link;
    std::uint16_t port = 0;
    std::string name;
    Clock::rep missed_beats = 0;
    bool has_left = false;
  };

  Result<void> Turn() {
    std::vector<Link*> links = SeatLinks();
    lobby_.AddLinks(links);
    auto until = Earlier(lobby_.next_deadline(), pulse_.next());
    if (!announced_) until = Earlier(until, topology_deadline_);
    if (const auto waited = WaitForLinks(links, lobby_.door(), until); !waited) return waited.error();
    const auto now = Clock::now();

    std::vector<std::string> log;
    auto visitors = lobby_.Receive(now, log);
    if (!visitors) return visitors.error();
    for (const std::string& line : log) Warn(line);
    for (Visitor& visitor : *visitors) Welcome(visitor);

    if (const auto listened = ListenToSeats(); !listened) return listened.error();
    if (!announced_ && roster_.complete()) Announce();
    if (!announced_ && topology_deadline_ && now >= *topology_deadline_) {
      return Failure{"the cluster was not complete within " + std::to_string(settings_.topology_timeout->count()) +
                     " s (MS_TOPO_TIMEOUT): " + roster_.Progress() + " registered"};
    }
    return CountBeats(now);
  }

  void Welcome(Visitor& visitor) {
    const std::string where = visitor.link->peer().address.text();
    const auto* registration = std::get_if<Register>(&visitor.introduction);
    if (registration == nullptr) {
      Refuse(visitor, "this is a scheduler; register first");
      Warn("dropped a connection from " + where + ": it did not register");
      return;
    }
    const Roster::Application application{registration->role, registration->node_id, visitor.link->peer().address,
                                          registration->worker_num, registration->server_num};
    const auto role = static_cast<Role>(registration->role);
    const std::string name = UnrankedName(role, Printable(registration->node_id), where);
    if (const auto admitted = roster_.Admit(application); !admitted) {
      Refuse(visitor, admitted.error().message);
      Warn("refused " + name + ": " + admitted.error().message);
      return;
    }
    seats_.push_back({std::move(visitor.link), registration->port, name});
  }

  // Reads messages first, then closed connections, so that a reason is received before the disconnection is noticed.
  Result<void> ListenToSeats() {
    for (Seat& seat : seats_) {
      while (auto message = seat.link->Next()) {
        seat.missed_beats = 0;
        if (const auto* failed = std::get_if<Failed>(&*message)) {
          if (!seat.has_left) return Relayed(*failed);
        } else if (std::holds_alternative<Heartbeat>(*message)) {
          seat.link->Send(Heartbeat{});
        } else if (std::holds_alternative<Unregister>(*message) && announced_) {
          seat.link->Send(Unregistered{});
          seat.has_left = true;
        } else {
          return Failure{seat.name + " sent something that makes no sense here"};
        }
      }
    }
    for (const Seat& seat : seats_) {
      if (!seat.has_left && seat.link->fault()) {
        return Failure{seat.name + " " + *seat.link->fault() + " before it had unregistered"};
      }
    }
    return {};
  }

  void Announce() {
    const auto ranks = roster_.Ranks();
    Topology topology;
    topology.job = RandomJob();
    topology.servers.resize(settings_.server_num);
    for (std::size_t i = 0; i < seats_.size(); ++i) {
      const Member& member = roster_.members()[i];
      seats_[i].name = RankedName(member.role, ranks[i], member.node_id, member.address.text());
      if (member.role == Role::kServer) {
        topology.servers[ranks[i]] = {member.node_id, {member.address, seats_[i].port}};
      }
    }
    for (std::size_t i = 0; i < seats_.size(); ++i) {
      topology.rank = ranks[i];
      seats_[i].link->Send(topology);
    }
    announced_ = true;
    std::printf("the cluster is complete: %s\n", roster_.Progress().c_str());
  }

  Result<void> CountBeats(Clock::time_point now) {
    if (!pulse_.IsDue(now)) return {};
    for (Seat& seat : seats_) {
      if (!seat.has_left && pulse_.TooLong(++seat.missed_beats)) {
        return Failure{seat.name + " gave no sign of life within " + std::to_string(settings_.node_timeout->count()) +
                       " s (MS_NODE_TIMEOUT)"};
      }
    }
    return {};
  }

  bool AllHaveLeft() const {
    if (!announced_) return false;
    for (const Seat& seat : seats_) {
      if (!seat.has_left) return false;
    }
    return true;
  }

  std::vector<Link*> SeatLinks() const {
    std::vector<Link*> links;
    for (const Seat& seat : seats_) links.push_back(seat.link.get());
    return links;
  }

  static void Warn(const std::string& line) { std::fprintf(stderr, "ps_digits: scheduler: %s\n", line.c_str()); }

  const ClusterSettings& settings_;
  Lobby lobby_;
  Roster roster_;
  Pulse pulse_;
  std::optional<Clock::time_point> topology_deadline_;
  std::vector<Seat> seats_;
  bool announced_ = false;
};

}  // namespace

Result<void> RunScheduler(const ClusterSettings& settings) {
  auto listener = Listen(settings.scheduler);
  if (!listener) return Failure{"scheduler: " + listener.error().message + " (MS_SCHED_HOST, MS_SCHED_PORT)"};
  std::printf("the scheduler listens on %s for %u worker(s) and %u server(s)\n", settings.scheduler.text().c_str(),
              settings.worker_num, settings.server_num);
  return Scheduler(settings, std::move(*listener)).Run();
}

}  // namespace ps_digits
