#include "run/control/control_protocol.h"

#include <array>
#include <concepts>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "base/values/suggest.h"
#include "muster/value.h"
#include "run/directory/json_text.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

using Ask = ControlRequest::Ask;

constexpr std::array<std::pair<Ask, std::string_view>, 6> kAsks = {{{Ask::kStatus, "status"},
                                                                    {Ask::kStop, "stop"},
                                                                    {Ask::kWatch, "watch"},
                                                                    {Ask::kDump, "dump"},
                                                                    {Ask::kProcesses, "processes"},
                                                                    {Ask::kOpen, "open"}}};

tl::unexpected<std::string> No(std::string why) { return tl::unexpected<std::string>(std::move(why)); }

// The object of a line, its format known to be ours.
tl::expected<Value::Map, std::string> ObjectOf(std::string_view line) {
  tl::expected<Value, std::string> json = ValueFromJsonText(line);
  if (!json) return No("the line is not valid JSON: " + json.error());
  if (json->AsMap() == nullptr) return No("the line is not a JSON object");
  const auto format = json->AsMap()->find("format");
  if (format == json->AsMap()->end()) return No("the object has no format; this muster speaks format 1");
  const std::int64_t* number = format->second.AsInt();
  if (number == nullptr || *number != kControlFormat) {
    return No(fmt::format("format {} is not spoken here, only format {}",
                          Printable(JsonText(format->second)).substr(0, 80), kControlFormat));
  }
  return std::move(std::get<Value::Map>(json->data()));
}

// Takes fields out of an object; a missing one or one of another type or range is remembered.
class Fields {
 public:
  explicit Fields(const Value::Map& object) : object_(object) {}

  void operator()(const char* name, std::string& text) {
    if (const Value* value = Find(name); value != nullptr && value->AsString() != nullptr) {
      text = *value->AsString();
    } else {
      ok_ = false;
    }
  }
  void operator()(const char* name, bool& truth) {
    if (const Value* value = Find(name); value != nullptr && value->AsBool() != nullptr) {
      truth = *value->AsBool();
    } else {
      ok_ = false;
    }
  }
  template <std::integral T>
  void operator()(const char* name, T& number) {
    const Value* value = Find(name);
    if (value != nullptr && value->AsInt() != nullptr && std::in_range<T>(*value->AsInt())) {
      number = static_cast<T>(*value->AsInt());
    } else {
      ok_ = false;
    }
  }
  // One that may be left out.
  template <class T>
  void operator()(const char* name, std::optional<T>& field) {
    if (Find(name) != nullptr) (*this)(name, field.emplace());
  }
  const Value* Find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &found->second;
  }
  bool ok() const { return ok_; }

 private:
  const Value::Map& object_;
  bool ok_ = true;
};

template <class F, class R>
void RoleFields(F& f, R& role) {
  f("role", role.name), f("waiting", role.waiting), f("running", role.running), f("ended", role.ended),
      f("restarts", role.restarts);
}

template <class F, class S>
void StatusFields(F& f, S& status) {
  f("run", status.run), f("plan", status.plan), f("name", status.name), f("pid", status.pid), f("phase", status.phase),
      f("records", status.records), f("stops", status.stops), f("waits", status.waits);
}

template <class F, class P>
void ProcessFields(F& f, P& process) {
  f("role", process.role), f("index", process.index), f("rank", process.rank), f("host", process.host),
      f("state", process.state), f("attempt", process.attempt), f("pid", process.pid),
      f("start_ticks", process.start_ticks), f("ran_ms", process.ran_ms), f("exit_code", process.exit_code),
      f("signal", process.signal), f("spawn_stage", process.spawn_stage);
}

// The other direction of Fields.
struct ObjectMaker {
  void operator()(const char* name, const std::string& text) { map.emplace(name, text); }
  template <std::integral T>
  void operator()(const char* name, const T& number) {
    map.emplace(name, static_cast<std::int64_t>(number));
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& field) {
    if (field) (*this)(name, *field);
  }
  Value::Map map;
};

bool ReadStatus(const Value* value, RunStatus& status) {
  if (value == nullptr || value->AsMap() == nullptr) return false;
  Fields fields(*value->AsMap());
  StatusFields(fields, status);
  const Value* roles = fields.Find("roles");
  if (!fields.ok() || roles == nullptr || roles->AsList() == nullptr) return false;
  for (const Value& each : *roles->AsList()) {
    if (each.AsMap() == nullptr) return false;
    Fields role(*each.AsMap());
    RoleFields(role, status.roles.emplace_back());
    if (!role.ok()) return false;
  }
  return true;
}

bool ReadProcesses(const Fields& answer, ControlAnswer& into) {
  const Value* list = answer.Find("processes");
  if (list == nullptr) return true;
  if (list->AsList() == nullptr) return false;
  ProcessStatuses& statuses = into.processes.emplace();
  Fields fields(answer);
  fields("ran_ms", statuses.ran_ms);
  for (const Value& each : *list->AsList()) {
    if (each.AsMap() == nullptr) return false;
    Fields process(*each.AsMap());
    ProcessFields(process, statuses.processes.emplace_back());
    if (!process.ok()) return false;
  }
  return fields.ok();
}

std::string Line(Value::Map object) {
  object.emplace("format", kControlFormat);
  return JsonText(Value(std::move(object))) + "\n";
}

}  // namespace

tl::expected<ControlRequest, std::string> ParseControlRequest(std::string_view line) {
  const tl::expected<Value::Map, std::string> object = ObjectOf(line);
  if (!object) return No(object.error());
  ControlRequest request;
  bool asked = false;
  for (const auto& [key, value] : *object) {
    if (key == "format") continue;
    if (key == "ask") {
      std::vector<std::string> known;
      for (const auto& [ask, word] : kAsks) {
        known.emplace_back(word);
        if (value.AsString() == nullptr || *value.AsString() != word) continue;
        request.ask = ask;
        asked = true;
      }
      if (!asked) {
        const std::string word = value.AsString() != nullptr ? *value.AsString() : JsonText(value);
        return No(fmt::format("unknown request {}; {}", Quoted(word), DidYouMean(word, known)));
      }
    } else if (key == "now" && value.AsBool() != nullptr) {
      request.now = *value.AsBool();
    } else if (key == "dump" && value.AsBool() != nullptr) {
      request.dump = *value.AsBool();
    } else if (key == "trial" && value.AsInt() != nullptr && *value.AsInt() >= 0) {
      request.trial = static_cast<std::uint64_t>(*value.AsInt());
    } else {
      return No(fmt::format("the key {} is not known here, or its value is of another type", Quoted(key)));
    }
  }
  if (!asked) return No("missing member \"ask\": status, stop, watch, dump, processes or open");
  if (request.now && request.ask != Ask::kStop) return No("only a stop can be asked for now");
  if (request.dump && request.ask != Ask::kStop) return No("only a stop can be asked to take a dump first");
  if (request.trial.has_value() != (request.ask == Ask::kOpen)) return No("open, and only open, names a trial");
  return request;
}

std::string ControlRequestLine(const ControlRequest& request) {
  Value::Map object;
  for (const auto& [ask, word] : kAsks) {
    if (ask == request.ask) object.emplace("ask", word);
  }
  if (request.now) object.emplace("now", true);
  if (request.dump) object.emplace("dump", true);
  if (request.trial) object.emplace("trial", static_cast<std::int64_t>(*request.trial));
  return Line(std::move(object));
}

std::string ControlAnswerLine(const ControlAnswer& answer) {
  if (!answer.error.empty()) return Line({{"ok", false}, {"error", answer.error}});
  ObjectMaker status;
  StatusFields(status, answer.status);
  Value::List roles;
  for (const RoleStatus& role : answer.status.roles) {
    ObjectMaker made;
    RoleFields(made, role);
    roles.emplace_back(std::move(made.map));
  }
  status.map.emplace("roles", std::move(roles));
  Value::Map object = {{"ok", true}, {"already", answer.already}, {"status", std::move(status.map)}};
  if (answer.dump != 0) object.emplace("dump", std::int64_t{answer.dump});
  if (answer.processes) {
    Value::List processes;
    processes.reserve(answer.processes->processes.size());
    for (const ProcessStatus& process : answer.processes->processes) {
      ObjectMaker made;
      ProcessFields(made, process);
      processes.emplace_back(std::move(made.map));
    }
    object.emplace("processes", std::move(processes));
    object.emplace("ran_ms", static_cast<std::int64_t>(answer.processes->ran_ms));
  }
  return Line(std::move(object));
}

tl::expected<ControlAnswer, std::string> ParseControlAnswer(std::string_view line) {
  const tl::expected<Value::Map, std::string> object = ObjectOf(line);
  if (!object) return No(object.error());
  ControlAnswer answer;
  Fields fields(*object);
  bool ok = false;
  fields("ok", ok);
  if (!ok) {
    fields("error", answer.error);
    if (!fields.ok() || answer.error.empty()) return No("the answer is not one of a run");
    return answer;
  }
  fields("already", answer.already);
  if (fields.Find("dump") != nullptr) fields("dump", answer.dump);
  if (!fields.ok() || !ReadStatus(fields.Find("status"), answer.status) || !ReadProcesses(fields, answer)) {
    return No("the answer is not one of a run");
  }
  return answer;
}

}  // namespace muster
