// Archive fields of an activation step (wire/archive/archive.h); also used for the plan and its JSON.
#pragma once

#include "muster/activation.h"
#include "wire/archive/archive.h"
#include "wire/archive/field_forms.h"

namespace muster {

template <class A>
void Fields(A& archive, ActivationStep& step) {
  archive("kind", WithNames(step.kind, kActivationKinds));
  archive("what", AtMost(step.what, std::size_t{1} << 20));
}

}  // namespace muster
