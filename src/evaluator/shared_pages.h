// Shared pages that evaluators have had, kept for the next ones.
#pragma once

#include <memory>
#include <new>
#include <vector>

#include "evaluator/shared_page.h"

namespace muster {

// Pages for one evaluator after the other: each serves the next once the one that noted in it is gone.
class SharedPages {
 public:
  // May be not ok(). Comes back when it is given up, unless this object has gone by then.
  std::shared_ptr<SharedPage> Take();

 private:
  using Idle = std::vector<std::unique_ptr<SharedPage>>;
  std::shared_ptr<Idle> idle_ = std::make_shared<Idle>();
};

}  // namespace muster
