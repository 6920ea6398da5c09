// Where processes run: counting ranks, pipeline stages and meshes of named axes, and which process gets which host,
// devices and ranks. Integers only; independent of commands, environments and real machines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

// Counting ranks: exact division, pipeline stages, and meshes of named axes. Integers only.

// A number and its name in the recipe, for messages.
struct NamedCount {
  std::string name;
  std::int64_t count = 0;
};

// dividend / (product of `by`), which must have no remainder. Kind "division" with the numbers, kind "range" if one of
// them is not positive or the product overflows.
Result<std::int64_t> ExactQuotient(const NamedCount& dividend, const std::vector<NamedCount>& by, const Place& place);

struct StagePosition {
  std::uint32_t stage = 0;
  std::uint32_t rank_in_stage = 0;

  bool operator==(const StagePosition&) const = default;
};

// MindSpore's rule: stage size = world_size / stages, consecutive ranks share a stage. Requires 0 < stages, that stages
// divides world_size, and rank < world_size.
StagePosition StageOf(std::uint32_t rank, std::uint32_t world_size, std::uint32_t stages);

struct MeshAxis {
  std::string name;
  std::uint32_t size = 1;

  bool operator==(const MeshAxis&) const = default;
};

// Meshes of named axes over ranks. Integers only.

// Ranks arranged along named axes; the last axis varies fastest.
class Mesh {
 public:
  // Refuses no axes, empty or repeated names, sizes of 0, and more than 2^32 - 1 ranks (kind "mesh").
  static Result<Mesh> Make(std::vector<MeshAxis> axes, const Place& place);

  const std::vector<MeshAxis>& axes() const { return axes_; }
  std::uint32_t size() const { return size_; }

  // Coordinates in the order of the axes; kind "range" unless rank < size().
  Result<std::vector<std::uint32_t>> Coords(std::uint32_t rank, const Place& place) const;
  // The rank at these coordinates; kind "range" unless there is one per axis, each below its size.
  Result<std::uint32_t> Rank(const std::vector<std::uint32_t>& coords, const Place& place) const;

 private:
  std::vector<MeshAxis> axes_;
  std::uint32_t size_ = 0;
};

// Placement: which process runs on which host with which devices, and its ranks. Integers only; independent of
// commands, environments and real machines.
//
// Rules:
// - Processes with devices are packed: hosts are filled in order, each process takes the lowest free devices of one
//   host, and no device is used twice within a plan, whatever the role. A role with devices may be dealt instead; its
//   blocks must fit.
// - Workers without devices fill hosts that have slots, in order, up to the number of slots; hosts have slots if all of
//   them were given a number and no role takes devices. What exceeds the slots is dealt over the same hosts in equal
//   blocks: the caller decides whether that is an error.
// - Without slots workers are dealt as below, but hosts get no more than they have room for while others have some.
// - Other processes without devices are dealt over all their hosts in contiguous blocks of equal size; the remainder
// goes to
//   the first hosts, one each. Packed, they all run on the first of their hosts: nothing limits them.
// - A role that plays "scheduler" is placed on the first host unless hosts are given.
// - The roles of one world are ranked role after role, in the given order, each role by index. local_rank counts the
//   world's processes of one host in rank order. Roles without a world have no rank and count within the role.

inline constexpr std::uint64_t kMaxProcesses = 1'000'000;
inline constexpr std::uint64_t kMaxDevices = 4'000'000;  // of all processes of one plan together

enum class Spread : std::uint8_t { kDefault, kPack, kDeal };

struct RoleLayout {
  std::string name;
  std::string plays;
  std::string world;  // empty: no ranks
  // One of the two, or both: hosts get at most per_host processes in order, until there are `count`.
  std::optional<std::uint64_t> count;
  std::optional<std::uint64_t> per_host;
  std::uint32_t devices = 0;  // per process
  Spread spread = Spread::kDefault;
  std::vector<std::uint32_t> hosts;  // indices that it may use, in this order; empty: all (scheduler: the first)
  Place place;                       // of the role, for messages
};

struct Placed {
  std::uint32_t role = 0;   // index into the layouts
  std::uint32_t index = 0;  // within the role
  std::optional<std::uint32_t> rank;
  std::uint32_t world_size = 0;
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 1;
  std::uint32_t host = 0;
  std::vector<std::uint32_t> devices;

  bool operator==(const Placed&) const = default;
};

// By role, then index. Kinds: "devices" (not enough, with the numbers), "placement" (no host, unknown host,
// neither count nor per_host, more processes than per_host allows), "range" (more than kMaxProcesses or kMaxDevices).
// Time and memory grow with processes and devices. `slots`, `room`: of each host, or empty.
Result<std::vector<Placed>> PlaceProcesses(const std::vector<RoleLayout>& roles, const std::vector<PlanHost>& hosts,
                                           const std::vector<std::uint32_t>& slots = {},
                                           const std::vector<std::uint32_t>& room = {});

}  // namespace muster
