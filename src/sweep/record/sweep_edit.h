// An edit of a sweep: the file that holds all of it until it is carried out, so that a sweep whose head or command is
// killed goes on as it was or as it was edited; and what becomes of its trials so far.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

// The trials of a sweep so far, from its journal.
struct TrialsSoFar {
  std::map<TrialNumber, Point> begun;
  TrialSet chosen;  // by users
};
// Those below `to`. Kind "sweep" if the journal cannot be opened.
Result<TrialsSoFar> ReadTrialsSoFar(int folder, TrialNumber to);
Result<TrialsSoFar> ReadTrialsSoFar(const std::string& sweep_dir, TrialNumber to);

// SamplerChoice::kept for an edit at trial `to`; `sampler` is without kept points.
Result<std::vector<Point>> KeptPoints(const TrialsSoFar& trials, TrialNumber to, const Space& space,
                                      const SamplerChoice& sampler);

// An edit that is all checked.
struct SweepEdit {
  std::string id;  // 12 hex digits
  Value inputs;    // of the recipe, as in inputs.json, and how it was evaluated
  Value evaluation;
  std::map<std::string, std::string> sources;  // by path below recipe/
  std::string sweep;                           // the text of sweep.json
};
bool IsEditId(std::string_view id);

// The name of the file in which a command gives an edit to the head of a running sweep.
std::string ProposedEditName(std::string_view id);
// Writes the edit atomically. With the name of kEditEntry it holds from then on: whatever ends the writer, the next
// head carries it out. Kind "sweep" if it is too large.
Result<void> WriteEdit(int folder, const std::string& name, const SweepEdit& edit);
Result<SweepEdit> ReadEdit(int folder, const std::string& name);

// Why a sweep cannot be edited so: what its results were compared by stays, and, while it runs, what its head and its
// trials depend on. Kinds "rules_changed" and "running".
Result<void> CheckEdit(const SweepDescription& before, const SweepDescription& now, bool running);

// What becomes of the trials so far: the edit first, then the trials that it gives up. `chosen`: as of TrialsSoFar.
std::vector<SweepEntry> EntriesOfEdit(SweepEdited edited, const SweepProgress& progress, const TrialSet& chosen);

// The last steps of an edit that holds; repeating them changes nothing.
Result<void> ReplaceEditedRecipe(int folder, const SweepEdit& edit);
Result<void> FinishEdit(int folder, const SweepEdit& edit);

// Carries out the edit that holds in the directory, if there is one, as a head that does nothing else. The caller holds
// the directory, and no head runs. `recipe_hash` is called after the recipe was replaced: SweepEdited::recipe.
Result<void> CarryOutEdit(int folder, const std::string& sweep_dir,
                          const std::function<Result<std::string>()>& recipe_hash);

}  // namespace muster
