// Plans as JSON: `plan --json` and plan.json of the run directory. Reading takes nothing on trust.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

inline constexpr int kPlanJsonFormat = 1;
// The longest text that is read. It repeats for every process what a plan stores once per role.
inline constexpr std::size_t kMaxPlanJsonBytes = 256U << 20;
// What its JSON may become in memory on the way.
inline constexpr std::size_t kMaxPlanJsonMemory = std::size_t{1} << 30;

// The context as scripts find it: {"set_context": {"mode": 0}, …}. Functions without values are left out.
Value NestedContext(const ContextValues& context);

// One line per process, everything expanded. `inputs` (a list) is shown and not read back. The plan must be
// folded (the id is that of the canonical text; who has it already gives it as `id`).
std::string PlanToJson(const Plan& plan, const Value& inputs = Value(Value::List{}), const std::string& id = {});

// The folded plan, checked by ValidatePlan. Kind "plan_json" for what is no plan (the message names the field)
// and for a plan whose "id" is not its own. Fields that it does not know are passed over.
Result<Plan> PlanFromJson(std::string_view bytes);

}  // namespace muster
