// The evaluator process: locks itself down, reads a request, evaluates, answers; and so on until the last one. And the
// stem (evaluator_stem.h), which becomes one for each that its parent wants.
#pragma once

#include "lua/engine.h"

namespace muster {

// The hidden first argument by which the muster program becomes an evaluator.
inline constexpr const char* kEvaluatorArgument = "--evaluator-child";
// … and a stem.
inline constexpr const char* kStemArgument = "--evaluator-stem";
inline constexpr const char* kWithSchema = "schema";  // its second one: see EvaluatorStem
// Descriptors it is started with; the stem's socket is the one over which evaluators are asked for.
inline constexpr int kEvaluatorSocket = 3;
inline constexpr int kEvaluatorPage = 4;  // shared memory for a LastPlace (lua/last_place.h)

// Does not return. `opened` is for tests.
[[noreturn]] void EvaluatorMain(OpenedInterpreter opened = nullptr);

// The same.
[[noreturn]] void StemMain(bool schema_too, OpenedInterpreter opened = nullptr);

}  // namespace muster
