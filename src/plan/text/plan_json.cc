// Writes plans as JSON. Reading is in plan_json_read.cc. Plans may be unchecked at this point.
#include "plan/text/plan_json.h"

#include <map>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/values/json_text.h"
#include "base/values/number_list.h"
#include "plan/plan/plan_fields.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

template <class T>
bool IsWritten(const T&) {
  return true;
}
template <class T>
bool IsWritten(const FieldAs<UnlessNone, T>& field) {
  return !IsNone(field.value);
}
template <class Field>
bool IsWritten(const LaterField<Field>& later) {
  return IsWritten(later.field);
}
template <class T, class Other>
bool IsWritten(const Accompanying<T, Other>& field) {
  return !IsNone(field.other);
}

// Appends values and described objects to a text. Requires the plan, because indices are written as names.
class PlanJson {
 public:
  PlanJson(const Plan& plan, std::string& out) : plan_(plan), out_(out) {}

  template <class T>
  void Append(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      out_ += value ? "true" : "false";
    } else if constexpr (std::is_integral_v<T>) {
      const fmt::format_int digits(value);
      out_.append(digits.data(), digits.size());
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      AppendJsonString(value, out_);
    } else {
      Object object(*this);
      Fields(object, const_cast<T&>(value));  // with a writer, Fields only reads
    }
  }
  void Append(const Text& text) { AppendJsonString(text.marked, out_); }
  void Append(const Value& value) { AppendJson(value, out_); }
  template <class T>
  void Append(const std::optional<T>& value) {
    if (!value) {
      out_ += "null";
    } else {
      Append(*value);
    }
  }
  template <class T>
  void Append(const std::vector<T>& list) {
    AppendList(list, [this](const T& element) { Append(element); });
  }
  template <class T>
  void Append(const std::map<std::string, T>& map) {
    Object object(*this);
    for (const auto& [key, value] : map) object.Add(key, value);
  }
  // null, "auto", a number for each process, or the list for all of them.
  void Append(const CoreUse& cores) {
    switch (cores.kind) {
      case CoreUse::Kind::kAny:
        out_ += "null";
        break;
      case CoreUse::Kind::kAuto:
        out_ += "\"auto\"";
        break;
      case CoreUse::Kind::kCount:
        Append(cores.count);
        break;
      case CoreUse::Kind::kList:
        Append(NumberListText(cores.list));
        break;
    }
  }
  // Includes the values that it shares with its role.
  void Append(const Process& process) {
    Object object(*this);
    Fields(object, const_cast<Process&>(process));
    object.Add("command", EffectiveCommand(plan_, process));
    object.Add("cwd", EffectiveCwd(plan_, process));
    if (process.ready_what) object.Add("ready_what", *process.ready_what);
    object.Begin("env");
    AppendEnvironment(process);
    object.Add("unset", plan_.roles[process.role].unset);
    object.Add("context", NestedContext(EffectiveContext(plan_, process)));
  }

  template <class E>
  void Append(const NamedMember<E>& field) {
    Append(field.names[static_cast<std::size_t>(field.value)]);
  }
  template <class T, std::size_t N>
  void Append(const Bounded<T, N>& field) {
    Append(field.value);
  }
  template <class Field>
  void Append(const LaterField<Field>& later) {
    Append(later.field);
  }
  template <class T, class Other>
  void Append(const Accompanying<T, Other>& field) {
    Append(field.value);
  }
  template <class Form, class T>
  void Append(const FieldAs<Form, T>& field) {
    Append(field.value);
  }
  template <class T>
  void Append(const FieldAs<NullIfNone, T>& field) {
    if (IsNone(field.value)) {
      out_ += "null";
    } else {
      Append(field.value);
    }
  }
  void Append(const FieldAs<NameOfHost, std::uint32_t>& field) { Append(plan_.hosts[field.value].label); }
  void Append(const FieldAs<NameOfRole, std::uint32_t>& field) { Append(plan_.roles[field.value].name); }
  void Append(const FieldAs<NameOfRole, std::vector<std::uint32_t>>& field) {
    AppendList(field.value, [this](std::uint32_t role) { Append(plan_.roles[role].name); });
  }

 private:
  // Writes the braces.
  class Object {
   public:
    explicit Object(PlanJson& json) : json_(json) { json_.out_ += '{'; }
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    ~Object() { json_.out_ += '}'; }

    template <std::size_t N, class T>
    void operator()(const char (&name)[N], T&& field) {
      if (IsWritten(field)) Add(name, field);
    }
    template <class... T>
    void operator()(T&&...) {}  // not in the JSON

    template <class T>
    void Add(std::string_view name, const T& value) {
      Begin(name);
      json_.Append(value);
    }
    // The value follows.
    void Begin(std::string_view name) {
      if (!std::exchange(first_, false)) json_.out_ += ',';
      AppendJsonString(name, json_.out_);
      json_.out_ += ':';
    }

   private:
    PlanJson& json_;
    bool first_ = true;
  };

  template <class T, class Each>
  void AppendList(const std::vector<T>& list, Each append) {
    out_ += '[';
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out_ += ',';
      append(list[i]);
    }
    out_ += ']';
  }

  void AppendEnvironment(const Process& process) {
    const Variables& own = process.env;
    const Variables& common = plan_.roles[process.role].env;
    Object object(*this);
    // Both are sorted, so one merge pass suffices.
    auto mine = own.begin();
    auto shared = common.begin();
    while (mine != own.end() || shared != common.end()) {
      if (shared == common.end() || (mine != own.end() && mine->first <= shared->first)) {
        if (shared != common.end() && shared->first == mine->first) ++shared;
        object.Add(mine->first, mine->second);
        ++mine;
      } else {
        object.Add(shared->first, shared->second);
        ++shared;
      }
    }
  }

  const Plan& plan_;
  std::string& out_;
};

// The members of the outer object, each on its own line.
class JsonLines {
 public:
  JsonLines(std::string& out, const Plan& plan) : out_(out), json_(plan, out) {}

  template <std::size_t N, class T>
  void operator()(const char (&name)[N], T&& field) {
    if (IsWritten(field)) Line(name, field);
  }
  template <std::size_t N, class T>
  void operator()(const char (&name)[N], FieldAs<OnePerLine, T>&& field) {
    Begin(name);
    out_ += '[';
    bool first = true;
    for (const auto& element : field.value) {
      out_ += first ? "\n  " : ",\n  ";
      first = false;
      json_.Append(element);
    }
    out_ += ']';
  }

  template <class T>
  void Line(const char* name, const T& value) {
    Begin(name);
    json_.Append(value);
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
  lines.Line("inputs", inputs);
  out += "}\n";
  return out;
}

}  // namespace muster
