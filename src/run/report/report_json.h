// Reports and dumps as JSON (docs/run_directory.md).
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "run/report/dump_report.h"
#include "run/report/failure_analysis.h"

// Parts of the JSON of reports: values of the report, without the keys of its outer objects.

namespace muster::report_json {

using Json = nlohmann::ordered_json;

inline Json Plain(const std::string& text) { return IsUtf8(text) ? text : Printable(text); }

inline Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Plain(text); }

// Rounded to microseconds, the precision of the clocks.
inline Json Seconds(double seconds) { return std::round(seconds * 1e6) / 1e6; }

// {key, value, key, value, ...} as an object. An initializer list would copy each value, and compare each key.
template <class... Rest>
void AddTo(Json::object_t& object, const char* key, Json value, Rest&&... rest) {
  object.emplace_back(key, std::move(value));
  if constexpr (sizeof...(Rest) > 0) AddTo(object, std::forward<Rest>(rest)...);
}
template <class... Pairs>
Json ObjectOf(Pairs&&... pairs) {
  Json json = Json::object();
  auto& object = json.get_ref<Json::object_t&>();
  object.reserve(sizeof...(Pairs) / 2);
  AddTo(object, std::forward<Pairs>(pairs)...);
  return json;
}

inline Json MembersJson(const Members& members) {
  return {{"role", members.role}, {"indices", members.indices}, {"ranks", members.ranks}};
}

inline Json MembersJson(const std::vector<Members>& members) {
  Json json = Json::array();
  for (const Members& each : members) json.push_back(MembersJson(each));
  return json;
}

}  // namespace muster::report_json

namespace muster {

// Writes a dump as JSON (docs/run_directory.md).

// One element of `dumps` in report.json.
nlohmann::ordered_json DumpJson(const DumpReport& dump);

// The output of muster dump --json, newline included.
std::string DumpJsonText(const std::string& run_dir, const DumpReport& dump);

}  // namespace muster
