// Formats pages as JSON: the data of each page, in one object.
#include <nlohmann/json.hpp>

#include "base/values/json_text.h"
#include "reference/page.h"
#include "settings/values/value_json.h"

namespace muster {

std::string PagesJson(const std::vector<Page>& pages) {
  auto topics = nlohmann::json::array();
  for (const Page& page : pages) topics.push_back(ToJson(page.data));
  const nlohmann::json whole = {{"format", 1}, {"topics", std::move(topics)}};
  return SerializedJson(whole, 2) + "\n";
}

}  // namespace muster
