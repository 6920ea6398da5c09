#include "run/supervise/dump_round.h"

#include <algorithm>
#include <string>
#include <utility>

#include "run/supervise/orders.h"

namespace muster {

void DumpRound::Begin(std::string_view why, const std::vector<bool>& over, Orders& orders) {
  if (under_way_) return;
  under_way_ = true;
  waiting_ = {};
  due_ = over;
  due_.flip();
  left_ = static_cast<std::uint32_t>(std::count(due_.begin(), due_.end(), true));
  orders.Add(DumpOrdered{++number_, std::string(why)});
  orders.ArmIn(kDumpTimer, kDumpMs + kDumpMarginMs);
}

void DumpRound::DelaySilence(const SilenceWatch::Silent& silent, std::uint32_t attempt) {
  if (waiting_.silent) return;
  waiting_.silent = silent;
  waiting_.silent_attempt = attempt;
}

bool DumpRound::Answered(std::uint32_t machine, std::uint32_t dump) {
  // Later answers are in the journal, but change nothing.
  if (!under_way_ || dump != number_ || machine >= due_.size() || !due_[machine]) return false;
  due_[machine] = false;
  return --left_ == 0;
}

DumpRound::Waiting DumpRound::End(bool complete, Orders& orders) {
  under_way_ = false;
  orders.Disarm(kDumpTimer);
  orders.Add(DumpEnded{number_, complete});
  return std::exchange(waiting_, {});
}

}  // namespace muster
