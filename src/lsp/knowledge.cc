#include "lsp/knowledge.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "explain/subject.h"
#include "reference/attribute_facts.h"
#include "settings/values/parameter.h"

namespace muster {
namespace {

// Types that the definitions for editors leave to the server. "@parameters.optimizer." has the recipe's parameters of
// that block, "@derived" its derived values, "@context" the functions and constants of the context API,
// "@attributes.set_context/ascend_config" the sub-keys of an attribute, "@mindspore.runtime." functions with
// parameters.
constexpr std::string_view kParameters = "@parameters.";
constexpr std::string_view kDerived = "@derived";
constexpr std::string_view kContext = "@context";
constexpr std::string_view kConstants = "@constants.";
constexpr std::string_view kAttributes = "@attributes.";
constexpr std::string_view kMindspore = "@mindspore.";

// Fields whose values are tables by the names of parameters.
const std::map<std::string, std::string, std::less<>> kTablesOfParameters = {
    {"params", "@parameters."},  // of an extension; of a recipe they are being declared
    {"profiles", "table<string, @parameters.>"},
    {"space", "@parameters."},
    {"fixed", "@parameters."},
};

// A member with what only completion and hover need.
struct Known {
  ApiMember member;
  std::vector<std::string> words;             // values, as they are written
  const ParameterState* parameter = nullptr;  // of @parameters
  const Attribute* attribute = nullptr;       // of @attributes …
  std::string subject;                        // … and what muster explain calls it; also of derived values
};

std::string Fenced(const std::string& code) { return "```lua\n" + code + "\n```\n"; }

class Resolver {
 public:
  Resolver(const Cursor& cursor, const RecipeView& view) : cursor_(cursor), view_(view) {}

  std::vector<Known> MembersOf(const std::string& type) const;
  std::string TypeOf(const Chain& chain, std::size_t links, int depth = 0) const;
  // Of the innermost table at the cursor; empty if it is none, or unknown.
  std::string TypeOfTable() const { return TypeInside(cursor_.around, cursor_.around.size()); }
  // Of the value in which the cursor is: of the field of the table, or of the argument.
  std::string TypeOfValue() const;
  std::optional<Known> Member(const std::string& type, std::string_view name) const;
  std::vector<std::string> WordsOfValue() const;

 private:
  std::string MemberType(const std::string& type, const std::string& name) const;
  // Of what is written directly inside of the first `count` enclosures.
  std::string TypeInside(const Enclosures& around, std::size_t count, int depth = 0) const;
  std::string TypeOfBinding(const BoundName& binding, int depth) const;
  void AddAttributes(const std::string& path, std::vector<Known>& members) const;
  void AddParameters(const std::string& prefix, std::vector<Known>& members) const;
  void AddContext(std::vector<Known>& members) const;
  void AddFunctions(const std::string& prefix, std::vector<Known>& members) const;
  std::vector<Release> Releases() const {
    if (view_.reference.release) return {*view_.reference.release};
    return view_.reference.schema == nullptr ? std::vector<Release>() : DescribedReleases(*view_.reference.schema);
  }
  const Attribute* AttributeAt(const std::string& path) const;

  const Cursor& cursor_;
  const RecipeView& view_;
};

constexpr int kMaxDepth = 16;

std::string FirstPart(const std::string& text, std::size_t from) {
  return text.substr(from, std::min(text.find('.', from), text.size()) - from);
}

// "set_context/ascend_config/precision_mode"
const Attribute* Resolver::AttributeAt(const std::string& path) const {
  const Attribute* found = nullptr;
  std::string function;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    if (function.empty()) {
      function = part;
    } else if (found == nullptr) {
      const std::vector<Release> releases = Releases();
      for (auto release = releases.rbegin(); release != releases.rend() && found == nullptr; ++release) {
        found = view_.reference.schema->Find(function, part, *release);
      }
      if (found == nullptr) return nullptr;
    } else {
      const auto key = std::find_if(found->keys.begin(), found->keys.end(),
                                    [&](const Attribute& each) { return each.name == part; });
      if (key == found->keys.end()) return nullptr;
      found = &*key;
    }
    at = end + 1;
  }
  return found;
}

std::string TypeText(const Attribute& attribute) {
  std::string text;
  for (const Kind kind : attribute.kinds) text += (text.empty() ? "" : "|") + std::string(KindName(kind));
  return text;
}

std::vector<std::string> WordsOf(const Attribute& attribute) {
  std::vector<std::string> words;
  std::set<std::string> named;
  for (const auto& [name, value] : attribute.constants) {
    words.push_back("context." + name);
    named.insert(ToText(value));
  }
  for (const Value& choice : attribute.choices) {
    if (!named.contains(ToText(choice)) || choice.AsString() != nullptr) words.push_back(ToText(choice));
  }
  if (attribute.Is(Kind::kBool)) words.insert(words.end(), {"true", "false"});
  return words;
}

void Resolver::AddAttributes(const std::string& path, std::vector<Known>& members) const {
  const Schema* const schema = view_.reference.schema;
  if (schema == nullptr) return;
  const auto add = [&](const Attribute& attribute) {
    Known known;
    known.member = {attribute.name, TypeText(attribute), attribute.doc, false};
    if (!attribute.keys.empty()) known.member.type = std::string(kAttributes) + path + "/" + attribute.name;
    known.words = WordsOf(attribute);
    known.attribute = &attribute;
    known.subject = path + "/" + attribute.name;
    std::replace(known.subject.begin(), known.subject.end(), '/', '.');
    members.push_back(std::move(known));
  };
  if (path.find('/') != std::string::npos) {
    if (const Attribute* const table = AttributeAt(path)) {
      for (const Attribute& key : table->keys) add(key);
    }
    return;
  }
  std::set<std::string> names;
  for (const Release& release : Releases()) {
    for (std::string& name : schema->Names(path, release)) names.insert(std::move(name));
  }
  for (const std::string& name : names) {
    if (const Attribute* const attribute = AttributeAt(path + "/" + name)) add(*attribute);
  }
}

void Resolver::AddParameters(const std::string& prefix, std::vector<Known>& members) const {
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, const std::string& type, const ParameterState* state) {
    if (!name.starts_with(prefix)) return;
    const std::string part = FirstPart(name, prefix.size());
    if (part.empty() || !seen.insert(part).second) return;
    Known known;
    known.member.name = part;
    const bool whole = prefix.size() + part.size() == name.size();
    const bool variant = state != nullptr && state->parameter.variant;
    known.member.type = whole && !variant ? type : std::string(kParameters) + prefix + part + ".";
    if (whole && state != nullptr) {
      known.parameter = state;
      known.member.doc = state->parameter.doc;
      for (const Value& one : state->parameter.one_of) known.words.push_back(ToText(one));
      if (state->parameter.type == ParameterType::kBool) known.words = {"true", "false"};
      known.subject = name;
    }
    members.push_back(std::move(known));
  };
  if (view_.parameters != nullptr) {
    for (const ParameterState& state : *view_.parameters) {
      add(state.parameter.name, std::string(ParameterTypeName(state.parameter.type)), &state);
      if (state.parameter.variant && state.parameter.name + "." == prefix) {
        Known chosen;
        chosen.member = {"variant", "string", "The name of the chosen set of parameters.", false};
        members.push_back(std::move(chosen));
      }
    }
  }
  // Those of the text that were not evaluated yet.
  if (view_.outline != nullptr) {
    for (const DeclaredName& declared : view_.outline->parameters) add(declared.name, declared.type, nullptr);
  }
}

void Resolver::AddContext(std::vector<Known>& members) const {
  const Schema* const schema = view_.reference.schema;
  if (schema == nullptr) return;
  std::set<std::string> constants;
  for (const std::string& function : schema->Functions()) {
    if (schema->calls().contains(function)) continue;
    Known known;
    known.member = {function, "fun(attributes: " + std::string(kAttributes) + function + ")", "", false};
    for (const Topic* topic : view_.reference.topics == nullptr ? std::vector<const Topic*>()
                                                                : TopicsNamed(*view_.reference.topics, function)) {
      known.member.doc = topic->summary;
      break;
    }
    members.push_back(std::move(known));
    for (const Release& release : Releases()) {
      for (const std::string& name : schema->Names(function, release)) {
        const Attribute* const attribute = schema->Find(function, name, release);
        if (attribute == nullptr) continue;
        for (const auto& [constant, value] : attribute->constants) constants.insert(constant);
      }
    }
  }
  std::set<std::string> groups;
  for (const std::string& constant : constants) {
    const std::string first = FirstPart(constant, 0);
    if (!groups.insert(first).second) continue;
    Known known;
    known.member = {first, first == constant ? "constant" : std::string(kConstants) + first, "", false};
    members.push_back(std::move(known));
  }
}

void Resolver::AddFunctions(const std::string& prefix, std::vector<Known>& members) const {
  if (view_.reference.schema == nullptr) return;
  std::set<std::string> seen;
  for (const auto& [name, function] : view_.reference.schema->calls()) {
    if (!name.starts_with(prefix)) continue;
    if (view_.reference.release && !view_.reference.schema->Knows(name, *view_.reference.release)) continue;
    const std::string part = FirstPart(name, prefix.size());
    if (!seen.insert(part).second) continue;
    Known known;
    const bool whole = prefix.size() + part.size() == name.size();
    known.member = {part,
                    whole ? "fun(parameters: " + std::string(kAttributes) + name + ")"
                          : std::string(kMindspore) + prefix + part + ".",
                    whole ? function.doc : "", false};
    members.push_back(std::move(known));
  }
}

std::vector<Known> Resolver::MembersOf(const std::string& type) const {
  std::vector<Known> members;
  if (type.starts_with(kParameters)) {
    AddParameters(type.substr(kParameters.size()), members);
  } else if (type == kDerived) {
    if (view_.evaluation != nullptr) {
      for (const auto& [name, place] : view_.evaluation->origins.derived) {
        Known known;
        known.member = {name, "derived value", "", false};
        known.subject = name;
        members.push_back(std::move(known));
      }
    }
  } else if (type == kContext) {
    AddContext(members);
  } else if (type.starts_with(kConstants)) {
    if (view_.reference.schema == nullptr) return members;
    std::set<std::string> names;
    const std::string group = type.substr(kConstants.size()) + ".";
    for (const std::string& function : view_.reference.schema->Functions()) {
      for (const Release& release : Releases()) {
        for (const std::string& name : view_.reference.schema->Names(function, release)) {
          const Attribute* const attribute = view_.reference.schema->Find(function, name, release);
          if (attribute == nullptr) continue;
          for (const auto& [constant, value] : attribute->constants) {
            if (constant.starts_with(group)) names.insert(constant.substr(group.size()));
          }
        }
      }
    }
    for (const std::string& name : names) {
      Known known;
      known.member = {name, "constant", "", false};
      members.push_back(std::move(known));
    }
  } else if (type.starts_with(kAttributes)) {
    AddAttributes(type.substr(kAttributes.size()), members);
  } else if (type.starts_with(kMindspore)) {
    AddFunctions(type.substr(kMindspore.size()), members);
  } else if (type == "muster.ProcessContext") {
    for (const char* const function : {"set_context", "set_auto_parallel_context", "set_ps_context"}) {
      AddAttributes(function, members);
    }
    std::erase_if(members, [](const Known& known) { return !known.attribute->per_process; });
  } else if (view_.types != nullptr) {
    for (ApiMember& member : view_.types->MembersOf(type)) {
      Known known;
      known.words = view_.types->WordsOf(member.type);
      known.member = std::move(member);
      members.push_back(std::move(known));
    }
  }
  return members;
}

std::optional<Known> Resolver::Member(const std::string& type, std::string_view name) const {
  for (Known& known : MembersOf(type)) {
    if (known.member.name == name) return std::move(known);
  }
  return std::nullopt;
}

std::string Resolver::MemberType(const std::string& type, const std::string& name) const {
  if (type.empty()) return {};
  if (type == "muster.Extension" || type == "muster.Sweep" || (type == "muster.Recipe" && name != "params")) {
    const auto table = kTablesOfParameters.find(name);
    if (table != kTablesOfParameters.end()) return table->second;
  }
  if (!type.starts_with('@')) return view_.types == nullptr ? std::string() : view_.types->MemberType(type, name);
  const auto member = Member(type, name);
  return member ? member->member.type : std::string();
}

std::string Resolver::TypeOfBinding(const BoundName& binding, int depth) const {
  if (!binding.is_parameter) return TypeOf(binding.value, binding.value.size(), depth + 1);
  if (binding.function.empty()) return {};
  const Enclosure& function = binding.function.back();
  const std::string around = TypeInside(binding.function, binding.function.size() - 1, depth + 1);
  const std::string type = function.key.empty() ? around : MemberType(around, function.key);
  const ApiFunction signature = FunctionOf(type);
  if (binding.number >= signature.parameters.size()) return {};
  const auto& [name, of] = signature.parameters[binding.number];
  // Plan functions and conditions get the parameters' values and the derived ones.
  if (name == "p") return std::string(kParameters);
  if (name == "d") return std::string(kDerived);
  return of;
}

std::string Resolver::TypeOf(const Chain& chain, std::size_t links, int depth) const {
  if (chain.empty() || links == 0 || depth > kMaxDepth) return {};
  const Link& first = chain.front();
  std::string type;
  std::size_t next = 1;
  if (first.text == "require" && links > 1 && chain[1].kind == Link::Kind::kCall) {
    const std::string& module = chain[1].text;
    if (module == "muster") type = "muster";
    if (module == "muster.context") type = std::string(kContext);
    if (module == "muster.mindspore") type = std::string(kMindspore);
    next = 2;
  } else if (const auto bound = cursor_.names.find(first.text); bound != cursor_.names.end()) {
    type = TypeOfBinding(bound->second, depth);
  }
  for (; next < links && !type.empty(); ++next) {
    const Link& link = chain[next];
    if (link.kind != Link::Kind::kCall) {
      const std::string of = MemberType(type, link.text);
      // What job:derive returns has the derived values.
      type = type == "muster.Job" && link.text == "derive" ? "fun(values: table<string, any>): " + std::string(kDerived)
                                                           : of;
      continue;
    }
    type = FunctionOf(type).returned;
  }
  return type;
}

std::string Resolver::TypeInside(const Enclosures& around, std::size_t count, int depth) const {
  if (depth > kMaxDepth) return {};
  std::string type;
  for (std::size_t i = 0; i < std::min(count, around.size()); ++i) {
    const Enclosure& each = around[i];
    if (!each.called.empty()) {
      const ApiFunction function = FunctionOf(TypeOf(each.called, each.called.size(), depth + 1));
      const std::size_t argument = each.kind == Enclosure::Kind::kTable ? 0 : each.argument;
      type = argument < function.parameters.size() ? function.parameters[argument].second : std::string();
    } else if (each.kind == Enclosure::Kind::kTable) {
      if (!each.key.empty()) {
        type = MemberType(type, each.key);
      } else if (i > 0 && around[i - 1].kind == Enclosure::Kind::kTable && view_.types != nullptr) {
        type = view_.types->ElementType(type);
      } else if (i > 0 && around[i - 1].kind == Enclosure::Kind::kParentheses && !around[i - 1].called.empty()) {
        // f({ … }): the type of the argument.
      } else {
        type.clear();
      }
    } else if (each.kind != Enclosure::Kind::kBlock) {
      type.clear();
    }
  }
  return type;
}

std::string Resolver::TypeOfValue() const {
  if (cursor_.around.empty()) return {};
  if (!cursor_.key.empty()) return MemberType(TypeOfTable(), cursor_.key);
  const std::string inside = TypeOfTable();
  if (cursor_.around.back().kind == Enclosure::Kind::kParentheses) return inside;
  return view_.types == nullptr ? std::string() : view_.types->ElementType(inside);
}

std::vector<std::string> Resolver::WordsOfValue() const {
  const std::string table = TypeOfTable();
  if (!cursor_.key.empty()) {
    if (table == "muster.Recipe" || table == "muster.Extension") {
      if (cursor_.key == "mindspore" && view_.reference.schema != nullptr) {
        std::vector<std::string> releases;
        for (const Release& release : DescribedReleases(*view_.reference.schema))
          releases.push_back("\"" + ReleaseText(release) + "\"");
        return releases;
      }
    }
    const auto member = Member(table, cursor_.key);
    return member ? member->words : std::vector<std::string>();
  }
  // An element of a list that is a field's value: on = { "failed" }.
  if (cursor_.around.size() > 1 && cursor_.around.back().kind == Enclosure::Kind::kTable &&
      !cursor_.around.back().key.empty()) {
    const std::string outer = TypeInside(cursor_.around, cursor_.around.size() - 1);
    if (const auto member = Member(outer, cursor_.around.back().key)) return member->words;
  }
  return view_.types == nullptr ? std::vector<std::string>() : view_.types->WordsOf(TypeOfValue());
}

// --- hover --------------------------------------------------------------------------------------------------------

ContextApi ApiOf(const RecipeView& view) {
  if (!view.reference.schema || !view.reference.release) return {};
  return {view.reference.schema, *view.reference.release};
}

std::string PlaceText(const Place& place) {
  if (place.file.empty()) return {};
  return place.file + (place.line > 0 ? ":" + std::to_string(place.line) : "");
}

// The values of the last plan with their sources, as muster explain has them; empty if it knows none.
std::string OriginText(const std::string& name, const RecipeView& view) {
  if (view.evaluation == nullptr || name.empty()) return {};
  const ContextApi api = ApiOf(view);
  const auto subjects = FindSubjects(*view.evaluation, api, name);
  if (!subjects || subjects->empty()) return {};
  const auto processes = ChosenProcesses(view.evaluation->plan, {});
  if (!processes) return {};
  constexpr std::size_t kMaxValues = 8;
  std::string text;
  std::size_t shown = 0;
  for (const SourcedValue& value : ValuesOf(*view.evaluation, api, subjects->front(), *processes)) {
    if (++shown > kMaxValues) return text + "- …\n";
    text += "- " + (value.processes.empty() ? std::string() : value.processes + ": ") +
            (value.absent ? value.text : "`" + value.text + "`");
    const std::string place = PlaceText(value.place);
    if (!value.source.empty()) text += ", " + value.source;
    if (!place.empty() && value.source != place) text += ", " + place;
    text += "\n";
  }
  return text.empty() ? text : "\n**Value in the plan** (`muster explain`)\n\n" + text;
}

std::string ParameterText(const ParameterState& state, const RecipeView& view) {
  const Parameter& parameter = state.parameter;
  std::string text = Fenced("parameter " + parameter.name + ": " + ParameterRangeText(parameter));
  if (!parameter.doc.empty()) text += "\n" + parameter.doc + "\n";
  text += "\n- default: " +
          (parameter.default_value ? "`" + ToText(*parameter.default_value) + "`" : "none; it must be given") + "\n";
  if (!parameter.from_env.empty()) text += "- given by the variable `" + parameter.from_env + "`\n";
  if (!state.active) text += "- belongs to a variant that is not selected\n";
  const std::string declared = PlaceText(parameter.place);
  if (!declared.empty()) text += "- declared at " + declared + "\n";
  const std::string origin = OriginText(parameter.name, view);
  if (origin.empty() && state.value) {
    text += "- value: `" + ToText(*state.value) + "`, " + SourceOf(state).first + "\n";
  }
  return text + origin;
}

// The documentation's page with that name, as Markdown.
std::string PageNamed(const std::string& name, std::string_view kind, const RecipeView& view) {
  if (view.reference.topics == nullptr) return {};
  for (const Topic* const topic : TopicsNamed(*view.reference.topics, name)) {
    if (!kind.empty() && topic->kind != kind) continue;
    constexpr std::size_t kLevel = 3;
    return PageMarkdown(topic->page(), kLevel);
  }
  return {};
}

std::string MemberText(const std::string& owner, const Known& known, const RecipeView& view) {
  if (known.parameter != nullptr) return ParameterText(*known.parameter, view);
  if (known.attribute != nullptr) {
    std::string page = PageNamed(known.subject, {}, view);
    if (page.empty()) page = Fenced(known.member.name + ": " + known.member.type) + "\n" + known.attribute->doc + "\n";
    return page + OriginText(known.subject, view);
  }
  std::string shown = known.member.type;
  if (owner == kDerived) shown = "derived value";
  if (shown.starts_with('@')) shown = "table";
  if (const std::size_t internal = shown.find('@'); internal != std::string::npos) shown = "function";
  std::string text = Fenced(known.member.name + ": " + shown);
  if (!known.member.doc.empty()) text += "\n" + known.member.doc + "\n";
  if (owner == kContext || owner.starts_with(kMindspore)) {
    const std::string prefix = owner == kContext ? "" : owner.substr(kMindspore.size());
    if (std::string page = PageNamed(prefix + known.member.name, "function", view); !page.empty()) text = page;
  }
  if (owner == "muster.Cluster") return text + OriginText("cluster:" + known.member.name, view);
  return text + OriginText(known.subject, view);
}

// The text's own declaration of a parameter under the cursor.
const DeclaredName* DeclaredAt(const Cursor& cursor, const RecipeView& view) {
  if (view.outline == nullptr) return nullptr;
  for (const DeclaredName& declared : view.outline->parameters) {
    if (declared.begin == cursor.begin && declared.end == cursor.end) return &declared;
  }
  return nullptr;
}

const ParameterState* StateOf(const std::string& name, const RecipeView& view) {
  if (view.parameters == nullptr) return nullptr;
  for (const ParameterState& state : *view.parameters) {
    if (state.parameter.name == name) return &state;
  }
  return nullptr;
}

}  // namespace

std::vector<Suggestion> SuggestionsAt(const Cursor& cursor, const RecipeView& view) {
  const Resolver resolver(cursor, view);
  std::vector<Suggestion> suggestions;
  std::set<std::string> seen;
  const auto add = [&](Suggestion suggestion) {
    if (suggestions.size() < kMaxSuggestions && seen.insert(suggestion.label).second)
      suggestions.push_back(std::move(suggestion));
  };
  const auto add_member = [&](const Known& known, bool as_key) {
    const std::string& type = known.member.type;
    const bool function = type.starts_with("fun(");
    std::string shown = type.find('@') != std::string::npos ? (function ? "function" : "table") : type;
    if (known.parameter != nullptr && known.parameter->value) shown += " = " + ToText(*known.parameter->value);
    add({known.member.name, known.member.name + (as_key ? " = " : ""),
         function && !as_key ? Suggestion::Kind::kFunction : Suggestion::Kind::kField, std::move(shown),
         known.member.doc});
  };
  if (cursor.in_text) {
    for (const std::string& word : resolver.WordsOfValue()) {
      if (!word.starts_with('"')) continue;
      const std::string content = word.substr(1, word.size() - 2);
      add({content, content, Suggestion::Kind::kValue, "", ""});
    }
    return suggestions;
  }
  if (cursor.chain.size() > 1) {
    const bool method = cursor.chain.back().kind == Link::Kind::kMethod;
    const std::string owner = resolver.TypeOf(cursor.chain, cursor.chain.size() - 1);
    for (const Known& known : resolver.MembersOf(owner)) {
      if (!method || known.member.type.starts_with("fun(")) add_member(known, false);
    }
    return suggestions;
  }
  if (cursor.at_key) {
    for (const Known& known : resolver.MembersOf(resolver.TypeOfTable())) add_member(known, true);
  }
  for (const std::string& word : resolver.WordsOfValue()) add({word, word, Suggestion::Kind::kValue, "", ""});
  if (!cursor.around.empty() || !cursor.typed.empty()) {
    for (const auto& [name, binding] : cursor.names) {
      if (name != cursor.typed) add({name, name, Suggestion::Kind::kVariable, "", ""});
    }
  }
  return suggestions;
}

std::string HoverAt(const Cursor& cursor, const RecipeView& view) {
  if (cursor.word.empty()) return {};
  const Resolver resolver(cursor, view);
  if (cursor.in_text) {
    if (cursor.key == "framework") {
      if (std::string page = PageNamed(cursor.word, {}, view); !page.empty()) return page;
    }
    if (cursor.key.empty()) return {};
    const auto member = resolver.Member(resolver.TypeOfTable(), cursor.key);
    return member ? MemberText(resolver.TypeOfTable(), *member, view) : std::string();
  }
  if (const DeclaredName* const declared = DeclaredAt(cursor, view)) {
    if (const ParameterState* const state = StateOf(declared->name, view)) return ParameterText(*state, view);
    return Fenced("parameter " + declared->name + (declared->type.empty() ? "" : ": " + declared->type));
  }
  if (cursor.chain.size() > 1) {
    const std::string owner = resolver.TypeOf(cursor.chain, cursor.chain.size() - 1);
    const auto member = resolver.Member(owner, cursor.word);
    return member ? MemberText(owner, *member, view) : std::string();
  }
  if (cursor.at_key) {
    const std::string table = resolver.TypeOfTable();
    // A derived value is declared by the key of job:derive.
    if (const auto member = resolver.Member(table, cursor.word)) return MemberText(table, *member, view);
    if (view.evaluation != nullptr && view.evaluation->origins.derived.contains(cursor.word)) {
      return Fenced(cursor.word + ": derived value") + OriginText("derived:" + cursor.word, view);
    }
    return {};
  }
  const auto bound = cursor.names.find(cursor.word);
  if (cursor.chain.size() != 1 || bound == cursor.names.end()) return {};
  const std::string type = resolver.TypeOf(cursor.chain, 1);
  if (type == kParameters) return Fenced(cursor.word) + "\nThe values of the recipe's parameters.\n";
  if (type == kDerived) return Fenced(cursor.word) + "\nThe derived values of the plan.\n";
  if (type == kContext || type.starts_with(kMindspore))
    return Fenced(cursor.word) + "\nThe context API of MindSpore.\n";
  if (type == "muster.Job") return PageNamed("job", "recipes", view);
  if (type == "muster.Process") return PageNamed("process", "recipes", view);
  return type.empty() ? std::string() : Fenced(cursor.word + ": " + type);
}

std::optional<Definition> DefinitionAt(const Cursor& cursor, const RecipeView& view) {
  const Resolver resolver(cursor, view);
  Definition definition;
  definition.name = cursor.word;
  if (cursor.in_text) {
    if (cursor.word.empty()) return std::nullopt;
    // require "lib.optim", muster.load "gpt.lua"; in parentheses the call is around the text.
    const Chain& called = cursor.chain.empty() && !cursor.around.empty() ? cursor.around.back().called : cursor.chain;
    if (called.empty()) return std::nullopt;
    if (called.back().text == "load") {
      definition.file = cursor.word;
    } else if (called.back().text == "require" && !cursor.word.starts_with("muster")) {
      definition.file = cursor.word;
      if (!cursor.word.starts_with('@')) std::replace(definition.file.begin(), definition.file.end(), '.', '/');
      definition.file += ".lua";
    } else {
      return std::nullopt;
    }
    return definition;
  }
  const auto of_known = [&](const std::optional<Known>& known, const std::string& owner) -> std::optional<Definition> {
    if (!known) return std::nullopt;
    if (known->parameter != nullptr && !known->parameter->parameter.place.file.empty()) {
      definition.place = known->parameter->parameter.place;
      return definition;
    }
    if (owner == kDerived && view.evaluation != nullptr) {
      definition.place = view.evaluation->origins.derived.at(known->member.name);
      return definition;
    }
    if (!owner.starts_with(kParameters) || view.outline == nullptr) return std::nullopt;
    for (const DeclaredName& declared : view.outline->parameters) {
      if (declared.name != owner.substr(kParameters.size()) + cursor.word) continue;
      definition.here = {declared.begin, declared.end};
      return definition;
    }
    return std::nullopt;
  };
  if (cursor.chain.size() > 1) {
    const std::string owner = resolver.TypeOf(cursor.chain, cursor.chain.size() - 1);
    return of_known(resolver.Member(owner, cursor.word), owner);
  }
  if (cursor.at_key) {
    const std::string table = resolver.TypeOfTable();
    if (table.starts_with(kParameters)) return of_known(resolver.Member(table, cursor.word), table);
  }
  const auto bound = cursor.names.find(cursor.word);
  if (cursor.chain.size() != 1 || bound == cursor.names.end()) return std::nullopt;
  definition.here = {bound->second.begin, bound->second.end};
  return definition;
}

}  // namespace muster
