// Reading a plan from JSON that nobody vouches for: every field has a type, every failure names its field.
#include <limits>

#include "base/values/number_list.h"
#include "base/values/shell_quote.h"
#include "plan/check/plan_check.h"
#include "plan/plan/fold.h"
#include "plan/plan/policy_names.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

std::optional<ActivationStep::Kind> ActivationKindNamed(std::string_view name) {
  for (std::size_t kind = 0; kind < kActivationKinds.size(); ++kind) {
    if (kActivationKinds[kind] == name) return static_cast<ActivationStep::Kind>(kind);
  }
  return std::nullopt;
}

// An object of the JSON with the name it has in messages. The first failure is kept and ends all reading: what
// is read after it is empty.
class Fields {
 public:
  Fields(const Value& value, std::string name, std::string& failure) : name_(std::move(name)), failure_(failure) {
    map_ = value.AsMap();
    if (map_ == nullptr) Fail(name_ + " must be an object");
  }

  bool Has(const char* key) const { return map_ != nullptr && map_->contains(key); }

  const Value* Get(const char* key) {
    static const Value kNull;
    if (map_ == nullptr || !failure_.empty()) return &kNull;
    const auto found = map_->find(key);
    if (found == map_->end()) {
      Fail(name_ + " has no field \"" + key + "\"");
      return &kNull;
    }
    return &found->second;
  }

  void Read(const char* key, std::string& out) {
    if (const std::string* text = Get(key)->AsString()) {
      out = *text;
    } else {
      Wrong(key, "text");
    }
  }
  void Read(const char* key, Text& out) { Read(key, out.marked); }
  void Read(const char* key, bool& out) {
    if (const bool* held = Get(key)->AsBool()) {
      out = *held;
    } else {
      Wrong(key, "true or false");
    }
  }
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) void Read(const char* key, T& out) {
    if (!Number(*Get(key), out)) Wrong(key, "a whole number in range");
  }
  void Read(const char* key, std::optional<std::uint32_t>& out) {
    const Value* value = Get(key);
    if (value->IsNull()) return;
    if (!Number(*value, out.emplace())) Wrong(key, "a whole number in range or null");
  }
  template <class T>
  void Read(const char* key, std::vector<T>& out) {
    const Value::List* list = Get(key)->AsList();
    if (list == nullptr) return Wrong(key, "a list");
    for (const Value& element : *list) {
      if (!Element(element, out.emplace_back())) return Wrong(key, "a list of one kind of element");
    }
  }
  const Value::Map& Map(const char* key) {
    static const Value::Map kEmpty;
    const Value::Map* map = Get(key)->AsMap();
    if (map == nullptr) Wrong(key, "an object");
    return map == nullptr ? kEmpty : *map;
  }
  const Value::List& List(const char* key) {
    static const Value::List kEmpty;
    const Value::List* list = Get(key)->AsList();
    if (list == nullptr) Wrong(key, "a list");
    return list == nullptr ? kEmpty : *list;
  }

  // A word out of a table of names.
  template <class E>
  void Read(const char* key, E& out, std::optional<E> (*named)(std::string_view)) {
    std::string name;
    Read(key, name);
    if (const std::optional<E> member = named(name)) {
      out = *member;
    } else {
      Wrong(key, "one of its words");
    }
  }

  void Wrong(const char* key, const char* wanted) {
    Fail("\"" + std::string(key) + "\" of " + name_ + " must be " + wanted);
  }
  bool failed() const { return !failure_.empty(); }
  const std::string& name() const { return name_; }

 private:
  template <class T>
  static bool Number(const Value& value, T& out) {
    const std::int64_t* number = value.AsInt();
    if (number == nullptr || *number < 0) return false;
    if (static_cast<std::uint64_t>(*number) > std::numeric_limits<T>::max()) return false;
    out = static_cast<T>(*number);
    return true;
  }
  static bool Element(const Value& value, std::uint32_t& out) { return Number(value, out); }
  static bool Element(const Value& value, std::int32_t& out) {
    const std::int64_t* number = value.AsInt();
    if (number == nullptr || *number < 0 || *number > std::numeric_limits<std::int32_t>::max()) return false;
    out = static_cast<std::int32_t>(*number);
    return true;
  }
  static bool Element(const Value& value, std::string& out) {
    const std::string* text = value.AsString();
    if (text != nullptr) out = *text;
    return text != nullptr;
  }
  static bool Element(const Value& value, Text& out) { return Element(value, out.marked); }

  void Fail(std::string message) {
    if (failure_.empty()) failure_ = std::move(message);
  }

  const Value::Map* map_ = nullptr;
  std::string name_;
  std::string& failure_;
};

class PlanReader {
 public:
  // Empty if all went well.
  std::string Read(const Value& json, Plan& plan, std::string& id) {
    Fields top(json, "the plan", failure_);
    std::uint32_t format = 0;
    top.Read("format", format);
    if (!top.failed() && format != kPlanJsonFormat) return "its format is " + std::to_string(format) + ", not 1";
    top.Read("id", id);
    top.Read("name", plan.name);
    top.Read("doc", plan.doc);
    top.Read("framework", plan.framework);
    top.Read("mindspore", plan.mindspore);
    if (top.Has("accept_release")) top.Read("accept_release", plan.accept_release);  // younger than the format
    top.Read("time_limit_ms", plan.time_limit_ms);
    top.Read("start_limit_ms", plan.start_limit_ms);
    top.Read("silent_limit_ms", plan.silent_limit_ms);
    for (const Value& each : top.List("hosts")) {
      Fields fields(each, "a host", failure_);
      PlanHost& host = plan.hosts.emplace_back();
      fields.Read("label", host.label);
      fields.Read("devices", host.devices);
      if (fields.Has("name")) fields.Read("name", host.name);
      hosts_.emplace(host.label, static_cast<std::uint32_t>(plan.hosts.size() - 1));
    }
    if (top.Has("device_use")) {  // younger than the format, as "cores" of roles
      Fields use(*top.Get("device_use"), "the use of devices", failure_);
      use.Read("any", plan.device_use.any);
      use.Read("given", plan.device_use.given);
      use.Read("shared", plan.device_use.shared);
      use.Read("kind", plan.device_use.kind);
    }
    for (const Value& each : top.List("roles")) {
      const std::size_t number = plan.roles.size();
      ReadRole(each, plan.roles.emplace_back(), number);
    }
    ResolveAfter(plan);
    for (const Value& each : top.List("processes")) {
      if (top.failed()) break;
      const std::size_t number = plan.processes.size();
      ReadProcess(each, plan.processes.emplace_back(), number);
    }
    ReadRest(top, plan);
    return std::move(failure_);
  }

 private:
  void ReadRole(const Value& json, Role& role, std::size_t number) {
    Fields fields(json, "role " + std::to_string(number), failure_);
    fields.Read("name", role.name);
    fields.Read("plays", role.plays);
    fields.Read("world", role.world);
    fields.Read("ending", role.ending, EndingNamed);
    fields.Read("linger_ms", role.linger_ms);
    Fields stop(*fields.Get("stop"), "the stop of " + fields.name(), failure_);
    stop.Read("signal", role.stop.signal);
    stop.Read("grace_ms", role.stop.grace_ms);
    if (stop.Has("checkpoint_signal")) {  // younger than the format, as "checkpoints" of the plan
      stop.Read("checkpoint_signal", role.stop.checkpoint_signal);
      stop.Read("checkpoint_ms", role.stop.checkpoint_ms);
    }
    ReadPolicies(fields, role);
    if (fields.Has("cores")) ReadCores(fields, role.cores);
    fields.Read("shell", role.shell);
    fields.Read("unset", role.unset);
    roles_.emplace(role.name, static_cast<std::uint32_t>(number));
  }

  void ReadPolicies(Fields& fields, Role& role) {
    fields.Read("after", after_.emplace_back());
    if (const Value* value = fields.Get("ready"); !value->IsNull()) {
      Fields ready(*value, "the readiness of " + fields.name(), failure_);
      ready.Read("kind", role.ready.kind, ReadinessNamed);
      ready.Read("what", role.ready.what);
      ready.Read("command", role.ready.command);
      ready.Read("every_ms", role.ready.every_ms);
      ready.Read("timeout_ms", role.ready.timeout_ms);
    }
    if (const Value* value = fields.Get("restart"); !value->IsNull()) {
      Fields restart(*value, "the restart of " + fields.name(), failure_);
      restart.Read("max", role.restart.max);
      restart.Read("within_ms", role.restart.within_ms);
      restart.Read("scope", role.restart.scope, RestartScopeNamed);
      restart.Read("any_failure", role.restart.any_failure);
      restart.Read("success", role.restart.success);
      restart.Read("codes", role.restart.codes);
      restart.Read("signals", role.restart.signals);
      restart.Read("backoff_ms", role.restart.backoff_ms);
      if (role.restart.max == 0) role.restart = {};  // as it is written: a policy of no restarts is none
    }
    Fields limits(*fields.Get("limits"), "the limits of " + fields.name(), failure_);
    limits.Read("time_ms", role.limits.time_ms);
    limits.Read("silent_ms", role.limits.silent_ms);
    if (limits.Has("log_bytes")) limits.Read("log_bytes", role.limits.log_bytes);
  }

  static void ReadCores(Fields& fields, CoreUse& cores) {
    const Value* value = fields.Get("cores");
    if (value->IsNull()) return;
    if (value->AsInt() != nullptr) {
      cores.kind = CoreUse::Kind::kCount;
      return fields.Read("cores", cores.count);
    }
    std::string text;
    fields.Read("cores", text);
    cores.kind = text == "auto" ? CoreUse::Kind::kAuto : CoreUse::Kind::kList;
    if (text == "auto" || fields.failed()) return;
    const auto list = ParseNumberList(text);
    if (!list) return fields.Wrong("cores", "\"auto\", a number or a list of numbers");
    cores.list = *list;
  }

  // Roles may name later ones.
  void ResolveAfter(Plan& plan) {
    for (std::size_t r = 0; r < plan.roles.size() && r < after_.size(); ++r) {
      for (const std::string& name : after_[r]) {
        const auto found = roles_.find(name);
        if (found == roles_.end()) {
          if (failure_.empty()) failure_ = "\"after\" of role " + std::to_string(r) + " names no role of the plan";
          return;
        }
        plan.roles[r].after.push_back(found->second);
      }
    }
  }

  void ReadProcess(const Value& json, Process& process, std::size_t number) {
    Fields fields(json, "process " + std::to_string(number), failure_);
    process.role = Named(fields, "role", roles_);
    fields.Read("index", process.index);
    fields.Read("rank", process.rank);
    fields.Read("world_size", process.world_size);
    fields.Read("local_rank", process.local_rank);
    fields.Read("local_size", process.local_size);
    process.host = Named(fields, "host", hosts_);
    fields.Read("devices", process.devices);
    fields.Read("stage", process.stage);
    fields.Read("rank_in_stage", process.rank_in_stage);
    fields.Read("command", process.command.emplace());
    fields.Read("cwd", process.cwd.emplace());
    if (fields.Has("ready_what")) fields.Read("ready_what", process.ready_what.emplace());
    for (const auto& [name, value] : fields.Map("env")) {
      const std::string* text = value.AsString();
      if (text == nullptr) return fields.Wrong("env", "an object of texts");
      process.env.emplace_hint(process.env.end(), name, *text);
    }
    for (const auto& [function, attributes] : fields.Map("context")) {
      if (attributes.AsMap() == nullptr) return fields.Wrong("context", "an object of objects");
      for (const auto& [name, value] : *attributes.AsMap()) process.context.emplace(function + '.' + name, value);
    }
  }

  void ReadRest(Fields& top, Plan& plan) {
    for (const auto& [name, each] : top.Map("ports")) {
      Fields fields(each, "port \"" + name + "\"", failure_);
      PlanPort& port = plan.ports[name];
      port.host = Named(fields, "host", hosts_);
      fields.Read("number", port.number);
      fields.Read("owner", port.owner);
    }
    for (const auto& [path, each] : top.Map("files")) {
      Fields(each, "file \"" + path + "\"", failure_).Read("content", plan.files[path].content);
    }
    for (const auto& [name, each] : top.Map("secrets")) {
      Fields fields(each, "secret \"" + name + "\"", failure_);
      fields.Read("from_env", plan.secrets[name].from_env);
      fields.Read("from_file", plan.secrets[name].from_file);
    }
    // Younger than the format, these three.
    if (top.Has("checkpoints")) {
      Fields place(*top.Get("checkpoints"), "the place of checkpoints", failure_);
      place.Read("dir", plan.checkpoints.dir);
      place.Read("latest", plan.checkpoints.latest);
      place.Read("file", plan.checkpoints.file);
      place.Read("complete", plan.checkpoints.complete);
    }
    if (top.Has("site_environment")) ReadSiteEnvironment(top, plan.site_environment);
    if (top.Has("activation")) ReadActivation(top, plan);
    plan.params = top.Map("params");
    plan.derived = top.Map("derived");
    if (top.Has("profiles")) top.Read("profiles", plan.profiles);
    if (top.Has("pinned")) plan.pinned = top.Map("pinned");
  }

  void ReadSiteEnvironment(Fields& top, SiteEnvironment& environment) {
    Fields fields(*top.Get("site_environment"), "the site's environment", failure_);
    for (const auto& [name, value] : fields.Map("set")) {
      if (value.AsString() == nullptr) return fields.Wrong("set", "an object of texts");
      environment.set.emplace(name, *value.AsString());
    }
    fields.Read("unset", environment.unset);
    fields.Read("pass", environment.pass);
  }

  void ReadActivation(Fields& top, Plan& plan) {
    for (const Value& each : top.List("activation")) {
      Fields fields(each, "step " + std::to_string(plan.activation.size()) + " of the activation", failure_);
      ActivationStep& step = plan.activation.emplace_back();
      fields.Read("kind", step.kind, ActivationKindNamed);
      fields.Read("what", step.what);
    }
  }

  // The index of the role or host that the field names.
  static std::uint32_t Named(Fields& fields, const char* key, const std::map<std::string, std::uint32_t>& indices) {
    std::string name;
    fields.Read(key, name);
    const auto found = indices.find(name);
    if (found == indices.end()) {
      fields.Wrong(key, "the name of one that the plan describes");
      return 0;
    }
    return found->second;
  }

  std::string failure_;
  std::map<std::string, std::uint32_t> hosts_;
  std::map<std::string, std::uint32_t> roles_;
  std::vector<std::vector<std::string>> after_;  // of each role, by name
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
  Plan plan;
  std::string id;
  if (std::string failure = PlanReader().Read(*json, plan, id); !failure.empty()) return fail(std::move(failure));
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
