// The fields of an attribute, described once for records and archives. What values a field may have is checked where
// records are read (attribute_record.cc).
#pragma once

#include <string_view>
#include <tuple>
#include <utility>

#include "muster/mindspore/schema.h"

namespace muster {

template <class T>
struct AttributeField {
  std::string_view name;  // in a record
  T Attribute::*member;
};
template <class T>
AttributeField(std::string_view, T Attribute::*) -> AttributeField<T>;

// All members but `api`, which no record holds.
inline constexpr auto kAttributeFields = std::tuple{AttributeField{"1", &Attribute::name},
                                                    AttributeField{"kind", &Attribute::kinds},
                                                    AttributeField{"min", &Attribute::min},
                                                    AttributeField{"max", &Attribute::max},
                                                    AttributeField{"above", &Attribute::above},
                                                    AttributeField{"documented_max", &Attribute::documented_max},
                                                    AttributeField{"no_effect_up_to", &Attribute::no_effect_up_to},
                                                    AttributeField{"also", &Attribute::also},
                                                    AttributeField{"whole", &Attribute::whole},
                                                    AttributeField{"ascending", &Attribute::ascending},
                                                    AttributeField{"not_empty", &Attribute::not_empty},
                                                    AttributeField{"null", &Attribute::null},
                                                    AttributeField{"choices", &Attribute::choices},
                                                    AttributeField{"aliases", &Attribute::aliases},
                                                    AttributeField{"constants", &Attribute::constants},
                                                    AttributeField{"keys", &Attribute::keys},
                                                    AttributeField{"keys_of", &Attribute::keys_of},
                                                    AttributeField{"required", &Attribute::required},
                                                    AttributeField{"always", &Attribute::always},
                                                    AttributeField{"when", &Attribute::when},
                                                    AttributeField{"needs", &Attribute::needs},
                                                    AttributeField{"fits", &Attribute::fits},
                                                    AttributeField{"adds_up", &Attribute::adds_up},
                                                    AttributeField{"default", &Attribute::default_value},
                                                    AttributeField{"default_on", &Attribute::default_on},
                                                    AttributeField{"default_text", &Attribute::default_text},
                                                    AttributeField{"reads", &Attribute::reads},
                                                    AttributeField{"read_values", &Attribute::read_values},
                                                    AttributeField{"read_keys", &Attribute::read_keys},
                                                    AttributeField{"own_name", &Attribute::own_name},
                                                    AttributeField{"same_as", &Attribute::same_as},
                                                    AttributeField{"replaces", &Attribute::replaces},
                                                    AttributeField{"passed_as", &Attribute::passed_as},
                                                    AttributeField{"tells_if_set", &Attribute::tells_if_set},
                                                    AttributeField{"since", &Attribute::since},
                                                    AttributeField{"until", &Attribute::until},
                                                    AttributeField{"devices", &Attribute::devices},
                                                    AttributeField{"enforced", &Attribute::enforced},
                                                    AttributeField{"pynative", &Attribute::pynative},
                                                    AttributeField{"carried_modes", &Attribute::carried_modes},
                                                    AttributeField{"needs_pynative", &Attribute::needs_pynative},
                                                    AttributeField{"graph_with", &Attribute::graph_with},
                                                    AttributeField{"graph_env", &Attribute::graph_env},
                                                    AttributeField{"modes", &Attribute::modes},
                                                    AttributeField{"modes_documented", &Attribute::modes_documented},
                                                    AttributeField{"divides", &Attribute::divides},
                                                    AttributeField{"below", &Attribute::below},
                                                    AttributeField{"shares", &Attribute::shares},
                                                    AttributeField{"shared_values", &Attribute::shared_values},
                                                    AttributeField{"file", &Attribute::file},
                                                    AttributeField{"auto_port", &Attribute::auto_port},
                                                    AttributeField{"writes", &Attribute::writes},
                                                    AttributeField{"written_if", &Attribute::written_if},
                                                    AttributeField{"rank_from", &Attribute::rank_from},
                                                    AttributeField{"absolute", &Attribute::absolute},
                                                    AttributeField{"characters", &Attribute::characters},
                                                    AttributeField{"name_max", &Attribute::name_max},
                                                    AttributeField{"suffix", &Attribute::suffix},
                                                    AttributeField{"only_warns", &Attribute::only_warns},
                                                    AttributeField{"ignores_unknown", &Attribute::ignores_unknown},
                                                    AttributeField{"flags", &Attribute::flags},
                                                    AttributeField{"sources", &Attribute::sources},
                                                    AttributeField{"freezes", &Attribute::freezes},
                                                    AttributeField{"reset_first", &Attribute::reset_first},
                                                    AttributeField{"per_process", &Attribute::per_process},
                                                    AttributeField{"secret", &Attribute::secret},
                                                    AttributeField{"undocumented", &Attribute::undocumented},
                                                    AttributeField{"documented_only", &Attribute::documented_only},
                                                    AttributeField{"deprecated", &Attribute::deprecated},
                                                    AttributeField{"withdrawn", &Attribute::withdrawn},
                                                    AttributeField{"moved", &Attribute::moved},
                                                    AttributeField{"successor", &Attribute::successor},
                                                    AttributeField{"kept_on_reset", &Attribute::kept_on_reset},
                                                    AttributeField{"group", &Attribute::group},
                                                    AttributeField{"area", &Attribute::area},
                                                    AttributeField{"doc", &Attribute::doc},
                                                    AttributeField{"rule", &Attribute::rule}};

inline constexpr auto kAttributePlaces = std::make_index_sequence<std::tuple_size_v<decltype(kAttributeFields)>>();

}  // namespace muster
