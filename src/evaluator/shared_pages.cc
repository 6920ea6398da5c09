#include "evaluator/shared_pages.h"

#include <utility>

namespace muster {

std::shared_ptr<SharedPage> SharedPages::Take() {
  std::unique_ptr<SharedPage> page;
  if (idle_->empty()) {
    page = std::make_unique<SharedPage>();
  } else {
    page = std::move(idle_->back());
    idle_->pop_back();
    page->Clear();
  }
  const auto give_back = [to = std::weak_ptr(idle_)](SharedPage* given) {
    std::unique_ptr<SharedPage> back(given);
    const auto idle = to.lock();
    if (idle && back->ok()) idle->push_back(std::move(back));
  };
  return {page.release(), give_back};
}

}  // namespace muster
