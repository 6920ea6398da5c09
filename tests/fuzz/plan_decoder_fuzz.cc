// Fuzzes plans in an evaluator's answer: any bytes must decode to a plan or to nothing, and all operations on a plan
// that passes the check must be safe.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plan/check/plan_check.h"
#include "plan/environment/environment.h"
#include "plan/plan/plan_fields.h"
#include "plan/plan/roles.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto plan = muster::Unarchived<muster::Plan>(bytes);
  if (!plan || !muster::ValidatePlan(*plan).empty()) return 0;
  muster::Fold(*plan);
  if (!muster::ValidatePlan(*plan).empty()) std::abort();
  const auto again = muster::PlanFromJson(muster::PlanToJson(*plan));
  if (!again || muster::PlanId(*again) != muster::PlanId(*plan)) std::abort();
  for (const muster::Process& process : plan->processes) {
    (void)muster::ComposeEnvironment({"HOME=/"}, *plan, process, muster::Binding{}, 0);
  }
  return 0;
}
