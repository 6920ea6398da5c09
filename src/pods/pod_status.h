// What kubectl says about a pod: JSON of the cluster, to a state and a phrase. Text to values; the texts are not
// trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

enum class PodState : std::uint8_t {
  kWaiting,  // it may still start
  kStuck,    // it will not start without help: its image cannot be had
  kRunning,  // its container runs
  kEnded,    // nothing of it runs any more, or it was deleted
};

struct PodStatus {
  std::string name;
  std::optional<std::uint32_t> index;  // which pod of its run: the end of its host name
  PodState state = PodState::kWaiting;
  std::string why;  // a phrase: "ImagePullBackOff: Back-off pulling image …"; may be empty
};

// The status in one event of a watch, {"type": …, "object": {pod}}, whose agent runs in the container of that name.
// Nothing if it is not about a pod.
std::optional<PodStatus> ReadPodEvent(std::string_view json, const std::string& container);

// Splits a stream of JSON objects without separators, which may be printed on several lines.
class JsonStream {
 public:
  static constexpr std::size_t kMostBytes = 4U << 20;  // of one object

  // The objects that are complete now. After an object that is too large, or other bytes than objects, broken() is true
  // and nothing more is returned.
  std::vector<std::string> Feed(std::string_view bytes);
  bool broken() const { return broken_; }

 private:
  std::string object_;
  std::uint32_t depth_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;
  bool broken_ = false;
};

}  // namespace muster
