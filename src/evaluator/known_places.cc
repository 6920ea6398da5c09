#include "evaluator/known_places.h"

#include <filesystem>
#include <utility>

namespace muster {

KnownPlaces::KnownPlaces(const std::string& recipe_file, const RecipeFiles& files, const Site& site)
    : recipe_file_(recipe_file) {
  const std::filesystem::path folder = std::filesystem::path(recipe_file).parent_path();
  for (const auto& [path, unused] : files.sources()) known_.insert(files.ShownPath(folder, path));
  for (const auto& [field, place] : site.places) known_.insert(std::filesystem::path(place.file).lexically_normal());
}

Place KnownPlaces::Checked(const Place& place) const {
  if (place.file == recipe_file_) return place;
  const std::string normal = std::filesystem::path(place.file).lexically_normal();
  // Errors in muster's own schema are for muster's developers.
  const bool schema = normal == place.file && normal.starts_with("lua/muster/schema/");
  return schema || known_.contains(normal) ? place : Place{};
}

Diagnostics KnownPlaces::Checked(Diagnostics diagnostics) const {
  for (Diagnostic& diagnostic : diagnostics) {
    diagnostic.place = Checked(diagnostic.place);
    for (Note& note : diagnostic.notes) note.place = Checked(note.place);
  }
  return diagnostics;
}

Provenance KnownPlaces::Checked(Provenance provenance) const {
  for (auto& [role, sources] : provenance) {
    for (auto& [variable, source] : sources) source.place = Checked(source.place);
  }
  return provenance;
}

Origins KnownPlaces::Checked(Origins origins) const {
  const auto check = [&](auto& by_name) {
    for (auto& [name, place] : by_name) place = Checked(place);
  };
  check(origins.derived);
  check(origins.roles);
  check(origins.commands);
  for (Division& division : origins.divisions) division.place = Checked(division.place);
  for (MeshMade& mesh : origins.meshes) mesh.place = Checked(mesh.place);
  for (auto& [attribute, source] : origins.context) source.place = Checked(source.place);
  for (auto& [role, sources] : origins.each_context) {
    for (auto& [attribute, source] : sources) source.place = Checked(source.place);
  }
  return origins;
}

SweepDescription KnownPlaces::Checked(SweepDescription sweep) const {
  const auto check = [&](auto& part) { part.place = Checked(part.place); };
  CheckSpace(sweep.space);
  check(sweep.sampler);
  if (sweep.objective) check(*sweep.objective);
  if (sweep.early_stop) check(*sweep.early_stop);
  check(sweep.metrics);
  check(sweep.retry);
  check(sweep.budget);
  return sweep;
}

void KnownPlaces::CheckSpace(Space& space) const {
  space.place = Checked(space.place);
  for (Space& part : space.parts) CheckSpace(part);
}

Judgement KnownPlaces::Checked(Judgement judgement) const {
  for (RefusedPoints& refused : judgement.reasons) {
    refused.problem = Checked(Diagnostics{std::move(refused.problem)}).front();
  }
  return judgement;
}

}  // namespace muster
