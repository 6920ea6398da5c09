#include "page/collect/page_content.h"

#include <algorithm>

#include "base/values/quoting.h"

namespace muster {

PageColumn& ColumnOf(PageContent& page, const std::string& name, const std::string& role, const std::string& label) {
  const auto found = std::find_if(page.columns.begin(), page.columns.end(),
                                  [&](const PageColumn& column) { return column.name == name; });
  if (found != page.columns.end()) return *found;
  PageColumn column{.name = name, .label = label.empty() ? name : label, .role = role};
  column.values.resize(page.keys.size());
  return page.columns.emplace_back(std::move(column));
}

std::size_t AddRow(PageContent& page, std::string key) {
  page.keys.push_back(std::move(key));
  for (PageColumn& column : page.columns) column.values.emplace_back();
  return page.keys.size() - 1;
}

void Put(PageContent& page, const std::string& name, const std::string& role, Value value, const std::string& label) {
  ColumnOf(page, name, role, label).values.back() = std::move(value);
}

Value TextValue(const std::string& text) { return Value(Readable(text)); }

Value CountValue(std::uint64_t count) { return Value(static_cast<std::int64_t>(count)); }

std::string PlainText(const Value& value) { return value.AsString() != nullptr ? *value.AsString() : ToText(value); }

Value CellValue(const Value& value) {
  const bool nested = value.AsList() != nullptr || value.AsMap() != nullptr;
  return nested || value.AsString() != nullptr ? TextValue(PlainText(value)) : value;
}

}  // namespace muster
