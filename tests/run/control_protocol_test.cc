// Tests requests and answers at the control socket as lines, and invalid ones that are refused.
#include "run/control/control_protocol.h"

#include <string>

#include <gtest/gtest.h>

namespace muster {
namespace {

using Ask = ControlRequest::Ask;

std::string WithoutNewline(std::string line) {
  EXPECT_TRUE(line.ends_with('\n'));
  line.pop_back();
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  return line;
}

TEST(ControlProtocol, RoundTrips) {
  const Value::Map point = {{"lr", Value(0.1)}, {"sizes", Value(Value::List{Value(1), Value("a")})}};
  for (const ControlRequest& request : {ControlRequest{Ask::kStatus, false},
                                        {Ask::kStop, false},
                                        {Ask::kStop, true},
                                        {Ask::kStop, true, true},
                                        {Ask::kWatch, false},
                                        {Ask::kDump},
                                        {Ask::kProcesses},
                                        {Ask::kOpen, false, false, 12},
                                        {Ask::kSteer, false, false, {}, 4, 20},
                                        {Ask::kSteer, false, false, {}, {}, 1},
                                        {Ask::kSteer, false, false, {}, {}, 0, {point, {{"lr", Value(1)}}}}}) {
    EXPECT_EQ(ParseControlRequest(WithoutNewline(ControlRequestLine(request))), request);
  }
  const ControlAnswer status = {
      "", true, {"3f9a", "ab12", "a\nname", 4711, "running", 12, 1, {{"server", 0, 1, 0, 0}, {"worker", 1, 2, 3, 4}}}};
  EXPECT_EQ(ParseControlAnswer(WithoutNewline(ControlAnswerLine(status))), status);
  ControlAnswer dumping = status;
  dumping.dump = 7;
  EXPECT_EQ(ParseControlAnswer(WithoutNewline(ControlAnswerLine(dumping))), dumping);
  ControlAnswer processes = status;
  processes.processes = {1'500,
                         {{"worker", 0, 7, "node-1", "running", 1, 4711, 123'456, 1'200},
                          {"worker", 1, std::nullopt, "node-1", "ended", 0, 0, 0, 5, 0},
                          {"worker", 2, 9, "node-1", "ended", 0, 0, 0, 5, std::nullopt, "SIGKILL"},
                          {"worker", 3, 10, "node-1", "ended", 0, 0, 0, 0, std::nullopt, "", "exec"}}};
  EXPECT_EQ(ParseControlAnswer(WithoutNewline(ControlAnswerLine(processes))), processes);
  ControlAnswer steered = status;
  steered.limits = {{}, 4, 68};
  EXPECT_EQ(ParseControlAnswer(WithoutNewline(ControlAnswerLine(steered))), steered);
  steered.limits = {50, {}, 68};
  EXPECT_EQ(ParseControlAnswer(WithoutNewline(ControlAnswerLine(steered))), steered);
  const ControlAnswer refused = {"no", false, {}};
  EXPECT_EQ(ParseControlAnswer(WithoutNewline(ControlAnswerLine(refused))), refused);
}

TEST(ControlProtocol, RefusesUnknownRequests) {
  const struct {
    const char* line;
    const char* why;
  } cases[] = {
      {"", "not valid JSON"},
      {"stop", "not valid JSON"},
      {"[1]", "not a JSON object"},
      {"{\"ask\":\"stop\"}", "missing member \"format\""},
      {"{\"format\":2,\"ask\":\"stop\"}", "format 2 is not supported"},
      {"{\"format\":\"1\",\"ask\":\"stop\"}", "is not supported"},
      {"{\"format\":1}", "missing member"},
      {"{\"format\":1,\"ask\":\"stp\"}", "did you mean \"stop\"?"},
      {"{\"format\":1,\"ask\":7}", "unknown request"},
      {"{\"format\":1,\"ask\":\"stop\",\"now\":1}", "wrong type"},
      {"{\"format\":1,\"ask\":\"stop\",\"force\":true}", "unknown key \"force\""},
      {"{\"format\":1,\"ask\":\"status\",\"now\":true}", "only for a stop"},
      {"{\"format\":1,\"ask\":\"dump\",\"dump\":true}", "only for a stop"},
      {"{\"format\":1,\"ask\":\"fault\",\"fault\":\"kill\"}", "required for fault"},
      {"{\"format\":1,\"ask\":\"status\",\"lasts_ms\":1}", "valid only for it"},
      {"{\"format\":1,\"ask\":\"steer\"}", "required for steer"},
      {"{\"format\":1,\"ask\":\"steer\",\"slots\":0}", "wrong type"},
      {"{\"format\":1,\"ask\":\"steer\",\"slots\":4294967297}", "wrong type"},
      {"{\"format\":1,\"ask\":\"steer\",\"add_trials\":-1}", "wrong type"},
      {"{\"format\":1,\"ask\":\"edit\"}", "required for edit"},
      {"{\"format\":1,\"ask\":\"stop\",\"edit\":\"0123456789ab\"}", "valid only for it"},
      {"{\"format\":1,\"ask\":\"stop\",\"slots\":1}", "valid only for it"},
      {"{\"format\":1,\"ask\":\"stop\",\"points\":[{\"lr\":1}]}", "valid only for it"},
      {"{\"format\":1,\"ask\":\"steer\",\"points\":[]}", "required for steer"},
      {"{\"format\":1,\"ask\":\"steer\",\"points\":[1]}", "wrong type"},
  };
  for (const auto& test : cases) {
    const auto request = ParseControlRequest(test.line);
    ASSERT_FALSE(request) << test.line;
    EXPECT_NE(request.error().find(test.why), std::string::npos) << request.error();
  }
}

TEST(ControlProtocol, NamesTheVersionsIfAnotherMusterRefuses) {
  const std::string line = ControlAnswerLine([] {
    ControlAnswer refused;
    refused.error = "unknown request \"steer\"";
    return refused;
  }());
  EXPECT_EQ(ParseControlAnswer(line.substr(0, line.size() - 1))->error, "unknown request \"steer\"");
  const auto older = ParseControlAnswer(R"({"error":"unknown request","format":1,"muster":"0.0.9","ok":false})");
  ASSERT_TRUE(older);
  EXPECT_TRUE(older->error.starts_with("unknown request (the head is muster 0.0.9, this is muster ")) << older->error;
  EXPECT_EQ(ParseControlAnswer(R"({"error":"no","format":1,"ok":false})")->error, "no");
}

TEST(ControlProtocol, SaysThatAFaultIsUnderWay) {
  for (const bool under_way : {true, false}) {
    ControlAnswer answer;
    answer.under_way = under_way;
    const std::string line = ControlAnswerLine(answer);
    EXPECT_EQ(line.find("under_way") != std::string::npos, under_way) << line;
    const auto parsed = ParseControlAnswer(line.substr(0, line.size() - 1));
    ASSERT_TRUE(parsed) << parsed.error();
    EXPECT_EQ(parsed->under_way, under_way);
    EXPECT_EQ(parsed->error, "");
  }
}

TEST(ControlProtocol, RefusesInvalidAnswers) {
  for (const char* line :
       {"", "{}", "{\"format\":1}", "{\"format\":1,\"ok\":false}", "{\"format\":1,\"ok\":true,\"already\":false}",
        "{\"format\":1,\"ok\":true,\"already\":false,\"status\":{\"run\":\"x\"}}",
        "{\"format\":1,\"ok\":true,\"already\":false,\"processes\":[],\"ran_ms\":1}",
        "{\"format\":9,\"ok\":false,\"error\":\"x\"}"}) {
    EXPECT_FALSE(ParseControlAnswer(line)) << line;
  }
}

}  // namespace
}  // namespace muster
