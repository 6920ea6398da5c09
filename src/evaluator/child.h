// The evaluator process: reads a request, locks itself down, evaluates, answers; and so on until the last one.
#pragma once

#include "lua/engine.h"

namespace muster {

// The hidden first argument by which the muster program becomes an evaluator.
inline constexpr const char* kEvaluatorArgument = "--evaluator-child";
// Descriptors it is started with.
inline constexpr int kEvaluatorSocket = 3;
inline constexpr int kEvaluatorPage = 4;  // shared memory for a LastPlace (lua/last_place.h)

// Does not return. `opened` is for tests.
[[noreturn]] void EvaluatorMain(OpenedInterpreter opened = nullptr);

}  // namespace muster
