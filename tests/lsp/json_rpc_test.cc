// Tests frames and messages of JSON-RPC: every way in which bytes can be wrong, and that they take no memory.
#include "lsp/json_rpc.h"

#include <gtest/gtest.h>

#include "base/values/value_json.h"

namespace muster {
namespace {

using FrameKind = RpcFrames::Frame::Kind;

std::string Framed(const std::string& body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::optional<RpcFrames::Frame> OnlyFrameOf(const std::string& bytes) {
  RpcFrames frames;
  frames.Add(bytes);
  return frames.Next();
}

TEST(RpcFrames, ComeFromAnyPiecesOfTheStream) {
  const std::string stream = Framed("{\"a\":1}") + "Content-Type: x\r\ncontent-length:2\r\n\r\n{}" + Framed("");
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    RpcFrames frames;
    std::vector<std::string> bodies;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      frames.Add(std::string_view(stream).substr(at, piece));
      while (const auto frame = frames.Next()) {
        ASSERT_EQ(frame->kind, FrameKind::kBody);
        bodies.push_back(frame->text);
      }
    }
    EXPECT_EQ(bodies, (std::vector<std::string>{"{\"a\":1}", "{}", ""})) << piece;
  }
}

TEST(RpcFrames, AreBrokenByHeadersThatAreNone) {
  for (const std::string& bytes :
       {std::string("hello world\r\n\r\n"), std::string("Content-Length: x\r\n\r\n"),
        std::string("Content-Length: -1\r\n\r\n"), std::string("Content-Length: 99999999999999999999\r\n\r\n"),
        std::string("Content-Type: y\r\n\r\n"), std::string("Content-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        std::string("{\"jsonrpc\""), std::string("\0\1\2", 3), std::string("A") + std::string(kMaxRpcHeader, 'a')}) {
    RpcFrames frames;
    frames.Add(bytes);
    const auto frame = frames.Next();
    ASSERT_TRUE(frame) << bytes.substr(0, 40);
    EXPECT_EQ(frame->kind, FrameKind::kBroken) << bytes.substr(0, 40);
    frames.Add(Framed("{}"));
    EXPECT_FALSE(frames.Next());
  }
}

TEST(RpcFrames, OfAHugeLengthAreSkippedAndNotStored) {
  RpcFrames frames;
  frames.Add("Content-Length: " + std::to_string(kMaxRpcBody + 10) + "\r\n\r\nabc");
  const auto frame = frames.Next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->kind, FrameKind::kTooLong);
  EXPECT_FALSE(frames.Next());
  const std::string rest(kMaxRpcBody + 7, 'x');
  for (std::size_t at = 0; at < rest.size(); at += 1 << 20) frames.Add(std::string_view(rest).substr(at, 1 << 20));
  frames.Add(Framed("{}"));
  const auto next = frames.Next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->text, "{}");
}

TEST(RpcFrames, WaitForABodyThatHasNotArrived) {
  EXPECT_FALSE(OnlyFrameOf("Content-Length: 16000000\r\n\r\n{"));
  EXPECT_FALSE(OnlyFrameOf("Content-Len"));
  EXPECT_FALSE(OnlyFrameOf(""));
}

TEST(ReadRpc, TakesRequestsNotificationsAndResponses) {
  const auto request = ReadRpc(R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1}})");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->is_request);
  EXPECT_EQ(request->id, Value(7));
  EXPECT_EQ(NumberField(request->params, "a"), 1);
  const auto notification = ReadRpc(R"({"jsonrpc":"2.0","method":"m"})");
  ASSERT_TRUE(notification);
  EXPECT_FALSE(notification->is_request);
  const auto response = ReadRpc(R"({"jsonrpc":"2.0","id":"x","result":null})");
  ASSERT_TRUE(response);
  EXPECT_TRUE(response->method.empty());
}

TEST(ReadRpc, RefusesEverythingElseByItsCode) {
  const auto code = [](const std::string& body) {
    const auto message = ReadRpc(body);
    return message ? 0 : static_cast<int>(message.error().code);
  };
  EXPECT_EQ(code(""), -32700);
  EXPECT_EQ(code("{"), -32700);
  EXPECT_EQ(code("{\"a\":\"\xff\"}"), -32700);
  EXPECT_EQ(code(std::string(1'000'000, '[')), -32700);
  EXPECT_EQ(code("[]"), -32600);
  EXPECT_EQ(code("1"), -32600);
  EXPECT_EQ(code("{}"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc":"1.0","id":1,"method":"m"})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":[1],"method":"m"})"), -32600);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1,"method":2})"), -32600);
}

TEST(ReadRpc, RefusesAMessageThatWouldTakeTooMuchMemory) {
  std::string body = "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[";
  while (body.size() < kMaxRpcBody - 10) body += "0,";
  body += "0]}";
  const auto message = ReadRpc(body);
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().code, RpcCode::kParseError);
}

}  // namespace
}  // namespace muster
