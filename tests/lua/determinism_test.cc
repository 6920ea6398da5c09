// Tests that one recipe yields the same plan for any locale and hash order.
#include <clocale>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "plan/text/plan_text.h"
#include "support/command.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

// Uses many fractional numbers, and tables whose order could leak into the plan.
const std::string kRecipe = Recipe(R"lua(
  local words, sizes = {}, { gamma = 0.1, beta = 1 / 3, alpha = 1e-7, [3] = 2.5, [1] = 1234567.891, [true] = 0 }
  for key, value in pairs(sizes) do words[#words + 1] = tostring(key) .. "=" .. tostring(value) end
  for key, value in next, p.map do words[#words + 1] = ("%s:%s:%.3f"):format(key, value, value) end
  job:derive { rate = p.lr / 3, map = p.map }
  job:env { RATE = p.lr / 3, ["Z"] = 1.5, A = 2.5 }
  context.set_context { device_target = "Ascend", max_device_memory = muster.size(3.5e9, "GB") }
  job:workers { count = 4, command = { "x", words, ("ÄäIi"):upper(), ("ÄäIi"):lower(), tostring(tonumber("1.5")), tostring(tonumber("1,5")), ("a"):find("[[:alpha:]]") } }
)lua",
                                   "mindspore = '1.6', cluster = { devices_per_host = 4 },"
                                   "params = { lr = muster.float { 0.7 }, map = muster.map { { d = 4.25, a = 1.5, c = "
                                   "3.75, b = 2.125, ['e-f'] = 0.1 } } },");

std::string Id(const std::vector<Override>& overrides = {}) {
  const Evaluated evaluated = Evaluate({kRecipe, overrides});
  EXPECT_EQ(evaluated.problems(), Lines{});
  return evaluated.answer.plan ? PlanId(*evaluated.answer.plan) : "no plan";
}

TEST(Determinism, HoldsOverManyEvaluations) {
  const std::string id = Id();
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Id(), id);
}

class Locale {
 public:
  explicit Locale(const char* name)
      : before_(std::setlocale(LC_ALL, nullptr)), in_force_(std::setlocale(LC_ALL, name) != nullptr) {}
  Locale(const Locale&) = delete;
  Locale& operator=(const Locale&) = delete;
  ~Locale() { std::setlocale(LC_ALL, before_.c_str()); }
  bool in_force() const { return in_force_; }

 private:
  std::string before_;
  bool in_force_;
};

TEST(Determinism, HoldsInEveryLocale) {
  const std::string id = Id({Text("lr", "0.5")});
  {
    const Locale utf8("C.UTF-8");
    ASSERT_TRUE(utf8.in_force());
    EXPECT_EQ(Id({Text("lr", "0.5")}), id);
  }
  // Creates a locale with a decimal comma, since the machine may have none.
  const TempDir folder;
  const CommandResult made = RunCommand({{"localedef", "-f", "UTF-8", "-i", "de_DE", folder / "de_DE.UTF-8"}});
  if (made.exit_code != 0) GTEST_SKIP() << "localedef cannot make de_DE (install locales): " << made.err;
  ASSERT_EQ(setenv("LOCPATH", folder.path().c_str(), 1), 0);
  {
    const Locale german("de_DE.UTF-8");
    ASSERT_TRUE(german.in_force());
    ASSERT_STREQ(std::localeconv()->decimal_point, ",");
    EXPECT_EQ(Id({Text("lr", "0.5")}), id);
    EXPECT_NE(Evaluate({kRecipe, {Text("lr", "0,5")}}).problems(), Lines{}) << "a comma is no decimal point";
    EXPECT_EQ(ValueOf("0.5, 1 / 3, ('%.2f'):format(0.5), tostring(tonumber '0.5'), tostring(tonumber '0,5')"),
              "0.5\t0.3333333333333333\t0.50\t0.5\tnil");
  }
  unsetenv("LOCPATH");
}

TEST(Determinism, AlsoHoldsForTheOrderOfErrors) {
  const std::string recipe = Recipe(R"lua(
    job:env { a = true, b = true, c = true, d = true, e = true }
    job:workers { count = 1, command = { "x", p = 1, q = 2, r = 3, s = 4 }, z = 1, y = 2 })lua");
  const Lines first = Evaluate({recipe}).problems();
  EXPECT_EQ(first.size(), 5U + 4 + 2);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Evaluate({recipe}).problems(), first);
  const std::string declarations = Recipe("", R"lua(params = {
    a = muster.int { "x" }, b = muster.int { "x" }, c = muster.int { "x" }, d = muster.int { "x" }, e = muster.int { "x" } },)lua");
  const Lines reported = Evaluate({declarations}).problems();
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_EQ(reported.size(), 5U);
}

}  // namespace
}  // namespace muster::testing
