// Host functions for devices and cores: the choice on the command line, the devices of this machine, and the plan's
// device use. Placement decides which process gets which devices.
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "base/system/host_devices.h"
#include "base/values/number_list.h"
#include "lua/bind/bind.h"
#include "lua/host/host.h"
#include "lua/state/host_function.h"
#include "lua/state/stack.h"

namespace muster {
namespace {

void PushNumbers(lua_State* lua, const std::vector<std::uint32_t>& numbers) {
  lua_createtable(lua, static_cast<int>(numbers.size()), 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    lua_pushnumber(lua, numbers[i]);
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
}

// The list at that index.
std::vector<std::uint32_t> Numbers(lua_State* lua, int list) {
  std::vector<std::uint32_t> numbers;
  for (int i = 1; i <= static_cast<int>(lua_objlen(lua, list)); ++i) {
    lua_rawgeti(lua, list, i);
    numbers.push_back(static_cast<std::uint32_t>(lua_tonumber(lua, -1)));
    lua_pop(lua, 1);
  }
  return numbers;
}

// devices_asked() -> whether the command line chooses the devices of the job
int DevicesAsked(lua_State* lua) {
  const DeviceUse& devices = Host::Of(lua).request->devices;
  lua_pushboolean(lua, devices.any || !devices.given.empty() ? 1 : 0);
  return 1;
}

// devices_given() -> the numbers on the command line, or nil; whether any free devices are requested
int DevicesGiven(lua_State* lua) {
  const DeviceUse& devices = Host::Of(lua).request->devices;
  if (devices.given.empty()) {
    lua_pushnil(lua);
  } else {
    PushNumbers(lua, devices.given);
  }
  lua_pushboolean(lua, devices.any ? 1 : 0);
  return 2;
}

// site_device_kind() -> the kind of this machine's devices, or nil
int SiteDeviceKind(lua_State* lua) {
  const std::string& kind = Host::Of(lua).request->site.device_kind;
  if (kind.empty()) return 0;
  PushText(lua, kind);
  return 1;
}

// device_variable(kind) -> the variable that sets a process's visible devices, or nil if there is no such kind
int DeviceVariable(lua_State* lua) {
  std::string name;
  if (lua_type(lua, 1) != LUA_TSTRING || !ToExactText(lua, 1, name)) return 0;
  const DeviceKind* const kind = DeviceKindNamed(name);
  if (kind == nullptr) return 0;
  PushText(lua, kind->variable);
  return 1;
}

// device_kinds() -> the names of all kinds
int DeviceKinds(lua_State* lua) {
  lua_createtable(lua, static_cast<int>(kDeviceKinds.size()), 0);
  int position = 0;
  for (const DeviceKind& kind : kDeviceKinds) {
    PushText(lua, kind.name);
    lua_rawseti(lua, -2, ++position);
  }
  return 1;
}

// use_devices(kind or nil, shared, numbers or nil): for all processes of the plan; the numbers are those of every host,
// ascending
int UseDevices(lua_State* lua) {
  DeviceUse& use = Host::Of(lua).plan.device_use;
  if (lua_type(lua, 1) == LUA_TSTRING) ToExactText(lua, 1, use.kind);
  use.shared = use.shared || lua_toboolean(lua, 2) != 0;
  if (lua_istable(lua, 3)) use.given = Numbers(lua, 3);
  return 0;
}

// role_cores(index, kind, count or list): for a role of the plan, as checked by job.lua
int RoleCores(lua_State* lua) {
  const auto index = static_cast<std::size_t>(lua_tonumber(lua, 1));
  CoreUse& cores = Host::Of(lua).plan.roles.at(index).cores;
  std::string kind;
  ToExactText(lua, 2, kind);
  cores.kind = kind == "count" ? CoreUse::Kind::kCount : kind == "list" ? CoreUse::Kind::kList : CoreUse::Kind::kAuto;
  if (lua_type(lua, 3) == LUA_TNUMBER) cores.count = static_cast<std::uint32_t>(lua_tonumber(lua, 3));
  if (lua_istable(lua, 3)) cores.list = Numbers(lua, 3);
  return 0;
}

// number_list(text) -> the numbers of "0-3,7", ascending, or nil
int NumberList(lua_State* lua) {
  std::string text;
  if (lua_type(lua, 1) != LUA_TSTRING || !ToExactText(lua, 1, text)) return 0;
  const auto numbers = ParseNumberList(text);
  if (!numbers) return 0;
  PushNumbers(lua, *numbers);
  return 1;
}

constexpr HostFunction kDevicesFunctions[] = {
    {"devices_asked", Guarded<DevicesAsked>},     {"site_device_kind", Guarded<SiteDeviceKind>},
    {"device_variable", Guarded<DeviceVariable>}, {"device_kinds", Guarded<DeviceKinds>},
    {"use_devices", Guarded<UseDevices>},         {"role_cores", Guarded<RoleCores>},
    {"number_list", Guarded<NumberList>},         {"devices_given", Guarded<DevicesGiven>},
};

}  // namespace

void BindDevices(lua_State* lua, Host& host) {
  AddFunctions(lua, host, kDevicesFunctions, std::size(kDevicesFunctions));
}

}  // namespace muster
