#include "lua/engine/site_rules.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lua/state/stack.h"
#include "plan/text/plan_json.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

// Removes nulls, so that rules can test `process.rank == nil`.
void DropNulls(Value& value) {
  if (auto* map = std::get_if<Value::Map>(&value.data())) {
    std::erase_if(*map, [](const auto& field) { return field.second.IsNull(); });
    for (auto& [name, held] : *map) DropNulls(held);
  } else if (auto* list = std::get_if<Value::List>(&value.data())) {
    for (Value& held : *list) DropNulls(held);
  }
}

}  // namespace

void JudgePlan(lua_State* lua, Host& host, int rules) {
  const EvaluationRequest& request = *host.request;
  if (request.rules.empty() || HasErrors(host.diagnostics)) return;
  auto plan = ValueFromJsonText(PlanToJson(host.plan, Value(Value::List{})), kMaxPlanJsonMemory);
  if (!plan) {
    host.Report(Error("policy", {}, "the plan cannot be shown to the rules of the site: " + plan.error()));
    return;
  }
  auto& fields = std::get<Value::Map>(plan->data());
  fields.erase("inputs");  // they are known only after the evaluation
  fields.erase("id");
  Value::Map cluster;
  std::int64_t devices = 0;
  std::int64_t least = host.plan.hosts.empty() ? 0 : std::int64_t{host.plan.hosts.front().devices};
  for (const PlanHost& each : host.plan.hosts) {
    devices += each.devices;
    least = std::min(least, std::int64_t{each.devices});
  }
  cluster["hosts"] = Value(static_cast<std::int64_t>(host.plan.hosts.size()));
  cluster["devices"] = Value(devices);
  cluster["devices_per_host"] = Value(least);
  cluster["host_memory"] = Value(static_cast<std::int64_t>(request.site.host_memory_bytes));
  fields["cluster"] = Value(std::move(cluster));
  DropNulls(*plan);
  const std::string path = std::string("@") + kRulesLibrary + "/" + request.rules;
  host.fallback = {host.FileBeside(path), 1};
  lua_rawgeti(lua, LUA_REGISTRYINDEX, rules);
  lua_getfield(lua, -1, "judge");
  PushText(lua, path);
  PushValue(lua, *plan);
  lua_call(lua, 2, 0);
}

}  // namespace muster
