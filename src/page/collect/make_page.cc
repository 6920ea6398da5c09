#include "page/collect/make_page.h"

#include <algorithm>
#include <set>

#include "base/system/clock.h"
#include "page/collect/compared_run.h"
#include "page/collect/curves.h"
#include "page/collect/run_page.h"
#include "page/collect/sweep_analysis.h"
#include "page/collect/sweep_page.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

// A short name for each source: its name, with the beginning of its id if others have the same name.
void LabelSources(PageContent& page) {
  std::multiset<std::string> names;
  for (const Value& source : page.sources) names.insert(TextField(source, "name"));
  for (Value& source : page.sources) {
    Value::Map map = *source.AsMap();
    const std::string name = TextField(source, "name");
    map["label"] = Value(names.count(name) > 1 ? name + " " + TextField(source, "id").substr(0, 4) : name);
    source = Value(std::move(map));
  }
}

// Which source each row is of.
void AddSourceColumn(PageContent& page) {
  PageColumn& column = ColumnOf(page, "source", "fact");
  for (std::size_t row = 0; row < page.keys.size(); ++row) {
    const std::size_t source = std::stoul(page.keys[row]);
    column.values[row] = Value(TextField(page.sources[source], "label"));
  }
  for (const Value& source : page.sources) column.choices.push_back(TextField(source, "label"));
}

std::string TitleOf(const PageContent& page) {
  std::string title;
  std::set<std::string> known;
  for (const Value& source : page.sources) {
    const std::string name = TextField(source, "name");
    if (known.insert(name).second) title += (title.empty() ? "" : ", ") + name;
  }
  return title;
}

}  // namespace

Result<PageContent> MakePage(const std::vector<NamedRunOrSweep>& folders) {
  PageContent page;
  page.made = UtcText(WallNowNs());
  const bool several = folders.size() > 1;
  page.kind = several ? "compare" : folders.front().is_sweep ? "sweep" : "run";
  for (const NamedRunOrSweep& one : folders) {
    const auto added = one.is_sweep ? AddSweep(one.folder, page)
                       : several    ? AddComparedRun(one.folder, page)
                                    : AddRun(one.folder, page);
    if (!added) return Fail(added.error());
  }
  LabelSources(page);
  if (several) AddSourceColumn(page);
  LimitCurves(page);
  FinishDifferences(page);
  page.title = TitleOf(page);
  return page;
}

}  // namespace muster
