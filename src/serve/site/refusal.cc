#include "serve/site/refusal.h"

#include <nlohmann/json.hpp>

namespace muster {

HttpAnswer RefusedAnswer(int status, const std::string& why) {
  return JsonAnswer(status, nlohmann::json{{"ok", false}, {"error", why}}.dump(
                                -1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace muster
