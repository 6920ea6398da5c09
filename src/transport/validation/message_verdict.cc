#include "transport/validation/message_verdict.h"

#include <utility>

namespace muster {

MessageVerdict MessageVerdict::Stray(std::string why) { return {Kind::kStray, std::move(why)}; }

MessageVerdict MessageVerdict::Unfit(std::string why) { return {Kind::kUnfit, std::move(why)}; }

MessageVerdict MessageVerdict::OfAttempt(std::uint32_t process, std::uint32_t attempt, std::string_view what) {
  return Stray("process " + std::to_string(process) + " attempt " + std::to_string(attempt) + ": " + std::string(what));
}

MessageVerdict MessageVerdict::If(bool requested, std::string_view what) {
  return requested ? MessageVerdict() : Stray(std::string(what) + ", which was not requested");
}

bool TakeOne(std::uint32_t& count) {
  if (count == 0) return false;
  --count;
  return true;
}

}  // namespace muster
