// Writes plans as JSON. Reading is in plan_json_read.cc.
#include "plan/text/plan_json.h"

#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/values/number_list.h"
#include "plan/plan/plan_fields.h"
#include "plan/text/plan_text.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

using Json = nlohmann::ordered_json;

// Plans may be unchecked at this point: invalid UTF-8 is replaced, without an exception.
std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json EnvironmentOf(const Plan& plan, const Process& process) {
  const Variables& own = process.env;
  const Variables& common = plan.roles[process.role].env;
  Json json = Json::object();
  // Both are sorted, so one merge pass suffices.
  auto mine = own.begin();
  auto shared = common.begin();
  while (mine != own.end() || shared != common.end()) {
    if (shared == common.end() || (mine != own.end() && mine->first <= shared->first)) {
      if (shared != common.end() && shared->first == mine->first) ++shared;
      json[mine->first] = mine->second.marked;
      ++mine;
    } else {
      json[shared->first] = shared->second.marked;
      ++shared;
    }
  }
  return json;
}

template <class T>
bool IsWritten(const T&) {
  return true;
}
template <class T>
bool IsWritten(const FieldAs<UnlessNone, T>& field) {
  return !IsNone(field.value);
}
template <class T, class Other>
bool IsWritten(const Accompanying<T, Other>& field) {
  return !IsNone(field.other);
}

// The JSON of values and described objects. Requires the plan, because indices are written as names.
class PlanJson {
 public:
  explicit PlanJson(const Plan& plan) : plan_(plan) {}

  template <class T>
  Json Of(const T& value) const {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return value;
    } else {
      Object object{*this};
      Fields(object, const_cast<T&>(value));  // with a writer, Fields only reads
      return std::move(object.json);
    }
  }
  Json Of(const Text& text) const { return text.marked; }
  Json Of(const std::map<std::string, Value>& values) const { return ToJson(Value(values)); }
  template <class T>
  Json Of(const std::optional<T>& value) const {
    return value ? Of(*value) : Json();
  }
  template <class T>
  Json Of(const std::vector<T>& list) const {
    Json json = Json::array();
    for (const T& element : list) json.push_back(Of(element));
    return json;
  }
  template <class T>
  Json Of(const std::map<std::string, T>& map) const {
    Json json = Json::object();
    for (const auto& [key, value] : map) json[key] = Of(value);
    return json;
  }
  // null, "auto", a number for each process, or the list for all of them.
  Json Of(const CoreUse& cores) const {
    switch (cores.kind) {
      case CoreUse::Kind::kAny:
        return nullptr;
      case CoreUse::Kind::kAuto:
        return "auto";
      case CoreUse::Kind::kCount:
        return cores.count;
      case CoreUse::Kind::kList:
        return NumberListText(cores.list);
    }
    return nullptr;
  }
  // Includes the values that it shares with its role.
  Json Of(const Process& process) const {
    Object object{*this};
    Fields(object, const_cast<Process&>(process));
    Json& json = object.json;
    json["command"] = Of(EffectiveCommand(plan_, process));
    json["cwd"] = Of(EffectiveCwd(plan_, process));
    if (process.ready_what) json["ready_what"] = Of(*process.ready_what);
    json["env"] = EnvironmentOf(plan_, process);
    json["unset"] = plan_.roles[process.role].unset;
    json["context"] = ToJson(NestedContext(EffectiveContext(plan_, process)));
    return std::move(json);
  }

  template <class E>
  Json Of(const NamedMember<E>& field) const {
    return field.names[static_cast<std::size_t>(field.value)];
  }
  template <class T, std::size_t N>
  Json Of(const Bounded<T, N>& field) const {
    return Of(field.value);
  }
  template <class T, class Other>
  Json Of(const Accompanying<T, Other>& field) const {
    return Of(field.value);
  }
  template <class Form, class T>
  Json Of(const FieldAs<Form, T>& field) const {
    return Of(field.value);
  }
  template <class T>
  Json Of(const FieldAs<NullIfNone, T>& field) const {
    return IsNone(field.value) ? Json() : Of(field.value);
  }
  Json Of(const FieldAs<NameOfHost, std::uint32_t>& field) const { return plan_.hosts[field.value].label; }
  Json Of(const FieldAs<NameOfRole, std::uint32_t>& field) const { return plan_.roles[field.value].name; }
  Json Of(const FieldAs<NameOfRole, std::vector<std::uint32_t>>& field) const {
    Json json = Json::array();
    for (const std::uint32_t role : field.value) json.push_back(plan_.roles[role].name);
    return json;
  }

 private:
  struct Object {
    template <std::size_t N, class T>
    void operator()(const char (&name)[N], T&& field) {
      if (IsWritten(field)) json[name] = of.Of(field);
    }
    template <class... T>
    void operator()(T&&...) {}  // not in the JSON

    const PlanJson& of;
    Json json = {};
  };

  const Plan& plan_;
};

// The members of the outer object, each on its own line.
class JsonLines {
 public:
  JsonLines(std::string& out, const Plan& plan) : out_(out), json_(plan) {}

  template <std::size_t N, class T>
  void operator()(const char (&name)[N], T&& field) {
    if (IsWritten(field)) Line(name, json_.Of(field));
  }
  template <std::size_t N, class T>
  void operator()(const char (&name)[N], FieldAs<OnePerLine, T>&& field) {
    Begin(name);
    out_ += '[';
    bool first = true;
    for (const auto& element : field.value) {
      out_ += first ? "\n  " : ",\n  ";
      first = false;
      out_ += Dump(json_.Of(element));
    }
    out_ += ']';
  }

  void Line(const char* name, const Json& value) {
    Begin(name);
    out_ += Dump(value);
  }

 private:
  void Begin(const char* name) {
    out_ += ",\n \"";
    out_ += name;
    out_ += "\": ";
  }

  std::string& out_;
  PlanJson json_;
};

}  // namespace

Value NestedContext(const ContextValues& context) {
  Value::Map nested;
  for (const auto& [key, value] : context) {
    const std::size_t dot = key.rfind('.');  // functions such as runtime.set_memory contain dots, attributes do not
    if (dot == std::string::npos) continue;
    Value& function = nested.try_emplace(key.substr(0, dot), Value::Map{}).first->second;
    std::get<Value::Map>(function.data()).insert_or_assign(key.substr(dot + 1), value);
  }
  return Value(std::move(nested));
}

std::string PlanToJson(const Plan& plan, const Value& inputs, const std::string& id) {
  std::string out = "{\"format\": " + std::to_string(kPlanJsonFormat);
  JsonLines lines(out, plan);
  lines.Line("id", id.empty() ? PlanId(plan) : id);
  Fields(lines, const_cast<Plan&>(plan));  // with a writer, Fields only reads
  lines.Line("inputs", ToJson(inputs));
  out += "}\n";
  return out;
}

}  // namespace muster
