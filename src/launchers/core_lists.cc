#include "launchers/core_lists.h"

#include <charconv>
#include <cstdint>

#include "base/values/shell_quote.h"
#include "muster/value.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

constexpr std::size_t kMostBytes = 1U << 20;
constexpr std::int64_t kMostCores = 1 << 20;

std::optional<std::int64_t> NumberIn(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 0 && number < kMostCores ? std::optional(number) : std::nullopt;
}

// The number of cores in "A-B" or "A"; nothing for other texts.
std::optional<std::int64_t> CoresIn(const std::string& range) {
  const std::size_t dash = range.find('-');
  const auto first = NumberIn(std::string_view(range).substr(0, dash));
  const auto last = dash == std::string::npos ? first : NumberIn(std::string_view(range).substr(dash + 1));
  return first && last && *first <= *last ? std::optional(*last - *first + 1) : std::nullopt;
}

bool NamesADevice(std::string_view name) {
  constexpr std::string_view kDevice = "device";
  return name.starts_with(kDevice) && NumberIn(name.substr(kDevice.size()));
}

}  // namespace

tl::expected<std::optional<int>, std::string> CoresOfEach(std::string_view json) {
  const auto value = ValueFromJsonText(json, kMostBytes);
  if (!value || value->AsMap() == nullptr)
    return tl::make_unexpected("expected True, False or a JSON object of core lists");
  std::optional<std::int64_t> each;
  bool differ = false;
  for (const auto& [name, list] : *value->AsMap()) {
    if (!NamesADevice(name) && name != "scheduler") {
      return tl::make_unexpected(Quoted(name) + " is no device: expected \"device0\", \"device1\", …");
    }
    std::int64_t cores = 0;
    for (const Value& range : list.AsList() == nullptr ? Value::List{list} : *list.AsList()) {
      const std::string* text = range.AsString();
      const auto count = text == nullptr || list.AsList() == nullptr ? std::nullopt : CoresIn(*text);
      if (!count) return tl::make_unexpected("the cores of " + Quoted(name) + " are no list of \"A-B\"");
      cores += *count;
    }
    if (name == "scheduler") continue;
    differ = differ || (each && *each != cores);
    each = cores;
  }
  if (!each || differ || *each < 1 || *each >= kMostCores) return std::nullopt;
  return static_cast<int>(*each);
}

}  // namespace muster
