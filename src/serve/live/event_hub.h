// The streams of all pages that show one thing. Each event has a version, by which a page that has lost its connection
// says what it has seen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "serve/http/event_stream.h"

namespace muster {

class EventHub {
 public:
  void Add(const std::shared_ptr<EventStream>& stream) {
    streams_->push_back(stream);
    stream->OnClosed([streams = std::weak_ptr(streams_), raw = stream.get()] {
      const auto kept = streams.lock();
      if (kept) std::erase_if(*kept, [raw](const auto& one) { return one.get() == raw; });
    });
  }
  bool empty() const { return streams_->empty(); }

  // One text that all streams share.
  void Publish(std::string_view event, std::string_view json, std::uint64_t version) {
    if (empty()) return;
    const auto bytes = Bytes(event, json, version);
    const std::vector<std::shared_ptr<EventStream>> streams = *streams_;  // a copy: sending may close one
    for (const auto& stream : streams) stream->Send(bytes);
  }

  static std::shared_ptr<const std::string> Bytes(std::string_view event, std::string_view json,
                                                  std::uint64_t version) {
    return std::make_shared<const std::string>(fmt::format("id: {}\nevent: {}\ndata: {}\n\n", version, event, json));
  }

 private:
  std::shared_ptr<std::vector<std::shared_ptr<EventStream>>> streams_ =
      std::make_shared<std::vector<std::shared_ptr<EventStream>>>();
};

}  // namespace muster
