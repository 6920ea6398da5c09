#include "reference/attribute_facts.h"

#include <algorithm>

#include "settings/schema/schema_text.h"

namespace muster {
namespace {

// Adds the keys in `records` to the histories of `function`, below `path`.
void AddKeys(std::vector<AttributeHistory>& histories, const AttributeHistory& table) {
  std::vector<AttributeHistory> keys;
  for (const auto& [release, record] : table.records) {
    for (const Attribute& key : record->keys) {
      if (!key.ExistsIn(release)) continue;
      const auto same = std::find_if(keys.begin(), keys.end(), [&](const AttributeHistory& known) {
        return known.latest().name == key.name && known.latest().when == key.when;
      });
      AttributeHistory& history = same == keys.end() ? keys.emplace_back() : *same;
      history.function = table.function;
      history.path = table.path + "." + key.name;
      history.depth = table.depth + 1;
      history.records.emplace_back(release, &key);
    }
  }
  for (const AttributeHistory& key : keys) {
    histories.push_back(key);
    AddKeys(histories, key);
  }
}

std::vector<AttributeHistory> HistoriesOf(const Schema::ByName& known, std::string_view function,
                                          const std::vector<Release>& releases) {
  std::vector<AttributeHistory> histories;
  for (const auto& [name, records] : known) {
    AttributeHistory history;
    history.function = function;
    history.path = name;
    for (const Release& release : releases) {
      const auto record = std::find_if(records.begin(), records.end(),
                                       [&](const Attribute& attribute) { return attribute.ExistsIn(release); });
      if (record != records.end()) history.records.emplace_back(release, &*record);
    }
    if (history.records.empty()) continue;
    histories.push_back(history);
    AddKeys(histories, history);
  }
  return histories;
}

}  // namespace

std::vector<Release> DescribedReleases(const Schema& schema) {
  std::vector<Release> releases;
  for (const ReleaseFacts& facts : schema.releases()) {
    if (facts.described) releases.push_back(facts.release);
  }
  return releases;
}

std::vector<AttributeHistory> Histories(const Schema& schema, std::string_view function,
                                        const std::vector<Release>& releases) {
  return HistoriesOf(schema.attributes(function), function, releases);
}

std::vector<AttributeHistory> FileHistories(const Schema& schema, const std::vector<Release>& releases) {
  return HistoriesOf(schema.files(), {}, releases);
}

std::string SpanText(const std::vector<Release>& all, const Release& first, const Release& last) {
  if (first == last) return ReleaseText(first);
  if (last == all.back() && first != all.front()) return ReleaseText(first) + " and later";
  return ReleaseText(first) + " to " + ReleaseText(last);
}

std::string ReleasesText(const AttributeHistory& history, const std::vector<Release>& all) {
  std::string text;
  std::size_t i = 0;
  while (i < history.records.size()) {
    const Release& first = history.records[i].first;
    auto at = std::find(all.begin(), all.end(), first);
    std::size_t end = i;
    while (end < history.records.size() && at != all.end() && history.records[end].first == *at) ++end, ++at;
    text += (text.empty() ? "" : ", ") + SpanText(all, first, history.records[std::max(end, i + 1) - 1].first);
    i = std::max(end, i + 1);
  }
  return text;
}

namespace {

std::string CodeOf(const Value& value) { return Ticked(ToText(value)); }

// `0` (`GRAPH_MODE`)
std::string Named(const Attribute& attribute, const Value& value) {
  std::string text = CodeOf(value);
  for (const auto& [name, constant] : attribute.constants) {
    if (constant == value) text += " (" + Ticked("context." + name) + ")";
  }
  return text;
}

std::string Codes(const std::vector<std::string>& words) {
  std::vector<std::string> codes;
  for (const std::string& word : words) codes.push_back(Ticked(word));
  return WordList(codes);
}

std::string Codes(const std::vector<Value>& values) {
  std::vector<std::string> codes;
  for (const Value& value : values) codes.push_back(CodeOf(value));
  return WordList(codes);
}

// Joins sentences.
class Sentences {
 public:
  void Add(bool holds, const std::string& sentence) {
    if (holds) text_ += (text_.empty() ? "" : "; ") + sentence;
  }
  // With the source of the rule, if the record has it.
  void AddRule(bool holds, const std::string& sentence, const Attribute& attribute, const char* rule) {
    const auto source = attribute.sources.find(rule);
    Add(holds, source == attribute.sources.end() ? sentence : sentence + " (" + SourceText(source->second) + ")");
  }
  std::string text() const { return text_; }

 private:
  std::string text_;
};

std::string Status(const Attribute& attribute) {
  Sentences said;
  const std::string instead = attribute.successor.empty() ? "" : ": use " + Ticked(attribute.successor) + " instead";
  said.Add(attribute.deprecated, "deprecated" + instead);
  said.Add(attribute.withdrawn, "accepted and ignored" + instead);
  said.Add(attribute.documented_only, "only a document has it, MindSpore has not" + instead);
  said.Add(attribute.undocumented, "taken without being documented");
  const bool reported = attribute.deprecated || attribute.withdrawn || attribute.documented_only;
  said.Add(!reported && !attribute.successor.empty(), "see also " + Ticked(attribute.successor));
  return said.text();
}

// `--opt_level=0`, `1` or `2`; "" among the values: the option may have no value.
std::string FlagText(const std::string& name, const Value& values) {
  const std::string option = "--" + name;
  std::vector<std::string> codes;
  if (values.AsList() != nullptr) {
    for (const Value& value : *values.AsList()) {
      const std::string word = value.AsString() != nullptr ? *value.AsString() : ToText(value);
      codes.push_back(Ticked(word.empty() ? option : option + "=" + word));
    }
  }
  return codes.empty() ? Ticked(option) : WordList(codes, " or ");
}

std::string Values(const Attribute& attribute) {
  Sentences said;
  std::string choices;
  for (const Value& choice : attribute.choices) choices += (choices.empty() ? "" : ", ") + Named(attribute, choice);
  said.Add(!choices.empty(), choices);
  for (const auto& [written, stored] : attribute.aliases)
    said.Add(true, CodeOf(Value(written)) + " is taken for " + CodeOf(stored));
  for (const auto& [name, value] : attribute.constants) {
    const bool shown = std::find(attribute.choices.begin(), attribute.choices.end(), value) != attribute.choices.end();
    said.Add(!shown, Ticked("context." + name) + " is " + CodeOf(value));
  }
  for (const auto& [name, values] : attribute.flags) said.Add(true, FlagText(name, values));
  said.AddRule(!attribute.flags.empty(), "any number of these options, separated by blanks", attribute, "flags");
  said.Add(!attribute.auto_port.empty(),
           "`\"auto\"` for the port " + Ticked(attribute.auto_port) + " that the plan holds");
  said.Add(attribute.null, "`muster.null` for none");
  return said.text();
}

std::string Range(const Attribute& attribute) {
  Sentences said;
  const bool text = attribute.Is(Kind::kString) || attribute.Is(Kind::kPath);
  const std::string unit = attribute.Is(Kind::kSize) ? " GB" : text ? " bytes" : "";
  said.Add(attribute.min || attribute.max || attribute.above, RangeText(attribute, unit));
  said.Add(!attribute.also.empty(), "also " + Codes(attribute.also));
  said.Add(attribute.documented_max.has_value(),
           "documented up to " + (attribute.documented_max ? NumberText(*attribute.documented_max) : ""));
  said.Add(attribute.no_effect_up_to.has_value(),
           "without effect up to " + (attribute.no_effect_up_to ? NumberText(*attribute.no_effect_up_to) : ""));
  said.Add(attribute.whole, "a whole number of GB");
  said.Add(attribute.ascending, "strictly ascending");
  said.Add(attribute.not_empty, "not empty");
  said.AddRule(attribute.absolute, "begins with `/`", attribute, "absolute");
  said.AddRule(!attribute.suffix.empty(), "ends with " + Ticked(attribute.suffix), attribute, "suffix");
  said.Add(!attribute.characters.empty(), "letters, digits and " + Ticked(attribute.characters) + " only");
  said.Add(attribute.name_max.has_value(), "names between slashes of at most " +
                                               (attribute.name_max ? NumberText(*attribute.name_max) : "") + " bytes");
  return said.text();
}

std::string Mistakes(const Attribute& attribute) {
  Sentences said;
  said.Add(attribute.only_warns, "MindSpore only warns of a wrong value, and takes the default");
  said.Add(attribute.ignores_unknown, "keys that it does not know are ignored, with a warning");
  return said.text();
}

std::string Default(const Attribute& attribute) {
  std::string text;
  if (!attribute.default_value.IsNull()) text = Named(attribute, attribute.default_value);
  for (const auto& [device, value] : attribute.default_on) {
    text += (text.empty() ? "" : ", ") + ("on " + device + " ") + Named(attribute, value);
  }
  if (attribute.default_text.empty()) return text;
  return text.empty() ? attribute.default_text : text + " (" + attribute.default_text + ")";
}

constexpr std::pair<ReadBack, std::string_view> kReadings[] = {
    {ReadBack::kGigabytes, "as a number of GB: `\"3.5GB\"` reads `3.5`"},
    {ReadBack::kByteProduct, "as a product: `\"5GB\"` reads `\"5 * 1024 * 1024 * 1024\"`"},
    {ReadBack::kText, "as text: `true` reads `\"1\"`, `3` reads `\"3\"`"},
    {ReadBack::kJson, "as JSON text"},
    {ReadBack::kDefault, "as its default, whatever was set"},
    {ReadBack::kNever, "not at all: reading it is an error"},
};

std::string Reading(const Attribute& attribute) {
  Sentences said;
  for (const auto& [reads, words] : kReadings) said.Add(attribute.reads == reads, std::string(words));
  for (const auto& [stored, read] : attribute.read_values) said.Add(true, Ticked(stored) + " reads " + CodeOf(read));
  const bool whole = std::all_of(attribute.keys.begin(), attribute.keys.end(),
                                 [&](const Attribute& key) { return Contains(attribute.read_keys, key.name); });
  said.Add(!attribute.read_keys.empty(),
           whole ? "all sub-keys, with defaults" : "only " + Codes(attribute.read_keys) + ", with defaults");
  said.Add(attribute.own_name, "also by the name of the sub-key alone");
  said.Add(!attribute.tells_if_set.empty(),
           "can only be read: says whether " + Ticked(attribute.tells_if_set) + " was set");
  return said.text();
}

std::string Devices(const Attribute& attribute) {
  Sentences said;
  said.Add(!attribute.devices.empty(), "documented for " + WordList(attribute.devices));
  said.Add(!attribute.enforced.empty(), "skipped elsewhere than on " + WordList(attribute.enforced));
  return said.text();
}

std::string Modes(const Attribute& attribute) {
  Sentences said;
  said.AddRule(!attribute.pynative.empty(), "in `PYNATIVE_MODE` only " + Codes(attribute.pynative), attribute,
               "pynative");
  said.AddRule(!attribute.carried_modes.empty(),
               "`PYNATIVE_MODE` can be entered with parallel_mode " + Codes(attribute.carried_modes) + " only",
               attribute, "carried_modes");
  said.AddRule(attribute.needs_pynative, "in `GRAPH_MODE` it is dropped", attribute, "needs_pynative");
  for (const auto& [path, values] : attribute.graph_with)
    said.Add(true, "in `GRAPH_MODE` it takes effect with " + Ticked(path) + " out of " + CodeOf(values));
  said.Add(!attribute.graph_env.empty(),
           "in `GRAPH_MODE` it takes effect with " + Ticked(attribute.graph_env + "=1") + " in the environment");
  said.AddRule(!attribute.modes.empty(), "another value than the default needs parallel_mode " + Codes(attribute.modes),
               attribute, "modes");
  said.AddRule(!attribute.modes_documented.empty(), "documented for parallel_mode " + Codes(attribute.modes_documented),
               attribute, "modes_documented");
  return said.text();
}

// Rules that count processes and devices: implemented in code, so identified by the field of a record with their
// source.
constexpr std::pair<const char*, const char*> kRulesOfTheJob[] = {
    {"workers", "must be the number of workers"},
    {"rank", "should be the rank of the process"},
    {"visible", "must be a device that the process sees"},
    {"host", "should be a device of the host"},
    {"device", "should be the process's own device, if each has one"},
    {"shards", "should divide the devices of a stage"},
    {"cuts",
     "lists of cuts should divide the devices of a stage, each in one dimension, and most on the input with most "
     "dimensions"},
    {"layouts", "layouts should arrange the devices of a stage"},
    {"target", "must be set after `device_target`, if that is changed"},
};

std::string Together(const Attribute& attribute) {
  Sentences said;
  for (const auto& [sibling, value] : attribute.when)
    said.Add(true, "with " + Ticked(sibling + " = " + ToText(value)) + " beside it");
  said.Add(attribute.required && !attribute.null, "must be there");
  said.Add(attribute.required && attribute.null, "left out, it is passed on as null");
  said.Add(attribute.always, "its default is passed on where it is left out");
  said.Add(!attribute.passed_as.empty(), "passed on as " + Ticked(attribute.passed_as));
  said.Add(!attribute.replaces.empty(), "overrides " + Ticked(attribute.replaces));
  said.AddRule(!attribute.divides.empty(), "must divide " + Ticked(attribute.divides), attribute, "divides");
  said.AddRule(!attribute.below.empty(), "must be below " + Ticked(attribute.below), attribute, "below");
  for (const auto& [rule, sentence] : kRulesOfTheJob)
    said.AddRule(attribute.sources.contains(rule), sentence, attribute, rule);
  said.AddRule(!attribute.shares.empty(), "sets the same as " + Ticked(attribute.shares) + ", the later call wins",
               attribute, "shares");
  for (const auto& [value, other] : attribute.shared_values)
    said.Add(true, Ticked(value) + " there is " + CodeOf(other));
  said.Add(!attribute.same_as.empty(), "another name of " + Ticked(attribute.same_as));
  for (const auto& [value, siblings] : attribute.needs)
    said.AddRule(true, Ticked(value) + " needs " + CodeOf(siblings) + " beside it", attribute, "needs");
  for (const auto& [value, siblings] : attribute.fits)
    said.AddRule(true, Ticked(value) + " goes with " + CodeOf(siblings) + " only, if given", attribute, "fits");
  said.Add(attribute.adds_up, "sub-keys of earlier calls stay in force");
  return said.text();
}

std::string Setting(const Attribute& attribute) {
  Sentences said;
  said.Add(!attribute.per_process, "for the whole job, not inside `each`");
  said.Add(attribute.freezes == Freeze::kOnceSet, "a script may set it once");
  said.Add(attribute.freezes == Freeze::kOnceRead, "a script may not change it after it was read");
  said.AddRule(attribute.reset_first, "a reset is advised before another value", attribute, "reset_first");
  said.Add(attribute.kept_on_reset, "the reset leaves it alone");
  said.Add(attribute.secret, "a secret: takes it from a parameter of that type, never from the recipe's text");
  return said.text();
}

std::string Files(const Attribute& attribute) {
  Sentences said;
  said.Add(!attribute.file.empty(), "names a JSON file, " + Ticked(attribute.file) +
                                        ", whose keys are checked if the recipe ships it by `muster.file`");
  const std::string on =
      attribute.written_if.empty() ? "if it is set" : "if " + Ticked(attribute.written_if) + " is on";
  said.Add(!attribute.writes.empty(), "every process writes this " + attribute.writes + " " + on);
  said.Add(!attribute.rank_from.empty(), "MindSpore adds `rank_N` below it, N from the variable " +
                                             Ticked(attribute.rank_from) + " of the process, 0 without");
  return said.text();
}

std::string Source(const Attribute& attribute) { return attribute.rule; }

std::string Type(const Attribute& attribute) { return AllowedText(attribute); }
std::string TypeInFile(const Attribute& attribute) { return AllowedText(attribute, true); }

struct FactKind {
  const char* label;
  std::string (*tell)(const Attribute&);
  std::string (*tell_in_file)(const Attribute&) = nullptr;  // if the text for a JSON file differs
};

constexpr FactKind kFacts[] = {
    {"status", Status}, {"type", Type, TypeInFile}, {"values", Values},    {"range", Range},       {"default", Default},
    {"reads", Reading}, {"devices", Devices},       {"modes", Modes},      {"together", Together}, {"setting", Setting},
    {"files", Files},   {"mistakes", Mistakes},     {"behaviour", Source},
};

}  // namespace

std::vector<std::pair<std::string, std::string>> FactsOf(const Attribute& attribute) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [label, tell, unused] : kFacts) {
    if (std::string text = tell(attribute); !text.empty()) facts.emplace_back(label, std::move(text));
  }
  return facts;
}

FactList FactsOf(const AttributeHistory& history, const std::vector<Release>& all) {
  FactList list;
  list.facts.push_back({"releases", {ReleasesText(history, all)}});
  for (const auto& [label, tell_plain, tell_in_file] : kFacts) {
    const auto tell = history.in_file() && tell_in_file != nullptr ? tell_in_file : tell_plain;
    struct Span {
      Release first;
      Release last;
      std::string text;
    };
    std::vector<Span> spans;
    for (const auto& [release, record] : history.records) {
      std::string text = tell(*record);
      if (!spans.empty() && spans.back().text == text) {
        spans.back().last = release;
      } else {
        spans.push_back({release, release, std::move(text)});
      }
    }
    Fact fact{label, {}};
    for (const Span& span : spans) {
      if (span.text.empty()) continue;
      fact.lines.push_back(spans.size() == 1 ? span.text : SpanText(all, span.first, span.last) + ": " + span.text);
    }
    if (!fact.lines.empty()) list.facts.push_back(std::move(fact));
  }
  return list;
}

std::string ShortType(const Attribute& attribute) {
  constexpr std::size_t kFewChoices = 3;
  const bool words = attribute.Is(Kind::kEnum) || attribute.kinds == std::vector{Kind::kInt};
  if (words && !attribute.choices.empty() && attribute.choices.size() <= kFewChoices && attribute.kinds.size() == 1) {
    std::vector<std::string> codes;
    for (const Value& choice : attribute.choices) codes.push_back(CodeOf(choice));
    return WordList(codes, " or ");
  }
  std::vector<std::string> names;
  for (const Kind kind : attribute.kinds) names.emplace_back(KindName(kind));
  return WordList(names, " or ");
}

std::string ShortDefault(const Attribute& attribute) {
  if (attribute.default_value.IsNull()) return attribute.default_text;
  std::string text = CodeOf(attribute.default_value);
  for (const auto& [name, constant] : attribute.constants) {
    if (constant == attribute.default_value && attribute.default_value.AsString() == nullptr)
      text = Ticked("context." + name);
  }
  return text;
}

}  // namespace muster
