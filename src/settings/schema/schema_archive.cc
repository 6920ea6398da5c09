#include "settings/schema/schema_archive.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "wire/archive/value_archive.h"

namespace muster {
namespace {

constexpr auto kMembers = std::tuple{&Attribute::api,
                                     &Attribute::name,
                                     &Attribute::kinds,
                                     &Attribute::min,
                                     &Attribute::max,
                                     &Attribute::above,
                                     &Attribute::documented_max,
                                     &Attribute::no_effect_up_to,
                                     &Attribute::also,
                                     &Attribute::whole,
                                     &Attribute::ascending,
                                     &Attribute::not_empty,
                                     &Attribute::null,
                                     &Attribute::choices,
                                     &Attribute::aliases,
                                     &Attribute::constants,
                                     &Attribute::keys,
                                     &Attribute::keys_of,
                                     &Attribute::required,
                                     &Attribute::always,
                                     &Attribute::when,
                                     &Attribute::needs,
                                     &Attribute::fits,
                                     &Attribute::adds_up,
                                     &Attribute::default_value,
                                     &Attribute::default_on,
                                     &Attribute::default_text,
                                     &Attribute::reads,
                                     &Attribute::read_values,
                                     &Attribute::read_keys,
                                     &Attribute::own_name,
                                     &Attribute::same_as,
                                     &Attribute::replaces,
                                     &Attribute::passed_as,
                                     &Attribute::tells_if_set,
                                     &Attribute::since,
                                     &Attribute::until,
                                     &Attribute::devices,
                                     &Attribute::enforced,
                                     &Attribute::pynative,
                                     &Attribute::carried_modes,
                                     &Attribute::needs_pynative,
                                     &Attribute::graph_with,
                                     &Attribute::graph_env,
                                     &Attribute::modes,
                                     &Attribute::modes_documented,
                                     &Attribute::divides,
                                     &Attribute::below,
                                     &Attribute::shares,
                                     &Attribute::shared_values,
                                     &Attribute::flags,
                                     &Attribute::sources,
                                     &Attribute::file,
                                     &Attribute::auto_port,
                                     &Attribute::writes,
                                     &Attribute::written_if,
                                     &Attribute::rank_from,
                                     &Attribute::absolute,
                                     &Attribute::characters,
                                     &Attribute::name_max,
                                     &Attribute::suffix,
                                     &Attribute::only_warns,
                                     &Attribute::ignores_unknown,
                                     &Attribute::freezes,
                                     &Attribute::reset_first,
                                     &Attribute::per_process,
                                     &Attribute::secret,
                                     &Attribute::undocumented,
                                     &Attribute::documented_only,
                                     &Attribute::deprecated,
                                     &Attribute::withdrawn,
                                     &Attribute::kept_on_reset,
                                     &Attribute::successor,
                                     &Attribute::moved,
                                     &Attribute::group,
                                     &Attribute::area,
                                     &Attribute::doc,
                                     &Attribute::rule};

constexpr auto kPlaces = std::make_index_sequence<std::tuple_size_v<decltype(kMembers)>>();

// Of the many members of an attribute few are set, so these are written: each with its place in kMembers, from 1 on.
template <std::size_t... kPlace>
void WriteMembers(ArchiveWriter& archive, Attribute& attribute, std::index_sequence<kPlace...>) {
  static const Attribute kUnset;
  const auto write = [&](std::size_t place, auto member) {
    if (!(attribute.*member == kUnset.*member)) archive(place + 1, attribute.*member);
  };
  (write(kPlace, std::get<kPlace>(kMembers)), ...);
  archive(std::size_t{0});
}

template <std::size_t kPlace>
void ReadAtPlace(ArchiveReader& archive, Attribute& attribute) {
  archive(attribute.*std::get<kPlace>(kMembers));
}

template <std::size_t... kPlace>
constexpr auto Readers(std::index_sequence<kPlace...>) {
  return std::array{&ReadAtPlace<kPlace>...};
}

}  // namespace

template <class A>
void Fields(A& archive, Release& release) {
  archive(release.major, release.minor, release.patch, release.candidate);
}

template <class A>
void Fields(A& archive, RuleSource& source) {
  archive(source.document, source.behaviour);
}

template <class A>
void Fields(A& archive, Move& move) {
  archive(move.function, move.parameter, move.values, move.literals, move.pynative, move.differs);
}

template <class A>
void Fields(A& archive, Attribute& attribute) {
  if constexpr (A::kReading) {
    static constexpr auto kReaders = Readers(kPlaces);
    std::size_t place = 0;
    for (archive(place); place != 0; archive(place)) {
      if (place > kReaders.size()) return archive.Fail();
      kReaders[place - 1](archive, attribute);
    }
  } else {
    WriteMembers(archive, attribute, kPlaces);
  }
}

template <class A>
void Fields(A& archive, Function& function) {
  archive(function.name, function.parameters, function.repeats, function.devices, function.by_name, function.since,
          function.doc);
}

template <class A>
void Fields(A& archive, Condition& condition) {
  archive(condition.one_of, condition.none_of, condition.above, condition.above_value_of, condition.set);
}

template <class A>
void Fields(A& archive, Rule& rule) {
  archive(rule.name, rule.kind, rule.refused, rule.about, rule.when, rule.unless, rule.says, rule.hint, rule.since,
          rule.until, rule.source);
}

template <class A>
void Fields(A& archive, ReleaseFacts& facts) {
  archive(facts.release, facts.short_name, facts.described, facts.doc, facts.described_from);
}

template <class A>
void Fields(A& archive, Schema& schema) {
  archive(schema.releases_, schema.rules_, schema.functions_, schema.calls_, schema.files_);
}

std::string ArchiveOfSchema(const Schema& schema) { return Archived(schema); }

std::optional<Schema> SchemaInArchive(std::string_view bytes) { return Unarchived<Schema>(bytes); }

}  // namespace muster
