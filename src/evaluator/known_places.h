// The places that an evaluator may report: those in files that were read for it. No other file is opened because an
// evaluator names it.
#pragma once

#include <set>
#include <string>

#include "evaluation/exchange/evaluation.h"
#include "evaluator/recipe_files.h"
#include "muster/diagnostic.h"
#include "muster/site.h"

namespace muster {

// Checks results of an evaluator: unknown places become empty.
class KnownPlaces {
 public:
  KnownPlaces(const std::string& recipe_file, const RecipeFiles& files, const Site& site);

  Place Checked(const Place& place) const;
  Diagnostics Checked(Diagnostics diagnostics) const;
  Provenance Checked(Provenance provenance) const;
  Origins Checked(Origins origins) const;
  SweepDescription Checked(SweepDescription sweep) const;
  Judgement Checked(Judgement judgement) const;

 private:
  void CheckSpace(Space& space) const;

  std::string recipe_file_;
  std::set<std::string> known_;
};

}  // namespace muster
