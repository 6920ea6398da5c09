#include "serve/site/refusal.h"

#include <nlohmann/json.hpp>

#include "base/values/value_text.h"

namespace muster {

HttpAnswer RefusedAnswer(int status, const std::string& why) {
  return JsonAnswer(status, SerializedJson(nlohmann::json{{"ok", false}, {"error", why}}));
}

}  // namespace muster
