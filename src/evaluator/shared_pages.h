// Shared pages of former evaluators, kept for reuse.
#pragma once

#include <memory>
#include <new>
#include <vector>

#include "evaluator/shared_page.h"

namespace muster {

// Pages for one evaluator after the other: a page is reused once the evaluator that wrote to it is gone.
class SharedPages {
 public:
  // May be not ok(). Returned to the pool when released, unless this object is gone by then.
  std::shared_ptr<SharedPage> Take();

 private:
  using Idle = std::vector<std::unique_ptr<SharedPage>>;
  std::shared_ptr<Idle> idle_ = std::make_shared<Idle>();
};

}  // namespace muster
