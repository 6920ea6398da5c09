#include "run/report/context_report.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/private_files.h"
#include "base/values/value_json.h"
#include "muster/mindspore/schema.h"
#include "plan/environment/inherited_environment.h"

namespace muster {

std::optional<std::uint32_t> AssignedRank(std::string_view framework, std::string_view plays, std::string_view log) {
  if (framework != "ps-lite" && framework != "byteps") return std::nullopt;
  const bool worker = plays == "worker";
  if (!worker && plays != "server") return std::nullopt;
  const std::string_view begin = worker ? "W[" : "S[";
  for (std::size_t end = log.find("] is connected to others"); end != std::string_view::npos;
       end = log.find("] is connected to others", end + 1)) {
    const std::size_t open = log.rfind(begin, end);
    if (open == std::string_view::npos) continue;
    std::uint32_t id = 0;
    const char* const last = log.data() + end;
    const auto [rest, error] = std::from_chars(log.data() + open + begin.size(), last, id);
    const std::uint32_t first = worker ? 9 : 8;
    if (error == std::errc() && rest == last && id >= first && (id - first) % 2 == 0) return (id - first) / 2;
  }
  return std::nullopt;
}

namespace {

constexpr std::size_t kMaxRecordBytes = 1U << 20;
constexpr std::size_t kMaxChanges = 100;
constexpr std::size_t kMaxErrors = 10;
constexpr std::size_t kMaxText = 1'000;

// At most kMaxText bytes, cut at a character boundary.
std::string Shortened(std::string text) {
  if (text.size() <= kMaxText) return text;
  std::size_t end = kMaxText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

Value Shortened(const Value& value) {
  std::string text = ToText(value);
  return text.size() <= kMaxText ? value : Value(Shortened(std::move(text)));
}

// Converts "2.3.0rc2" to "2.3.0-rc2"; text after the number is ignored, as in muster_context.
std::optional<Release> ReleaseIn(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  const auto digits = [&](std::size_t at) {
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at;
  };
  std::size_t end = digits(0);
  for (int part = 0; part < 2 && end < text.size() && text[end] == '.' && digits(end + 1) > end + 1; ++part) {
    end = digits(end + 1);
  }
  std::string number(text.substr(0, end));
  std::string_view rest = text.substr(end);
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '.' || rest.front() == '_')) rest.remove_prefix(1);
  if (rest.starts_with("rc")) {
    const std::size_t candidate = static_cast<std::size_t>(rest.data() - text.data()) + 2;
    if (digits(candidate) > candidate)
      number += "-rc" + std::string(text.substr(candidate, digits(candidate) - candidate));
  }
  return ParseRelease(number);
}

// The members of a JSON object, by expected type.
class RecordMembers {
 public:
  explicit RecordMembers(const Value& value) : map_(value.AsMap()) {}

  const Value* Get(const char* key) const {
    if (map_ == nullptr) return nullptr;
    const auto found = map_->find(key);
    return found == map_->end() ? nullptr : &found->second;
  }
  std::string Text(const char* key) const {
    const Value* value = Get(key);
    const std::string* text = value == nullptr ? nullptr : value->AsString();
    return text == nullptr ? std::string() : Shortened(*text);
  }
  bool Is(const char* key) const {
    const Value* value = Get(key);
    return value != nullptr && value->AsBool() != nullptr && *value->AsBool();
  }
  // Null if the member is not a list.
  const Value::List* List(const char* key) const {
    const Value* value = Get(key);
    return value == nullptr ? nullptr : value->AsList();
  }

 private:
  const Value::Map* map_ = nullptr;
};

std::vector<ContextReport::Change> ChangesIn(const Value::List& list) {
  std::vector<ContextReport::Change> changes;
  for (const Value& each : list) {
    if (changes.size() == kMaxChanges) break;
    const RecordMembers change(each);
    const Value* planned = change.Get("applied");
    const Value* found = change.Get("at_exit");
    if (planned == nullptr || found == nullptr) continue;
    changes.push_back({change.Text("function"), change.Text("attribute"), Shortened(*planned), Shortened(*found)});
  }
  return changes;
}

std::vector<ContextReport::Problem> ErrorsIn(const Value::List* list) {
  std::vector<ContextReport::Problem> errors;
  for (const Value& each : list == nullptr ? Value::List() : *list) {
    if (errors.size() == kMaxErrors) break;
    const RecordMembers error(each);
    errors.push_back({error.Text("kind"), error.Text("message")});
  }
  return errors;
}

// Evaluates the record of one process, considering how the process ended. Empty if there is nothing to report.
class Judgement {
 public:
  Judgement(const Plan& plan, const Process& process, const AttemptEnd& end)
      : end_(end),
        wanted_(PythonUseOf(EffectiveEnv(plan, process)) == PythonUse::kApplied &&
                !EffectiveContext(plan, process).empty()),
        works_(plan.roles[process.role].plays == "worker") {
    report_.role = plan.roles[process.role].name;
    report_.indices = {process.index};
    report_.expected = plan.mindspore;
  }

  // There is no record, or one of another attempt.
  std::optional<ContextReport> Unread() { return IfDue("never_read"); }

  std::optional<ContextReport> Unreadable(const std::string& why) {
    report_.errors.push_back({"unreadable", Shortened(why)});
    return As("unreadable");
  }

  std::optional<ContextReport> Read(const RecordMembers& record) {
    report_.release = record.Text("release");
    report_.errors = ErrorsIn(record.List("errors"));
    if (!report_.errors.empty()) return As("failed");
    if (!record.Is("imported")) return IfDue("never_imported");
    if (!record.Is("complete")) return end_.ended ? As("incomplete") : std::nullopt;
    const auto expected = ReleaseIn(report_.expected);
    report_.other_release = ReleaseIn(report_.release) != expected;
    const Value::List* overridden = record.List("overridden");
    if (overridden == nullptr) return As(end_.ended && !end_.ordered_to_stop ? "unknown" : "applied");
    const Value::List* waiting = record.List("waiting");
    if (works_ && waiting != nullptr && !waiting->empty()) return IfDue("not_wrapped");
    report_.overridden = ChangesIn(*overridden);
    return As(report_.overridden.empty() ? "applied" : "overridden");
  }

 private:
  std::optional<ContextReport> As(const char* state) {
    report_.state = state;
    return report_;
  }
  // A state that is only reported if the process needed its context and had time to apply it.
  std::optional<ContextReport> IfDue(const char* state) {
    return wanted_ && end_.ended && !end_.cut_short ? As(state) : std::nullopt;
  }

  const AttemptEnd& end_;
  bool wanted_;
  bool works_;  // schedulers and servers run the script, but have no network to wrap
  ContextReport report_;
};

bool Alike(const ContextReport& a, const ContextReport& b) {
  return a.role == b.role && a.state == b.state && a.release == b.release && a.expected == b.expected &&
         a.other_release == b.other_release && a.overridden == b.overridden && a.errors == b.errors;
}

std::optional<ContextReport> ReportOf(int folder, const Plan& plan, const Process& process, const std::string& run_id,
                                      const AttemptEnd& end) {
  Judgement judgement(plan, process, end);
  const std::string name = ProcessName(plan, process);
  const std::string file = name + ".applied.json";
  if (!EntryExists(folder, file)) return judgement.Unread();
  const Result<std::string> text = ReadFileAt(folder, file, kMaxRecordBytes, O_NOFOLLOW);
  if (!text) return judgement.Unreadable(text.error().front().message);
  const auto json = ValueFromJsonText(*text);
  if (!json) return judgement.Unreadable(json.error());
  const RecordMembers record(*json);
  const Value* format = record.Get("format");
  if (format == nullptr || *format != Value(1)) return judgement.Unreadable("it is not of format 1");
  // A record of an earlier attempt does not count.
  if (record.Text("process") != fmt::format("{}/{}.{}", run_id, name, end.attempt)) return judgement.Unread();
  return judgement.Read(record);
}

}  // namespace

std::vector<ContextReport> ReadContextReports(int run_dir, const Plan& plan, const std::string& run_id,
                                              const std::vector<AttemptEnd>& ends) {
  std::vector<ContextReport> reports;
  if (plan.mindspore.empty()) return reports;
  const Result<UniqueFd> opened = OpenFolder(run_dir, "context");
  const int folder = opened ? opened->get() : -1;
  for (std::size_t id = 0; id < plan.processes.size() && id < ends.size(); ++id) {
    if (!ends[id].started || folder < 0) continue;
    auto report = ReportOf(folder, plan, plan.processes[id], run_id, ends[id]);
    if (!report) continue;
    const auto alike = std::find_if(reports.begin(), reports.end(), [&](const auto& r) { return Alike(r, *report); });
    if (alike == reports.end()) {
      reports.push_back(std::move(*report));
    } else {
      alike->indices.push_back(report->indices.front());
    }
  }
  return reports;
}

}  // namespace muster
