#include "plan/text/plan_diff_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/values/columns.h"
#include "base/values/json_text.h"
#include "base/values/shell_quote.h"
#include "plan/text/folded_texts.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

using Json = nlohmann::ordered_json;
using Kind = PlanChange::Kind;

constexpr std::size_t kMostTexts = 8;      // of one change, in text for users
constexpr std::size_t kMostDetails = 20;   // of one cause, in text for users
constexpr std::size_t kWidestColumn = 44;  // longer names shift the rest of their line

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
  std::string text = Printable(cause.name);
  if (cause.before || cause.after) text += "  " + ChangeText(cause.before, cause.after);
  text += "  (" + cause.kind;
  if (!cause.source.empty()) text += ", " + Printable(cause.source);
  return text + ")";
}

// "2 lines removed, 3 added".
std::string LinesText(const std::vector<std::string>& lines) {
  const auto count = [&lines](char mark) {
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(), [mark](const std::string& line) { return line.front() == mark; }));
  };
  return Counted(count('-'), "line", "lines") + " removed, " + std::to_string(count('+')) + " added";
}

// The first column of a row.
std::string NameOf(const PlanChange& change) {
  const bool of_role = change.kind == Kind::kRole;
  return Printable((of_role ? change.role + " " : "") + change.name);
}

// A row: one change, with the texts of all roles that share it.
struct Row {
  const PlanChange* change = nullptr;
  std::vector<ChangedText> texts;
};

// One row per kind and name; roles with the same change share a row.
std::vector<Row> Rows(const std::vector<PlanChange>& changes, const std::vector<std::size_t>& chosen) {
  std::vector<Row> rows;
  std::map<std::pair<Kind, std::string>, std::size_t> known;
  for (const std::size_t i : chosen) {
    const auto [found, is_new] = known.try_emplace({changes[i].kind, NameOf(changes[i])}, rows.size());
    if (is_new) rows.push_back({&changes[i], {}});
    std::vector<ChangedText>& texts = rows[found->second].texts;
    for (const ChangedText& text : changes[i].texts) {
      const auto same = std::find_if(texts.begin(), texts.end(), [&](const ChangedText& other) {
        return other.before == text.before && other.after == text.after;
      });
      if (same == texts.end()) {
        texts.push_back(text);
        texts.back().processes = ShortProcessesText(text.processes);
      } else {
        same->processes += ", " + ShortProcessesText(text.processes);
        same->ids.insert(same->ids.end(), text.ids.begin(), text.ids.end());
      }
    }
  }
  return rows;
}

void AppendChanges(std::string& out, const std::vector<PlanChange>& changes, const std::vector<std::size_t>& chosen) {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  const std::vector<Row> rows = Rows(changes, chosen);
  for (const Row& row : rows) {
    name_width = std::max(name_width, Columns(NameOf(*row.change)));
    for (const ChangedText& text : row.texts) {
      if (!text.processes.empty()) value_width = std::max(value_width, Columns(ChangeText(text.before, text.after)));
    }
  }
  name_width = std::min(name_width, kWidestColumn);
  value_width = std::min(value_width, kWidestColumn);
  constexpr std::size_t kKindWidth = 8;
  for (const auto& [change, texts] : rows) {
    std::string head = "  " + Filled(std::string(PlanChangeName(change->kind)), kKindWidth) + "  " +
                       Filled(NameOf(*change), name_width) + "  ";
    const std::size_t shown = texts.size() > kMostTexts ? kMostTexts - 1 : texts.size();
    for (std::size_t t = 0; t < shown; ++t) {
      const std::string values =
          change->lines.empty() ? ChangeText(texts[t].before, texts[t].after) : LinesText(change->lines);
      out +=
          head +
          (texts[t].processes.empty() ? values : Filled(values, value_width) + "  " + Printable(texts[t].processes)) +
          '\n';
      head.assign(Columns(head), ' ');
    }
    for (const std::string& line : change->lines) out += "    " + Printable(line) + '\n';
    if (shown == texts.size()) continue;
    std::size_t processes = 0;
    for (std::size_t t = shown; t < texts.size(); ++t) processes += texts[t].ids.size();
    out += head + "… and " + std::to_string(texts.size() - shown) + " more" +
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

std::string GroupTitle(const PlanDifference& diff, const CausedChanges& group) {
  if (group.causes.size() == 1) return CauseText(diff.causes[group.causes.front()]) + '\n';
  if (group.causes.empty()) return "no parameter differs\n";
  std::vector<std::string> names;
  for (const std::size_t cause : group.causes) names.push_back(Printable(diff.causes[cause].name));
  return Joined(names) + (group.together ? " together\n" : ", each of them\n");
}

Json SideJson(const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); }

}  // namespace

std::vector<std::string> ChangeLines(const std::vector<PlanChange>& changes, std::size_t most) {
  std::vector<std::size_t> all(changes.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::string> lines;
  std::size_t left_out = 0;
  for (const auto& [change, texts] : Rows(changes, all)) {
    if (lines.size() == most) {
      ++left_out;
      continue;
    }
    std::string line = std::string(PlanChangeName(change->kind)) + " " + NameOf(*change);
    if (!texts.empty()) {
      line += ": " + ChangeText(texts.front().before, texts.front().after);
      if (!texts.front().processes.empty()) line += " (" + Printable(texts.front().processes) + ")";
      if (texts.size() > 1) line += ", …";
    }
    lines.push_back(std::move(line));
  }
  if (left_out > 0) lines.push_back("and " + Counted(left_out, "more change", "more changes"));
  return lines;
}

bool IsSamePlan(const PlanDifference& diff) { return diff.a.plan_id == diff.b.plan_id; }

std::string DiffSummary(const PlanDifference& diff) {
  std::size_t parameters = 0;
  std::size_t of_cluster = 0;
  bool recipe = false;
  bool call = false;
  for (const PlanCause& cause : diff.causes) {
    if (cause.kind == "parameter") ++parameters;
    if (cause.kind == "cluster") ++of_cluster;
    recipe = recipe || cause.kind == "recipe";
    call = call || cause.kind == "call";
  }
  std::vector<std::string> causes;
  if (recipe) causes.emplace_back("the recipe's text");
  if (parameters > 0) causes.push_back(Counted(parameters, "parameter", "parameters"));
  if (of_cluster > 0) causes.push_back(Counted(of_cluster, "number of the cluster", "numbers of the cluster"));
  if (call) causes.emplace_back("how it was called");

  // Counts names, not roles: the same name in two roles counts once.
  std::map<Kind, std::set<std::string>> names;
  std::set<std::uint32_t> processes;
  for (const PlanChange& change : diff.changes) {
    const bool is_layout = change.kind != Kind::kDerived && change.kind < Kind::kContext;
    names[is_layout ? Kind::kPlace : change.kind].insert(std::string(PlanChangeName(change.kind)) + NameOf(change));
    for (const ChangedText& text : change.texts) processes.insert(text.ids.begin(), text.ids.end());
  }
  const std::size_t derived = names[Kind::kDerived].size();
  const std::size_t others = names[Kind::kPlace].size();
  const std::size_t attributes = names[Kind::kContext].size();
  const std::size_t words = names[Kind::kCommand].size();
  const std::size_t folders = names[Kind::kFolder].size();
  const std::size_t variables = names[Kind::kVariable].size();
  std::vector<std::string> effects;
  if (others > 0) effects.push_back(Counted(others, "fact of the layout", "facts of the layout"));
  if (attributes > 0) effects.push_back(Counted(attributes, "attribute", "attributes"));
  if (words > 0) effects.push_back(Counted(words, "word of a command", "words of commands"));
  if (folders > 0) effects.emplace_back("the folder");
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

std::string DiffText(const PlanDifference& diff) {
  const std::size_t width = std::max(Columns(Printable(diff.a.name)), Columns(Printable(diff.b.name)));
  std::string out;
  for (const auto& [letter, side] : {std::pair{"A", &diff.a}, std::pair{"B", &diff.b}}) {
    out += std::string(letter) + "  " + Filled(Printable(side->name), width) + "  plan " + ShortPlanId(side->plan_id) +
           '\n';
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
  if (!diff.metrics.empty()) out += "\nlast metrics\n";
  std::size_t longest = 0;
  for (const DiffedMetric& metric : diff.metrics) longest = std::max(longest, Columns(Printable(metric.name)));
  for (const DiffedMetric& metric : diff.metrics) {
    out += "  " + Filled(Printable(metric.name), longest) + "  " + Printable(metric.before.value_or("(none)")) + " → " +
           Printable(metric.after.value_or("(none)")) + '\n';
  }
  return out;
}

std::string DiffJson(const PlanDifference& diff) {
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
    if (change.kind == Kind::kFile) changes.back()["lines"] = change.lines;
  }
  Json groups = Json::array();
  for (const CausedChanges& group : GroupByCause(diff.changes, diff.causes)) {
    groups.push_back({{"causes", group.causes}, {"changes", group.changes}, {"together", group.together}});
  }
  Json metrics = Json::array();
  for (const DiffedMetric& metric : diff.metrics) {
    metrics.push_back({{"name", metric.name}, {"before", SideJson(metric.before)}, {"after", SideJson(metric.after)}});
  }
  const Json json = {{"format", 1},
                     {"same_plan", IsSamePlan(diff)},
                     {"a", side(diff.a)},
                     {"b", side(diff.b)},
                     {"summary", DiffSummary(diff)},
                     {"causes", std::move(causes)},
                     {"changes", std::move(changes)},
                     {"groups", std::move(groups)},
                     {"notes", diff.notes},
                     {"metrics", std::move(metrics)}};
  return SerializedJson(json, 1) + "\n";
}

}  // namespace muster
