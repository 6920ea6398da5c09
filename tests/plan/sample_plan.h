// Sample plans for tests.
#pragma once

#include <random>

#include "muster/plan.h"

namespace muster {

// One scheduler, two servers and four workers on one host; folded and valid.
Plan ParameterServerPlan();

// A valid plan of one to three roles with random commands, variables, contexts, ports, files and secrets. Not folded.
Plan RandomPlan(std::mt19937& random);

// The same plan in another form: moves random values of roles to their processes.
Plan Unfolded(const Plan& plan, std::mt19937& random);

}  // namespace muster
