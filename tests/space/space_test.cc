#include "space/space.h"

#include <set>

#include <gtest/gtest.h>

#include "space/sampler.h"

namespace muster::testing {
namespace {

Space Choice(const std::string& name, std::vector<Value> values) {
  Space space;
  space.kind = Space::Kind::kAxis;
  space.axis = {name, Axis::Kind::kChoice, std::move(values)};
  return space;
}
Space LogUniform(const std::string& name, double low, double high) {
  Space space;
  space.kind = Space::Kind::kAxis;
  space.axis = {name, Axis::Kind::kLogUniform, {}, low, high};
  return space;
}
Space Of(Space::Kind kind, std::vector<Space> parts) {
  Space space;
  space.kind = kind;
  space.parts = std::move(parts);
  space.place = {"s.lua", 4};
  return space;
}
Space Product(std::vector<Space> parts) { return Of(Space::Kind::kProduct, std::move(parts)); }
Space Zip(std::vector<Space> parts) { return Of(Space::Kind::kZip, std::move(parts)); }
Space Union(std::vector<Space> parts) { return Of(Space::Kind::kUnion, std::move(parts)); }
Space Fixed(Point point) {
  Space space;
  space.kind = Space::Kind::kFixed;
  space.fixed = std::move(point);
  return space;
}
Space When(std::map<std::string, std::vector<Value>> condition, Space inside) {
  Space space = Of(Space::Kind::kWhen, {std::move(inside)});
  space.condition = std::move(condition);
  return space;
}

CompiledSpace Compiled(const Space& space) {
  auto compiled = CompiledSpace::Of(space);
  if (!compiled) throw std::runtime_error(compiled.error().at(0).message);
  return *std::move(compiled);
}
std::string ProblemOf(const Space& space) {
  const auto compiled = CompiledSpace::Of(space);
  if (compiled) return "";
  EXPECT_EQ(compiled.error().at(0).kind, "space");
  return compiled.error().at(0).message;
}
std::vector<std::string> AllOf(const CompiledSpace& space) {
  std::vector<std::string> points;
  for (std::uint64_t i = 0; i < space.size().value(); ++i) points.push_back(PointText(space.At(i)));
  return points;
}
using Lines = std::vector<std::string>;

TEST(Space, VariesTheLastAxisOfAProductFastest) {
  const auto space = Compiled(Product({Choice("a", {1, 2}), Choice("b", {"x", "y", "z"})}));
  EXPECT_EQ(AllOf(space), (Lines{"a=1, b=x", "a=1, b=y", "a=1, b=z", "a=2, b=x", "a=2, b=y", "a=2, b=z"}));
  EXPECT_EQ(space.names(), (Lines{"a", "b"}));
}

TEST(Space, AllowsAValueTwiceInAZip) {
  const auto space = Compiled(Zip({Choice("pp", {1, 2, 4}), Choice("tp", {8, 4, 4})}));
  EXPECT_EQ(AllOf(space), (Lines{"pp=1, tp=8", "pp=2, tp=4", "pp=4, tp=4"}));
}

TEST(Space, VariesPartsOfAZipTogether) {
  const auto space = Compiled(Zip({Choice("pp", {1, 2, 4}), Choice("tp", {8, 4, 2})}));
  EXPECT_EQ(AllOf(space), (Lines{"pp=1, tp=8", "pp=2, tp=4", "pp=4, tp=2"}));
  EXPECT_EQ(space.dimensions(), Lines{"pp+tp"});
}

TEST(Space, ChainsPartsOfAUnion) {
  const auto space = Compiled(Product({Choice("a", {1, 2}), Union({Fixed({{"hosts", 2}}), Choice("hosts", {4, 8})})}));
  EXPECT_EQ(AllOf(space),
            (Lines{"a=1, hosts=2", "a=1, hosts=4", "a=1, hosts=8", "a=2, hosts=2", "a=2, hosts=4", "a=2, hosts=8"}));
}

TEST(Space, HasConditionalNamesOnlyWhereTheConditionHolds) {
  const auto space = Compiled(Product({Choice("n", {1, 2}), Choice("optimizer", {"adam", "sgd", "lamb"}),
                                       When({{"optimizer", {"adam", "lamb"}}}, Choice("beta", {0.8, 0.9})),
                                       When({{"optimizer", {"sgd"}}}, Choice("momentum", {0.1, 0.2, 0.3}))}));
  EXPECT_EQ(space.size(), 2U * (2 + 3 + 2));
  const Lines points = AllOf(space);
  EXPECT_EQ(points[0], "beta=0.8, n=1, optimizer=adam");
  EXPECT_EQ(points[4], "momentum=0.1, n=1, optimizer=sgd");
  EXPECT_EQ(std::set<std::string>(points.begin(), points.end()).size(), points.size());
}

// Every index must yield a different point.
TEST(Space, CountsExactlyThePointsThatItHas) {
  const auto space = Compiled(Product(
      {Union({Zip({Choice("a", {1, 2}), Choice("b", {3, 4})}), Product({Choice("a", {5, 6}), Choice("b", {7, 8, 9})})}),
       Choice("c", {true, false}), When({{"a", {1, 6}}, {"c", {true}}}, Choice("d", {1, 2, 3}))}));
  // (a, b) has 8 points, with c 16; 1 + 3 of these have three values of d instead of none.
  EXPECT_EQ(space.size(), 16U - 4 + 4 * 3);
  const Lines points = AllOf(space);
  EXPECT_EQ(std::set<std::string>(points.begin(), points.end()).size(), points.size());
}

TEST(Space, OfHugeSizeIsNotEnumerated) {
  std::vector<Space> axes;
  for (int i = 0; i < 8; ++i) {
    Space axis;
    axis.kind = Space::Kind::kAxis;
    axis.axis = {"a" + std::to_string(i), Axis::Kind::kRange, {}, 0, 63, 1, true};
    axes.push_back(axis);
  }
  const auto space = Compiled(Product(axes));
  EXPECT_EQ(space.size(), std::uint64_t{1} << 48U);
  EXPECT_EQ(PointText(space.At((std::uint64_t{1} << 48U) - 1)),
            "a0=63, a1=63, a2=63, a3=63, a4=63, a5=63, a6=63, a7=63");
  EXPECT_EQ(PointText(space.At(64)), "a0=0, a1=0, a2=0, a3=0, a4=0, a5=0, a6=1, a7=0");
  axes.push_back(axes.front());
  axes.back().axis.name = "a8";
  EXPECT_EQ(ProblemOf(Product(axes)), "there are more than 2^53 points");
}

TEST(Space, LeavesContinuousAxesToDraws) {
  const auto space = Compiled(Product(
      {LogUniform("lr", 1e-5, 1e-3), Choice("n", {1, 2, 4}), Zip({Choice("pp", {1, 2}), Choice("tp", {8, 4})})}));
  EXPECT_FALSE(space.size());
  EXPECT_EQ(space.discrete_size(), 6U);
  EXPECT_EQ(PointText(space.DiscreteAt(5)), "n=4, pp=2, tp=4");
  EXPECT_EQ(space.dimensions(), (Lines{"lr", "n", "pp+tp"}));
  Point drawn = space.From([](const std::string&) { return 0.5; });
  EXPECT_NEAR(*drawn.at("lr").AsDouble(), 1e-4, 1e-12);
  drawn.erase("lr");
  EXPECT_EQ(PointText(drawn), "n=2, pp=2, tp=4");
}

TEST(Space, DrawsEachAxisIndependentlyOfTheOthers) {
  const auto small = Compiled(Product({LogUniform("lr", 1e-5, 1e-3)}));
  const auto large = Compiled(Product({Choice("n", {1, 2, 4}), LogUniform("lr", 1e-5, 1e-3), Choice("m", {1, 2})}));
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    const auto coordinate = [trial](const std::string& dimension) { return Draw(7, trial, dimension); };
    EXPECT_EQ(small.From(coordinate).at("lr"), large.From(coordinate).at("lr"));
  }
}

// How often each key of the first name of the points occurs, over evenly spread coordinates of the choice `dimension`.
std::map<std::string, int> SharesOver(const CompiledSpace& space, const std::string& dimension, int steps) {
  std::map<std::string, int> shares;
  for (int i = 0; i < steps; ++i) {
    const Point point =
        space.From([&](const std::string& asked) { return asked == dimension ? (i + 0.5) / steps : 0; });
    ++shares[point.begin()->first];
  }
  return shares;
}

TEST(Space, DrawsPartsOfAUnionByTheirWeights) {
  using Shares = std::map<std::string, int>;
  Space space = Union({Choice("a", {1}), Choice("b", {1, 2, 3}), LogUniform("c", 1, 2)});
  EXPECT_EQ(SharesOver(Compiled(space), "a|b|c", 100), (Shares{{"a", 20}, {"b", 60}, {"c", 20}})) << "by points";
  WeighEvenly(space);
  EXPECT_EQ(SharesOver(Compiled(space), "a|b|c", 99), (Shares{{"a", 33}, {"b", 33}, {"c", 33}}));
  space.weights = {3, 1, 0.5};
  EXPECT_EQ(SharesOver(Compiled(space), "a|b|c", 90), (Shares{{"a", 60}, {"b", 20}, {"c", 10}}));
}

// Prevents: users read "k|opt|y", which is the name of a coordinate.
TEST(Space, NamesTheChoiceOfAPartAsUsersDo) {
  const auto label = [](const Space& space) {
    const auto compiled = Compiled(space);
    return compiled.LabelOf(compiled.dimensions().front());
  };
  const auto fixed = [](const Point& point) {
    Space space;
    space.kind = Space::Kind::kFixed;
    space.fixed = point;
    return space;
  };
  const Space adam = Product({fixed({{"opt", Value("adam")}}), Choice("k", {1, 2})});
  const Space sgd = Product({fixed({{"opt", Value("sgd")}}), LogUniform("y", 1, 2)});
  EXPECT_EQ(label(Union({adam, sgd})), "opt");
  EXPECT_EQ(label(Union({fixed({{"a", Value(1)}, {"b", Value(1)}}), fixed({{"a", Value(2)}, {"b", Value(2)}})})),
            "a+b");
  EXPECT_EQ(label(Union({Choice("a", {1, 2}), Choice("a", {3, 4})})), "part of the union by a");
  EXPECT_EQ(label(Union({Product({Choice("a", {1}), Choice("b", {2})}), Choice("c", {3})})), "a+b or c");
  EXPECT_EQ(label(Union({LogUniform("x", 1, 2), LogUniform("x", 2, 4)})), "part of the union of x");
  EXPECT_EQ(label(Product({Choice("lr", {1, 2})})), "lr");
}

TEST(Space, WeighsUnionsEvenlyUnlessTheyHaveWeights) {
  Space space = Product({Union({Choice("a", {1}), Union({Choice("b", {1}), Choice("c", {2}), Choice("d", {2})})})});
  space.parts.at(0).parts.at(1).weights = {1, 2, 3};
  WeighEvenly(space);
  EXPECT_EQ(space.parts.at(0).weights, (std::vector<double>{1, 1}));
  EXPECT_EQ(space.parts.at(0).parts.at(1).weights, (std::vector<double>{1, 2, 3}));
  ForgetEvenWeights(space);
  EXPECT_EQ(space.parts.at(0).weights, std::vector<double>{});
  EXPECT_EQ(space.parts.at(0).parts.at(1).weights, (std::vector<double>{1, 2, 3}));
}

TEST(Space, ReportsConditionsThatNeverHold) {
  const auto when = [](std::map<std::string, std::vector<Value>> condition, Space part) {
    Space space = Of(Space::Kind::kWhen, {std::move(part)});
    space.condition = std::move(condition);
    return space;
  };
  const Space opt = Choice("opt", {"adam", "sgd"});
  const Space never = Product({opt, when({{"opt", {"adamw", "sgd"}}}, Choice("k", {1, 2}))});
  ASSERT_EQ(WarnOfConditions(never).size(), 1U);
  const Diagnostic warning = WarnOfConditions(never).front();
  EXPECT_EQ(warning.message, "when: opt is never \"adamw\": its values are {\"adam\", \"sgd\"}");
  EXPECT_EQ(warning.hint, "did you mean \"adam\"?");
  EXPECT_EQ(warning.place, (Place{"s.lua", 4}));
  EXPECT_TRUE(WarnOfConditions(Product({opt, when({{"opt", {"sgd"}}}, Choice("k", {1, 2}))})).empty());
  EXPECT_TRUE(WarnOfConditions(Product({Choice("n", {1.0, 2.0}), when({{"n", {2}}}, Choice("k", {1, 2}))})).empty());
  EXPECT_EQ(Compiled(Product({Choice("n", {1.0, 2.0}), when({{"n", {2}}}, Choice("k", {1, 2}))})).size(), 3U)
      << "2 is 2.0";
}

// The choice of a part has its own coordinate, even if a part has the same names, or only one.
TEST(Space, ChoosesPartsOfAUnionIndependentlyOfTheirValues) {
  Space space = Union({LogUniform("x", 1, 2), Union({LogUniform("x", 2, 4), LogUniform("x", 4, 8)})});
  WeighEvenly(space);
  const auto compiled = Compiled(space);
  EXPECT_EQ(compiled.dimensions(), (Lines{"x||", "x", "x|"}));
  const auto x = [&](double outer, double inner, double value) {
    return *compiled
                .From([&](const std::string& dimension) {
                  return dimension == "x||" ? outer : dimension == "x|" ? inner : value;
                })
                .at("x")
                .AsDouble();
  };
  EXPECT_NEAR(x(0.1, 0.9, 0.999999), 2, 1e-4);
  EXPECT_NEAR(x(0.9, 0.1, 0), 2, 1e-9);
  EXPECT_NEAR(x(0.9, 0.9, 0), 4, 1e-9);
}

TEST(Space, LocatesThePointsThatItDraws) {
  const Space description =
      Product({Choice("optimizer", {"adam", "sgd"}), LogUniform("lr", 1e-5, 1e-1),
               When({{"optimizer", {"adam"}}}, LogUniform("eps", 1e-9, 1)),
               Zip({Choice("a", {1, 2, 1}), Choice("b", {4, 4, 5})}),
               Union({Product({Fixed({{"kind", "x"}}), LogUniform("x", 1, 2)}),
                      Product({Fixed({{"kind", "y"}}), LogUniform("x", 2, 3)}), Choice("n", {1, 2, 4})})});
  const auto space = CompiledSpace::Of(description);
  ASSERT_TRUE(space);
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    std::map<std::string, double> asked;
    const Point point = space->From(
        [&](const std::string& dimension) { return asked.emplace(dimension, Draw(1, draw, dimension)).first->second; });
    const auto spans = space->Locate(point);
    ASSERT_TRUE(spans) << PointText(point);
    EXPECT_EQ(spans->size(), asked.size()) << PointText(point);
    for (const auto& [dimension, u] : asked) {
      EXPECT_GE(u, spans->at(dimension).low - 1e-5) << dimension;  // numbers have six digits
      EXPECT_LE(u, spans->at(dimension).high + 1e-5) << dimension;
    }
    EXPECT_EQ(space->From([&](const std::string& dimension) {
      return (spans->at(dimension).low + spans->at(dimension).high) / 2;
    }),
              point);
  }
  EXPECT_FALSE(space->Locate({{"optimizer", "adam"}}));
  const auto numbers =
      CompiledSpace::Of(Product({Choice("n", {1, 2, 4}), Choice("m", {2, 1, 4}), LogUniform("lr", 1, 10)}));
  const auto spans = numbers->Locate({{"n", 2.0}, {"m", 4}, {"lr", 10}});
  EXPECT_EQ(spans->at("n"), (Span{1. / 3, 2. / 3, true}));
  EXPECT_EQ(spans->at("m"), (Span{2. / 3, 1, false}));
  EXPECT_EQ(spans->at("lr"), (Span{1, 1, true}));
  EXPECT_FALSE(numbers->Locate({{"n", 3}, {"m", 4}, {"lr", 2}})) << "another value";
  EXPECT_FALSE(numbers->Locate({{"n", 2}, {"m", 4}, {"lr", 2}, {"x", 1}})) << "another name";
}

TEST(Space, RefusesMistakesAndNamesThem) {
  const auto weighted = [](std::vector<double> weights) {
    Space space = Union({Choice("a", {1}), Choice("a", {2})});
    space.weights = std::move(weights);
    return space;
  };
  EXPECT_EQ(ProblemOf(weighted({1, 2, 3})), "union: there are 3 weights for 2 spaces");
  EXPECT_EQ(ProblemOf(weighted({1, 0})), "union: a weight must be a number above 0, got 0");
  EXPECT_EQ(ProblemOf(weighted({1, -2})), "union: a weight must be a number above 0, got -2");
  EXPECT_EQ(ProblemOf(weighted({1, 1e300})), "union: a weight must be a number from 1e-9 to 1e9, got 1e+300");
  EXPECT_EQ(ProblemOf(Product({Choice("a", {1}), Choice("a", {2})})), "a is given twice");
  EXPECT_EQ(ProblemOf(Zip({Choice("a", {1, 2}), Choice("b", {1, 2, 3})})), "zip: a has 2 values, and b has 3");
  EXPECT_EQ(ProblemOf(Zip({Choice("a", {1, 2}), LogUniform("lr", 1, 2)})), "zip: lr has no values to count");
  EXPECT_EQ(ProblemOf(Zip({})), "zip has no parts");
  EXPECT_EQ(ProblemOf(Union({})), "union has no parts");
  EXPECT_EQ(ProblemOf(When({{"a", {1}}}, Choice("b", {1}))), "when stands outside a product");
  EXPECT_EQ(ProblemOf(Product({Choice("a", {1}), When({{"aa", {1}}}, Choice("b", {1}))})),
            "when: aa is not an axis of the product in which it stands");
  EXPECT_EQ(ProblemOf(Product({LogUniform("lr", 1, 2), When({{"lr", {1}}}, Choice("b", {1}))})),
            "when depends on an axis that has no values to count: lr");
  Space deep = Choice("a", {1});
  for (int i = 0; i < 100; ++i) deep = Product({deep});
  EXPECT_EQ(ProblemOf(deep), "spaces are nested too deeply");
}

TEST(PointId, DependsOnNamesAndValuesAlone) {
  EXPECT_EQ(PointId({{"lr", 0.1}, {"n", 4}}).size(), 16U);
  EXPECT_EQ(PointId({{"lr", -0.0}}), PointId({{"lr", 0.0}}));
  EXPECT_NE(PointId({{"lr", 1}}), PointId({{"lr", "1"}}));
  EXPECT_NE(PointId({{"a", 1}}), PointId({{"b", 1}}));
  // Trial folders have this name, so it must be stable across releases. SHA-256 of "{lr = 0.1, n = 4}".
  EXPECT_EQ(PointId({{"lr", 0.1}, {"n", 4}}), "98f86259a074bb76");
}

}  // namespace
}  // namespace muster::testing
