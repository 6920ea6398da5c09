// Plans as JSON: `plan --json` and plan.json of the run directory. Reading treats the JSON as untrusted: every field
// has a type, every error names its field.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// Plans as JSON: `plan --json` and plan.json of the run directory. Reading treats the JSON as untrusted.

inline constexpr int kPlanJsonFormat = 1;
// Maximum length in bytes when reading. JSON repeats for every process what a plan stores once per role.
inline constexpr std::size_t kMaxPlanJsonBytes = 256U << 20;
// Maximum memory in bytes while the JSON is parsed.
inline constexpr std::size_t kMaxPlanJsonMemory = std::size_t{1} << 30;

// The context as scripts see it: {"set_context": {"mode": 0}, …}. Functions without values are omitted.
Value NestedContext(const ContextValues& context);

// One line per process, everything expanded. `inputs` (a list) is written but ignored when read. The plan must be
// folded, because the id is that of the canonical text; callers that already have it pass it as `id`.
std::string PlanToJson(const Plan& plan, const Value& inputs = Value(Value::List{}), const std::string& id = {});

// The schema of that JSON (wire/archive/json_schema.h).
std::string PlanSchema();

// The folded plan, checked by ValidatePlan. Kind "plan_json" for invalid JSON or fields (the message names the field)
// and if the "id" is not that of the plan. Unknown fields are ignored.
Result<Plan> PlanFromJson(std::string_view bytes);

}  // namespace muster
