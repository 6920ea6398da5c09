// Fuzzes what a client sends to the language server: the stream in any pieces gives the same frames, and all of it is
// answered without an evaluation.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/language_server.h"

namespace {

std::vector<std::string> FramesOf(std::string_view stream, std::size_t piece) {
  muster::RpcFrames frames;
  std::vector<std::string> found;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    frames.Add(stream.substr(at, piece));
    while (const auto frame = frames.Next()) found.push_back(frame->text);
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view stream(reinterpret_cast<const char*>(data), size);
  if (FramesOf(stream, size + 1).size() > FramesOf(stream, 7).size()) std::abort();
  muster::LanguageServer server({});
  const auto send = [&](std::string_view body) {
    server.Take("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
  };
  send(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
  send(
      R"({"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a","text":"a.b"}}})");
  send(stream);
  server.Take(stream);
  return 0;
}
