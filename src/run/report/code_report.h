// What a report says of the code of a run: in which state git had it, and what was shipped. Made from the journal
// alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/journal/checked_journal.h"
#include "run/journal/head_facts.h"

namespace muster {

struct CodeReport {
  std::optional<CodeSeen> seen;
  std::vector<CodeShipped> shipped;  // to each host, as they had it
};

CodeReport MakeCodeReport(const CheckedJournal& journal);

// As lines of report.txt, each ending with a newline; empty if nothing is known.
std::string CodeText(const CodeReport& code);

}  // namespace muster
