#include "cli/lookup/run_facts.h"

#include <string_view>
#include <utility>

#include "cli/command/small_file.h"
#include "plan/text/plan_json.h"
#include "run/directory/run_note.h"
#include "run/directory/run_tags.h"
#include "settings/values/value_field.h"
#include "settings/values/value_json.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

using Values = std::map<std::string, Value>;

// A member of the outer object of plan.json, which has its own line: the list of processes is not parsed.
Values PlanMember(const std::string& text, const std::string& name) {
  const std::string open = "\n \"" + name + "\": ";
  const std::size_t at = text.find(open);
  if (at == std::string::npos) return {};
  std::string_view line = std::string_view(text).substr(at + open.size());
  line = line.substr(0, line.find('\n'));
  if (line.ends_with(',')) line.remove_suffix(1);
  if (line.ends_with('}') && !ValueFromJsonText(line)) line.remove_suffix(1);  // the outer object's
  const auto value = ValueFromJsonText(line);
  return value && value->AsMap() != nullptr ? *value->AsMap() : Values();
}

}  // namespace

const Values& RunFacts::Line() {
  if (line_) return *line_;
  line_.emplace();
  const bool running = summary_.outcome == "running";
  *line_ = {{"name", summary_.name},
            {"run", summary_.run},
            {"id", summary_.run},
            {"plan", summary_.plan},
            {"dir", summary_.run_dir},
            {"started", summary_.started_at},
            {"outcome", summary_.outcome},
            {"why", summary_.why},
            {"tags", TagsText(Tags())},
            {"note", NoteOfRun(summary_.run_dir)},
            {"took", running ? Value() : Value(summary_.seconds)},
            {"exit", running ? Value() : Value(std::int64_t{summary_.exit_code})}};
  return *line_;
}

const Values& RunFacts::Planned(bool derived) {
  if (!params_) {
    const auto text = ReadSmallFile(summary_.run_dir + "/" + kPlanEntry.name, kPlanEntry.most);
    params_ = text ? PlanMember(*text, "params") : Values();
    derived_ = text ? PlanMember(*text, "derived") : Values();
  }
  return derived ? *derived_ : *params_;
}

const Values& RunFacts::Tags() {
  if (tags_) return *tags_;
  tags_ = TagValues(TagsOfRun(summary_.run_dir));
  return *tags_;
}

const Values& RunFacts::Metrics() {
  if (metrics_) return *metrics_;
  metrics_.emplace();
  const auto text = ReadSmallFile(summary_.run_dir + "/" + kReportEntry.name, kReportEntry.most);
  const auto report = text ? ValueFromJsonText(*text) : tl::unexpected(std::string());
  if (!report || report->AsMap() == nullptr) return *metrics_;
  const Value* roles = FieldOf(*report->AsMap(), "metrics");
  if (roles == nullptr || roles->AsList() == nullptr) return *metrics_;
  for (const Value& role : *roles->AsList()) {
    if (role.AsMap() == nullptr) continue;
    const Value* last = FieldOf(*role.AsMap(), "last");
    if (last == nullptr || last->AsMap() == nullptr) continue;
    for (const auto& [name, value] : *last->AsMap()) {
      metrics_->emplace(TextField(*role.AsMap(), "role") + "." + name, value);
    }
  }
  return *metrics_;
}

const Value* RunFacts::Metric(const std::string& name) {
  if (const Value* found = FieldOf(Metrics(), name)) return found;
  for (const auto& [key, value] : Metrics()) {
    if (std::string_view(key).substr(key.find('.') + 1) == name) return &value;
  }
  return nullptr;
}

const Value* RunFacts::Find(const std::string& name) {
  if (name.starts_with("param.")) return FieldOf(Planned(false), name.substr(6));
  if (name.starts_with("derived.")) return FieldOf(Planned(true), name.substr(8));
  if (name.starts_with("tag.")) return FieldOf(Tags(), name.substr(4));
  if (name.starts_with("metric.")) return Metric(name.substr(7));
  if (const Value* found = FieldOf(Line(), name)) return found;
  if (const Value* found = FieldOf(Planned(false), name)) return found;
  if (const Value* found = FieldOf(Planned(true), name)) return found;
  if (name == "tag") return &tag_list_.emplace(TagList(Tags()));
  if (const Value* found = FieldOf(Tags(), name)) return found;
  return Metric(name);
}

Value RunFacts::Of(const std::string& name) {
  const Value* found = Find(name);
  return found == nullptr ? Value() : *found;
}

bool RunFacts::Has(const std::string& name) { return Find(name) != nullptr; }

void RunFacts::AddNames(std::set<std::string>& names) {
  for (const Values* values : {&Line(), &Planned(false), &Planned(true), &Tags()}) {
    for (const auto& [name, unused] : *values) names.insert(name);
  }
  names.insert("tag");
  for (const auto& [name, unused] : Metrics()) names.insert(name.substr(name.find('.') + 1));
}

}  // namespace muster
