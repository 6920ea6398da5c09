// Tests the points of curves that pages get while a process reports.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "serve/live/event_hub.h"

namespace muster {
namespace {

MetricValues Report(std::int64_t step, double loss) { return {{"step", Value(step)}, {"loss", Value(loss)}}; }

TEST(LiveCurves, HaveTheStepAsTheirPlace) {
  LiveCurves curves;
  curves.Add(Report(10, 0.5));
  curves.Add({{"loss", Value(0.25)}});  // at the step before
  curves.Add({{"step", Value(std::int64_t{20})}, {"loss", Value(Null())}, {"note", Value("x")}});
  curves.Add(Report(30, 0.125));
  ASSERT_EQ(curves.curves().size(), 1U);
  const LiveCurve& loss = curves.curves().at("loss");
  EXPECT_EQ(loss.x, (std::vector<double>{10, 10, 30}));
  EXPECT_EQ(loss.y, (std::vector<double>{0.5, 0.25, 0.125}));
  EXPECT_EQ(loss.points, 3U);
}

TEST(LiveCurves, CountReportsWithoutAStep) {
  LiveCurves curves;
  for (const double loss : {3.0, 2.0, 1.0}) curves.Add({{"loss", Value(loss)}});
  EXPECT_EQ(curves.curves().at("loss").x, (std::vector<double>{1, 2, 3}));
}

TEST(LiveCurves, UseTheMetricOfEarlyStopping) {
  LiveCurves curves("tokens");
  curves.Add({{"step", Value(std::int64_t{1})}, {"tokens", Value(std::int64_t{4096})}, {"loss", Value(2.0)}});
  EXPECT_EQ(curves.curves().at("loss").x, std::vector<double>{4096});
}

TEST(LiveCurve, SendsAllPointsAgainOnceSomeAreLeftOut) {
  LiveCurve curve;
  for (std::size_t i = 0; i < LiveCurve::kMaxPoints; ++i) curve.Add(static_cast<double>(i), 0);
  EXPECT_TRUE(curve.News("0:worker.0", "loss").contains("replace")) << "the first points";
  curve.MarkSent(2);
  EXPECT_FALSE(curve.has_news());
  curve.Add(1e6, 1);
  EXPECT_TRUE(curve.has_news());
  EXPECT_TRUE(curve.replaced) << "pages have points that are gone";
  EXPECT_EQ(curve.Sent("0:worker.0", "loss")["x"].size(), curve.x.size()) << "for a page that is opened now";
  const nlohmann::json news = curve.News("0:worker.0", "loss");
  EXPECT_TRUE(news.contains("replace"));
  EXPECT_EQ(news["total"], LiveCurve::kMaxPoints + 1);
  EXPECT_EQ(news["x"].size(), curve.x.size());
  EXPECT_EQ(news["left_out"].size(), curve.x.size());
  curve.MarkSent(3);
  curve.Add(1e6 + 1, 1);
  EXPECT_EQ(curve.News("0:worker.0", "loss")["x"], nlohmann::json({1e6 + 1}));
}

}  // namespace
}  // namespace muster
