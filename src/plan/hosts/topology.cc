#include "plan/hosts/topology.h"

#include <limits>

namespace muster {
namespace {

std::string ProductText(const std::vector<NamedCount>& by) {
  std::string text;
  for (const NamedCount& factor : by) {
    text += (text.empty() ? "" : " × ") + factor.name + " " + std::to_string(factor.count);
  }
  return text;
}

}  // namespace

Result<std::int64_t> ExactQuotient(const NamedCount& dividend, const std::vector<NamedCount>& by, const Place& place) {
  std::vector<NamedCount> all{dividend};
  all.insert(all.end(), by.begin(), by.end());
  for (const NamedCount& each : all) {
    if (each.count < 1) {
      return Fail(Error("range", place, each.name + " = " + std::to_string(each.count) + " must be at least 1"));
    }
  }
  std::int64_t product = 1;
  for (const NamedCount& factor : by) {
    if (factor.count > std::numeric_limits<std::int64_t>::max() / product) {
      return Fail(Error("range", place, "the product " + ProductText(by) + " is too large"));
    }
    product *= factor.count;
  }
  if (dividend.count % product == 0) return dividend.count / product;
  std::string message =
      dividend.name + " = " + std::to_string(dividend.count) + " can not be divided by " + ProductText(by);
  if (by.size() > 1) message += " = " + std::to_string(product);
  std::string hint;
  const std::int64_t below = dividend.count - dividend.count % product;
  if (below > 0) {
    hint = dividend.name + " could be " + std::to_string(below);
    if (below <= std::numeric_limits<std::int64_t>::max() - product) hint += " or " + std::to_string(below + product);
  } else {
    hint = dividend.name + " must be at least " + std::to_string(product);
  }
  return Fail(Error("division", place, std::move(message), std::move(hint)));
}

StagePosition StageOf(std::uint32_t rank, std::uint32_t world_size, std::uint32_t stages) {
  const std::uint32_t stage_size = world_size / stages;
  return {rank / stage_size, rank % stage_size};
}

}  // namespace muster
