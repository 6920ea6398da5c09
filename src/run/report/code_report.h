// Reports on the code of a run: its state in git, and the shipped code. Made from the journal
// alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/journal/head_facts.h"
#include "run/journal/journal.h"

namespace muster {

struct CodeReport {
  std::optional<CodeSeen> seen;
  std::vector<CodeShipped> shipped;  // one entry for each host
};

CodeReport MakeCodeReport(const CheckedJournal& journal);

// "0123456789ab on main, 3 changed or untracked"; empty if the state in git is not known.
std::string GitText(const CodeReport& code);

// Lines of report.txt, each ending with a newline; empty if nothing is known.
std::string CodeText(const CodeReport& code);

}  // namespace muster
