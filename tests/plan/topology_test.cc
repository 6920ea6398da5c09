// Tests exact division, stages and meshes.
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "plan/hosts/placement.h"

namespace muster {
namespace {

const Place kHere{"recipe.lua", 12};

TEST(ExactQuotient, DividesEvenly) {
  EXPECT_EQ(*ExactQuotient({"devices", 64}, {{"pp", 4}, {"tp", 2}}, kHere), 8);
  EXPECT_EQ(*ExactQuotient({"devices", 7}, {}, kHere), 7);
  EXPECT_EQ(*ExactQuotient({"layers", std::numeric_limits<std::int64_t>::max()},
                           {{"all", std::numeric_limits<std::int64_t>::max()}}, kHere),
            1);
}

TEST(ExactQuotient, NamesAllNumbersIfARemainderIsLeft) {
  const auto quotient = ExactQuotient({"devices", 30}, {{"pipeline_stages", 4}, {"tensor_parallel_size", 2}}, kHere);
  ASSERT_FALSE(quotient);
  const Diagnostic& diagnostic = quotient.error().front();
  EXPECT_EQ(diagnostic.kind, "division");
  EXPECT_EQ(diagnostic.place, kHere);
  EXPECT_EQ(diagnostic.message, "devices = 30 can not be divided by pipeline_stages 4 × tensor_parallel_size 2 = 8");
  EXPECT_EQ(diagnostic.hint, "devices could be 24 or 32");
  EXPECT_EQ(ExactQuotient({"layers", 2}, {{"stages", 4}}, kHere).error().front().hint, "layers must be at least 4");
}

TEST(ExactQuotient, RefusesNonPositiveAndTooLargeNumbers) {
  EXPECT_EQ(ExactQuotient({"devices", 0}, {{"pp", 1}}, kHere).error().front().kind, "range");
  EXPECT_EQ(ExactQuotient({"devices", 8}, {{"pp", 0}}, kHere).error().front().kind, "range");
  EXPECT_EQ(ExactQuotient({"devices", 8}, {{"pp", -2}}, kHere).error().front().kind, "range");
  const std::int64_t large = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_EQ(ExactQuotient({"devices", 8}, {{"a", large}, {"b", 3}}, kHere).error().front().kind, "range");
  EXPECT_EQ(
      ExactQuotient({"devices", std::numeric_limits<std::int64_t>::max()}, {{"a", 2}}, kHere).error().front().kind,
      "division");
}

TEST(Stages, AreBlocksOfConsecutiveRanks) {
  EXPECT_EQ(StageOf(0, 8, 4), (StagePosition{0, 0}));
  EXPECT_EQ(StageOf(1, 8, 4), (StagePosition{0, 1}));
  EXPECT_EQ(StageOf(2, 8, 4), (StagePosition{1, 0}));
  EXPECT_EQ(StageOf(7, 8, 4), (StagePosition{3, 1}));
  EXPECT_EQ(StageOf(5, 8, 1), (StagePosition{0, 5}));
  EXPECT_EQ(StageOf(5, 8, 8), (StagePosition{5, 0}));
}

TEST(Stages, HoldEveryRankOnceAndEquallyMany) {
  for (std::uint32_t stages = 1; stages <= 24; ++stages) {
    for (std::uint32_t size = 1; size <= 12; ++size) {
      const std::uint32_t world = stages * size;
      std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
      for (std::uint32_t rank = 0; rank < world; ++rank) {
        const StagePosition position = StageOf(rank, world, stages);
        EXPECT_LT(position.stage, stages);
        EXPECT_LT(position.rank_in_stage, size);
        EXPECT_EQ(position.stage * size + position.rank_in_stage, rank);
        EXPECT_TRUE(seen.insert({position.stage, position.rank_in_stage}).second);
      }
      EXPECT_EQ(seen.size(), world);
    }
  }
}

TEST(Mesh, VariesItsLastAxisFastest) {
  const auto mesh = Mesh::Make({{"pp", 4}, {"dp", 2}, {"tp", 8}}, kHere);
  ASSERT_TRUE(mesh);
  EXPECT_EQ(mesh->size(), 64U);
  EXPECT_EQ(*mesh->Coords(0, kHere), (std::vector<std::uint32_t>{0, 0, 0}));
  EXPECT_EQ(*mesh->Coords(1, kHere), (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(*mesh->Coords(8, kHere), (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(*mesh->Coords(16, kHere), (std::vector<std::uint32_t>{1, 0, 0}));
  EXPECT_EQ(*mesh->Rank({3, 1, 7}, kHere), 63U);
}

TEST(Mesh, MapsRanksAndCoordinatesOneToOne) {
  std::mt19937 random(20260101);
  for (int round = 0; round < 50; ++round) {
    std::vector<MeshAxis> axes;
    const auto count = 1 + random() % 4;
    for (std::size_t i = 0; i < count; ++i)
      axes.push_back({std::string(1, static_cast<char>('a' + i)), static_cast<std::uint32_t>(1 + random() % 6)});
    const auto mesh = Mesh::Make(axes, kHere);
    ASSERT_TRUE(mesh);
    std::set<std::vector<std::uint32_t>> seen;
    for (std::uint32_t rank = 0; rank < mesh->size(); ++rank) {
      const auto coords = mesh->Coords(rank, kHere);
      ASSERT_TRUE(coords);
      EXPECT_EQ(*mesh->Rank(*coords, kHere), rank);
      EXPECT_TRUE(seen.insert(*coords).second);
    }
  }
}

TEST(Mesh, AgreesWithStagesOnItsFirstAxis) {
  const auto mesh = Mesh::Make({{"pp", 4}, {"dp", 3}, {"tp", 2}}, kHere);
  for (std::uint32_t rank = 0; rank < 24; ++rank)
    EXPECT_EQ((*mesh->Coords(rank, kHere))[0], StageOf(rank, 24, 4).stage);
}

TEST(Mesh, RefusesInvalidShapes) {
  EXPECT_FALSE(Mesh::Make({}, kHere));
  EXPECT_FALSE(Mesh::Make({{"", 2}}, kHere));
  EXPECT_FALSE(Mesh::Make({{"pp", 0}}, kHere));
  EXPECT_FALSE(Mesh::Make({{"pp", 2}, {"pp", 2}}, kHere));
  EXPECT_FALSE(Mesh::Make({{"a", 65536}, {"b", 65536}}, kHere));
  EXPECT_FALSE(Mesh::Make({{"a", 4294967295U}, {"b", 4294967295U}, {"c", 4294967295U}}, kHere));
  EXPECT_TRUE(Mesh::Make({{"a", 4294967295U}}, kHere));
}

TEST(Mesh, RefusesRanksAndCoordinatesOutsideOfIt) {
  const auto mesh = Mesh::Make({{"pp", 2}, {"tp", 3}}, kHere);
  EXPECT_EQ(mesh->Coords(6, kHere).error().front().kind, "range");
  EXPECT_EQ(mesh->Rank({0, 3}, kHere).error().front().kind, "range");
  EXPECT_EQ(mesh->Rank({0}, kHere).error().front().kind, "range");
}

}  // namespace
}  // namespace muster
