// A page of memory that an evaluator and its parent share.
#pragma once

#include <new>

#include "base/system/unique_fd.h"
#include "evaluation/exchange/last_place.h"

namespace muster {

// The page in which the evaluator records the last line that it reached.
class SharedPage {
 public:
  SharedPage();
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  ~SharedPage();

  int fd() const { return fd_.get(); }
  bool ok() const { return place_ != nullptr; }
  Place Read() const { return place_->Read(); }
  void Clear() { new (place_) LastPlace; }

 private:
  UniqueFd fd_;
  LastPlace* place_ = nullptr;
};

}  // namespace muster
