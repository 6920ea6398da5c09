// Divides a range into contiguous shards: in order, without gap or overlap, sizes differing by at most one. Used for
// weights over servers and for a minibatch over workers.
#pragma once

#include <cstddef>

namespace ps_digits {

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

// Shard `index` of `shard_count`; the first shards get the remainder.
constexpr Range ShardRange(std::size_t total, std::size_t shard_count, std::size_t index) {
  const std::size_t base = total / shard_count;
  const std::size_t longer = total % shard_count;
  const std::size_t begin = index * base + (index < longer ? index : longer);
  return {begin, begin + base + (index < longer ? 1 : 0)};
}

}  // namespace ps_digits
