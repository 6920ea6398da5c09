#include "lsp/json_rpc.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"

namespace muster {
namespace {

// "Content-Length", without regard to case.
bool IsHeader(std::string_view name, std::string_view wanted) {
  return name.size() == wanted.size() && std::equal(name.begin(), name.end(), wanted.begin(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
         });
}

std::string_view WithoutBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> LengthIn(std::string_view text) {
  constexpr std::size_t kMaxDigits = 18;
  if (text.empty() || text.size() > kMaxDigits) return std::nullopt;
  std::uint64_t length = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    length = length * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return length;
}

std::string Framed(const Value::Map& message) {
  const std::string body = JsonText(Value(message));
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

void RpcFrames::Add(std::string_view bytes) {
  if (broken_) return;
  const auto skipped = std::min<std::uint64_t>(skip_, bytes.size());
  skip_ -= skipped;
  bytes.remove_prefix(skipped);
  if (at_ > 0) bytes_.erase(0, std::exchange(at_, 0));
  bytes_ += bytes;
}

RpcFrames::Frame RpcFrames::Broken(std::string why) {
  broken_ = true;
  bytes_.clear();
  at_ = 0;
  return {Frame::Kind::kBroken, std::move(why)};
}

std::optional<RpcFrames::Frame> RpcFrames::TakeHeader() {
  const std::string_view rest = std::string_view(bytes_).substr(at_);
  const std::size_t end = rest.substr(0, kMaxRpcHeader).find("\r\n\r\n");
  if (end == std::string_view::npos) {
    // Only names of headers begin a frame, so other programs' output is noticed at once.
    if (rest.size() >= kMaxRpcHeader)
      return Broken("a header of more than " + std::to_string(kMaxRpcHeader) + " bytes");
    if (!rest.empty() && std::isalpha(static_cast<unsigned char>(rest.front())) == 0) {
      return Broken("a frame begins with " + Quoted(Utf8Prefix(rest, 16)) + ", not with \"Content-Length: …\"");
    }
    return std::nullopt;
  }
  std::optional<std::uint64_t> length;
  for (std::string_view lines = rest.substr(0, end); !lines.empty();) {
    const std::size_t line_end = std::min(lines.find("\r\n"), lines.size());
    const std::string_view line = lines.substr(0, line_end);
    lines.remove_prefix(std::min(line_end + 2, lines.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return Broken("the header " + Quoted(Utf8Prefix(line, 40)) + " has no ':'");
    if (!IsHeader(line.substr(0, colon), "Content-Length")) continue;
    const auto given = LengthIn(WithoutBlanks(line.substr(colon + 1)));
    if (!given || (length && *length != *given)) {
      return Broken("Content-Length is not one number of bytes: " + Quoted(Utf8Prefix(line, 40)));
    }
    length = given;
  }
  if (!length) return Broken("a header without Content-Length");
  at_ += end + 4;
  body_ = length;
  return std::nullopt;
}

std::optional<RpcFrames::Frame> RpcFrames::Next() {
  if (broken_ || skip_ > 0) return std::nullopt;
  if (!body_) {
    if (auto broken = TakeHeader()) return broken;
    if (!body_) return std::nullopt;
  }
  const std::uint64_t length = *body_;
  const std::size_t have = bytes_.size() - at_;
  if (length > kMaxRpcBody) {
    body_.reset();
    const auto now = std::min<std::uint64_t>(length, have);
    at_ += now;
    skip_ = length - now;
    return Frame{Frame::Kind::kTooLong, "a message of " + std::to_string(length) + " bytes; at most " +
                                            std::to_string(kMaxRpcBody) + " are read"};
  }
  if (have < length) return std::nullopt;
  body_.reset();
  Frame frame{Frame::Kind::kBody, bytes_.substr(at_, length)};
  at_ += length;
  return frame;
}

tl::expected<RpcMessage, RpcProblem> ReadRpc(std::string_view body) {
  const auto refuse = [](RpcCode code, std::string why, Value id = {}) {
    return tl::unexpected(RpcProblem{code, std::move(why), std::move(id)});
  };
  if (!IsUtf8(body)) return refuse(RpcCode::kParseError, "the message is not UTF-8");
  auto value = ValueFromJsonText(body, kMaxRpcMemory);
  if (!value) return refuse(RpcCode::kParseError, value.error());
  const Value::Map* const map = value->AsMap();
  if (map == nullptr) return refuse(RpcCode::kInvalidRequest, "the message is not an object");
  RpcMessage message;
  if (const Value* const id = FieldOf(*map, "id")) {
    if (id->AsInt() == nullptr && id->AsString() == nullptr && !id->IsNull()) {
      return refuse(RpcCode::kInvalidRequest, "id must be a number or a text");
    }
    message.id = *id;
  }
  if (TextField(*map, "jsonrpc") != "2.0") {
    return refuse(RpcCode::kInvalidRequest, "jsonrpc must be \"2.0\"", message.id);
  }
  message.is_request = FieldOf(*map, "id") != nullptr && FieldOf(*map, "method") != nullptr;
  message.method = TextField(*map, "method");
  if (message.is_request && message.method.empty()) {
    return refuse(RpcCode::kInvalidRequest, "method must be a text", message.id);
  }
  message.params = ValueField(*value, "params");
  return message;
}

std::string RpcResult(const Value& id, Value result) {
  return Framed({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

std::string RpcError(const RpcProblem& problem) {
  return Framed({{"jsonrpc", "2.0"},
                 {"id", problem.id},
                 {"error", Value::Map{{"code", static_cast<int>(problem.code)}, {"message", problem.message}}}});
}

std::string RpcNotification(const std::string& method, Value params) {
  return Framed({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

}  // namespace muster
