// The evaluator process, which is the program muster-evaluator: locks itself down, reads a request, evaluates, answers;
// and so on until the last one. And the fork server (evaluator_fork_server.h), which forks one per request.
#pragma once

#include "lua/engine/engine.h"

namespace muster {

// What muster-evaluator is started with: what it is to be, and the version of the muster that it is to serve.
inline constexpr const char* kEvaluatorArgument = "--evaluator";
inline constexpr const char* kForkServerArgument = "--stem";
inline constexpr const char* kWithSchema = "schema";  // a third one for a stem: see EvaluatorForkServer
inline constexpr int kOfAnotherVersion = 71;          // what it exits with then
// Descriptors it is started with; the stem's socket is the one over which evaluators are asked for.
inline constexpr int kEvaluatorSocket = 3;
inline constexpr int kEvaluatorPage = 4;  // shared memory for a LastPlace (evaluation/exchange/last_place.h)

// Does not return. `opened` is for tests.
[[noreturn]] void EvaluatorMain(OpenedInterpreter opened = nullptr);

// The same.
[[noreturn]] void ForkServerMain(bool schema_too, OpenedInterpreter opened = nullptr);

}  // namespace muster
