// Tests the names that the server answers to, and the requests in bodies.
#include "serve/site/site_path.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

using Subject = SitePath::Subject;
using What = PageRequest::What;

TEST(SitePath, NamesPagesDataAndRequests) {
  EXPECT_EQ(ParseSitePath(""), SitePath{});
  EXPECT_EQ(ParseSitePath("events"), (SitePath{Subject::kIndex, "", 0, "events"}));
  EXPECT_EQ(ParseSitePath("run/3f9a1c2b4d5e"), (SitePath{Subject::kRun, "3f9a1c2b4d5e", 0, ""}));
  EXPECT_EQ(ParseSitePath("sweep/bc44/steer"), (SitePath{Subject::kSweep, "bc44", 0, "steer"}));
  EXPECT_EQ(ParseSitePath("sweep/bc44/trial/12"), (SitePath{Subject::kTrial, "bc44", 12, ""}));
  EXPECT_EQ(ParseSitePath("sweep/bc44/trial/12/stop"), (SitePath{Subject::kTrial, "bc44", 12, "stop"}));
}

TEST(SitePath, NamesNothingElse) {
  for (const char* path : {"..",
                           "../x",
                           "run",
                           "run/",
                           "run/..",
                           "run/../..",
                           "run/x.y",
                           "run/ABC",
                           "run/a/b/c",
                           "run/a/",
                           "run//stop",
                           "sweep/a/trial/",
                           "sweep/a/trial/-1",
                           "sweep/a/trial/x",
                           "sweep/a/trial/1/",
                           "sweep/a/trial/1/a/b",
                           "sweep/a/trial/18446744073709551616",
                           "run/a/trial/1",
                           "run/a/St",
                           "etc/passwd",
                           "a/b/c/d/e/f/g/h",
                           "/",
                           "a.b"}) {
    EXPECT_FALSE(ParseSitePath(path)) << path;
  }
}

TEST(PageRequest, IsReadFromAnObject) {
  std::string problem;
  EXPECT_EQ(ParsePageRequest("stop", "{}", problem), (PageRequest{}));
  EXPECT_EQ(ParsePageRequest("stop", R"({"now": true, "dump": true})", problem),
            (PageRequest{.what = What::kStop, .now = true, .dump = true}));
  EXPECT_EQ(ParsePageRequest("dump", "{}", problem), (PageRequest{.what = What::kDump}));
  EXPECT_EQ(ParsePageRequest("tag", R"({"tag": "good-"})", problem), (PageRequest{.what = What::kTag, .tag = "good-"}));
  EXPECT_EQ(ParsePageRequest("note", R"({"text": ""})", problem), (PageRequest{.what = What::kNote, .note = ""}));
  EXPECT_EQ(ParsePageRequest("steer", R"({"slots": 4, "add_trials": 20})", problem),
            (PageRequest{.what = What::kSteer, .slots = 4, .add_trials = 20}));
}

TEST(PageRequest, RefusesEverythingElse) {
  const struct {
    const char* what;
    const char* body;
    const char* why;
  } cases[] = {
      {"stop", "", "not a JSON object"},
      {"stop", "[]", "not a JSON object"},
      {"stop", R"({"now": 1})", "now takes true or false, got 1"},
      {"stop", R"({"slots": 1})", "unknown key \"slots\""},
      {"dump", R"({"now": true})", "unknown key \"now\""},
      {"tag", "{}", "missing member \"tag\""},
      {"note", "{}", "missing member \"text\""},
      {"steer", "{}", "missing member \"slots\""},
      {"steer", R"({"slots": 0})", "slots takes a whole number from 1 to 1000000, got 0"},
      {"steer", R"({"slots": 1000001})", "slots takes a whole number from 1 to 1000000, got 1000001"},
      {"steer", R"({"slots": 2.5})", "slots takes a whole number from 1 to 1000000, got 2.5"},
      {"steer", R"({"slots": null})", "slots takes a whole number from 1 to 1000000, got "},
      {"steer", R"({"slots": "four"})", "slots takes a whole number from 1 to 1000000, got \"four\""},
      {"steer", R"({"add_trials": -5})", "add_trials takes a whole number from 1 on, got -5"},
      {"tag", R"({"tag": 7})", "tag takes a text, got 7"},
      {"note", R"({"text": ["a"]})", "text takes a text, got "},
      {"resume", R"({"slots": 1})", "unknown key \"slots\""},
  };
  for (const auto& test : cases) {
    std::string problem;
    EXPECT_FALSE(ParsePageRequest(test.what, test.body, problem)) << test.body;
    EXPECT_NE(problem.find(test.why), std::string::npos) << problem;
  }
  std::string problem;
  EXPECT_FALSE(ParsePageRequest("events", "{}", problem));
  EXPECT_EQ(problem, "") << "there is no such request";
}

}  // namespace
}  // namespace muster
