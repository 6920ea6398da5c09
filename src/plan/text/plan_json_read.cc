// Reads a plan from untrusted JSON: every field has a type, every error names its field.
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/values/number_list.h"
#include "base/values/shell_quote.h"
#include "plan/check/plan_check.h"
#include "plan/plan/fold.h"
#include "plan/plan/plan_fields.h"
#include "plan/text/object_fields.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"
#include "settings/values/value_json.h"

namespace muster {
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
  template <class T, class Other>
  void Read(const char* key, Accompanying<T, Other>& field) {
    if (!IsNone(field.other)) Read(key, field.value);
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
