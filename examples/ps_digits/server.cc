// See server.h.
#include "ps_digits/server.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "ps_digits/checkpoint.h"
#include "ps_digits/last_words.h"
#include "ps_digits/lobby.h"
#include "ps_digits/membership.h"
#include "ps_digits/number.h"
#include "ps_digits/sharding.h"
#include "ps_digits/softmax.h"
#include "ps_digits/weight_shard.h"

namespace ps_digits {
namespace {

// Nothing if both are the same, else the first difference as "--lr 0.4, worker 0 with --lr 0.5".
std::string Difference(const TrainingSettings& theirs, const TrainingSettings& ours, std::uint32_t our_rank) {
  const std::string other = ", worker " + std::to_string(our_rank) + " with ";
  const auto options = [&](const std::string& name, const auto& a, const auto& b) {
    return name + " " + NumberText(a) + other + name + " " + NumberText(b);
  };
  if (theirs.learning_rate != ours.learning_rate) return options("--lr", theirs.learning_rate, ours.learning_rate);
  if (theirs.epochs != ours.epochs) return options("--epochs", theirs.epochs, ours.epochs);
  if (theirs.batch_size != ours.batch_size) return options("--batch-size", theirs.batch_size, ours.batch_size);
  if (theirs.decay != ours.decay) return options("--decay", theirs.decay, ours.decay);
  if (theirs.l2 != ours.l2) return options("--l2", theirs.l2, ours.l2);
  if (theirs.smoothing != ours.smoothing) return options("--smoothing", theirs.smoothing, ours.smoothing);
  if (theirs.first_epoch != ours.first_epoch) return "one checkpoint" + other + "another";
  if (theirs.data_fingerprint != ours.data_fingerprint) return "one data file" + other + "another";
  return {};
}

class Server {
 public:
  // `weights`: all of those to begin with; empty: zeros.
  Server(const ClusterSettings& settings, Membership membership, Socket listener, std::uint16_t port,
         std::vector<double> weights)
      : membership_(std::move(membership)),
        lobby_(std::move(listener)),
        port_(port),
        weights_(std::move(weights)),
        seats_(settings.worker_num) {
    server_num_ = settings.server_num;
  }

  Result<void> Run() {
    const auto served = Serve();
    if (!served) return LastWords(membership_.self(), served.error(), Links());
    FlushLinks(Links());
    return {};
  }

 private:
  // The connection of a worker, by rank.
  struct Seat {
    std::unique_ptr<Link> link;  // null until it has introduced itself
    std::string name;
    bool waits_for_next_step = false;
    bool has_left = false;
  };

  Result<void> Serve() {
    const auto topology = membership_.Register(port_);
    if (!topology) return topology.error();
    job_ = topology->job;
    const Range rows = ShardRange(kWeightRows, server_num_, topology->rank);
    std::vector<double> own;
    if (!weights_.empty()) {
      own.assign(weights_.begin() + static_cast<std::ptrdiff_t>(rows.begin * kClasses),
                 weights_.begin() + static_cast<std::ptrdiff_t>(rows.end * kClasses));
    }
    shard_.emplace(rows, static_cast<std::uint32_t>(seats_.size()), std::move(own));
    std::printf("server %u of %u holds %zu of %zu weight rows\n", topology->rank, server_num_, shard_->rows().size(),
                kWeightRows);
    while (!std::all_of(seats_.begin(), seats_.end(), [](const Seat& seat) { return seat.has_left; })) {
      if (const auto turned = Turn(); !turned) return turned.error();
    }
    membership_.Unregister();
    while (!membership_.has_left()) {
      if (const auto turned = Turn(); !turned) return turned.error();
    }
    return {};
  }

  Result<void> Turn() {
    std::vector<Link*> links = Links();
    lobby_.AddLinks(links);
    const auto until = Earlier(lobby_.next_deadline(), membership_.next_beat());
    if (const auto waited = WaitForLinks(links, lobby_.door(), until); !waited) return waited.error();
    const auto now = Clock::now();

    std::vector<std::string> log;
    auto visitors = lobby_.Receive(now, log);
    if (!visitors) return visitors.error();
    for (const std::string& line : log) Warn(line);
    for (Visitor& visitor : *visitors) Welcome(visitor);

    // Messages come before closed connections: see scheduler.cc.
    for (std::uint32_t rank = 0; rank < seats_.size(); ++rank) {
      if (const auto listened = ListenTo(rank); !listened) return listened.error();
    }
    if (const auto tended = membership_.Tend(now); !tended) return tended.error();
    for (const Seat& seat : seats_) {
      if (seat.link && !seat.has_left && seat.link->fault()) {
        return Failure{seat.name + " " + *seat.link->fault() + " before it had unregistered"};
      }
    }
    return {};
  }

  void Welcome(Visitor& visitor) {
    const std::string where = visitor.link->peer().address.text();
    const auto* hello = std::get_if<Hello>(&visitor.introduction);
    std::string objection;
    if (hello == nullptr) {
      objection = "this is a parameter server; say hello first";
    } else if (hello->job != job_) {
      objection = "this server belongs to another job";
    } else if (hello->rank >= seats_.size()) {
      objection = "there is no worker " + std::to_string(hello->rank) + " in this job";
    } else if (seats_[hello->rank].link) {
      objection = "worker " + std::to_string(hello->rank) + " is connected already";
    } else if (settings_) {
      const std::string difference = Difference(hello->settings, *settings_, settings_from_);
      if (!difference.empty()) objection = "it was started with " + difference;
    }
    if (!objection.empty()) {
      Refuse(visitor, objection);
      Warn("refused a connection from " + where + ": " + objection);
      return;
    }
    if (!settings_) {
      settings_ = hello->settings;
      settings_from_ = hello->rank;
    }
    Seat& seat = seats_[hello->rank];
    seat.name = RankedName(Role::kWorker, hello->rank, Printable(hello->node_id), where);
    seat.link = std::move(visitor.link);
  }

  Result<void> ListenTo(std::uint32_t rank) {
    Seat& seat = seats_[rank];
    if (!seat.link) return {};
    while (auto message = seat.link->Next()) {
      if (seat.has_left) continue;
      if (const auto* failed = std::get_if<Failed>(&*message)) return Relayed(*failed);
      if (const auto* pull = std::get_if<Pull>(&*message)) {
        if (const auto answered = AnswerPull(seat, *pull); !answered) return answered.error();
      } else if (auto* push = std::get_if<Push>(&*message)) {
        if (const auto taken = TakePush(rank, *push); !taken) return taken.error();
      } else if (std::holds_alternative<Unregister>(*message)) {
        if (shard_->collecting()) return Failure{seat.name + " unregistered in the middle of a step"};
        seat.has_left = true;
        somebody_has_left_ = true;
        seat.link->Send(Unregistered{});
      } else {
        return Failure{seat.name + " sent something that makes no sense here"};
      }
    }
    return {};
  }

  Result<void> AnswerPull(Seat& seat, const Pull& pull) {
    if (pull.step == shard_->step()) {
      SendWeights(seat);
    } else if (pull.step == shard_->step() + 1 && !seat.waits_for_next_step) {
      seat.waits_for_next_step = true;
    } else {
      return Failure{seat.name + " asked for step " + std::to_string(pull.step) + " during step " +
                     std::to_string(shard_->step())};
    }
    return {};
  }

  Result<void> TakePush(std::uint32_t rank, Push& push) {
    const std::string& name = seats_[rank].name;
    // The step could never be completed: a process that would have to contribute is gone.
    if (somebody_has_left_) return Failure{name + " sent a gradient after others had unregistered"};
    const auto stepped =
        shard_->Add(rank, push.step, {push.image_count, push.loss, std::move(push.gradient)}, settings_->learning_rate);
    if (!stepped) return Failure{name + " sent " + stepped.error().message};
    if (!*stepped) return {};
    for (Seat& seat : seats_) {
      if (seat.waits_for_next_step) SendWeights(seat);
      seat.waits_for_next_step = false;
    }
    return {};
  }

  void SendWeights(Seat& seat) const {
    seat.link->Send(Weights{shard_->step(), shard_->last_loss(), shard_->weights()});
  }

  std::vector<Link*> Links() const {
    std::vector<Link*> links = {membership_.link()};
    for (const Seat& seat : seats_) {
      if (seat.link) links.push_back(seat.link.get());
    }
    return links;
  }

  void Warn(const std::string& line) const {
    std::fprintf(stderr, "ps_digits: %s: %s\n", membership_.self().c_str(), line.c_str());
  }

  Membership membership_;
  Lobby lobby_;
  std::uint16_t port_;
  std::vector<double> weights_;
  std::uint32_t server_num_ = 0;
  std::uint64_t job_ = 0;
  std::vector<Seat> seats_;
  std::optional<TrainingSettings> settings_;
  std::uint32_t settings_from_ = 0;  // the rank of the worker that sent them
  std::optional<WeightShard> shard_;
  bool somebody_has_left_ = false;
};

}  // namespace

Result<void> RunServer(const ClusterSettings& settings, const Options& options) {
  std::vector<double> weights;
  if (!options.resume.empty()) {
    auto checkpoint = LoadCheckpoint(options.resume);
    if (!checkpoint) return checkpoint.error();
    weights = std::move(checkpoint->weights);
  }
  auto membership = Membership::Connect(settings);
  if (!membership) return membership.error();
  const auto fail = [&](const Failure& failure) { return Failure{membership->self() + ": " + failure.message}; };
  const auto address = membership->LocalAddress();
  if (!address) return fail(address.error());
  auto listener = Listen({*address, 0});
  if (!listener) return fail(listener.error());
  const auto endpoint = LocalEndpoint(*listener);
  if (!endpoint) return fail(endpoint.error());
  return Server(settings, std::move(*membership), std::move(*listener), endpoint->port, std::move(weights)).Run();
}

}  // namespace ps_digits
