// Decides whether the job gets other ports after a foreign process was seen to hold one that muster had chosen: whether
// that helps and has not been tried too often. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/event.h"
#include "muster/plan.h"
#include "wire/protocol/protocol.h"

namespace muster {

class PortRebinding {
 public:
  // Only the latest is kept.
  void Saw(const PortTaken& taken) { taken_ = taken; }
  // Whether a port of the attempt was seen to be taken.
  bool Concerns(const ProcessAttempt& who) const;
  // Whether the job may get another port instead of the one that was seen to be taken; extends `why` if that has been
  // tried too often.
  bool Allowed(const Plan& plan, std::string& why) const;
  const std::optional<PortTaken>& taken() const { return taken_; }

  // Returns how many times the job got other ports, this time included.
  std::uint32_t Begin();
  bool under_way() const { return under_way_; }
  // Returns whether a change was in progress.
  bool End();

 private:
  std::optional<PortTaken> taken_;
  std::uint32_t times_ = 0;
  bool under_way_ = false;
};

}  // namespace muster
