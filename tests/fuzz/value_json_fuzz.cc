// Fuzzes JSON from users: an accepted value must round-trip through JSON, and be nested shallowly enough for every
// reader.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/values/value_json.h"
#include "wire/archive/value_archive.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = muster::ValueFromJsonText(text);
  const auto located = muster::LocatedJsonFromText(text);
  // Both readers must agree, except about a byte order mark.
  if (located && (!value || located->value != *value)) std::abort();
  if (!value) return 0;
  if (!located && !text.starts_with("\xef\xbb\xbf")) std::abort();
  const auto back = muster::ValueFromJsonText(muster::ToJson(*value).dump());
  if (!back || *back != *value) std::abort();
  const auto crossed = muster::Unarchived<muster::Value>(muster::Archived(*value));
  if (!crossed || *crossed != *value) std::abort();
  return 0;
}
