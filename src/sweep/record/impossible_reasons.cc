// See impossible_reasons.h.
#include "sweep/record/impossible_reasons.h"

#include <algorithm>

namespace muster {

void ImpossibleReasons::Keep(const PointsJudged& judged) {
  constexpr std::size_t kMost = 3;
  for (const PointsJudged::Reason& reason : judged.impossible) {
    if (reasons_.size() == kMost) return;
    const std::string text = reason.place.empty() ? reason.text : reason.text + " (" + reason.place + ")";
    if (std::find(reasons_.begin(), reasons_.end(), text) == reasons_.end()) reasons_.push_back(text);
  }
}

std::string ImpossibleReasons::Text() const {
  std::string text = "no point is possible";
  const char* separator = ": ";
  for (const std::string& reason : reasons_) {
    text += separator + reason;
    separator = "; ";
  }
  return text + "; `--preview` counts the points that each condition rejects";
}

}  // namespace muster
