// Host functions for what a plan has beside roles and processes: ports, activation and derived values. Files have
// bind_files.cc.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "lua/field.h"
#include "lua/host.h"
#include "lua/host_function.h"
#include "lua/stack.h"

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

// activate(kind, what): of job:activate
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

// derived(name, value, place)
int AddDerived(lua_State* lua) {
  Host& host = Host::Of(lua);
  std::string name;
  std::string why;
  ToExactText(lua, 1, name);
  Value value;
  // What is no plain value was reported where it was given.
  if (ToValue(lua, 2, value, why)) host.plan.derived[name] = std::move(value);
  host.origins.derived[name] = host.PlaceOf(static_cast<int>(lua_tointeger(lua, 3)));
  return 0;
}

constexpr HostFunction kFunctions[] = {
    {"port", Guarded<AddPort>},
    {"activate", Guarded<AddActivation>},
    {"derived", Guarded<AddDerived>},
};

}  // namespace

void BindPlan(lua_State* lua, Host& host) { AddFunctions(lua, host, kFunctions, std::size(kFunctions)); }

}  // namespace muster
