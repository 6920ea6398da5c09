#include "pods/pod_status.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "base/values/parse_number.h"
#include "base/values/shell_quote.h"

namespace muster {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestText = 300;
constexpr std::size_t kLongestName = 253;  // of an object of a cluster

// Reasons for which a container waits, and that need somebody: a first ErrImagePull is tried again by the node.
constexpr std::array<std::string_view, 7> kStuck = {
    "ImagePullBackOff",     "InvalidImageName",           "ErrImageNeverPull", "ImageInspectError",
    "CreateContainerError", "CreateContainerConfigError", "RunContainerError"};

const Json& At(const Json& json, const char* name) {
  static const Json kNone;
  if (!json.is_object()) return kNone;
  const auto found = json.find(name);
  return found == json.end() ? kNone : *found;
}

std::string TextAt(const Json& json, const char* name) {
  const Json& text = At(json, name);
  return text.is_string() ? text.get<std::string>() : std::string();
}

// "Evicted: The node was low on resource: memory."
std::string Phrase(const std::string& reason, const std::string& message) {
  std::string phrase = reason;
  if (!message.empty()) phrase += (phrase.empty() ? "" : ": ") + message.substr(0, message.find('\n'));
  phrase = Printable(phrase.substr(0, kLongestText));
  while (phrase.ends_with('.') || phrase.ends_with(' ')) phrase.pop_back();
  return phrase;
}

const Json& ContainerOf(const Json& status, const std::string& container) {
  static const Json kNone;
  const Json& all = At(status, "containerStatuses");
  if (!all.is_array()) return kNone;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Json& one) { return TextAt(one, "name") == container; });
  return found == all.end() ? kNone : *found;
}

// What a condition of the pod says, if it has that status.
std::string ConditionText(const Json& status, std::string_view type, std::string_view wanted) {
  const Json& all = At(status, "conditions");
  if (!all.is_array()) return {};
  for (const Json& one : all) {
    if (TextAt(one, "type") == type && TextAt(one, "status") == wanted) {
      return Phrase(TextAt(one, "reason"), TextAt(one, "message"));
    }
  }
  return {};
}

std::optional<std::uint32_t> IndexOf(const std::string& host_name) {
  const std::size_t dash = host_name.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  return ParseNumber<std::uint32_t>(std::string_view(host_name).substr(dash + 1));
}

// Why a pod is being taken away, or was.
std::string DisruptionText(const Json& status) {
  if (std::string text = ConditionText(status, "DisruptionTarget", "True"); !text.empty()) return text;
  return Phrase(TextAt(status, "reason"), TextAt(status, "message"));
}

void Judge(const Json& pod, bool deleted, const std::string& container, PodStatus& reported) {
  const Json& status = At(pod, "status");
  const std::string phase = TextAt(status, "phase");
  const Json& state = At(ContainerOf(status, container), "state");
  const Json& terminated = At(state, "terminated");
  const std::string disruption = DisruptionText(status);
  if (deleted || phase == "Failed" || phase == "Succeeded" || terminated.is_object()) {
    reported.state = PodState::kEnded;
    std::string reason = TextAt(terminated, "reason");
    if (reason == "Error" || reason == "Completed") reason.clear();  // says nothing
    reported.why = !disruption.empty() ? disruption
                   : !reason.empty()   ? Phrase(reason, TextAt(terminated, "message"))
                   : deleted           ? "it was deleted"
                                       : Phrase("it ended", TextAt(terminated, "message"));
    return;
  }
  if (At(state, "running").is_object()) {
    reported.state = PodState::kRunning;
    reported.why = disruption;
    return;
  }
  const Json& waiting = At(state, "waiting");
  const std::string reason = TextAt(waiting, "reason");
  reported.state =
      std::find(kStuck.begin(), kStuck.end(), reason) == kStuck.end() ? PodState::kWaiting : PodState::kStuck;
  reported.why = Phrase(reason, TextAt(waiting, "message"));
  if (reported.why.empty()) reported.why = ConditionText(status, "PodScheduled", "False");
}

}  // namespace

std::optional<PodStatus> ReadPodEvent(std::string_view json, const std::string& container) {
  const Json event = Json::parse(json, nullptr, false);
  const Json& pod = At(event, "object");
  if (TextAt(pod, "kind") != "Pod") return std::nullopt;
  PodStatus reported;
  reported.name = TextAt(At(pod, "metadata"), "name");
  const auto sound = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  if (reported.name.empty() || reported.name.size() > kLongestName || reported.name.front() == '-' ||
      !std::all_of(reported.name.begin(), reported.name.end(), sound)) {
    return std::nullopt;
  }
  reported.index = IndexOf(TextAt(At(pod, "spec"), "hostname"));
  Judge(pod, TextAt(event, "type") == "DELETED", container, reported);
  return reported;
}

std::vector<std::string> JsonStream::Feed(std::string_view bytes) {
  std::vector<std::string> objects;
  for (const char c : bytes) {
    if (broken_) break;
    if (depth_ == 0) {
      if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
      if (c != '{') broken_ = true;
    }
    object_ += c;
    if (object_.size() > kMostBytes) broken_ = true;
    if (in_text_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_text_ = false;
      }
      continue;
    }
    if (c == '"') in_text_ = true;
    if (c == '{') ++depth_;
    if (c == '}' && --depth_ == 0) objects.push_back(std::exchange(object_, {}));
  }
  return objects;
}

}  // namespace muster
