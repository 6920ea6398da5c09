// The schemas (wire/archive/json_schema.h) of JSON that single commands describe and print.
#pragma once

#include <string>

namespace muster {

std::string DiagnosticsSchema();   // what commands print when they refuse
std::string FindingSchema();       // one of its diagnostics
std::string DeepCheckSchema();     // muster check --deep --json
std::string FolderCheckSchema();   // muster check FOLDER --json
std::string ReleasesSchema();      // muster check --mindspore --json
std::string RewriteSchema();       // muster check --rewrite --json
std::string EnvironmentSchema();   // muster plan --env PROCESS --json
std::string ParamsSchema();        // muster params --json
std::string SuggestionSchema();    // muster explain SWEEP:TRIAL --json
std::string SimulationSchema();    // muster simulate --json
std::string WhyNotSchema();        // muster why-not --json
std::string RecipesSchema();       // muster ls --recipes --json
std::string RunsSchema();          // muster ls --json
std::string PsSchema();            // muster ps --json
std::string QueuedReportSchema();  // muster report --json of a run that has not begun
std::string LedgerSchema();        // muster report --ledger --json
std::string SweepsSchema();        // muster ls --sweeps --json
std::string TrialsSchema();        // muster ls SWEEP --json
std::string ComparisonSchema();    // muster ls SWEEP SWEEP --json
std::string EditSchema();          // muster edit --json
std::string ImportanceSchema();    // muster importance --json
std::string WhatIfSchema();        // muster whatif SWEEP --json
std::string WhatIfOfRunSchema();   // muster whatif RUN --json
std::string BestSchema();          // muster best --json
std::string SweepReportSchema();   // muster show SWEEP --json
std::string TrialSchema();         // muster show SWEEP:TRIAL --json
std::string CleanSchema();         // muster clean --json
std::string HostsSchema();         // muster hosts --json
std::string DrillSchema();         // muster drill --json
std::string LimitsSchema();        // muster steer --json
std::string ServerSchema();        // muster serve --json

}  // namespace muster
