// Fuzzes both ends of the agent protocol: any stream must be split into the same frames however it arrives, and any
// payload must decode to nothing or to a message that round-trips.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "wire/protocol/protocol.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

struct Cut {
  std::vector<std::string> frames;
  std::string error;

  bool operator==(const Cut&) const = default;
};

Cut CutInto(std::string_view stream, std::size_t piece, std::string_view magic) {
  muster::FrameReader reader(magic);
  Cut cut;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    reader.Feed(stream.substr(at, piece));
    while (auto frame = reader.Next()) cut.frames.push_back(std::move(*frame));
  }
  cut.error = reader.error();
  return cut;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte sets the size of the pieces in which the rest arrives.
  const std::size_t piece = 1U + data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);

  for (const std::string_view magic : {std::string_view(), muster::kMagic}) {
    const Cut cut = CutInto(bytes, piece, magic);
    Require(cut == CutInto(bytes, std::max<std::size_t>(bytes.size(), 1), magic));
    for (const std::string& frame : cut.frames) Require(frame.size() <= muster::kMaxFrame);
  }

  if (const auto command = muster::DecodeCommand(bytes)) {
    const std::string frame = muster::EncodeFrame(*command);
    const auto again = muster::DecodeCommand(std::string_view(frame).substr(4));
    Require(again && again->index() == command->index() && muster::EncodeFrame(*again) == frame);
  }
  if (const auto message = muster::DecodeMessage(bytes)) {
    const std::string frame = muster::EncodeFrame(*message);
    const auto again = muster::DecodeMessage(std::string_view(frame).substr(4));
    Require(again && again->index() == message->index() && muster::EncodeFrame(*again) == frame);
  }
  return 0;
}
