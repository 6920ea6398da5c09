// Archive fields of the messages in activation_messages.h and of the types that they contain.
#pragma once

#include "wire/archive/activation_archive.h"
#include "wire/archive/archive.h"
#include "wire/protocol/activation_messages.h"
#include "wire/protocol/protocol_bounds.h"
#include "wire/protocol/start_fields.h"

namespace muster {

template <class A>
void Fields(A& archive, Activate& m) {
  archive(AtMost(m.steps, protocol_bounds::kList),
          AtMost(m.environment, protocol_bounds::kList, protocol_bounds::kText), AtMost(m.cwd, protocol_bounds::kText),
          AtMost(m.log_path, protocol_bounds::kText), m.within_ms, m.of_host);
}

}  // namespace muster
