// JSON-RPC over a byte stream: splits it into frames with a Content-Length, reads a frame as a message within bounds
// of size and depth, and writes messages. Trusts no byte; performs no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "muster/value.h"

namespace muster {

constexpr std::size_t kMaxRpcBody = std::size_t{16} << 20;     // a longer body is skipped and answered by an error
constexpr std::size_t kMaxRpcHeader = std::size_t{4} << 10;    // of all headers of a frame
constexpr std::size_t kMaxRpcMemory = std::size_t{128} << 20;  // values of one message

// Codes of JSON-RPC and LSP.
enum class RpcCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kNotInitialized = -32002,
  kRequestCancelled = -32800,
};

// Splits bytes into bodies. Takes no memory for a body before its bytes arrive.
class RpcFrames {
 public:
  // What a frame turned out to be: a body, one that was skipped because of its length, or a header that makes the rest
  // of the stream unreadable.
  struct Frame {
    enum class Kind : std::uint8_t { kBody, kTooLong, kBroken };
    Kind kind = Kind::kBody;
    std::string text;  // the body; of others what is wrong
  };

  // Nothing is taken any more after a broken header.
  void Add(std::string_view bytes);
  // The next whole frame, or nothing yet.
  std::optional<Frame> Next();

 private:
  std::optional<Frame> TakeHeader();
  Frame Broken(std::string why);

  std::string bytes_;
  std::size_t at_ = 0;                 // read up to here
  std::optional<std::uint64_t> body_;  // its length, once the header was read
  std::uint64_t skip_ = 0;             // bytes of a body that is too long
  bool broken_ = false;
};

struct RpcMessage {
  Value id;  // a number or a text of requests; null for notifications
  bool is_request = false;
  std::string method;  // empty: a response, of which nothing else is read
  Value params;
};

struct RpcProblem {
  RpcCode code = RpcCode::kParseError;
  std::string message;
  Value id;
};

// UTF-8, JSON of bounded depth and memory, one object of JSON-RPC 2.0.
tl::expected<RpcMessage, RpcProblem> ReadRpc(std::string_view body);

// With the header.
std::string RpcResult(const Value& id, Value result);
std::string RpcError(const RpcProblem& problem);
std::string RpcNotification(const std::string& method, Value params);

}  // namespace muster
