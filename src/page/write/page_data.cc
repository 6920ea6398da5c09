#include "page/write/page_data.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/values/json_text.h"
#include "base/values/shell_quote.h"
#include "page/write/base64.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

void Append(const std::vector<float>& numbers, std::string& bytes) {
  for (const float number : numbers) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((bits >> shift) & 0xff);
  }
}

nlohmann::json ColumnJson(const PageColumn& column) {
  nlohmann::json json = {{"name", Readable(column.name)},
                         {"label", Readable(column.label)},
                         {"role", column.role},
                         {"scale", column.log ? "log" : "linear"},
                         {"values", nlohmann::json::array()}};
  if (column.list) json["list"] = true;
  if (column.seconds) json["unit"] = "seconds";
  if (column.domain) json["domain"] = {column.domain->first, column.domain->second};
  for (const std::string& choice : column.choices) json["choices"].push_back(Readable(choice));
  for (const Value& value : column.values) json["values"].push_back(ToJson(value));
  return json;
}

nlohmann::json CurvesJson(const PageContent& page, std::string& floats) {
  nlohmann::json json = {{"x", page.steps.empty() ? "report" : Readable(page.steps)},
                         {"metrics", page.metrics},
                         {"series", nlohmann::json::array()},
                         {"bad", nlohmann::json::object()}};
  for (const PageCurve& curve : page.curves) {
    if (!curve.points.not_finite.empty()) json["bad"][std::to_string(json["series"].size())] = curve.points.not_finite;
    nlohmann::json series = {curve.row, curve.metric, floats.size() / 4, curve.points.x.size(), curve.points.points};
    if (!curve.starts.empty()) series.push_back(curve.starts);
    json["series"].push_back(std::move(series));
    Append(curve.points.x, floats);
    Append(curve.points.y, floats);
  }
  return json;
}

}  // namespace

std::string SafeInScript(std::string json) {
  for (std::size_t at = json.find('<'); at != json.npos; at = json.find('<', at)) json.replace(at, 1, "\\u003c");
  return json;
}

PageData PageDataOf(const PageContent& page) {
  std::string floats;
  nlohmann::json json = {{"format", 1},
                         {"kind", page.kind},
                         {"title", Readable(page.title)},
                         {"made", page.made},
                         {"muster", MUSTER_VERSION},
                         {"live", page.live},
                         {"now", page.now},
                         {"sources", ToJson(Value(page.sources))},
                         {"keys", page.keys},
                         {"columns", nlohmann::json::array()},
                         {"attempts", ToJson(Value(page.attempts))},
                         {"curves", CurvesJson(page, floats)},
                         {"differences", ToJson(Value(page.differences))},
                         {"run", ToJson(page.run)}};
  for (const PageColumn& column : page.columns) json["columns"].push_back(ColumnJson(column));
  return {SafeInScript(SerializedJson(json)), Base64(floats)};
}

}  // namespace muster
