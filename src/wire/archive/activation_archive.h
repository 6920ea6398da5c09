// How a step of an activation crosses borders (wire/archive/archive.h): in a plan, and to an agent.
#pragma once

#include "muster/activation.h"
#include "wire/archive/archive.h"

namespace muster {

template <class A>
void Fields(A& archive, ActivationStep& step) {
  InRange(archive, step.kind, ActivationStep::Kind::kConda);
  archive(AtMost(step.what, std::size_t{1} << 20));
}

}  // namespace muster
