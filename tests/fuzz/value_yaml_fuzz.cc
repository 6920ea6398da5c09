// Fuzzes YAML beside a recipe: an accepted value must round-trip through YAML, within the limits.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "settings/values/value_yaml.h"
#include "wire/archive/value_archive.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (muster::IsPlainYamlText(text)) {
    const auto plain = muster::YamlScalarValue(text);
    if (!plain || *plain != muster::Value(text) || muster::YamlOldMeaning(text)) std::abort();
  }
  const auto read = muster::ValueFromYamlText(text);
  if (!read) return 0;
  const auto back = muster::ValueFromYamlText(muster::YamlTextOf(read->value));
  if (!back || back->value != read->value || !back->traps.empty()) std::abort();
  const auto crossed = muster::Unarchived<muster::Value>(muster::Archived(read->value));
  if (!crossed || *crossed != read->value) std::abort();
  return 0;
}
