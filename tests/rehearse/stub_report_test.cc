// Tests the report line of a stub, which the head does not trust.
#include "stub/records/stub_report.h"

#include <gtest/gtest.h>

#include "stub/program/greeting.h"

namespace muster {
namespace {

StubReport Sample() {
  StubReport report;
  report.process = 3;
  report.says_rank = 2;
  report.greeted = 7;
  report.findings = {{Check::kHello, StubFinding::Outcome::kFailed, "no answer", "a firewall", {1, 4}},
                     {Check::kDisk, StubFinding::Outcome::kOk, "/tmp", "", {}}};
  report.files = {{CheckedFile::Kind::kScript, "train.py", "/home/ada/train.py", "", 120, "abc"}};
  report.clocks = {{1, -5'000'000'000, 1'000}};
  return report;
}

TEST(StubReport, RoundTripsThroughItsLine) {
  const auto read = ParseStubReport(StubReportLine(Sample()));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, Sample());
}

TEST(StubReport, IsNotParsedFromSimilarLines) {
  const std::string line = StubReportLine(Sample());
  EXPECT_FALSE(ParseStubReport("step 1 of 20"));
  EXPECT_FALSE(ParseStubReport("{}"));
  EXPECT_FALSE(ParseStubReport(line.substr(0, line.size() - 1)));
  EXPECT_FALSE(ParseStubReport(std::string(kMaxReportBytes + 1, '{')));
  EXPECT_FALSE(ParseStubReport(
      R"({"muster_stub":1,"process":-1,"greeted":0,"stopped":false,"findings":[],"files":[],"clocks":[]})"));
  EXPECT_FALSE(ParseStubReport(
      R"({"muster_stub":1,"process":0,"greeted":0,"stopped":false,"findings":{},"files":[],"clocks":[]})"));
  EXPECT_FALSE(ParseStubReport(
      R"({"muster_stub":1,"process":0,"greeted":0,"stopped":false,"findings":[{"check":"luck","outcome":"ok","peers":[]}],"files":[],"clocks":[]})"));
}

TEST(StubReport, ReplacesInvalidUtf8) {
  StubReport report = Sample();
  report.files[0].word =
      "a\xff"
      "b";
  EXPECT_TRUE(ParseStubReport(StubReportLine(report)).has_value());
}

TEST(Greetings, AreAcceptedOnlyOfTheSameRun) {
  ReceivedGreeting said;
  std::string line = GreetingLine("r1", 12, 99);
  line.pop_back();
  ASSERT_TRUE(ReadGreeting(line, "r1", said));
  EXPECT_EQ(said.process, 12U);
  EXPECT_EQ(said.wall_ns, 99U);
  EXPECT_FALSE(ReadGreeting(line, "r2", said));
  EXPECT_FALSE(ReadGreeting("GET / HTTP/1.1", "r1", said));
  EXPECT_FALSE(ReadGreeting(line + "x", "r1", said));
  EXPECT_FALSE(ReadGreeting("muster-stub 1 r1 12", "r1", said));
  EXPECT_FALSE(ReadGreeting("muster-stub 1 r1 99999999999 1", "r1", said));
}

}  // namespace
}  // namespace muster
