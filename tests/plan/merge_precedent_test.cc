// Tests that a merge decision is reused exactly as long as merging again would yield the same result.
#include <random>

#include <gtest/gtest.h>

#include "plan/environment/environment.h"

namespace muster {
namespace {

using Layers = std::vector<EnvironmentLayer>;

std::vector<const EnvironmentLayer*> Pointers(const Layers& layers) {
  std::vector<const EnvironmentLayer*> pointers;
  for (const EnvironmentLayer& layer : layers) pointers.push_back(&layer);
  return pointers;
}

// Merges with and without the stored decision; both results must agree.
Result<MergedEnvironment> Merged(MergePrecedent& precedent, const Layers& layers, const Variables& shared = {}) {
  const auto pointers = Pointers(layers);
  auto anew = MergeEnvironment(pointers, false, shared);
  auto followed = precedent.Merge(pointers, shared);
  EXPECT_EQ(anew.has_value(), followed.has_value());
  if (anew && followed) {
    EXPECT_EQ(anew->set, followed->set);
    EXPECT_EQ(anew->absent, followed->absent);
    EXPECT_EQ(anew->unset, followed->unset);
    EXPECT_TRUE(followed->sources.empty());
  } else if (!anew && !followed) {
    EXPECT_EQ(anew.error(), followed.error());
  }
  return followed;
}

LayerVariable Given(std::string value) { return {Text(std::move(value)), {"recipe.lua", 1}, false, false}; }

TEST(MergePrecedent, HoldsForOtherValuesOfTheSameNames) {
  MergePrecedent precedent;
  const Variables shared = {{"A", "1"}, {"B", "2"}, {"R", "0"}};
  for (const char* rank : {"0", "1", "2"}) {
    const auto merged = Merged(precedent,
                               {{Layer::kJob, "", {{"A", Given("1")}, {"B", Given("lost")}}},
                                {Layer::kEach, "", {{"B", Given("2")}}},
                                {Layer::kContract, "", {{"R", Given(rank)}}}},
                               shared);
    ASSERT_TRUE(merged);
    EXPECT_EQ(merged->set, rank[0] == '0' ? Variables() : (Variables{{"R", rank}}));
  }
}

TEST(MergePrecedent, EndsWithOtherNames) {
  MergePrecedent precedent;
  for (const char* name : {"A", "A", "B", "A", "C", "C"}) {
    const auto merged =
        Merged(precedent, {{Layer::kJob, "", {{"A", Given("job")}}}, {Layer::kEach, "", {{name, Given("x")}}}});
    ASSERT_TRUE(merged);
    EXPECT_EQ(merged->set.at(name), Text("x"));
  }
}

TEST(MergePrecedent, RefusesLikeMergingAgain) {
  MergePrecedent precedent;
  const EnvironmentLayer contract = {Layer::kContract, "contract x", {{"RANK", Given("0")}}};
  EXPECT_TRUE(Merged(precedent, {{Layer::kEach, "", {{"A", Given("1")}}}, contract}));
  EXPECT_FALSE(Merged(precedent, {{Layer::kEach, "", {{"A", Given(std::string("a\0b", 3))}}}, contract}));
  EXPECT_FALSE(Merged(precedent, {{Layer::kEach, "", {{"RANK", Given("1")}}}, contract}));
  EXPECT_TRUE(Merged(precedent, {{Layer::kEach, "", {{"A", Given("2")}}}, contract}));
}

TEST(MergePrecedent, HoldsForAJoinedPathWhileItsPartsAreUnchanged) {
  MergePrecedent precedent;
  LayerVariable begin = Given("/muster");
  begin.prepend = true;
  for (const char* end : {"/a", "/a", "/b", ""}) {
    const auto merged = Merged(
        precedent, {{Layer::kRole, "", {{"PYTHONPATH", Given(end)}}}, {Layer::kMuster, "", {{"PYTHONPATH", begin}}}});
    ASSERT_TRUE(merged);
    EXPECT_EQ(merged->set.at("PYTHONPATH").marked, *end == 0 ? "/muster" : std::string("/muster:") + end);
  }
  ASSERT_TRUE(Merged(precedent, {{Layer::kRole, "", {}}, {Layer::kMuster, "", {{"PYTHONPATH", begin}}}}));
}

TEST(MergePrecedent, AgreesWithMergingAgainOnAnyLayers) {
  std::mt19937 random(7);
  const auto upto = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const std::vector<std::string> names = {"A", "B", "C", "D", "RANK", "RANK_*", "A*"};
  const std::vector<std::string> values = {"0", "1", "", "x"};
  for (int round = 0; round < 500; ++round) {
    MergePrecedent precedent;
    Layers layers = {{Layer::kDefaults, "", {}}, {Layer::kJob, "", {}},      {Layer::kRole, "", {}},
                     {Layer::kEach, "", {}},     {Layer::kContract, "", {}}, {Layer::kContract, "", {}},
                     {Layer::kMuster, "", {}}};
    Variables shared;
    for (int process = 0; process < 12; ++process) {
      for (EnvironmentLayer& layer : layers) {
        if (process > 0 && upto(3) > 0) {  // changes only values
          for (auto& [name, variable] : layer.variables) {
            if (variable.value) variable.value = values[upto(4)];
          }
          continue;
        }
        if (process > 0 && upto(4) > 0) continue;
        layer.variables.clear();
        for (unsigned i = upto(4); i > 0; --i) {
          const std::string& name = names[upto(7)];
          LayerVariable variable = Given(values[upto(4)]);
          if (name.ends_with('*') || upto(6) == 0) variable.value.reset();
          if (layer.layer == Layer::kEach && !variable.value) continue;
          variable.override = upto(4) == 0;
          variable.prepend = layer.layer == Layer::kMuster && variable.value && upto(3) == 0;
          layer.variables.insert_or_assign(name, variable);
        }
      }
      const auto merged = Merged(precedent, layers, shared);
      if (!merged) continue;
      if (process == 0) {
        shared = merged->set;
        continue;
      }
      for (const std::string& name : merged->absent) shared.erase(name);
    }
  }
}

TEST(RefilledLayer, HoldsOnlyVariablesSinceItsReset) {
  RefilledLayer refilled(Layer::kContract, "contract x");
  const std::vector<std::vector<std::string>> rounds = {{"B", "A"}, {"B", "A"}, {"B"},      {"A", "B"}, {},
                                                        {"C", "A"}, {"C", "B"}, {"C", "C"}, {"B", "C"}};
  int round = 0;
  for (const auto& names : rounds) {
    refilled.Begin();
    LayerVariables expected;
    for (const std::string& name : names) {
      refilled.TextAt(name) = std::to_string(++round);
      expected[name].value = Text(std::to_string(round));
    }
    refilled.End();
    EXPECT_EQ(refilled.layer().variables.size(), expected.size());
    for (const auto& [name, variable] : expected) EXPECT_EQ(refilled.layer().variables.at(name).value, variable.value);
  }
  EXPECT_EQ(refilled.layer().owner, "contract x");
}

}  // namespace
}  // namespace muster
