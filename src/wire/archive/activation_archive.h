// The fields of a step of an activation (wire/archive/archive.h): in a plan, its JSON, and on the way to an agent.
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
