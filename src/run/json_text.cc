#include "run/json_text.h"

#include <nlohmann/json.hpp>

#include "settings/value_json.h"

namespace muster {

std::string JsonText(const Value& value) {
  return ToJson(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace muster
