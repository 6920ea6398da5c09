// Tests what a page contains, without a browser: rows, curves, analysis, and that no text can leave its place.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/values/value_json.h"
#include "page/collect/make_page.h"
#include "page/collect/page_content.h"
#include "page/collect/sweep_page.h"
#include "page/write/page_data.h"
#include "page/write/page_html.h"
#include "page/written_sweep.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

const PageColumn& Column(const PageContent& page, const std::string& name) {
  const auto found =
      std::find_if(page.columns.begin(), page.columns.end(), [&](const auto& one) { return one.name == name; });
  EXPECT_NE(found, page.columns.end()) << name;
  return *found;
}

TEST(Page, HasTheTrialsOfASweep) {
  const testing::TempDir sweep;
  testing::WriteSweep(sweep.path(), {.trials = 40, .points = 60, .ended = false});
  const auto page = MakePage({{sweep.path(), true}});
  ASSERT_TRUE(page) << page.error().front().message;
  EXPECT_EQ(page->kind, "sweep");
  EXPECT_EQ(page->title, "layout");
  EXPECT_EQ(page->keys.size(), 40U);
  EXPECT_EQ(page->attempts.size(), 40U);
  EXPECT_EQ(Column(*page, "state").values.back(), Value("lost"));  // its head is gone
  const PageColumn& rate = Column(*page, "learning_rate");
  EXPECT_TRUE(rate.log);
  EXPECT_EQ(rate.domain, std::pair(1e-5, 1e-1));
  EXPECT_EQ(Column(*page, "optimizer").choices, (std::vector<std::string>{"adam", "sgd", "lion"}));
  EXPECT_EQ(page->metrics, std::vector<std::string>{"loss"});
  EXPECT_EQ(page->steps, "step");
  EXPECT_EQ(page->curves.size(), 40U);
  const Value& source = page->sources.at(0);
  const Value* importance = FieldOf(source, "importance");
  ASSERT_NE(importance, nullptr);
  EXPECT_EQ(TextField(ListField(*importance, "parameters").at(0), "name"), "learning_rate");
  EXPECT_EQ(TextField(*importance, "method"), "ped-anova");
  EXPECT_EQ(ListField(source, "causes").size(), 2U);
  EXPECT_EQ(NumberField(*FieldOf(source, "counts"), "waiting"), 1);
}

TEST(Page, ComparesSweepsBySpaceAndBudget) {
  const testing::TempDir one, other;
  testing::WriteSweep(one.path(), {.trials = 10, .points = 5});
  testing::WriteSweep(other.path(), {.trials = 12, .points = 5});
  const auto page = MakePage({{one.path(), true}, {other.path(), true}});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->kind, "compare");
  EXPECT_EQ(page->keys.size(), 22U);
  EXPECT_EQ(page->keys.back(), "1:11");
  EXPECT_EQ(Column(*page, "source").choices.size(), 2U);
  EXPECT_EQ(TextField(page->differences.at(0), "name"), "trials") << "what differs comes first";
  EXPECT_TRUE(TruthField(page->differences.at(0), "differ"));
  EXPECT_FALSE(TruthField(page->differences.at(1), "differ"));
}

TEST(Page, LimitsThePointsOfAllCurves) {
  PageContent page;
  for (std::uint32_t row = 0; row < 2'000; ++row) {
    AddRow(page, std::to_string(row));
    for (std::uint32_t metric = 0; metric < 10; ++metric) {
      PageCurve curve{.row = row, .metric = metric, .points = {}};
      for (int i = 0; i < 100; ++i) curve.points.Append(i, i == 37 ? 9 : 0);
      page.curves.push_back(std::move(curve));
    }
  }
  for (int metric = 0; metric < 10; ++metric) page.metrics.push_back("m" + std::to_string(metric));
  LimitCurves(page);
  std::size_t points = 0;
  for (const PageCurve& curve : page.curves) {
    points += curve.points.x.size();
    EXPECT_EQ(*std::max_element(curve.points.y.begin(), curve.points.y.end()), 9.0F);
  }
  EXPECT_LE(points, kMaxPagePoints);
  EXPECT_EQ(page.metrics.at(0), "m0");
  EXPECT_LT(page.metrics.size(), 10U);
  EXPECT_EQ(page.metrics.size() + page.metrics_left_out, 10U);
}

TEST(Page, OmitsWhatADamagedDescriptionDoesNotSay) {
  EXPECT_TRUE(SpaceAxes(Value()).empty());
  EXPECT_TRUE(SpaceAxes(Value("product")).empty());
  EXPECT_TRUE(SpaceAxes(Value(Value::Map{{"kind", "axis"}, {"name", 3}})).empty());
  Value deep = Value(Value::Map{{"kind", "axis"}, {"name", "x"}, {"axis", "uniform"}, {"low", 0}, {"high", 1}});
  for (int i = 0; i < 1'000; ++i) deep = Value(Value::Map{{"kind", "product"}, {"parts", Value(Value::List{deep})}});
  EXPECT_TRUE(SpaceAxes(deep).empty());
  const testing::TempDir sweep;
  testing::WriteSweep(sweep.path(), {.trials = 6, .points = 3});
  SweepFile file;
  file.name = "layout";
  std::ofstream(sweep / "sweep.json") << SweepFileText(file, Value("nothing"));
  const auto page = MakePage({{sweep.path(), true}});
  ASSERT_TRUE(page);
  EXPECT_FALSE(Column(*page, "learning_rate").domain);
}

TEST(Page, GivesParametersAndMetricsWithTheNamesOfFactsTheirOwn) {
  PageContent page;
  ColumnOf(page, "lr", "param");
  EXPECT_EQ(OwnName(page, "state", "param"), "param.state");
  EXPECT_EQ(OwnName(page, "lr", "metric"), "metric.lr");
  EXPECT_EQ(OwnName(page, "lr", "param"), "lr");
}

TEST(PageHtml, KeepsTextsInTheirPlace) {
  PageContent page;
  page.kind = "sweep";
  page.title = "</title><script>alert(1)</script>";
  AddRow(page, "0:0");
  Put(page, "</script><script>alert(2)</script>", "param", Value("<!--\xff</SCRIPT >"));
  page.metrics = {"</script>"};
  const std::string html = PageHtml(page);
  EXPECT_EQ(html.find("alert(1)</script>"), html.npos);
  EXPECT_EQ(html.find("<script>alert"), html.npos);
  EXPECT_EQ(html.find("<!--"), html.npos);
  EXPECT_NE(html.find("\\u003c/script>\\u003cscript>alert(2)"), html.npos);
  std::size_t ends = 0;
  for (std::size_t at = html.find("</script"); at != html.npos; at = html.find("</script", at + 1)) ++ends;
  EXPECT_EQ(ends, 3U);  // data, floats, scripts
  EXPECT_LT(html.find("<meta charset=\"utf-8\">"), 100U);
  EXPECT_NE(html.find("default-src 'none'; script-src 'sha256-"), html.npos);
  EXPECT_NE(html.find("Mike Bostock"), html.npos);  // the licence of d3
}

TEST(PageHtml, RefersToNothingOutside) {
  const std::string html = EmptyPage("t", "").html;
  for (const char* outside : {"src=\"", "href=\"", "@import", "url(", "import("})
    EXPECT_EQ(html.find(outside), html.npos) << outside;
}

// Per point 4 bytes of y, one of the number of points left out, and 3 of their mean: x follows from its step.
TEST(PageData, HasEvenStepsWithoutX) {
  PageContent page;
  AddRow(page, "0:0");
  page.metrics = {"loss"};
  std::vector<double> x, y;
  for (int i = 0; i < 3'000; ++i) {
    x.push_back(10 + 5 * i);
    y.push_back(i % 11);
  }
  page.curves.push_back({.row = 0, .metric = 0, .points = CurveOf(x, y, 200)});
  const std::size_t points = page.curves[0].points.x.size();
  const PageData even = PageDataOf(page);
  EXPECT_NE(even.json.find("[10.0,5.0]"), even.json.npos) << even.json;
  EXPECT_LE(even.floats.size(), points * 8 * 4 / 3 + 4);
  for (double& at : x) at *= at;
  page.curves[0].points = CurveOf(x, y, 200);
  EXPECT_EQ(PageDataOf(page).json.find("[100.0,"), std::string::npos);
}

TEST(Base64, FollowsTheRfc) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64("\xff\xfe"), "//4=");
}

}  // namespace
}  // namespace muster
