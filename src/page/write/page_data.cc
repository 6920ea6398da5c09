#include "page/write/page_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"

namespace muster {

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[(group >> (18 - 6 * k)) & 63U] : '=';
    }
  }
  return text;
}

namespace {

void Append(const std::vector<double>& numbers, std::string& bytes) {
  for (const double number : numbers) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((bits >> shift) & 0xff);
  }
}

void AppendCount(std::uint32_t count, std::string& bytes) {
  for (; count >= 0x80; count >>= 7) bytes += static_cast<char>((count & 0x7f) | 0x80);
  bytes += static_cast<char>(count);
}

// Three bytes are enough for what is averaged: five digits of the distance to the next point.
void AppendShort(double number, std::string& bytes) {
  const auto single = static_cast<float>(number);
  const auto bits = std::bit_cast<std::uint32_t>(std::isfinite(single) ? single : 0.0F) + 0x80;
  for (int shift = 8; shift < 32; shift += 8) bytes += static_cast<char>((bits >> shift) & 0xff);
}

// {first, step} of x that are a constant step apart before points were left out; else nothing.
std::optional<std::pair<double, double>> EvenSteps(const Curve& curve) {
  std::vector<double> before = {0};  // the number of points before each
  for (std::size_t i = 1; i < curve.x.size(); ++i) before.push_back(before.back() + curve.left_out[i] + 1);
  if (curve.x.empty()) return std::nullopt;
  const double first = static_cast<float>(curve.x.front());
  const double step = before.back() > 0 ? (static_cast<float>(curve.x.back()) - first) / before.back() : 0;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (static_cast<float>(first + step * before[i]) != static_cast<float>(curve.x[i])) return std::nullopt;
  }
  return std::pair(first, step);
}

void AppendPoints(const Curve& curve, bool even, std::string& bytes) {
  Append(curve.y, bytes);
  if (!even) Append(curve.x, bytes);
  if (curve.points == curve.x.size()) return;
  for (const std::uint32_t count : curve.left_out) AppendCount(count, bytes);
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (curve.left_out[i] > 0) AppendShort(curve.mean[i] - static_cast<float>(curve.y[i]), bytes);
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

nlohmann::json CurvesJson(const PageContent& page, std::string& bytes) {
  nlohmann::json json = {{"x", page.steps.empty() ? "report" : Readable(page.steps)},
                         {"metrics", page.metrics},
                         {"metrics_left_out", page.metrics_left_out},
                         {"series", nlohmann::json::array()},
                         {"bad", nlohmann::json::object()},
                         {"bad_points", nlohmann::json::object()}};
  for (const PageCurve& curve : page.curves) {
    const std::string series_number = std::to_string(json["series"].size());
    const Curve& points = curve.points;
    if (!points.not_finite.empty()) json["bad"][series_number] = points.not_finite;
    if (points.not_finite_points > points.not_finite.size()) {
      json["bad_points"][series_number] = points.not_finite_points;
    }
    const auto even = EvenSteps(points);
    nlohmann::json series = {curve.row, curve.metric, bytes.size(), points.x.size(), points.points};
    series.push_back(even ? nlohmann::json({even->first, even->second}) : nlohmann::json(0));
    if (!curve.starts.empty()) series.push_back(curve.starts);
    json["series"].push_back(std::move(series));
    AppendPoints(points, even.has_value(), bytes);
  }
  return json;
}

}  // namespace

std::string SafeInScript(std::string json) {
  for (std::size_t at = json.find('<'); at != json.npos; at = json.find('<', at)) json.replace(at, 1, "\\u003c");
  return json;
}

PageData PageDataOf(const PageContent& page) {
  std::string bytes;
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
                         {"curves", CurvesJson(page, bytes)},
                         {"differences", ToJson(Value(page.differences))},
                         {"run", ToJson(page.run)}};
  if (!page.ledger.IsNull()) json["ledger"] = ToJson(page.ledger);
  for (const PageColumn& column : page.columns) json["columns"].push_back(ColumnJson(column));
  return {SafeInScript(SerializedJson(json)), Base64(bytes)};
}

}  // namespace muster
