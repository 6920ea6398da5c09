// Fuzzes answers of an evaluator process: any bytes decode to nothing or to an answer that round-trips. Validating a
// plan in it must be safe, and so must printing a valid one.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/values/diagnostics.h"
#include "evaluation/exchange/evaluation_archive.h"
#include "plan/check/plan_check.h"
#include "plan/plan/roles.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto question = muster::Unarchived<muster::Question>(bytes);
  Require(!question || muster::Unarchived<muster::Question>(muster::Archived(*question)) == question);
  auto answer = muster::Unarchived<muster::EvaluationAnswer>(bytes);
  if (!answer) return 0;
  // Compared as bytes, since a number may be NaN.
  const std::string written = muster::Archived(*answer);
  const auto back = muster::Unarchived<muster::EvaluationAnswer>(written);
  Require(back && muster::Archived(*back) == written);
  for (const muster::Diagnostic& diagnostic : answer->diagnostics)
    Require(!muster::DiagnosticText(diagnostic, nullptr).empty());
  if (!answer->plan || muster::HasErrors(muster::ValidatePlan(*answer->plan))) return 0;
  muster::Fold(*answer->plan);
  Require(!muster::HasErrors(muster::ValidatePlan(*answer->plan)));
  Require(muster::PlanId(*answer->plan).size() == 64);
  const auto read = muster::PlanFromJson(muster::PlanToJson(*answer->plan));
  Require(read && muster::PlanText(*read) == muster::PlanText(*answer->plan));
  return 0;
}
