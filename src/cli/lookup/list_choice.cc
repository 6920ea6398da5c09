#include "cli/lookup/list_choice.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "base/values/shown_number.h"
#include "base/values/suggest.h"
#include "base/values/units.h"
#include "cli/lookup/run_list.h"

namespace muster {
namespace {

std::vector<std::string> Parts(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (comma != 0) parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return parts;
}

}  // namespace

std::vector<std::string> ListChoice::Names() const {
  std::vector<std::string> names = columns;
  for (const RunCondition& condition : conditions) names.push_back(condition.name);
  for (const SortKey& key : keys) names.push_back(key.name);
  return names;
}

void AddWhereOption(CLI::App& app, std::vector<std::string>& where, const std::string& rows) {
  app.add_option("--where", where,
                 "only " + rows +
                     " that match: NAME OP VALUE, joined by and. NAME is a column; OP is == != < <= > >= "
                     "or ~ (a regular expression); NAME alone: it has that tag or value, as 'tag == NAME'")
      ->type_name("CONDITION")
      ->allow_extra_args(false);
}

Result<ListChoice> ReadListChoice(const std::vector<std::string>& where, const std::string& columns,
                                  const std::string& sort) {
  ListChoice choice;
  for (const std::string& text : where) {
    auto conditions = ParseConditions(text);
    if (!conditions) return Fail(conditions.error());
    choice.conditions.insert(choice.conditions.end(), conditions->begin(), conditions->end());
  }
  choice.columns = Parts(columns);
  for (const std::string& part : Parts(sort)) {
    const bool descending = part.starts_with('-');
    choice.keys.push_back({descending ? part.substr(1) : part, descending});
  }
  return choice;
}

bool KeysComeBefore(const std::vector<SortKey>& keys, const std::vector<Value>& a, const std::vector<Value>& b) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool backward = keys[i].descending && !a[i].IsNull() && !b[i].IsNull();
    if (backward ? ComesBefore(b[i], a[i]) : ComesBefore(a[i], b[i])) return true;
    if (backward ? ComesBefore(a[i], b[i]) : ComesBefore(b[i], a[i])) return false;
  }
  return false;
}

Diagnostic NoSuchColumn(const std::string& noun, const std::string& name, const std::set<std::string>& known) {
  return Error("column", {}, fmt::format("no {} has a value {}", noun, Quoted(name)),
               DidYouMean(name, std::vector<std::string>(known.begin(), known.end())));
}

Diagnostic CannotBeCompared(const RunCondition& condition, const Value& example) {
  return Error("where", {},
               fmt::format("--where: {} is {}, which cannot be compared with {}", condition.name, ToText(example),
                           ToText(condition.value)),
               example.IsNumber() ? fmt::format("for example {} > 5, 90s or 30GiB", condition.name) : "");
}

std::vector<std::string> HeadOf(const std::vector<std::string>& columns) {
  std::vector<std::string> heads;
  for (const std::string& column : columns) {
    std::string head = column;
    std::transform(head.begin(), head.end(), head.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    heads.push_back(Printable(head));
  }
  return heads;
}

std::string CellText(const std::string& column, const Value& value) {
  if (value.IsNull()) return {};
  if (column == "took" && value.IsNumber()) return DurationText(value.Number());
  if (value.AsString() == nullptr) return Printable(ShownValue(value));
  const bool time = column == "started" || column == "ended";
  return time && !value.AsString()->empty() ? TimeText(*value.AsString()) : Printable(*value.AsString());
}

}  // namespace muster
