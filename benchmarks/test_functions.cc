#include "benchmarks/test_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace muster::benchmark {
namespace {

using std::numbers::pi;

double At(const Point& point, const std::string& name) { return point.at(name).Number(); }
double Squared(double x) { return x * x; }

std::vector<double> Coordinates(const Point& point) {
  std::vector<double> x;
  for (std::size_t i = 1; i <= point.size(); ++i) x.push_back(At(point, "x" + std::to_string(i)));
  return x;
}

double Branin(const Point& point) {
  const double x1 = At(point, "x1");
  const double x2 = At(point, "x2");
  return Squared(x2 - 5.1 / (4 * pi * pi) * x1 * x1 + 5 / pi * x1 - 6) + 10 * (1 - 1 / (8 * pi)) * std::cos(x1) + 10;
}

double Hartmann6(const Point& point) {
  constexpr std::array<double, 4> kWeights = {1, 1.2, 3, 3.2};
  constexpr double kA[4][6] = {
      {10, 3, 17, 3.5, 1.7, 8}, {.05, 10, 17, .1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, .05, 10, .1, 14}};
  constexpr double kP[4][6] = {{1312, 1696, 5569, 124, 8283, 5886},
                               {2329, 4135, 8307, 3736, 1004, 9991},
                               {2348, 1451, 3522, 2883, 3047, 6650},
                               {4047, 8828, 8732, 5743, 1091, 381}};
  const std::vector<double> x = Coordinates(point);
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    double distance = 0;
    for (std::size_t j = 0; j < 6; ++j) distance += kA[i][j] * Squared(x[j] - kP[i][j] * 1e-4);
    sum += kWeights[i] * std::exp(-distance);
  }
  return -sum;
}

double Rosenbrock(const Point& point) {
  const std::vector<double> x = Coordinates(point);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) sum += 100 * Squared(x[i + 1] - x[i] * x[i]) + Squared(1 - x[i]);
  return sum;
}

double Ackley(const Point& point) {
  const std::vector<double> x = Coordinates(point);
  const auto n = static_cast<double>(x.size());
  double squares = 0;
  double waves = 0;
  for (const double one : x) {
    squares += one * one;
    waves += std::cos(2 * pi * one);
  }
  return -20 * std::exp(-.2 * std::sqrt(squares / n)) - std::exp(waves / n) + 20 + std::numbers::e;
}

double Mixed(const Point& point) {
  struct Optimum {
    double loss, u, v, w;
  };
  constexpr std::array<Optimum, 4> kOptima = {
      {{.30, .2, .3, 3. / 6}, {0, .6, .7, 4. / 6}, {.15, .8, .2, 2. / 6}, {.60, .4, .5, 5. / 6}}};
  const Optimum& best = kOptima.at(static_cast<std::size_t>(point.at("act").AsString()->front() - 'a'));
  const double u = (std::log10(At(point, "lr")) + 5) / 4 - best.u;
  const double v = At(point, "d") - best.v;
  const double w = std::log2(At(point, "units")) / 6 - best.w;
  return best.loss + 4 * u * u + 2 * u * v + 2 * v * v + w * w;
}

double Conditional(const Point& point) {
  const double rate = std::log10(At(point, "lr"));
  if (*point.at("optimizer").AsString() == "adam") {
    return .1 + .5 * Squared(rate + 3) + 4 * Squared(At(point, "beta1") - .9) +
           .02 * Squared(std::log10(At(point, "eps")) + 8);
  }
  const double momentum = At(point, "momentum") - .9;
  return .5 * Squared(rate + 2 + 1.5 * momentum) + 3 * momentum * momentum;
}

// Of the standard normal distribution: Box and Muller, with SplitMix64.
double NormalNoise(std::uint64_t seed, std::uint64_t trial) {
  std::uint64_t state = (seed << 32U) + trial;
  const auto next = [&state] {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t x = state;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<double>((x ^ (x >> 31U)) >> 11U) * 0x1p-53;
  };
  const double one = next();
  const double two = next();
  return std::sqrt(-2 * std::log(1 - one)) * std::cos(2 * pi * two);
}

Space AxisOf(std::string name, Axis::Kind kind, double low, double high) {
  return {.kind = Space::Kind::kAxis, .axis = {.name = std::move(name), .kind = kind, .low = low, .high = high}};
}
Space ChoiceOf(std::string name, std::vector<Value> values) {
  return {.kind = Space::Kind::kAxis, .axis = {.name = std::move(name), .values = std::move(values)}};
}
Space CubeOf(int dimensions, double low, double high) {
  Space cube;
  for (int i = 1; i <= dimensions; ++i) {
    cube.parts.push_back(AxisOf("x" + std::to_string(i), Axis::Kind::kUniform, low, high));
  }
  return cube;
}
Space WhenOptimizer(const char* optimizer, std::vector<Space> axes) {
  Space when{.kind = Space::Kind::kWhen, .condition = {{"optimizer", {optimizer}}}};
  when.parts = {Space{.parts = std::move(axes)}};
  return when;
}

// The half with the third optimum.
bool IsInHalf(const Point& point) { return At(point, "x1") + 5 + At(point, "x2") > 15; }

struct Layout {
  int stages, tensor, micro_batch;
};
Layout LayoutOf(const Point& point) {
  const auto whole = [&](const std::string& name) { return static_cast<int>(At(point, name)); };
  return {whole("pipeline_stages"), whole("tensor_parallel_size"), whole("micro_batch_size")};
}
// 48 layers, 24 heads, 512 sequences a step; the last is memory.
bool IsLayout(const Layout& layout) {
  constexpr int kDevices = 64;
  const auto& [stages, tensor, micro_batch] = layout;
  if (kDevices % (stages * tensor) != 0 || 48 % stages != 0 || 24 % tensor != 0) return false;
  if (512 % (kDevices / (stages * tensor) * micro_batch) != 0) return false;
  return 96.0 / (stages * tensor) + 4.0 * micro_batch / tensor <= 20;
}
// The time of a step, by the pipeline's bubble, what tensor parallelism costs and small batches waste.
double StepTime(const Layout& layout) {
  const double micro_batches = 512.0 * layout.stages * layout.tensor / 64 / layout.micro_batch;
  return (1 + (layout.stages - 1) / micro_batches) * (1 + .08 * std::log2(layout.tensor)) *
         (1 + .3 / layout.micro_batch);
}
double LayoutLoss(const Point& point) {
  return StepTime(LayoutOf(point)) + .2 * Squared(std::log10(At(point, "learning_rate")) + 3.5);
}

}  // namespace

const std::vector<TestFunction>& TestFunctions() {
  using Kind = Axis::Kind;
  static const std::vector<TestFunction> functions = [] {
    const Space branin{.parts = {AxisOf("x1", Kind::kUniform, -5, 10), AxisOf("x2", Kind::kUniform, 0, 15)}};
    const Space mixed{.parts = {AxisOf("lr", Kind::kLogUniform, 1e-5, 1e-1), AxisOf("d", Kind::kUniform, 0, 1),
                                AxisOf("units", Kind::kIntLogUniform, 1, 64), ChoiceOf("act", {"a", "b", "c", "d"})}};
    const Space conditional{.parts = {ChoiceOf("optimizer", {"adam", "sgd"}),
                                      AxisOf("lr", Kind::kLogUniform, 1e-5, 1e-1),
                                      WhenOptimizer("adam", {AxisOf("beta1", Kind::kUniform, .5, .999),
                                                             AxisOf("eps", Kind::kLogUniform, 1e-10, 1e-3)}),
                                      WhenOptimizer("sgd", {AxisOf("momentum", Kind::kUniform, 0, .99)})}};
    constexpr double kLeastBranin = 0.39788735772973816;
    return std::vector<TestFunction>{{"Branin", branin, Branin, kLeastBranin},
                                     {"Hartmann-6", CubeOf(6, 0, 1), Hartmann6, -3.3223680114155147},
                                     {"Rosenbrock-5", CubeOf(5, -5, 10), Rosenbrock, 0},
                                     {"Ackley-10", CubeOf(10, -32.768, 32.768), Ackley, 0},
                                     {"Mixed", mixed, Mixed, 0},
                                     {"Conditional", conditional, Conditional, 0},
                                     {"Noisy Branin", branin, Branin, kLeastBranin, NormalNoise}};
  }();
  return functions;
}

const std::vector<TestFunction>& RefusingFunctions() {
  static const std::vector<TestFunction> functions = [] {
    TestFunction half = TestFunctions().front();
    half.name = "Branin, half of it refused";
    half.possible = IsInHalf;
    const std::vector<int> sizes = {1, 2, 3, 4, 6, 8, 12, 16};
    const std::vector<int> batches = {1, 2, 3, 4, 6, 8, 12};
    double least = std::numeric_limits<double>::infinity();
    for (const int stages : sizes) {
      for (const int tensor : sizes) {
        for (const int batch : batches) {
          if (IsLayout({stages, tensor, batch})) least = std::min(least, StepTime({stages, tensor, batch}));
        }
      }
    }
    const auto choice = [](const char* name, const std::vector<int>& numbers) {
      return ChoiceOf(name, std::vector<Value>(numbers.begin(), numbers.end()));
    };
    const Space layout{.parts = {choice("pipeline_stages", sizes), choice("tensor_parallel_size", sizes),
                                 choice("micro_batch_size", batches),
                                 AxisOf("learning_rate", Axis::Kind::kLogUniform, 1e-5, 1e-2)}};
    return std::vector<TestFunction>{std::move(half),
                                     {"layouts, nine of ten refused", layout, LayoutLoss, least, nullptr,
                                      [](const Point& point) { return IsLayout(LayoutOf(point)); }}};
  }();
  return functions;
}

}  // namespace muster::benchmark
