// A plan file may come from anywhere: any bytes must be read as a plan or refused, and what is read must be written
// and read as the same plan again.
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
