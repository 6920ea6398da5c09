// Resolves process names on the command line: of --tee, --pty and
// --env.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

// The processes named by the words: "worker", "worker:2", "worker:0-3,7". Numbers are ranks; in a role without ranks
// they are the processes' numbers in it. Fails with kind "tee".
Result<std::set<ProcessId>> TeedProcesses(const Plan& plan, const std::vector<std::string>& words);

// The single process named by a word of this form. Fails with kind "pty".
Result<ProcessId> ProcessAtTerminal(const Plan& plan, const std::string& word);

// The single process named by a word of this form. Fails with `kind`, which is the option's name, too.
Result<ProcessId> OneProcessNamed(const Plan& plan, std::string_view kind, const std::string& word);

// The first process named by a word of this form. Fails with kind "env".
Result<ProcessId> ExplainedProcess(const Plan& plan, const std::string& word);

}  // namespace muster
