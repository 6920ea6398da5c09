// Tests the pure parts of ps_digits: arithmetic, rules and parsers. Starts no process and opens no socket.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "ps_digits/batches.h"
#include "ps_digits/checkpoint.h"
#include "ps_digits/cluster_settings.h"
#include "ps_digits/dataset.h"
#include "ps_digits/frame_reader.h"
#include "ps_digits/metrics.h"
#include "ps_digits/options.h"
#include "ps_digits/pulse.h"
#include "ps_digits/roster.h"
#include "ps_digits/softmax.h"
#include "ps_digits/weight_shard.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace ps_digits {
namespace {

// --- Softmax ---

Image RandomImage(std::mt19937_64& engine) {
  std::uniform_real_distribution<double> pixel(0, 1);
  Image image;
  for (double& p : image.pixels) p = pixel(engine);
  image.digit = static_cast<std::uint8_t>(engine() % kClasses);
  return image;
}

std::vector<double> RandomWeights(std::mt19937_64& engine) {
  std::normal_distribution<double> weight(0, 0.3);
  std::vector<double> weights(kWeightCount);
  for (double& w : weights) w = weight(engine);
  return weights;
}

TEST(Softmax, GradientAgreesWithNumericDifference) {
  std::mt19937_64 engine(7);
  const Image image = RandomImage(engine);
  auto weights = RandomWeights(engine);
  GradientSum sum;
  AddGradient(weights, image, sum);
  EXPECT_DOUBLE_EQ(sum.loss, Loss(weights, image));
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double weight = weights[i];
    weights[i] = weight + kStep;
    const double above = Loss(weights, image);
    weights[i] = weight - kStep;
    const double below = Loss(weights, image);
    weights[i] = weight;
    EXPECT_NEAR(sum.values[i], (above - below) / (2 * kStep), 1e-8) << "weight " << i;
  }
}

// The gradient for targets of which a share is spread over all digits is that of the mean of the losses of all digits.
TEST(Softmax, SmoothsTargetsInTheGradientAndNotInTheLoss) {
  std::mt19937_64 engine(9);
  Image image = RandomImage(engine);
  const auto weights = RandomWeights(engine);
  constexpr double kSmoothing = 0.3;
  GradientSum smoothed;
  AddGradient(weights, image, smoothed, kSmoothing);
  EXPECT_DOUBLE_EQ(smoothed.loss, Loss(weights, image));
  GradientSum own;
  AddGradient(weights, image, own);
  GradientSum all;
  for (std::uint8_t digit = 0; digit < kClasses; ++digit) {
    image.digit = digit;
    AddGradient(weights, image, all);
  }
  for (std::size_t i = 0; i < kWeightCount; ++i) {
    EXPECT_NEAR(smoothed.values[i], (1 - kSmoothing) * own.values[i] + kSmoothing / kClasses * all.values[i], 1e-12);
  }
}

TEST(Softmax, StartsWithEveryDigitEquallyLikely) {
  std::mt19937_64 engine(1);
  const std::vector<double> weights(kWeightCount);
  EXPECT_NEAR(Loss(weights, RandomImage(engine)), std::log(10.0), 1e-12);
}

TEST(Softmax, DoesNotOverflowForHugeWeights) {
  std::mt19937_64 engine(2);
  auto weights = RandomWeights(engine);
  for (double& w : weights) w *= 1e6;
  EXPECT_TRUE(std::isfinite(Loss(weights, RandomImage(engine))));
}

// --- Sharding ---

TEST(Sharding, SplitsEvenlyWithoutGapsOrOverlaps) {
  for (std::size_t total = 0; total < 80; ++total) {
    for (std::size_t shards = 1; shards < 20; ++shards) {
      std::size_t next = 0;
      for (std::size_t i = 0; i < shards; ++i) {
        const Range range = ShardRange(total, shards, i);
        EXPECT_EQ(range.begin, next);
        EXPECT_GE(range.size(), total / shards);
        EXPECT_LE(range.size(), (total + shards - 1) / shards);
        next = range.end;
      }
      EXPECT_EQ(next, total);
    }
  }
}

TEST(Batches, AssignEveryImageToOneWorkerOnceAnEpoch) {
  for (const std::uint32_t workers : {1U, 3U, 8U, 40U}) {
    const auto order = ImageOrder(1438);
    std::vector<int> seen(order.size());
    for (const Range& batch : CutBatches(order.size(), 64)) {
      for (std::uint32_t rank = 0; rank < workers; ++rank) {
        const Range slice = WorkerSlice(batch, workers, rank);
        for (std::size_t i = slice.begin; i < slice.end; ++i) ++seen[order[i]];
      }
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; })) << workers << " workers";
  }
}

TEST(Batches, AreVisitedInAnotherOrderEachEpoch) {
  auto first = BatchOrder(23, 1);
  EXPECT_EQ(first, BatchOrder(23, 1));
  EXPECT_NE(first, BatchOrder(23, 2));
  std::sort(first.begin(), first.end());
  std::vector<std::size_t> all(23);
  std::iota(all.begin(), all.end(), std::size_t{0});
  EXPECT_EQ(first, all);
}

// --- WeightShard ---

TEST(WeightShard, YieldsTheSameWeightsForAnyOrderOfWorkers) {
  std::vector<std::uint32_t> arrival = {0, 1, 2, 3};
  std::vector<double> expected;
  do {
    WeightShard shard({3, 5}, 4);
    for (const std::uint32_t rank : arrival) {
      // Numbers whose floating-point sum depends on the order.
      const std::vector<double> gradient(2 * kClasses, std::pow(10.0, 6.0 * rank) / 3);
      const auto stepped = shard.Add(rank, 0, {16, 1.0 / (rank + 3), gradient}, 0.1);
      ASSERT_TRUE(stepped);
      EXPECT_EQ(*stepped, rank == arrival.back());
    }
    if (expected.empty()) expected = shard.weights();
    EXPECT_EQ(shard.weights(), expected);
  } while (std::next_permutation(arrival.begin(), arrival.end()));
}

TEST(WeightShard, AveragesOverImagesNotOverWorkers) {
  WeightShard shard({0, 1}, 2);
  ASSERT_TRUE(shard.Add(1, 0, {1, 8, std::vector<double>(kClasses, 4.0)}, 0.5));
  ASSERT_TRUE(shard.Add(0, 0, {3, 0, std::vector<double>(kClasses, 0.0)}, 0.5));
  EXPECT_EQ(shard.step(), 1U);
  EXPECT_EQ(shard.weights(), std::vector<double>(kClasses, -0.5));
  EXPECT_EQ(shard.last_loss(), 2.0);
}

TEST(WeightShard, BeginsWithTheWeightsOfACheckpoint) {
  WeightShard shard({0, 1}, 1, std::vector<double>(kClasses, 2.0));
  ASSERT_TRUE(shard.Add(0, 0, {1, 0, std::vector<double>(kClasses, 1.0)}, 0.5));
  EXPECT_EQ(shard.weights(), std::vector<double>(kClasses, 1.5));
}

TEST(WeightShard, RefusesGradientsOfOtherSteps) {
  WeightShard shard({0, 1}, 2);
  const Contribution good{1, 0, std::vector<double>(kClasses)};
  EXPECT_EQ(shard.Add(2, 0, good, 1).error().message, "rank 2 does not exist");
  EXPECT_EQ(shard.Add(0, 1, good, 1).error().message, "a gradient for step 1 during step 0");
  EXPECT_EQ(shard.Add(0, 0, {1, 0, {1, 2}}, 1).error().message, "a gradient of 2 values, want 10");
  ASSERT_TRUE(shard.Add(0, 0, good, 1));
  EXPECT_EQ(shard.Add(0, 0, good, 1).error().message, "a second gradient for step 0");
}

// --- Ranks and the roster ---

Member At(const std::string& address, const std::string& node_id) {
  return {Role::kWorker, node_id, *Address::Parse(address)};
}

using Ranks = std::vector<std::uint32_t>;

TEST(RankAssignment, TakesNumbersAsRanks) {
  EXPECT_EQ(AssignRanks(std::vector{At("10.0.0.1", "2"), At("10.0.0.2", "0"), At("10.0.0.3", "01")}), (Ranks{2, 0, 1}));
}

TEST(RankAssignment, SortsIdsAsStringsWhenNotAllNumeric) {
  EXPECT_EQ(AssignRanks(std::vector{At("10.0.0.1", "w2"), At("10.0.0.1", "w10"), At("10.0.0.1", "0")}),
            (Ranks{2, 1, 0}));
}

TEST(RankAssignment, SortsByAddressAsANumberFirst) {
  EXPECT_EQ(AssignRanks(std::vector{At("10.0.0.10", "a"), At("10.0.0.9", "b"), At("9.255.0.1", "c")}),
            (Ranks{2, 1, 0}));
  EXPECT_EQ(AssignRanks(std::vector{At("::10", "a"), At("::9", "b"), At("10.0.0.1", "c")}), (Ranks{2, 1, 0}));
}

Roster::Application Apply(Role role, const std::string& node_id) {
  return {static_cast<std::uint8_t>(role), node_id, *Address::Parse("127.0.0.1"), 2, 1};
}

TEST(Roster, GivesEachRoleItsOwnRanks) {
  Roster roster(2, 1);
  EXPECT_TRUE(roster.Admit(Apply(Role::kWorker, "1")));
  EXPECT_TRUE(roster.Admit(Apply(Role::kServer, "server_00")));
  EXPECT_FALSE(roster.complete());
  EXPECT_EQ(roster.Progress(), "1 of 2 workers and 1 of 1 server");
  EXPECT_TRUE(roster.Admit(Apply(Role::kWorker, "0")));
  EXPECT_TRUE(roster.complete());
  EXPECT_EQ(roster.Ranks(), (Ranks{1, 0, 0}));
}

TEST(Roster, RefusesANodeIdThatAnotherRoleHolds) {
  Roster roster(2, 1);
  EXPECT_TRUE(roster.Admit(Apply(Role::kWorker, "0")));
  EXPECT_EQ(roster.Admit(Apply(Role::kServer, "0")).error().message,
            "the node id 0 is already registered by a worker at 127.0.0.1");
}

TEST(Roster, RefusesTwoSpellingsOfOneRank) {
  Roster roster(2, 1);
  EXPECT_TRUE(roster.Admit(Apply(Role::kWorker, "1")));
  EXPECT_EQ(roster.Admit(Apply(Role::kWorker, "01")).error().message,
            "rank id 01 exists: a worker at 127.0.0.1 has the node id 1");
}

TEST(Roster, RefusesRanksThatDoNotExist) {
  Roster roster(2, 1);
  EXPECT_EQ(roster.Admit(Apply(Role::kWorker, "2")).error().message,
            "its node id 2 would be its rank, but there are only 2 workers");
  EXPECT_FALSE(roster.Admit(Apply(Role::kWorker, std::string(40, '9'))));
}

TEST(Roster, RefusesSurplusNodes) {
  Roster roster(2, 1);
  EXPECT_TRUE(roster.Admit(Apply(Role::kServer, "a")));
  EXPECT_EQ(roster.Admit(Apply(Role::kServer, "b")).error().message,
            "it is extra: 1 server wanted, as many have registered");
}

TEST(Roster, RefusesUnknownRolesOtherCountsAndUnprintableIds) {
  Roster roster(2, 1);
  EXPECT_EQ(roster.Admit(Apply(Role{9}, "a")).error().message, "its role (9) is neither worker nor server");
  EXPECT_EQ(roster.Admit(Apply(Role::kScheduler, "a")).error().message, "its role (0) is neither worker nor server");
  EXPECT_FALSE(roster.Admit(Apply(Role::kWorker, "")));
  EXPECT_FALSE(roster.Admit(Apply(Role::kWorker, "a\x1b[31m")));
  EXPECT_FALSE(roster.Admit(Apply(Role::kWorker, std::string(101, 'a'))));
  auto other = Apply(Role::kWorker, "a");
  other.worker_num = 3;
  EXPECT_EQ(roster.Admit(other).error().message,
            "it was started with MS_WORKER_NUM=3 MS_SERVER_NUM=1, the scheduler with MS_WORKER_NUM=2 MS_SERVER_NUM=1");
  EXPECT_TRUE(roster.members().empty());
}

// --- Dataset ---

std::string Line(const std::string& pixel, const std::string& digit) {
  std::string line;
  for (std::size_t i = 0; i < kPixels; ++i) line += pixel + ",";
  return line + digit + "\n";
}

std::string ParseError(const std::string& text) {
  const auto dataset = ParseDataset(text, "d.csv");
  return dataset ? "" : dataset.error().message;
}

TEST(Dataset, TakesEveryFifthLineForTheTest) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += Line("16", std::to_string(i));
  const auto dataset = ParseDataset(text, "d.csv");
  ASSERT_TRUE(dataset);
  ASSERT_EQ(dataset->test.size(), 2U);
  EXPECT_EQ(dataset->test[0].digit, 4);
  EXPECT_EQ(dataset->test[1].digit, 9);
  EXPECT_EQ(dataset->training.size(), 8U);
  EXPECT_EQ(dataset->training[0].pixels[63], 1.0);
}

TEST(Dataset, NamesTheLineThatIsWrong) {
  const std::string good = Line("0", "3");
  EXPECT_EQ(ParseError(good + "1,2,3\n"), "d.csv:2: 3 fields, want 64 pixels and the digit");
  EXPECT_EQ(ParseError(good + good + "\n"), "d.csv:3: 1 fields, want 64 pixels and the digit");
  EXPECT_EQ(ParseError(good + Line("17", "3")), "d.csv:2: field 1 is \"17\", want a pixel in 0..16");
  EXPECT_EQ(ParseError(Line("", "3")), "d.csv:1: field 1 is \"\", want a pixel in 0..16");
  EXPECT_EQ(ParseError(Line("1.5", "3")), "d.csv:1: field 1 is \"1.5\", want a pixel in 0..16");
  EXPECT_EQ(ParseError(good + Line("4", "10")), "d.csv:2: the last field is \"10\", want a digit in 0..9");
  EXPECT_EQ(ParseError(good), "d.csv: 1 images, want at least 5");
  EXPECT_EQ(ParseError(""), "d.csv: 0 images, want at least 5");
}

TEST(Dataset, AcceptsLineEndsOfOtherSystemsAndAMissingLastOne) {
  std::string text;
  for (int i = 0; i < 5; ++i) text += Line("0", "1\r");
  text.pop_back();
  EXPECT_EQ(ParseError(text), "");
}

TEST(Dataset, ShippedFileMatchesItsReadme) {
  const auto dataset = LoadDataset(std::string(MUSTER_SOURCE_DIR) + "/examples/data/digits.csv");
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->training.size(), 1438U);
  EXPECT_EQ(dataset->test.size(), 359U);
}

TEST(Dataset, ReportsWhyAFileCannotBeRead) {
  EXPECT_EQ(LoadDataset("/nonexistent").error().message, "cannot read /nonexistent: No such file or directory");
  EXPECT_EQ(LoadDataset("/").error().message, "cannot read /: Is a directory");
}

// --- Messages ---

std::vector<Message> OneOfEach() {
  return {Register{2, "worker_00", 0, 4, 2},
          Topology{77, 3, {{"server_00", {*Address::Parse("10.0.0.1"), 4000}}, {"s", {*Address::Parse("::1"), 65535}}}},
          Heartbeat{},
          Refused{"no"},
          Failed{"worker 2 disconnected"},
          Unregister{},
          Unregistered{},
          Hello{77, 1, "worker_01", {0.5, 20, 64, 0xfedcba9876543210U}},
          Pull{1234567890123U},
          Weights{5, 0.25, {1.5, -0.0, 1e300}},
          Push{5, 16, 3.5, {}}};
}

std::span<const std::uint8_t> Body(const Bytes& frame) { return std::span(frame).subspan(4); }

TEST(Messages, RoundTrip) {
  const auto messages = OneOfEach();
  ASSERT_EQ(messages.size(), std::variant_size_v<Message>);
  for (const Message& message : messages) {
    const auto decoded = DecodeMessage(Body(EncodeFrame(message)));
    ASSERT_TRUE(decoded) << message.index();
    EXPECT_TRUE(*decoded == message) << message.index();
  }
}

TEST(Messages, AreRefusedWhenCutShortOrTooLong) {
  for (const Message& message : OneOfEach()) {
    Bytes frame = EncodeFrame(message);
    const auto body = Body(frame);
    for (std::size_t length = 0; length < body.size(); ++length) {
      EXPECT_FALSE(DecodeMessage(body.first(length))) << message.index() << " cut to " << length;
    }
    frame.push_back(0);
    EXPECT_FALSE(DecodeMessage(Body(frame))) << message.index();
  }
}

TEST(Messages, ClaimingTooManyBytesAreRefusedWithoutAllocating) {
  // Weights that claim four billion values, and a topology that claims as many servers.
  Bytes weights = EncodeFrame(Weights{});
  std::fill(weights.end() - 4, weights.end(), std::uint8_t{0xff});
  EXPECT_FALSE(DecodeMessage(Body(weights)));
  Bytes topology = EncodeFrame(Topology{});
  std::fill(topology.end() - 4, topology.end(), std::uint8_t{0xff});
  EXPECT_FALSE(DecodeMessage(Body(topology)));
}

TEST(Messages, OfRandomBytesAreRefusedOrRoundTrip) {
  std::mt19937_64 engine(3);
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes(engine() % 60);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine() % 4 == 0 ? engine() : engine() % 12);
    if (const auto message = DecodeMessage(bytes)) {
      // An accepted message has only one encoding. Compares bytes, since NaN is not equal to itself.
      const Bytes again = EncodeFrame(*message);
      EXPECT_TRUE(std::ranges::equal(Body(again), bytes));
    }
  }
}

TEST(Messages, AreEscapedWhenPrinted) {
  EXPECT_EQ(Printable("a\x1b[2Jb\n\x7f"), "a?[2Jb??");
  EXPECT_EQ(Printable(std::string(5000, 'x')).size(), kMaxReasonLength);
}

TEST(FrameReader, AssemblesMessagesFromSingleBytes) {
  FrameReader reader(kMaxMessageBytes);
  std::vector<Message> seen;
  for (const Message& message : OneOfEach()) {
    for (const std::uint8_t byte : EncodeFrame(message)) {
      reader.Append({&byte, 1});
      while (auto next = reader.Next()) seen.push_back(std::move(*next));
    }
  }
  EXPECT_FALSE(reader.fault());
  EXPECT_TRUE(seen == OneOfEach());
}

TEST(FrameReader, RefusesATooLongFrameByItsHeader) {
  FrameReader reader(1024);
  reader.Append(EncodeFrame(Heartbeat{}));
  const Bytes header = {0x01, 0x04, 0x00, 0x00};  // 1025
  reader.Append(header);
  EXPECT_TRUE(reader.Next());
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.fault(), "a message of 1025 bytes, at most 1024 allowed");
  reader.Append(EncodeFrame(Heartbeat{}));
  EXPECT_FALSE(reader.Next());
}

TEST(FrameReader, RefusesAnEmptyMessage) {
  FrameReader reader(1024);
  reader.Append(Bytes{0, 0, 0, 0});
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.fault(), "an empty message");
}

// --- Environment and command line ---

Environment GoodEnvironment() {
  return {{"MS_ROLE", "MS_PSERVER"},
          {"MS_WORKER_NUM", "4"},
          {"MS_SERVER_NUM", "2"},
          {"MS_SCHED_HOST", "127.0.0.1"},
          {"MS_SCHED_PORT", "20300"}};
}

std::string SettingsError(const std::string& name, const std::string& value) {
  Environment environment = GoodEnvironment();
  environment[name] = value;
  const auto settings = ReadClusterSettings(environment);
  return settings ? "" : settings.error().message;
}

TEST(ClusterSettings, AreReadFromTheEnvironment) {
  Environment environment = GoodEnvironment();
  environment["MS_NODE_ID"] = "server_01";
  environment["MS_TOPO_TIMEOUT"] = "5";
  environment["MS_NODE_TIMEOUT"] = "-1";
  const auto settings = ReadClusterSettings(environment);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->role, Role::kServer);
  EXPECT_EQ(settings->worker_num, 4U);
  EXPECT_EQ(settings->server_num, 2U);
  EXPECT_EQ(settings->scheduler.text(), "127.0.0.1:20300");
  EXPECT_EQ(settings->node_id, "server_01");
  EXPECT_EQ(settings->topology_timeout, std::chrono::seconds(5));
  EXPECT_FALSE(settings->node_timeout);
}

TEST(ClusterSettings, HaveMindSporesDefaultsAndTakeEmptyForAbsent) {
  Environment environment = GoodEnvironment();
  environment["MS_TOPO_TIMEOUT"] = "";
  environment["MS_NODE_ID"] = "";
  const auto settings = ReadClusterSettings(environment);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->topology_timeout, std::chrono::seconds(1800));
  EXPECT_EQ(settings->node_timeout, std::chrono::seconds(30));
  EXPECT_EQ(settings->node_id.size(), 36U);
  EXPECT_NE(settings->node_id, ReadClusterSettings(environment)->node_id);
}

TEST(ClusterSettings, AcceptBothNamesOfAServerAndIPv6) {
  EXPECT_EQ(SettingsError("MS_ROLE", "MS_SERVER"), "");
  EXPECT_EQ(SettingsError("MS_SCHED_HOST", "fd00::1"), "");
}

TEST(ClusterSettings, NameTheInvalidVariable) {
  EXPECT_EQ(SettingsError("MS_ROLE", "worker"),
            "MS_ROLE=worker: want MS_SCHED, MS_PSERVER (or MS_SERVER) or MS_WORKER");
  EXPECT_EQ(SettingsError("MS_ROLE", ""), "MS_ROLE is not set: want MS_SCHED, MS_PSERVER (or MS_SERVER) or MS_WORKER");
  EXPECT_EQ(SettingsError("MS_WORKER_NUM", "0"), "MS_WORKER_NUM=0: want an integer in 1..4096");
  EXPECT_EQ(SettingsError("MS_SERVER_NUM", "two"), "MS_SERVER_NUM=two: want an integer in 1..4096");
  EXPECT_EQ(SettingsError("MS_SCHED_HOST", "localhost"),
            "MS_SCHED_HOST=localhost: want an IP address literal, not a name");
  EXPECT_EQ(SettingsError("MS_SCHED_PORT", "65536"), "MS_SCHED_PORT=65536: want an integer in 1..65535");
  EXPECT_EQ(SettingsError("MS_SCHED_PORT", ""), "MS_SCHED_PORT is not set");
  EXPECT_EQ(SettingsError("MS_TOPO_TIMEOUT", "0"),
            "MS_TOPO_TIMEOUT=0: want seconds above 0, or a negative number for no limit");
  EXPECT_NE(SettingsError("MS_NODE_ID", "a\nb"), "");
}

TEST(Options, AreReadInBothSpellings) {
  const auto options = ParseOptions({"--epochs", "3", "--lr=0.25", "--batch-size", "32", "--data", "x.csv"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->epochs, 3U);
  EXPECT_EQ(options->learning_rate, 0.25);
  EXPECT_EQ(options->batch_size, 32U);
  EXPECT_EQ(options->data_file, "x.csv");
}

TEST(Options, ReportMistakes) {
  const auto error = [](std::vector<std::string> arguments) {
    const auto options = ParseOptions(arguments);
    return options ? "" : options.error().message;
  };
  EXPECT_EQ(error({"--epoch", "3"}), "unknown argument \"--epoch\" (see --help)");
  EXPECT_EQ(error({"--epochs"}), "--epochs needs a value (see --help)");
  EXPECT_EQ(error({"--epochs", "2.5"}), "--epochs 2.5: want an integer in 1..1000000");
  EXPECT_EQ(error({"--lr", "0"}), "--lr 0: want a number above 0");
  EXPECT_EQ(error({"--lr=inf"}), "--lr inf: want a number above 0");
  EXPECT_EQ(error({"--decay", "1.5"}), "--decay 1.5: want a number above 0, at most 1");
  EXPECT_EQ(error({"--l2=-1"}), "--l2 -1: want a number from 0 on");
  EXPECT_EQ(error({"--smoothing", "1"}), "--smoothing 1: want a number from 0 on, below 1");
}

// --- Checkpoints ---

TEST(Checkpoint, HasTheSameWeightsWhenItIsLoaded) {
  const muster::testing::TempDir folder;
  std::mt19937_64 engine(3);
  const Checkpoint saved{7, RandomWeights(engine)};
  ASSERT_TRUE(SaveCheckpoint(folder / "c", saved));
  ASSERT_TRUE(SaveCheckpoint(folder / "c", {8, saved.weights}));
  EXPECT_FALSE(LoadCheckpoint(folder / "c/epoch_7.json")) << "only the last one is kept";
  const auto loaded = LoadCheckpoint(folder / "c/epoch_8.json");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->epoch, 8U);
  EXPECT_EQ(loaded->weights, saved.weights);
}

TEST(Checkpoint, IsRefusedIfItIsNoCheckpoint) {
  const muster::testing::TempDir folder;
  const std::string file = folder / "x.json";
  for (const std::string text :
       {"", "{}", "[1]", "{\"epoch\": 1, \"weights\": [1, 2]}", "{\"epoch\": -1, \"weights\": 3}"}) {
    std::ofstream(file) << text;
    const auto loaded = LoadCheckpoint(file);
    ASSERT_FALSE(loaded) << text;
    EXPECT_EQ(loaded.error().message,
              file + " is not a checkpoint of ps_digits: want {\"epoch\": N, \"weights\": [650 numbers]}");
  }
}

// --- Pulse and metrics ---

TEST(Pulse, CountsHeartbeatsSoThatSuspensionIsNoTimeout) {
  const Clock::time_point start;
  Pulse pulse(std::chrono::seconds(4), start);
  EXPECT_FALSE(pulse.IsDue(start + std::chrono::milliseconds(999)));
  EXPECT_TRUE(pulse.IsDue(start + std::chrono::hours(1)));
  EXPECT_FALSE(pulse.IsDue(start + std::chrono::hours(1)));
  EXPECT_FALSE(pulse.TooLong(4));
  EXPECT_TRUE(pulse.TooLong(5));
}

TEST(Pulse, NeverFindsSilenceTooLongWithoutATimeout) {
  EXPECT_FALSE(Pulse(std::nullopt, Clock::time_point()).TooLong(1'000'000'000));
}

TEST(Metrics, AreOneObjectALine) {
  EXPECT_EQ(MetricsLine({3, 0.125, 0.95}), "{\"epoch\":3,\"loss\":0.125,\"accuracy\":0.95}\n");
}

}  // namespace
}  // namespace ps_digits
