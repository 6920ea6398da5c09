#include "page/collect/row_tags.h"

#include <algorithm>
#include <utility>

#include "run/directory/run_tags.h"

namespace muster {

void PutTags(const std::string& run_dir, PageContent& page) {
  const Value::Map tags = TagValues(TagsOfRun(run_dir));
  if (tags.empty()) return;
  Put(page, "tags", "fact", TextValue(TagsText(tags)));
  ColumnOf(page, "tags", "fact").list = true;
  auto known = static_cast<std::size_t>(std::count_if(page.columns.begin(), page.columns.end(),
                                                      [](const PageColumn& column) { return column.role == "tag"; }));
  for (const auto& [name, value] : tags) {
    const std::string column = "tag." + name;
    const bool is_new = std::none_of(page.columns.begin(), page.columns.end(),
                                     [&](const PageColumn& one) { return one.name == column; });
    if (is_new && known++ >= kMostTagColumns) return;
    Put(page, column, "tag", CellValue(value), name);
  }
}

}  // namespace muster
