// Writing a plan as JSON. Reading is in plan_json_read.cc.
#include "plan/text/plan_json.h"

#include <nlohmann/json.hpp>

#include "base/values/number_list.h"
#include "plan/plan/policy_names.h"
#include "plan/text/plan_text.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

using Json = nlohmann::ordered_json;

// Texts come from plans that may not have been checked yet: bytes that are no UTF-8 are replaced, never thrown at.
std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json Texts(const std::vector<Text>& texts) {
  Json json = Json::array();
  for (const Text& text : texts) json.push_back(text.marked);
  return json;
}

Json EnvironmentOf(const Plan& plan, const Process& process) {
  const Variables& own = process.env;
  const Variables& common = plan.roles[process.role].env;
  Json json = Json::object();
  // Both are sorted: one walk over the two.
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

// What a role does not ask for is null.
Json ReadinessJson(const Readiness& ready) {
  if (ready == Readiness{}) return nullptr;
  return {{"kind", ReadinessName(ready.kind)},
          {"what", ready.what.marked},
          {"command", Texts(ready.command)},
          {"every_ms", ready.every_ms},
          {"timeout_ms", ready.timeout_ms}};
}

Json RestartJson(const RestartPolicy& restart) {
  if (restart.max == 0) return nullptr;
  return {{"max", restart.max},
          {"within_ms", restart.within_ms},
          {"scope", RestartScopeName(restart.scope)},
          {"any_failure", restart.any_failure},
          {"success", restart.success},
          {"codes", restart.codes},
          {"signals", restart.signals},
          {"backoff_ms", restart.backoff_ms}};
}

// null, "auto", a number for each process, or the list for all of them.
Json CoresJson(const CoreUse& cores) {
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

Json RoleJson(const Plan& plan, const Role& role) {
  Json json;
  json["name"] = role.name;
  json["plays"] = role.plays;
  json["world"] = role.world;
  json["ending"] = EndingName(role.ending);
  json["linger_ms"] = role.linger_ms;
  json["stop"] = {{"signal", role.stop.signal}, {"grace_ms", role.stop.grace_ms}};
  if (!role.stop.checkpoint_signal.empty()) {
    json["stop"]["checkpoint_signal"] = role.stop.checkpoint_signal;
    json["stop"]["checkpoint_ms"] = role.stop.checkpoint_ms;
  }
  json["after"] = Json::array();
  for (const std::uint32_t other : role.after) json["after"].push_back(plan.roles[other].name);
  json["ready"] = ReadinessJson(role.ready);
  json["restart"] = RestartJson(role.restart);
  json["limits"] = {{"time_ms", role.limits.time_ms}, {"silent_ms", role.limits.silent_ms}};
  if (role.limits.log_bytes != 0) json["limits"]["log_bytes"] = role.limits.log_bytes;
  json["cores"] = CoresJson(role.cores);
  json["shell"] = role.shell;
  json["unset"] = role.unset;
  return json;
}

Json ProcessJson(const Plan& plan, const Process& process) {
  const Role& role = plan.roles[process.role];
  Json json;
  json["role"] = role.name;
  json["index"] = process.index;
  json["rank"] = process.rank ? Json(*process.rank) : Json(nullptr);
  json["world_size"] = process.world_size;
  json["local_rank"] = process.local_rank;
  json["local_size"] = process.local_size;
  json["host"] = plan.hosts[process.host].label;
  json["devices"] = process.devices;
  json["stage"] = process.stage;
  json["rank_in_stage"] = process.rank_in_stage;
  json["command"] = Texts(EffectiveCommand(plan, process));
  json["cwd"] = EffectiveCwd(plan, process).marked;
  if (process.ready_what) json["ready_what"] = process.ready_what->marked;
  json["env"] = EnvironmentOf(plan, process);
  json["unset"] = role.unset;
  json["context"] = ToJson(NestedContext(EffectiveContext(plan, process)));
  return json;
}

// A member of the outer object on a line of its own.
void Member(std::string& out, const char* name, const Json& value) {
  out += ",\n \"";
  out += name;
  out += "\": ";
  out += Dump(value);
}

// A list with one element per line.
template <class List, class Make>
void Members(std::string& out, const char* name, const List& list, Make make) {
  out += ",\n \"";
  out += name;
  out += "\": [";
  bool first = true;
  for (const auto& element : list) {
    out += first ? "\n  " : ",\n  ";
    first = false;
    out += Dump(make(element));
  }
  out += "]";
}

}  // namespace

Value NestedContext(const ContextValues& context) {
  Value::Map nested;
  for (const auto& [key, value] : context) {
    const std::size_t dot = key.rfind('.');  // functions such as runtime.set_memory have dots, attributes have none
    if (dot == std::string::npos) continue;
    Value& function = nested.try_emplace(key.substr(0, dot), Value::Map{}).first->second;
    std::get<Value::Map>(function.data()).insert_or_assign(key.substr(dot + 1), value);
  }
  return Value(std::move(nested));
}

std::string PlanToJson(const Plan& plan, const Value& inputs, const std::string& id) {
  std::string out = "{\"format\": " + std::to_string(kPlanJsonFormat);
  Member(out, "id", id.empty() ? PlanId(plan) : id);
  Member(out, "name", plan.name);
  Member(out, "doc", plan.doc);
  Member(out, "framework", plan.framework);
  Member(out, "mindspore", plan.mindspore);
  Member(out, "accept_release", plan.accept_release);
  Member(out, "time_limit_ms", plan.time_limit_ms);
  Member(out, "start_limit_ms", plan.start_limit_ms);
  Member(out, "silent_limit_ms", plan.silent_limit_ms);
  Members(out, "hosts", plan.hosts, [](const PlanHost& host) {
    Json json = {{"label", host.label}, {"devices", host.devices}};
    if (!host.name.empty()) json["name"] = host.name;
    return json;
  });
  const DeviceUse& use = plan.device_use;
  Member(out, "device_use", Json{{"any", use.any}, {"given", use.given}, {"shared", use.shared}, {"kind", use.kind}});
  Members(out, "roles", plan.roles, [&](const Role& role) { return RoleJson(plan, role); });
  Members(out, "processes", plan.processes, [&](const Process& process) { return ProcessJson(plan, process); });
  Json ports = Json::object();
  for (const auto& [name, port] : plan.ports) {
    ports[name] = Json{{"host", plan.hosts[port.host].label}, {"number", port.number}, {"owner", port.owner}};
  }
  Member(out, "ports", ports);
  Json files = Json::object();
  for (const auto& [path, file] : plan.files) files[path] = Json{{"content", file.content.marked}};
  Member(out, "files", files);
  Json secrets = Json::object();
  for (const auto& [name, secret] : plan.secrets) {
    secrets[name] = Json{{"from_env", secret.from_env}, {"from_file", secret.from_file}};
  }
  Member(out, "secrets", secrets);
  if (const CheckpointPlace& place = plan.checkpoints; !place.dir.marked.empty()) {
    Member(
        out, "checkpoints",
        Json{{"dir", place.dir.marked}, {"latest", place.latest}, {"file", place.file}, {"complete", place.complete}});
  }
  if (const SiteEnvironment& site = plan.site_environment; !site.empty()) {
    Member(out, "site_environment", Json{{"set", site.set}, {"unset", site.unset}, {"pass", site.pass}});
  }
  Json activation = Json::array();
  for (const ActivationStep& step : plan.activation) {
    activation.push_back({{"kind", ActivationKindName(step.kind)}, {"what", step.what}});
  }
  Member(out, "activation", activation);
  Member(out, "params", ToJson(Value(plan.params)));
  Member(out, "derived", ToJson(Value(plan.derived)));
  if (!plan.profiles.empty()) Member(out, "profiles", Json(plan.profiles));
  if (!plan.pinned.empty()) Member(out, "pinned", ToJson(Value(plan.pinned)));
  Member(out, "inputs", ToJson(inputs));
  out += "}\n";
  return out;
}

}  // namespace muster
