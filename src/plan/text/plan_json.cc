#include "plan/text/plan_json.h"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "plan/check/plan_check.h"
#include "plan/plan/plan_fields.h"
#include "plan/plan/roles.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

// The fields of one object of untrusted JSON. Every error names its field and its object; the first one is kept and
// stops all reading: later fields are null.

class ObjectFields {
 public:
  // `name`: of the object, for messages. `failure`: of the whole JSON; empty if there is none.
  ObjectFields(const Value& value, std::string name, std::string& failure);

  const std::string& name() const { return name_; }
  bool failed() const { return !failure_.empty(); }
  void Fail(std::string message);
  void Wrong(const char* key, const char* wanted);

  bool Has(const char* key) const { return map_ != nullptr && map_->contains(key); }
  // Fail if there is no such field.
  const Value& Get(const char* key);
  const Value::Map& Map(const char* key);
  const Value::List& List(const char* key);

 private:
  const Value::Map* map_;
  std::string name_;
  std::string& failure_;
};

// False if the value is not of this type or not in its range.
bool ReadElement(const Value& value, bool& out);
bool ReadElement(const Value& value, std::string& out);
template <std::integral T>
bool ReadElement(const Value& value, T& out) {  // not negative
  const std::int64_t* number = value.AsInt();
  if (number == nullptr || *number < 0 || !std::in_range<T>(*number)) return false;
  out = static_cast<T>(*number);
  return true;
}

ObjectFields::ObjectFields(const Value& value, std::string name, std::string& failure)
    : map_(value.AsMap()), name_(std::move(name)), failure_(failure) {
  if (map_ == nullptr) Fail(name_ + " must be an object");
}

void ObjectFields::Fail(std::string message) {
  if (!failed()) failure_ = std::move(message);
}

void ObjectFields::Wrong(const char* key, const char* wanted) {
  Fail("\"" + std::string(key) + "\" of " + name_ + " must be " + wanted);
}

const Value& ObjectFields::Get(const char* key) {
  static const Value kNull;
  if (map_ == nullptr || failed()) return kNull;
  const auto found = map_->find(key);
  if (found != map_->end()) return found->second;
  Fail(name_ + " has no field \"" + key + "\"");
  return kNull;
}

const Value::Map& ObjectFields::Map(const char* key) {
  static const Value::Map kEmpty;
  const Value::Map* map = Get(key).AsMap();
  if (map == nullptr) Wrong(key, "an object");
  return map == nullptr ? kEmpty : *map;
}

const Value::List& ObjectFields::List(const char* key) {
  static const Value::List kEmpty;
  const Value::List* list = Get(key).AsList();
  if (list == nullptr) Wrong(key, "a list");
  return list == nullptr ? kEmpty : *list;
}

bool ReadElement(const Value& value, bool& out) {
  const bool* held = value.AsBool();
  if (held != nullptr) out = *held;
  return held != nullptr;
}

bool ReadElement(const Value& value, std::string& out) {
  const std::string* text = value.AsString();
  if (text != nullptr) out = *text;
  return text != nullptr;
}

}  // namespace

// Writes plans as JSON. Plans may be unchecked at this point.

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
template <class T>
bool IsWritten(const Conditional<T>& field) {
  return field.is_there;
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
  template <class T>
  void Append(const Conditional<T>& field) {
    Append(field.field);
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

// Reads a plan from untrusted JSON: every field has a type, every error names its field.

namespace {

// Names of JSON objects in messages: {} is the number of an element, the key of an entry, or the name of the containing
// object.
template <class T>
constexpr std::string_view kNoun = {};
template <>
constexpr std::string_view kNoun<Plan> = "the plan";
template <>
constexpr std::string_view kNoun<PlanHost> = "a host";
template <>
constexpr std::string_view kNoun<DeviceUse> = "the use of devices";
template <>
constexpr std::string_view kNoun<Role> = "role {}";
template <>
constexpr std::string_view kNoun<StopPolicy> = "the stop of {}";
template <>
constexpr std::string_view kNoun<Readiness> = "the readiness of {}";
template <>
constexpr std::string_view kNoun<RestartPolicy> = "the restart of {}";
template <>
constexpr std::string_view kNoun<RoleLimits> = "the limits of {}";
template <>
constexpr std::string_view kNoun<Container> = "the container of {}";
template <>
constexpr std::string_view kNoun<ContainerMount> = "mount {}";
template <>
constexpr std::string_view kNoun<ContainerRuntime> = "the runtime of {}";
template <>
constexpr std::string_view kNoun<Process> = "process {}";
template <>
constexpr std::string_view kNoun<PlanPort> = "port \"{}\"";
template <>
constexpr std::string_view kNoun<PlanFile> = "file \"{}\"";
template <>
constexpr std::string_view kNoun<SecretSource> = "secret \"{}\"";
template <>
constexpr std::string_view kNoun<LogMetrics> = "the metrics";
template <>
constexpr std::string_view kNoun<Notification> = "notification {}";
template <>
constexpr std::string_view kNoun<CheckpointPlace> = "the checkpoint folder";
template <>
constexpr std::string_view kNoun<SiteEnvironment> = "the site's environment";
template <>
constexpr std::string_view kNoun<ActivationStep> = "step {} of the activation";

template <class T>
concept Object = !kNoun<T>.empty();

template <class T>
std::string Called(std::string_view by) {
  std::string name(kNoun<T>);
  if (const std::size_t gap = name.find("{}"); gap != std::string::npos) name.replace(gap, 2, by);
  return name;
}

// State that later objects refer to.
struct Progress {
  // The names of the hosts or roles become known; returns an error.
  template <class T>
  std::string Complete(const std::vector<T>&) {
    return {};
  }
  std::string Complete(const std::vector<PlanHost>& read) {
    for (const PlanHost& host : read) hosts.emplace(host.label, static_cast<std::uint32_t>(&host - read.data()));
    return {};
  }
  std::string Complete(std::vector<Role>& read) {
    for (const Role& role : read) roles.emplace(role.name, static_cast<std::uint32_t>(&role - read.data()));
    for (std::size_t r = 0; r < read.size() && r < after.size(); ++r) {
      for (const std::string& name : after[r]) {
        const auto found = roles.find(name);
        if (found == roles.end()) return "\"after\" of role " + std::to_string(r) + " names no role of the plan";
        read[r].after.push_back(found->second);
      }
    }
    return {};
  }

  std::string failure;  // the first one
  std::map<std::string, std::uint32_t> hosts;
  std::map<std::string, std::uint32_t> roles;
  std::vector<std::vector<std::string>> after;  // per role: names of the roles that it starts after
};

bool ReadElement(const Value& value, Text& out) { return muster::ReadElement(value, out.marked); }

// An object of the JSON with its name for messages, read according to its Fields() (plan_fields.h).
class ObjectReader {
 public:
  ObjectReader(const Value& value, std::string name, Progress& progress)
      : object_(value, std::move(name), progress.failure), progress_(progress) {}

  template <std::size_t N, class T>
  void operator()(const char (&key)[N], T&& field) {
    Read(key, field);
  }
  template <class... T>
  void operator()(T&&...) {}  // not in the JSON

  bool failed() const { return object_.failed(); }

 private:
  void Read(const char* key, bool& out) {
    if (!ReadElement(object_.Get(key), out)) object_.Wrong(key, "true or false");
  }
  template <std::unsigned_integral T>
  void Read(const char* key, T& out) {
    if (!ReadElement(object_.Get(key), out)) object_.Wrong(key, "a whole number in range");
  }
  void Read(const char* key, std::optional<std::uint32_t>& out) {
    const Value& value = object_.Get(key);
    if (value.IsNull()) return;
    if (!ReadElement(value, out.emplace())) object_.Wrong(key, "a whole number in range or null");
  }
  void Read(const char* key, std::string& out) {
    if (!ReadElement(object_.Get(key), out)) object_.Wrong(key, "text");
  }
  void Read(const char* key, Text& out) { Read(key, out.marked); }
  template <class T>
  void Read(const char* key, std::vector<T>& out) {
    for (const Value& element : object_.List(key)) {
      if (!ReadElement(element, out.emplace_back())) return object_.Wrong(key, "a list of one kind of element");
    }
  }
  void Read(const char* key, std::map<std::string, Value>& out) { out = object_.Map(key); }
  void Read(const char* key, std::map<std::string, std::string>& out) {
    for (const auto& [name, value] : object_.Map(key)) {
      if (!ReadElement(value, out[name])) return object_.Wrong(key, "an object of texts");
    }
  }
  void Read(const char* key, CoreUse& cores) {
    const Value& value = object_.Get(key);
    if (value.IsNull()) return;
    if (value.AsInt() != nullptr) {
      cores.kind = CoreUse::Kind::kCount;
      return Read(key, cores.count);
    }
    std::string text;
    Read(key, text);
    cores.kind = text == "auto" ? CoreUse::Kind::kAuto : CoreUse::Kind::kList;
    if (text == "auto" || failed()) return;
    const auto list = ParseNumberList(text);
    if (!list) return object_.Wrong(key, "\"auto\", a number or a list of numbers");
    cores.list = *list;
  }

  template <Object T>
  void Read(const char* key, T& out) {
    ReadObject(object_.Get(key), object_.name(), out);
  }
  template <Object T>
  void Read(const char* key, std::vector<T>& out) {
    for (const Value& each : object_.List(key)) {
      if (failed()) return;
      const std::size_t number = out.size();
      ReadObject(each, std::to_string(number), out.emplace_back());
    }
    if (std::string error = progress_.Complete(out); !error.empty()) object_.Fail(std::move(error));
  }
  template <Object T>
  void Read(const char* key, std::map<std::string, T>& out) {
    for (const auto& [name, each] : object_.Map(key)) ReadObject(each, name, out[name]);
  }

  template <class E>
  void Read(const char* key, NamedMember<E>& field) {
    std::string name;
    Read(key, name);
    const auto found = std::find(field.names.begin(), field.names.end(), name);
    if (found == field.names.end()) return object_.Wrong(key, "one of its words");
    field.value = static_cast<E>(found - field.names.begin());
  }
  template <class T, std::size_t N>
  void Read(const char* key, Bounded<T, N>& field) {
    Read(key, field.value);
  }
  template <class T>
  void Read(const char* key, Conditional<T>& field) {
    if (field.is_there) Read(key, field.field);
  }
  template <class T>
  void Read(const char* key, FieldAs<OnePerLine, T>& field) {
    Read(key, field.value);
  }
  template <class T>
  void Read(const char* key, FieldAs<UnlessNone, T>& field) {
    if (object_.Has(key)) Read(key, field.value);
  }
  template <class Field>
  void Read(const char* key, LaterField<Field>& later) {
    if (object_.Has(key)) Read(key, later.field);
  }
  template <class T>
  void Read(const char* key, FieldAs<NullIfNone, T>& field) {
    if (object_.Get(key).IsNull()) return;
    Read(key, field.value);
    if (IsNone(field.value)) field.value = {};  // same as null
  }
  void Read(const char* key, FieldAs<NameOfHost, std::uint32_t>& field) { field.value = Index(key, progress_.hosts); }
  void Read(const char* key, FieldAs<NameOfRole, std::uint32_t>& field) { field.value = Index(key, progress_.roles); }
  void Read(const char* key, FieldAs<NameOfRole, std::vector<std::uint32_t>>&) {
    Read(key, progress_.after.emplace_back());  // roles may name later roles: resolved in Complete
  }

  template <class T>
  void ReadObject(const Value& json, std::string_view by, T& out) {
    ObjectReader reader(json, Called<T>(by), progress_);
    Fields(reader, out);
    if constexpr (std::is_same_v<T, Process>) reader.ReadExpanded(out);
  }

  // Values that JSON repeats in each process and that are no fields of a process.
  void ReadExpanded(Process& process) {
    Read("command", process.command.emplace());
    Read("cwd", process.cwd.emplace());
    if (object_.Has("ready_what")) Read("ready_what", process.ready_what.emplace());
    for (const auto& [name, value] : object_.Map("env")) {
      const std::string* text = value.AsString();
      if (text == nullptr) return object_.Wrong("env", "an object of texts");
      process.env.emplace_hint(process.env.end(), name, *text);
    }
    for (const auto& [function, attributes] : object_.Map("context")) {
      if (attributes.AsMap() == nullptr) return object_.Wrong("context", "an object of objects");
      for (const auto& [name, value] : *attributes.AsMap()) process.context.emplace(function + '.' + name, value);
    }
  }

  // The index of the role or host that the field names.
  std::uint32_t Index(const char* key, const std::map<std::string, std::uint32_t>& indices) {
    std::string name;
    Read(key, name);
    const auto found = indices.find(name);
    if (found != indices.end()) return found->second;
    object_.Wrong(key, "the name of one that the plan describes");
    return 0;
  }

  ObjectFields object_;
  Progress& progress_;
};

// The error; empty if there is none.
std::string ReadPlan(const Value& json, Plan& plan, std::string& id) {
  Progress progress;
  ObjectReader top(json, Called<Plan>(""), progress);
  std::uint32_t format = 0;
  top("format", format);
  if (!top.failed() && format != kPlanJsonFormat) return "its format is " + std::to_string(format) + ", not 1";
  top("id", id);
  Fields(top, plan);
  return std::move(progress.failure);
}

}  // namespace

Result<Plan> PlanFromJson(std::string_view bytes) {
  const auto fail = [](std::string why, std::string hint = {}) {
    return Fail(Error("plan_json", {}, "this is not a plan that muster can read: " + std::move(why), std::move(hint)));
  };
  if (bytes.size() > kMaxPlanJsonBytes)
    return fail("it is larger than " + std::to_string(kMaxPlanJsonBytes >> 20) + " MiB");
  const auto json = ValueFromJsonText(bytes, kMaxPlanJsonMemory);
  if (!json) return fail(json.error());
  Plan plan;
  std::string id;
  if (std::string failure = ReadPlan(*json, plan, id); !failure.empty()) return fail(std::move(failure));
  Fold(plan);
  if (Diagnostics problems = ValidatePlan(plan); !problems.empty()) return Fail(std::move(problems));
  if (const std::string own = PlanId(plan); id != own) {
    return fail("it was changed after it was written: its recorded id is " + Printable(id.substr(0, own.size())) +
                    ", the computed one " + own,
                "write the recipe's plan again");
  }
  return plan;
}

}  // namespace muster
