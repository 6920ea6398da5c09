// Host functions for arithmetic: exact division, meshes, stages, sizes and durations. The arithmetic itself is in
// plan/topology and base/units.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <csignal>
#include <string>
#include <utility>

#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "lua/bind/bind.h"
#include "lua/host/host.h"
#include "lua/state/host_function.h"
#include "lua/state/stack.h"

namespace muster {
namespace {

Place PlaceArgument(lua_State* lua, int index) {
  return Host::Of(lua).PlaceOf(static_cast<int>(lua_tointeger(lua, index)));
}

[[noreturn]] void StopWith(lua_State* lua, Diagnostics diagnostics) {
  Host::Of(lua).Report(diagnostics);
  Stop(lua);
}

// The integer at `index`; any other value ends the evaluation.
std::int64_t Whole(lua_State* lua, int index, const std::string& name, const Place& place) {
  const double number = lua_tonumber(lua, index);
  constexpr double kLimit = 9007199254740992.0;
  if (lua_type(lua, index) != LUA_TNUMBER || number != std::floor(number) || std::abs(number) > kLimit) {
    Value value;
    std::string why;
    const std::string shown = ToValue(lua, index, value, why) ? ToText(value) : std::string(luaL_typename(lua, index));
    StopWith(lua, {Error("type", place, name + " must be a whole number, got " + shown)});
  }
  return static_cast<std::int64_t>(number);
}

// exact_div(place, name, number, { name = number, … })
int ExactDiv(lua_State* lua) {
  const Place place = PlaceArgument(lua, 1);
  std::string name;
  ToExactText(lua, 2, name);
  const NamedCount dividend{name, Whole(lua, 3, name, place)};
  std::vector<NamedCount> by;
  Value divisors;
  std::string why;
  if (!ToValue(lua, 4, divisors, why) || divisors.AsMap() == nullptr || divisors.AsMap()->empty()) {
    StopWith(lua, {Error("type", place, "exact_div: by is a table { NAME = number, … }")});
  }
  for (const auto& [key, value] : *divisors.AsMap()) {  // sorted by name
    if (value.AsInt() == nullptr)
      StopWith(lua, {Error("type", place, key + " must be a whole number, got " + ToText(value))});
    by.push_back({key, *value.AsInt()});
  }
  auto quotient = ExactQuotient(dividend, by, place);
  if (!quotient) StopWith(lua, quotient.error());
  // A division inside `each` would be recorded once per process.
  constexpr std::size_t kMostDivisions = 1'000;
  Host& host = Host::Of(lua);
  if (host.current_process.empty() && host.origins.divisions.size() < kMostDivisions) {
    Division division{place, name, dividend.count, {}, *quotient};
    for (const NamedCount& divisor : by) division.by.emplace(divisor.name, divisor.count);
    host.origins.divisions.push_back(std::move(division));
  }
  lua_pushnumber(lua, static_cast<lua_Number>(*quotient));
  return 1;
}

// mesh(place, { { "pp", 4 }, { "dp", 2 } }) -> number of the mesh
int MakeMesh(lua_State* lua) {
  Host& host = Host::Of(lua);
  const Place place = PlaceArgument(lua, 1);
  Value axes;
  std::string why;
  std::vector<MeshAxis> read;
  const bool plain = ToValue(lua, 2, axes, why);
  const Value::List* list = plain ? axes.AsList() : nullptr;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Value::List* axis = (*list)[i].AsList();
    if (axis == nullptr || axis->size() != 2 || (*axis)[0].AsString() == nullptr || (*axis)[1].AsInt() == nullptr) {
      list = nullptr;
      break;
    }
    const std::int64_t size = *(*axis)[1].AsInt();
    if (size < 1 || size > 0xffffffffLL) {
      StopWith(lua,
               {Error("range", place,
                      "mesh axis " + *(*axis)[0].AsString() + " = " + std::to_string(size) + " is not at least 1")});
    }
    read.push_back({*(*axis)[0].AsString(), static_cast<std::uint32_t>(size)});
  }
  if (list == nullptr) {
    StopWith(lua, {Error("type", place, "job:mesh expects a list of axes: { { \"pp\", 4 }, { \"tp\", 2 } }")});
  }
  auto mesh = Mesh::Make(std::move(read), place);
  if (!mesh) StopWith(lua, mesh.error());
  constexpr std::size_t kMostMeshes = 100;
  if (host.current_process.empty() && host.origins.meshes.size() < kMostMeshes)
    host.origins.meshes.push_back({place, mesh->axes()});
  host.meshes.push_back(*std::move(mesh));
  lua_pushinteger(lua, static_cast<lua_Integer>(host.meshes.size()) - 1);
  return 1;
}

const Mesh& MeshArgument(lua_State* lua, int index) {
  return Host::Of(lua).meshes.at(static_cast<std::size_t>(lua_tointeger(lua, index)));
}

int MeshSize(lua_State* lua) {
  lua_pushnumber(lua, MeshArgument(lua, 1).size());
  return 1;
}

// mesh_coords(place, mesh, rank) -> { pp = 0, … }
int MeshCoords(lua_State* lua) {
  const Place place = PlaceArgument(lua, 1);
  const Mesh& mesh = MeshArgument(lua, 2);
  const std::int64_t rank = Whole(lua, 3, "rank", place);
  if (rank < 0 || rank > 0xffffffffLL)
    StopWith(lua, {Error("range", place, "rank " + std::to_string(rank) + " is not in the mesh")});
  auto coords = mesh.Coords(static_cast<std::uint32_t>(rank), place);
  if (!coords) StopWith(lua, coords.error());
  lua_createtable(lua, 0, static_cast<int>(coords->size()));
  for (std::size_t i = 0; i < coords->size(); ++i) {
    PushText(lua, mesh.axes()[i].name);
    lua_pushnumber(lua, (*coords)[i]);
    lua_rawset(lua, -3);
  }
  return 1;
}

// mesh_rank(place, mesh, { pp = 0, … }) -> rank
int MeshRank(lua_State* lua) {
  const Place place = PlaceArgument(lua, 1);
  const Mesh& mesh = MeshArgument(lua, 2);
  Value named;
  std::string why;
  if (!ToValue(lua, 3, named, why) || named.AsMap() == nullptr || named.AsMap()->size() != mesh.axes().size()) {
    StopWith(lua, {Error("type", place, "mesh:rank expects a coordinate for every axis")});
  }
  std::vector<std::uint32_t> coords;
  for (const MeshAxis& axis : mesh.axes()) {
    const auto found = named.AsMap()->find(axis.name);
    const std::int64_t* coord = found == named.AsMap()->end() ? nullptr : found->second.AsInt();
    if (coord == nullptr || *coord < 0 || *coord > 0xffffffffLL) {
      StopWith(lua, {Error("range", place,
                           "mesh:rank: axis " + axis.name + " needs a coordinate from 0 to " +
                               std::to_string(axis.size - 1))});
    }
    coords.push_back(static_cast<std::uint32_t>(*coord));
  }
  auto rank = mesh.Rank(coords, place);
  if (!rank) StopWith(lua, rank.error());
  lua_pushnumber(lua, *rank);
  return 1;
}

// stage(rank, world size, stages) -> stage, rank in stage; 0 and the rank if stages do not divide the world, which is
// reported elsewhere.
int Stage(lua_State* lua) {
  const auto rank = static_cast<std::uint32_t>(lua_tonumber(lua, 1));
  const auto world = static_cast<std::uint32_t>(lua_tonumber(lua, 2));
  // Set by the recipe, so it may be any number.
  const auto stages = static_cast<std::uint32_t>(std::clamp(lua_tonumber(lua, 3), 0.0, 4294967295.0));
  StagePosition position{0, rank};
  if (stages > 0 && world % stages == 0 && rank < world) position = StageOf(rank, world, stages);
  lua_pushnumber(lua, position.stage);
  lua_pushnumber(lua, position.rank_in_stage);
  return 2;
}

// size(place, bytes, unit) -> "3.5GB"
int Size(lua_State* lua) {
  const Place place = PlaceArgument(lua, 1);
  const std::int64_t bytes = Whole(lua, 2, "the size", place);
  std::string unit;
  ToExactText(lua, 3, unit);
  const auto factor = unit.empty() ? std::nullopt : ParseBytes("1" + unit);
  if (!factor || bytes < 0) {
    StopWith(lua, {Error("type", place,
                         "muster.size expects bytes and a unit such as \"GB\" or \"GiB\", got " +
                             std::to_string(bytes) + " and " + Quoted(unit),
                         "units are B KB MB GB TB PB, of 1000, and KiB MiB GiB TiB PiB, of 1024")});
  }
  // Never with an exponent: many programs that read sizes do not accept one.
  std::array<char, 400> digits{};
  const double number = static_cast<double>(bytes) / static_cast<double>(*factor);
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed).ptr;
  PushText(lua, std::string(digits.data(), end) + unit);
  return 1;
}

// duration_ms("10s") -> milliseconds, or nil. A number is no duration, except 0.
int DurationMs(lua_State* lua) {
  std::string text;
  if (!ToExactText(lua, 1, text)) return 0;
  const auto seconds = ParseDuration(text);
  constexpr double kLongest = 4e6;  // fits 32 bits of milliseconds
  if (!seconds || !(*seconds >= 0 && *seconds <= kLongest)) return 0;
  lua_pushnumber(lua, std::round(*seconds * 1000));
  return 1;
}

// duration_hint(value) -> what to write instead of a value that is no duration: a hint, or nil
int DurationHintOf(lua_State* lua) {
  std::string text;
  if (!ToExactText(lua, 1, text)) return 0;
  const std::string hint = DurationHint(text, "");
  if (hint.empty()) return 0;
  lua_pushlstring(lua, hint.data(), hint.size());
  return 1;
}

// bytes("1GiB" | bytes) -> bytes, or nil
int Bytes(lua_State* lua) {
  std::string text;
  if (!ToExactText(lua, 1, text)) return 0;
  const auto bytes = ParseBytes(text);
  constexpr std::int64_t kLargest = std::int64_t{1} << 53;  // a Lua number holds it exactly
  if (!bytes || *bytes > kLargest) return 0;
  lua_pushnumber(lua, static_cast<double>(*bytes));
  return 1;
}

constexpr HostFunction kArithmeticFunctions[] = {
    {"exact_div", Guarded<ExactDiv>},
    {"mesh", Guarded<MakeMesh>},
    {"mesh_size", Guarded<MeshSize>},
    {"mesh_coords", Guarded<MeshCoords>},
    {"mesh_rank", Guarded<MeshRank>},
    {"stage", Guarded<Stage>},
    {"size", Guarded<Size>},
    {"duration_ms", Guarded<DurationMs>},
    {"duration_hint", Guarded<DurationHintOf>},
    {"bytes", Guarded<Bytes>},
};

}  // namespace

void BindArithmetic(lua_State* lua, Host& host) {
  AddFunctions(lua, host, kArithmeticFunctions, std::size(kArithmeticFunctions));
}

}  // namespace muster
