#include "settings/schema/schema_archive.h"

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include "settings/schema/attribute_fields.h"
#include "wire/archive/value_archive.h"

namespace muster {
namespace {

// Of the many members of an attribute few are set, so these are written: each with its place in the table, from 1 on.
template <std::size_t... kPlace>
void WriteMembers(ArchiveWriter& archive, Attribute& attribute, std::index_sequence<kPlace...>) {
  static const Attribute kUnset;
  const auto write = [&](std::size_t place, auto member) {
    if (!(attribute.*member == kUnset.*member)) archive(place + 1, attribute.*member);
  };
  (write(kPlace, std::get<kPlace>(kAttributeFields).member), ...);
  archive(std::size_t{0});
}

template <std::size_t kPlace>
void ReadAtPlace(ArchiveReader& archive, Attribute& attribute) {
  archive(attribute.*std::get<kPlace>(kAttributeFields).member);
}

template <std::size_t... kPlace>
constexpr auto ArchiveReaders(std::index_sequence<kPlace...>) {
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
  archive(attribute.api);
  if constexpr (A::kReading) {
    static constexpr auto kReaders = ArchiveReaders(kAttributePlaces);
    std::size_t place = 0;
    for (archive(place); place != 0; archive(place)) {
      if (place > kReaders.size()) return archive.Fail();
      kReaders[place - 1](archive, attribute);
    }
  } else {
    WriteMembers(archive, attribute, kAttributePlaces);
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
