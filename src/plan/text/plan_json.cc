#include "plan/text/plan_json.h"

#include <cstdint>
#include <map>
#include <optional>
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
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {

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

// Writes plans as JSON. Plans may be unchecked at this point.

namespace {

// Indices are written as names, and processes with the values that they share with their role.
struct PlanWords : NoForms {
  const Plan& plan;

  void Put(auto& json, const Text& text) const { json.PutText(text.marked); }
  void Put(auto& json, const FieldAs<NameOfHost, std::uint32_t>& field) const {
    json.Put(plan.hosts[field.value].label);
  }
  void Put(auto& json, const FieldAs<NameOfRole, std::uint32_t>& field) const {
    json.Put(plan.roles[field.value].name);
  }
  void Put(auto& json, const FieldAs<NameOfRole, std::vector<std::uint32_t>>& field) const {
    std::vector<std::string_view> names;
    for (const std::uint32_t role : field.value) names.push_back(plan.roles[role].name);
    json.Put(names);
  }
  // null, "auto", a number for each process, or the list for all of them.
  void Put(auto& json, const CoreUse& cores) const {
    switch (cores.kind) {
      case CoreUse::Kind::kAny:
        return json.PutWord("null");
      case CoreUse::Kind::kAuto:
        return json.PutText("auto");
      case CoreUse::Kind::kCount:
        return json.Put(cores.count);
      case CoreUse::Kind::kList:
        return json.PutText(NumberListText(cores.list));
    }
  }
  void Put(auto& json, const Process& process) const {
    json.Open('{');
    json.Members(process);
    json("command", EffectiveCommand(plan, process));
    json("cwd", EffectiveCwd(plan, process));
    if (process.ready_what) json("ready_what", *process.ready_what);
    json.Name("env");
    PutEnvironment(json, process.env, plan.roles[process.role].env);
    json("unset", plan.roles[process.role].unset);
    json("context", NestedContext(EffectiveContext(plan, process)));
    json.Close('}');
  }

  // Both are sorted, so one merge pass suffices.
  static void PutEnvironment(auto& json, const Variables& own, const Variables& common) {
    json.Open('{');
    auto mine = own.begin();
    auto shared = common.begin();
    while (mine != own.end() || shared != common.end()) {
      const bool is_mine = shared == common.end() || (mine != own.end() && mine->first <= shared->first);
      if (is_mine && shared != common.end() && shared->first == mine->first) ++shared;
      const auto& [name, text] = is_mine ? *mine++ : *shared++;
      json.Next();
      json.PutText(name);
      json.Colon();
      json.Put(text);
    }
    json.Close('}');
  }
};

// The members of the outer object, each on its own line.
class JsonLines {
 public:
  JsonLines(std::string& out, const Plan& plan) : out_(out), json_(out, PlanWords{{}, plan}) {}

  template <std::size_t N, class T>
  void operator()(const char (&name)[N], T&& field) {
    if (json_detail::IsWritten(field)) Line(name, field);
  }
  template <std::size_t N, class T>
  void operator()(const char (&name)[N], FieldAs<OnePerLine, T>&& field) {
    Begin(name);
    out_ += '[';
    bool first = true;
    for (const auto& element : field.value) {
      out_ += std::exchange(first, false) ? "\n  " : ",\n  ";
      json_.Put(element);
    }
    out_ += ']';
  }

  template <class T>
  void Line(const char* name, const T& value) {
    Begin(name);
    json_.Put(value);
  }

 private:
  void Begin(const char* name) {
    out_ += ",\n \"";
    out_ += name;
    out_ += "\": ";
  }

  std::string& out_;
  JsonWriter<PlanWords> json_;
};

}  // namespace

std::string PlanToJson(const Plan& plan, const Value& inputs, const std::string& id) {
  std::string out = "{\"format\": " + std::to_string(kPlanJsonFormat);
  JsonLines lines(out, plan);
  lines.Line("id", id.empty() ? PlanId(plan) : id);
  Fields(lines, const_cast<Plan&>(plan));  // with a writer, Fields only reads
  lines.Line("inputs", inputs);
  out += "}\n";
  return out;
}

// Describes the JSON of plans.

namespace {

// What PlanWords writes.
struct PlanShapes : NoForms {
  static std::string Schema(auto&, const Text&) { return schema::String(); }
  static std::string Schema(auto&, const FieldAs<NameOfHost, std::uint32_t>&) { return schema::String(); }
  static std::string Schema(auto&, const FieldAs<NameOfRole, std::uint32_t>&) { return schema::String(); }
  static std::string Schema(auto&, const FieldAs<NameOfRole, std::vector<std::uint32_t>>&) {
    return schema::List(schema::String());
  }
  static std::string Schema(auto&, const CoreUse&) {
    return schema::Either({R"({"type":"null"})", schema::Count(), schema::String()});
  }
  static std::string Schema(auto& writer, const Process& process) {
    return writer.Object([&] {
      Fields(writer, const_cast<Process&>(process));  // the writer only reads
      writer("command", std::vector<Text>()), writer("cwd", Text());
      Text what;
      writer("ready_what", OnlyIf(process.ready_what.has_value(), what));
      writer("env", Variables()), writer("unset", std::vector<std::string>());
      writer("context", std::map<std::string, Value::Map>());
    });
  }
};

}  // namespace

std::string PlanSchema() {
  SchemaWriter<PlanShapes> writer;
  return writer.Object([&] {
    int format = kPlanJsonFormat;
    Plan plan;
    writer("format", format), writer("id", std::string());
    Fields(writer, plan);
    writer("inputs", std::vector<Value>());
  });
}

// Reads a plan from untrusted JSON: every field has a type, every error names its field.

namespace {

// Names of JSON objects in messages: {} is the number of an element, the key of an entry, or the name of the containing
// object.
template <class T>
constexpr std::string_view kNoun = {};
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
constexpr std::string_view kNoun<ContractVariable> = "variable {} of the contract";
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

struct PlanDocument {
  std::uint32_t format = 0;
  std::string id;
  Plan plan;
};
template <class V>
void Fields(V& v, PlanDocument& document) {
  v("format", document.format);
  if (v.ok() && document.format != kPlanJsonFormat) v.Fail(fmt::format("its format is {}, not 1", document.format));
  v("id", document.id);
  Fields(v, document.plan);
}
template <>
constexpr std::string_view kNoun<PlanDocument> = "the plan";

// What later objects refer to.
struct PlanNames {
  std::map<std::string, std::uint32_t> hosts;
  std::map<std::string, std::uint32_t> roles;
  std::vector<std::vector<std::string>> after;  // per role: names of the roles that it starts after
};

struct PlanParts {
  template <class T>
  static constexpr std::string_view kNoun = muster::kNoun<T>;
  PlanNames& names;

  std::string Get(auto& json, const Value& value, Text& out) const { return json.TakePlain(value, out.marked); }
  std::string Get(auto& json, const Value& value, CoreUse& cores) const {
    if (value.IsNull()) return {};
    if (value.AsInt() != nullptr) {
      cores.kind = CoreUse::Kind::kCount;
      return json.TakePlain(value, cores.count);
    }
    const std::string* text = value.AsString();
    const auto list = text == nullptr || *text == "auto" ? std::nullopt : ParseNumberList(*text);
    if (text == nullptr || (*text != "auto" && !list)) return "\"auto\", a number or a list of numbers";
    cores.kind = list ? CoreUse::Kind::kList : CoreUse::Kind::kAuto;
    if (list) cores.list = *list;
    return {};
  }
  std::string Get(auto& json, const Value& value, std::vector<PlanHost>& hosts) const {
    std::string wanted = json.TakePlain(value, hosts);
    for (const PlanHost& host : hosts)
      names.hosts.emplace(host.label, static_cast<std::uint32_t>(&host - hosts.data()));
    return wanted;
  }
  std::string Get(auto& json, const Value& value, std::vector<Role>& roles) const {
    std::string wanted = json.TakePlain(value, roles);
    for (const Role& role : roles) names.roles.emplace(role.name, static_cast<std::uint32_t>(&role - roles.data()));
    for (std::size_t r = 0; r < roles.size() && r < names.after.size(); ++r) {
      for (const std::string& name : names.after[r]) {
        const auto found = names.roles.find(name);
        if (found == names.roles.end()) {
          json.Fail(fmt::format("\"after\" of role {} names no role of the plan", r));
        } else {
          roles[r].after.push_back(found->second);
        }
      }
    }
    return wanted;
  }
  std::string Get(auto&, const Value& value, FieldAs<NameOfHost, std::uint32_t>& field) const {
    return Index(value, names.hosts, field.value);
  }
  std::string Get(auto&, const Value& value, FieldAs<NameOfRole, std::uint32_t>& field) const {
    return Index(value, names.roles, field.value);
  }
  // Roles may name later roles.
  std::string Get(auto& json, const Value& value, FieldAs<NameOfRole, std::vector<std::uint32_t>>&) const {
    return json.TakePlain(value, names.after.emplace_back());
  }
  static std::string Index(const Value& value, const std::map<std::string, std::uint32_t>& indices,
                           std::uint32_t& index) {
    const auto found = value.AsString() == nullptr ? indices.end() : indices.find(*value.AsString());
    if (found == indices.end()) return "the name of one that the plan describes";
    index = found->second;
    return {};
  }

  // Values that JSON repeats in each process and that are no fields of a process.
  static void Finish(auto& json, Process& process) {
    json("command", process.command.emplace());
    json("cwd", process.cwd.emplace());
    if (json.Find("ready_what") != nullptr) json("ready_what", process.ready_what.emplace());
    json("env", process.env);
    std::map<std::string, Value::Map> context;
    json("context", context);
    for (auto& [function, attributes] : context) {
      for (auto& [name, value] : attributes) process.context.emplace(function + '.' + name, std::move(value));
    }
  }
};

}  // namespace

Result<Plan> PlanFromJson(std::string_view bytes) {
  const auto fail = [](std::string why, std::string hint = {}) {
    return Fail(Error("plan_json", {}, "this is not a plan that muster can read: " + std::move(why), std::move(hint)));
  };
  if (bytes.size() > kMaxPlanJsonBytes)
    return fail("it is larger than " + std::to_string(kMaxPlanJsonBytes >> 20) + " MiB");
  const auto json = ValueFromJsonText(bytes, kMaxPlanJsonMemory);
  if (!json) return fail(json.error());
  PlanDocument document;
  PlanNames names;
  JsonReader reader(PlanParts{names});
  reader.Get(*json, document);
  if (!reader.ok()) return fail(reader.problem());
  Plan plan = std::move(document.plan);
  const std::string& id = document.id;
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
