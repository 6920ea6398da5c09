// Host functions for the other parts of a plan: ports, activation, checkpoints, notifications and derived values. Files
// are in bind_files.cc.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/values/shell_quote.h"
#include "lua/bind/bind.h"
#include "lua/host/field.h"
#include "lua/host/host.h"
#include "lua/state/host_function.h"
#include "lua/state/stack.h"
#include "plan/environment/notifications.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

// port(name, { number, host, owner })
int AddPort(lua_State* lua) {
  std::string name;
  ToExactText(lua, 1, name);
  PlanPort port;
  port.number = static_cast<std::uint16_t>(CountField(lua, 2, "number"));
  port.host = CountField(lua, 2, "host");
  port.owner = TextField(lua, 2, "owner");
  Host::Of(lua).plan.ports[name] = std::move(port);
  return 0;
}

// activate(kind, what): a step of job:activate
int AddActivation(lua_State* lua) {
  std::string kind;
  ToExactText(lua, 1, kind);
  const auto known = std::find(kActivationKinds.begin(), kActivationKinds.end(), kind);
  ActivationStep step;
  step.kind = static_cast<ActivationStep::Kind>(known - kActivationKinds.begin());
  ToExactText(lua, 2, step.what);
  Host::Of(lua).plan.activation.push_back(std::move(step));
  return 0;
}

// checkpoints { dir, latest, file, complete }, as checkpoints.lua checked them
int PlaceCheckpoints(lua_State* lua) {
  CheckpointPlace& place = Host::Of(lua).plan.checkpoints;
  place.dir = TextField(lua, 1, "dir");
  place.latest = TextField(lua, 1, "latest");
  place.file = TextField(lua, 1, "file");
  place.complete = TextField(lua, 1, "complete");
  return 0;
}

// notify(list), as notify.lua checked it
int TakeNotifications(lua_State* lua) {
  Value value;
  std::string why;
  if (!ToValue(lua, 1, value, why)) return luaL_error(lua, "%s", why.c_str());
  auto notifications = NotificationsFrom(value);
  if (!notifications) return luaL_error(lua, "%s", notifications.error().c_str());
  Plan& plan = Host::Of(lua).plan;
  plan.notifications = *std::move(notifications);
  // Those of the recipe's secrets that it names, so that one that is missing does not matter to the processes.
  for (Notification& notification : plan.notifications) {
    for (const auto& [name, source] : plan.secrets) {
      const std::string hole = PlaceholderText({Placeholder::Kind::kSecret, name, 0});
      const bool named =
          notification.webhook.marked == hole || std::any_of(notification.env.begin(), notification.env.end(),
                                                             [&](const auto& each) { return each.second == hole; });
      if (named) notification.secrets.emplace(name, source);
    }
  }
  return 0;
}

// resumed() -> id of the run that the job resumes, or nil
int Resumed(lua_State* lua) {
  const std::string& run = Host::Of(lua).request->resumed;
  if (run.empty()) return 0;
  PushText(lua, run);
  return 1;
}

// The value to which the user pinned a derived value, in the type that the recipe derives.
Result<Value> PinnedValue(const Override& pin, const Value& computed, const Place& place) {
  if (pin.kind == Override::Kind::kValue) return pin.value;
  const std::string& text = *pin.value.AsString();
  if (computed.AsString() != nullptr) return pin.value;
  auto value = ValueFromJsonText(text);
  const bool fits = value && (value->TypeName() == computed.TypeName() || (value->IsNumber() && computed.IsNumber()));
  if (fits) return *std::move(value);
  return Fail(Error("pin", place,
                    "--pin " + pin.name + ": the recipe derives the " + std::string(computed.TypeName()) + " " +
                        ToText(computed) + ", and " + Quoted(text) + " is none",
                    "--pin " + pin.name + ":=JSON pins it to a value of another type"));
}

// derive(name, value, place) -> the value, or the pinned value
int Derive(lua_State* lua) {
  Host& host = Host::Of(lua);
  std::string name;
  std::string why;
  ToExactText(lua, 1, name);
  const Place place = host.PlaceOf(static_cast<int>(lua_tointeger(lua, 3)));
  Value value;
  lua_settop(lua, 2);
  if (!ToValue(lua, 2, value, why)) return 1;  // has been reported
  host.origins.derived[name] = place;
  for (const Override& pin : host.request->pins) {
    if (pin.name != name) continue;
    host.pins_used.insert(name);
    const auto pinned = PinnedValue(pin, value, place);
    if (!pinned) {
      host.Report(pinned.error());
      continue;
    }
    host.plan.pinned.emplace(name, value);
    host.Report(
        Warning("pin", place, name + " is pinned to " + ToText(*pinned) + "; the recipe derives " + ToText(value)));
    host.plan.derived[name] = *pinned;
    PushValue(lua, *pinned);
    return 1;
  }
  host.plan.derived[name] = std::move(value);
  return 1;
}

// depth() -> how far to evaluate the recipe
int Depth(lua_State* lua) {
  constexpr const char* kNames[] = {"parameters", "derived", "job", "plan"};
  lua_pushstring(lua, kNames[static_cast<std::size_t>(Host::Of(lua).request->depth)]);
  return 1;
}

constexpr HostFunction kPlanFunctions[] = {
    {"port", Guarded<AddPort>},
    {"activate", Guarded<AddActivation>},
    {"checkpoints", Guarded<PlaceCheckpoints>},
    {"resumed", Guarded<Resumed>},
    {"derive", Guarded<Derive>},
    {"depth", Guarded<Depth>},
    {"notify", Guarded<TakeNotifications>},
};

}  // namespace

void BindPlan(lua_State* lua, Host& host) { AddFunctions(lua, host, kPlanFunctions, std::size(kPlanFunctions)); }

}  // namespace muster
