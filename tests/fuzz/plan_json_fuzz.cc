// Fuzzes plan files: any bytes must be read as a plan or refused, and a plan must
// round-trip.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plan/text/plan_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto plan = muster::PlanFromJson({reinterpret_cast<const char*>(data), size});
  if (!plan) return 0;
  const auto again = muster::PlanFromJson(muster::PlanToJson(*plan));
  if (!again || *again != *plan) std::abort();
  return 0;
}
