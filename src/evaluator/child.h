// The evaluator process, which is the program muster-evaluator: locks itself down, then reads requests, evaluates and
// answers until the last one. And the fork server (evaluator_fork_server.h), which forks one per request.
#pragma once

#include "lua/engine/engine.h"

namespace muster {

// First argument of muster-evaluator: its mode; the second is the version of the muster that it serves.
inline constexpr const char* kEvaluatorArgument = "--evaluator";
inline constexpr const char* kForkServerArgument = "--fork-server";
inline constexpr const char* kWithSchema = "schema";  // a third one for a fork server: see EvaluatorForkServer
inline constexpr int kOfAnotherVersion = 71;          // exit code if the versions differ
// Descriptors it is started with; requests for evaluators arrive on the fork server's socket.
inline constexpr int kEvaluatorSocket = 3;
inline constexpr int kEvaluatorPage = 4;  // shared memory for a LastPlace (evaluation/exchange/last_place.h)

// Does not return. `opened` is for tests.
[[noreturn]] void EvaluatorMain(OpenedInterpreter opened = nullptr);

// The same.
[[noreturn]] void ForkServerMain(bool schema_too, OpenedInterpreter opened = nullptr);

}  // namespace muster
