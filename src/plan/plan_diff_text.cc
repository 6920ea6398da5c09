#include "plan/plan_diff_text.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include <nlohmann/json.hpp>

#include "base/columns.h"
#include "base/shell_quote.h"

namespace muster {
namespace {

using Json = nlohmann::ordered_json;
using Kind = PlanChange::Kind;

constexpr std::size_t kShortId = 12;
constexpr std::size_t kMostTexts = 8;      // of one change, shown to people
constexpr std::size_t kMostDetails = 20;   // of one cause, shown to people
constexpr std::size_t kWidestColumn = 44;  // longer names push the rest of their line aside

std::string Counted(std::size_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

std::string SideText(const std::optional<std::string>& text) { return text ? Printable(*text) : "none"; }

std::string Filled(std::string text, std::size_t columns) {
  const std::size_t taken = Columns(text);
  text.append(columns > taken ? columns - taken : 0, ' ');
  return text;
}

std::string ChangeText(const std::optional<std::string>& before, const std::optional<std::string>& after) {
  return SideText(before) + " → " + SideText(after);
}

std::string CauseText(const PlanCause& cause) {
  std::string text = cause.name;
  if (cause.before || cause.after) text += "  " + ChangeText(cause.before, cause.after);
  text += "  (" + cause.kind;
  if (!cause.source.empty()) text += ", " + Printable(cause.source);
  return text + ")";
}

// What a row says before its values.
std::string NameOf(const PlanChange& change) {
  const bool of_role = change.kind == Kind::kRole;
  return (of_role ? change.role + " " : "") + Printable(change.name);
}

void AppendChanges(std::string& out, const std::vector<PlanChange>& changes, const std::vector<std::size_t>& chosen) {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const std::size_t i : chosen) {
    name_width = std::max(name_width, Columns(NameOf(changes[i])));
    for (const ChangedText& text : changes[i].texts) {
      if (!text.processes.empty()) value_width = std::max(value_width, Columns(ChangeText(text.before, text.after)));
    }
  }
  name_width = std::min(name_width, kWidestColumn);
  value_width = std::min(value_width, kWidestColumn);
  constexpr std::size_t kKindWidth = 8;
  for (const std::size_t i : chosen) {
    const PlanChange& change = changes[i];
    std::string head = "  " + Filled(std::string(PlanChangeName(change.kind)), kKindWidth) + "  " +
                       Filled(NameOf(change), name_width) + "  ";
    const std::size_t shown = change.texts.size() > kMostTexts ? kMostTexts - 1 : change.texts.size();
    for (std::size_t t = 0; t < shown; ++t) {
      const ChangedText& text = change.texts[t];
      const std::string values = ChangeText(text.before, text.after);
      out += head + (text.processes.empty() ? values : Filled(values, value_width) + "  " + text.processes) + '\n';
      head.assign(Columns(head), ' ');
    }
    if (shown == change.texts.size()) continue;
    std::size_t processes = 0;
    for (std::size_t t = shown; t < change.texts.size(); ++t) processes += change.texts[t].ids.size();
    out += head + "… and " + std::to_string(change.texts.size() - shown) + " more" +
           (processes > 0 ? ", of " + Counted(processes, "process", "processes") : "") + '\n';
  }
}

void AppendDetails(std::string& out, const PlanCause& cause) {
  const std::size_t shown = cause.details.size() > kMostDetails ? kMostDetails - 1 : cause.details.size();
  for (std::size_t i = 0; i < shown; ++i) out += "  " + Printable(cause.details[i]) + '\n';
  if (shown < cause.details.size()) {
    out += "  … and " + Counted(cause.details.size() - shown, "more line", "more lines") + '\n';
  }
}

std::string GroupTitle(const ToldDiff& diff, const CausedChanges& group) {
  if (group.causes.size() == 1) return CauseText(diff.causes[group.causes.front()]) + '\n';
  if (group.causes.empty()) return "no parameter differs\n";
  std::vector<std::string> names;
  for (const std::size_t cause : group.causes) names.push_back(diff.causes[cause].name);
  return Joined(names) + (group.together ? " together\n" : ", each of them\n");
}

Json SideJson(const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); }

}  // namespace

bool IsSamePlan(const ToldDiff& diff) { return diff.a.plan_id == diff.b.plan_id; }

std::string DiffSummary(const ToldDiff& diff) {
  std::size_t parameters = 0;
  std::size_t of_cluster = 0;
  bool recipe = false;
  for (const PlanCause& cause : diff.causes) {
    if (cause.kind == "parameter") ++parameters;
    if (cause.kind == "cluster") ++of_cluster;
    recipe = recipe || cause.kind == "recipe";
  }
  std::vector<std::string> causes;
  if (recipe) causes.emplace_back("the recipe's text");
  if (parameters > 0) causes.push_back(Counted(parameters, "parameter", "parameters"));
  if (of_cluster > 0) causes.push_back(Counted(of_cluster, "number of the cluster", "numbers of the cluster"));

  std::size_t derived = 0;
  std::size_t others = 0;
  std::size_t attributes = 0;
  std::size_t words = 0;
  std::size_t variables = 0;
  std::set<std::uint32_t> processes;
  for (const PlanChange& change : diff.changes) {
    if (change.kind == Kind::kDerived) {
      ++derived;
    } else if (change.kind == Kind::kContext) {
      ++attributes;
    } else if (change.kind == Kind::kCommand) {
      ++words;
    } else if (change.kind == Kind::kVariable) {
      ++variables;
    } else {
      ++others;
    }
    for (const ChangedText& text : change.texts) processes.insert(text.ids.begin(), text.ids.end());
  }
  std::vector<std::string> effects;
  if (others > 0) effects.push_back(Counted(others, "fact of the layout", "facts of the layout"));
  if (attributes > 0) effects.push_back(Counted(attributes, "attribute", "attributes"));
  if (words > 0) effects.push_back(Counted(words, "word of a command", "words of commands"));
  if (variables > 0) effects.push_back(Counted(variables, "variable", "variables"));

  std::vector<std::string> parts;
  if (!causes.empty()) {
    const bool one = causes.size() == 1 && parameters + of_cluster <= 1;
    parts.push_back(Joined(causes) + (one ? " differs" : " differ"));
  }
  if (derived > 0) parts.push_back(Counted(derived, "derived value", "derived values"));
  if (!effects.empty()) {
    parts.push_back(Joined(effects) +
                    (processes.empty() ? "" : " of " + Counted(processes.size(), "process", "processes")));
  }
  if (parts.empty()) return "nothing differs";
  std::string text = parts.front();
  if (causes.empty()) text += diff.of_processes ? " differ" : " differ, and no parameter does";
  for (std::size_t i = 1; i < parts.size(); ++i) text += ", hence " + parts[i];
  if (diff.changes.empty()) text += ", and nothing follows from it";
  return text;
}

std::string DiffText(const ToldDiff& diff) {
  const std::size_t width = std::max(Columns(Printable(diff.a.name)), Columns(Printable(diff.b.name)));
  std::string out;
  for (const auto& [letter, side] : {std::pair{"A", &diff.a}, std::pair{"B", &diff.b}}) {
    out += std::string(letter) + "  " + Filled(Printable(side->name), width) + "  plan " +
           side->plan_id.substr(0, kShortId) + '\n';
  }
  out += DiffSummary(diff) + (IsSamePlan(diff) && !diff.of_processes ? "; both run the same\n" : "\n");
  for (const std::string& note : diff.notes) out += "note: " + Printable(note) + '\n';
  for (const CausedChanges& group : GroupByCause(diff.changes, diff.causes)) {
    out += '\n' + (diff.of_processes ? "" : GroupTitle(diff, group));
    if (group.causes.size() == 1) {
      const PlanCause& cause = diff.causes[group.causes.front()];
      AppendDetails(out, cause);
      if (!cause.why_not.empty()) out += "  alone it leads to no plan: " + Printable(cause.why_not) + '\n';
      if (cause.alone && cause.alone->empty()) out += "  changes nothing\n";
    }
    AppendChanges(out, diff.changes, group.changes);
  }
  return out;
}

std::string DiffJson(const ToldDiff& diff) {
  const auto side = [](const DiffedSide& one) { return Json{{"name", one.name}, {"plan_id", one.plan_id}}; };
  Json causes = Json::array();
  for (const PlanCause& cause : diff.causes) {
    causes.push_back({{"kind", cause.kind},
                      {"name", cause.name},
                      {"before", SideJson(cause.before)},
                      {"after", SideJson(cause.after)},
                      {"source", cause.source},
                      {"tried_alone", cause.alone.has_value()},
                      {"why_not", cause.why_not},
                      {"lines", cause.details}});
  }
  Json changes = Json::array();
  for (const PlanChange& change : diff.changes) {
    Json texts = Json::array();
    for (const ChangedText& text : change.texts) {
      texts.push_back({{"processes", text.processes},
                       {"count", text.ids.size()},
                       {"before", SideJson(text.before)},
                       {"after", SideJson(text.after)}});
    }
    changes.push_back({{"kind", PlanChangeName(change.kind)},
                       {"role", change.role},
                       {"name", change.name},
                       {"values", std::move(texts)}});
  }
  Json groups = Json::array();
  for (const CausedChanges& group : GroupByCause(diff.changes, diff.causes)) {
    groups.push_back({{"causes", group.causes}, {"changes", group.changes}, {"together", group.together}});
  }
  const Json json = {{"format", 1},
                     {"same_plan", IsSamePlan(diff)},
                     {"a", side(diff.a)},
                     {"b", side(diff.b)},
                     {"summary", DiffSummary(diff)},
                     {"causes", std::move(causes)},
                     {"changes", std::move(changes)},
                     {"groups", std::move(groups)},
                     {"notes", diff.notes}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster
