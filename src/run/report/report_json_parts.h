// Parts of the JSON of reports: values of the report, without the keys of its outer objects.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/values/shell_quote.h"
#include "base/values/utf8.h"
#include "run/report/failure_analysis.h"

namespace muster::report_json {

using Json = nlohmann::ordered_json;

inline Json Plain(const std::string& text) { return IsUtf8(text) ? text : Printable(text); }

inline Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Plain(text); }

// Rounded to microseconds, the precision of the clocks.
inline Json Seconds(double seconds) { return std::round(seconds * 1e6) / 1e6; }

inline Json MembersJson(const Members& members) {
  return {{"role", members.role}, {"indices", members.indices}, {"ranks", members.ranks}};
}

inline Json MembersJson(const std::vector<Members>& members) {
  Json json = Json::array();
  for (const Members& each : members) json.push_back(MembersJson(each));
  return json;
}

}  // namespace muster::report_json
