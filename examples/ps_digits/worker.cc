// See worker.h.
#include "ps_digits/worker.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "ps_digits/batches.h"
#include "ps_digits/checkpoint.h"
#include "ps_digits/dataset.h"
#include "ps_digits/last_words.h"
#include "ps_digits/membership.h"
#include "ps_digits/metrics.h"
#include "ps_digits/sharding.h"
#include "ps_digits/softmax.h"

namespace ps_digits {
namespace {

constexpr auto kConnectPatience = std::chrono::seconds(10);

// A minibatch from the view of one worker: its own images, and the total number.
struct Batch {
  std::vector<Image> images;
  std::size_t image_count = 0;
};

std::vector<Batch> TakeShard(const Dataset& dataset, std::size_t batch_size, std::uint32_t worker_num,
                             std::uint32_t rank) {
  const auto order = ImageOrder(dataset.training.size());
  std::vector<Batch> batches;
  for (const Range& range : CutBatches(order.size(), batch_size)) {
    Batch batch;
    batch.image_count = range.size();
    const Range slice = WorkerSlice(range, worker_num, rank);
    for (std::size_t i = slice.begin; i < slice.end; ++i) batch.images.push_back(dataset.training[order[i]]);
    batches.push_back(std::move(batch));
  }
  return batches;
}

class Worker {
 public:
  // `first_epoch`: from 1.
  Worker(const ClusterSettings& settings, const Options& options, Membership membership, Dataset dataset,
         std::uint32_t first_epoch)
      : settings_(settings),
        options_(options),
        membership_(std::move(membership)),
        dataset_(std::move(dataset)),
        first_epoch_(first_epoch) {}

  Result<void> Run() {
    auto worked = Join();
    if (worked) worked = Train();
    if (worked) worked = Leave();
    if (!worked) return LastWords(membership_.self(), worked.error(), Links());
    FlushLinks(Links());
    return {};
  }

 private:
  struct Server {
    std::unique_ptr<Link> link;
    std::string name;
    Range rows;
    bool weights_wanted = false;  // a pull is unanswered
    bool has_left = false;
  };

  Result<void> Join() {
    const auto topology = membership_.Register(0);
    if (!topology) return topology.error();
    rank_ = topology->rank;
    batches_ = TakeShard(dataset_, options_.batch_size, settings_.worker_num, rank_);
    std::size_t image_count = 0;
    for (const Batch& batch : batches_) image_count += batch.images.size();
    std::printf("worker %u of %u trains on %zu of %zu images\n", rank_, settings_.worker_num, image_count,
                dataset_.training.size());

    const Hello hello{
        topology->job, rank_, settings_.node_id,
        TrainingSettings{options_.learning_rate, options_.epochs, options_.batch_size, dataset_.fingerprint,
                         options_.decay, options_.l2, options_.smoothing, first_epoch_}};
    for (std::size_t i = 0; i < topology->servers.size(); ++i) {
      const ServerPlace& place = topology->servers[i];
      const std::string name = RankedName(Role::kServer, static_cast<std::uint32_t>(i), Printable(place.node_id),
                                          place.endpoint.address.text());
      auto socket = Connect(place.endpoint, kConnectPatience);
      if (!socket) return Failure{name + ": " + socket.error().message};
      auto link = std::make_unique<Link>(std::move(*socket), place.endpoint, kMaxMessageBytes);
      link->Send(hello);
      servers_.push_back({std::move(link), name, ShardRange(kWeightRows, topology->servers.size(), i)});
    }
    return {};
  }

  Result<void> Train() {
    if (const auto pulled = PullWeights(); !pulled) return pulled.error();
    for (std::uint32_t epoch = first_epoch_; epoch <= options_.epochs; ++epoch) {
      const double rate = std::pow(options_.decay, epoch - 1);  // of the learning rate, which the servers apply
      double loss = 0;
      for (const std::size_t index : BatchOrder(batches_.size(), epoch)) {
        const Batch& batch = batches_[index];
        PushGradient(batch, rate);
        ++step_;
        if (const auto pulled = PullWeights(); !pulled) return pulled.error();
        loss += last_loss_ * static_cast<double>(batch.image_count);
      }
      loss /= static_cast<double>(dataset_.training.size());
      if (!std::isfinite(loss)) {
        return Failure{"the loss is no longer a number after epoch " + std::to_string(epoch) +
                       "; a smaller --lr may help"};
      }
      if (const auto saved = Save(epoch); !saved) return saved.error();
      if (const auto reported = Report(epoch, loss); !reported) return reported.error();
    }
    if (rank_ == 0) std::printf("test accuracy %.3f\n", Accuracy(weights_, dataset_.test));
    return {};
  }

  void PushGradient(const Batch& batch, double rate) {
    GradientSum sum;
    for (const Image& image : batch.images) AddGradient(weights_, image, sum, options_.smoothing);
    const double decay = options_.l2 * static_cast<double>(batch.images.size());
    for (std::size_t i = 0; i < kPixels * kClasses; ++i) sum.values[i] += decay * weights_[i];
    for (double& value : sum.values) value *= rate;
    for (Server& server : servers_) {
      const auto begin = sum.values.begin() + static_cast<std::ptrdiff_t>(server.rows.begin * kClasses);
      const auto end = sum.values.begin() + static_cast<std::ptrdiff_t>(server.rows.end * kClasses);
      server.link->Send(Push{step_, batch.images.size(), sum.loss, std::vector<double>(begin, end)});
    }
  }

  Result<void> PullWeights() {
    for (Server& server : servers_) {
      server.link->Send(Pull{step_});
      server.weights_wanted = true;
    }
    return TurnUntil([](const Server& server) { return !server.weights_wanted; });
  }

  // Before the report, which may be the last thing that this process does.
  Result<void> Save(std::uint32_t epoch) const {
    if (rank_ != 0 || options_.checkpoints.empty()) return {};
    return SaveCheckpoint(options_.checkpoints, {epoch, weights_});
  }

  Result<void> Report(std::uint32_t epoch, double loss) {
    if (rank_ != 0) return {};
    std::printf("epoch %u/%u loss %.4f\n", epoch, options_.epochs, loss);
    if (settings_.metrics_file.empty()) return {};
    return AppendMetrics(settings_.metrics_file, {epoch, loss, Accuracy(weights_, dataset_.test)});
  }

  // Waits for the answers, so that no peer sees the connection close without knowing the reason.
  Result<void> Leave() {
    for (Server& server : servers_) server.link->Send(Unregister{});
    if (const auto left = TurnUntil([](const Server& server) { return server.has_left; }); !left) return left.error();
    membership_.Unregister();
    while (!membership_.has_left()) {
      if (const auto turned = Turn(); !turned) return turned.error();
    }
    return {};
  }

  template <class Done>
  Result<void> TurnUntil(Done done) {
    while (!std::all_of(servers_.begin(), servers_.end(), done)) {
      if (const auto turned = Turn(); !turned) return turned.error();
    }
    return {};
  }

  Result<void> Turn() {
    const std::vector<Link*> links = Links();
    if (const auto waited = WaitForLinks(links, nullptr, membership_.next_beat()); !waited) return waited.error();
    // Messages come before closed connections: see scheduler.cc.
    for (Server& server : servers_) {
      while (auto message = server.link->Next()) {
        if (const auto taken = Take(server, *message); !taken) return taken.error();
      }
    }
    if (const auto tended = membership_.Tend(Clock::now()); !tended) return tended.error();
    for (const Server& server : servers_) {
      if (!server.has_left && server.link->fault()) return Failure{server.name + " " + *server.link->fault()};
    }
    return {};
  }

  Result<void> Take(Server& server, const Message& message) {
    if (const auto* failed = std::get_if<Failed>(&message)) return Relayed(*failed);
    if (const auto* refused = std::get_if<Refused>(&message)) {
      return Failure{server.name + " refused this worker: " + Printable(refused->reason)};
    }
    if (std::holds_alternative<Unregistered>(message)) {
      server.has_left = true;
      return {};
    }
    const auto* weights = std::get_if<Weights>(&message);
    if (weights == nullptr || !server.weights_wanted || weights->step != step_ ||
        weights->values.size() != server.rows.size() * kClasses) {
      return Failure{server.name + " sent something that makes no sense here"};
    }
    std::copy(weights->values.begin(), weights->values.end(),
              weights_.begin() + static_cast<std::ptrdiff_t>(server.rows.begin * kClasses));
    last_loss_ = weights->loss;
    server.weights_wanted = false;
    return {};
  }

  std::vector<Link*> Links() const {
    std::vector<Link*> links = {membership_.link()};
    for (const Server& server : servers_) links.push_back(server.link.get());
    return links;
  }

  const ClusterSettings& settings_;
  const Options& options_;
  Membership membership_;
  Dataset dataset_;
  std::uint32_t first_epoch_;
  std::uint32_t rank_ = 0;
  std::vector<Batch> batches_;
  std::vector<Server> servers_;  // by rank
  std::uint64_t step_ = 0;
  std::vector<double> weights_ = std::vector<double>(kWeightCount);
  double last_loss_ = 0;  // of the previous step, over all workers
};

}  // namespace

Result<void> RunWorker(const ClusterSettings& settings, const Options& options) {
  const std::string self = "worker " + settings.node_id;
  // Before joining: a worker that cannot work must not occupy a rank.
  auto dataset = LoadDataset(options.data_file);
  if (!dataset) return Failure{self + ": " + dataset.error().message};
  std::uint32_t first_epoch = 1;
  if (!options.resume.empty()) {
    const auto checkpoint = LoadCheckpoint(options.resume);
    if (!checkpoint) return Failure{self + ": " + checkpoint.error().message};
    first_epoch = checkpoint->epoch + 1;
  }
  auto membership = Membership::Connect(settings);
  if (!membership) return membership.error();
  return Worker(settings, options, std::move(*membership), std::move(*dataset), first_epoch).Run();
}

}  // namespace ps_digits
