#include "rewrite/moved_settings.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "settings/check/check_value.h"
#include "settings/schema/schema.h"
#include "settings/schema/schema_text.h"

namespace muster {
namespace {

using Kind = LuaNode::Kind;

constexpr std::string_view kContextModule = "muster.context";
constexpr std::string_view kMindsporeModule = "muster.mindspore";
constexpr std::string_view kMusterModule = "muster";
constexpr int kMaxAliases = 8;

class Finder {
 public:
  Finder(const LuaTree& tree, std::string_view text, const Schema& schema)
      : tree_(tree), text_(text), schema_(schema), setters_(schema.Functions()) {}

  ContextUses Run() {
    for (std::size_t i = 0; i < tree_.locals.size(); ++i) {
      uses_.modules.push_back(OfLocal(static_cast<int>(i), kMaxAliases));
    }
    for (const LuaLocal& local : tree_.locals) values_.insert(local.value);
    for (const LuaCallStatement& statement : tree_.calls) statement_of_[statement.call] = &statement;
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) Look(static_cast<int>(i));
    return std::move(uses_);
  }

 private:
  const LuaNode& At(int node) const { return tree_.nodes[static_cast<std::size_t>(node)]; }

  std::optional<std::string> TextOf(int node) const {
    if (At(node).kind != Kind::kString) return std::nullopt;
    const auto value = LuaLiteral(text_.substr(At(node).begin, At(node).end - At(node).begin));
    if (!value || value->AsString() == nullptr) return std::nullopt;
    return *value->AsString();
  }

  // --- modules -------------------------------------------------------------------------------------

  std::string OfLocal(int number, int more) const {
    const LuaLocal& local = tree_.locals[static_cast<std::size_t>(number)];
    return local.is_assigned || local.value == kNoNode ? "" : ModuleOf(local.value, more);
  }

  // The module of muster that the expression stands for.
  std::string ModuleOf(int node, int more = kMaxAliases) const {
    const LuaNode& it = At(node);
    if (more == 0) return "";
    if (it.kind == Kind::kParentheses) return ModuleOf(it.children.front(), more - 1);
    if (it.kind == Kind::kName && it.local >= 0) return OfLocal(it.local, more - 1);
    if (it.kind != Kind::kCall || it.children.size() != 1 || At(it.base).kind != Kind::kName ||
        At(it.base).local >= 0 || At(it.base).name != "require") {
      return "";
    }
    const auto name = TextOf(it.children.front());
    return name && (*name == kContextModule || *name == kMindsporeModule || *name == kMusterModule) ? *name : "";
  }

  bool IsContextModule(int node) const {
    const std::string module = ModuleOf(node);
    return module == kContextModule || module == kMindsporeModule;
  }

  // "runtime.set_memory" for an index of the module mindspore.
  std::string PathOf(int node) const {
    std::string path;
    for (int most = kMaxAliases; most > 0; --most) {
      const LuaNode& it = At(node);
      if (it.kind != Kind::kIndex || it.name.empty()) return "";
      path = std::string(it.name) + (path.empty() ? "" : "." + path);
      if (ModuleOf(it.base) == kMindsporeModule) return path;
      node = it.base;
    }
    return "";
  }

  // The function of the innermost `each` around that function, or 0.
  int ScopeOf(int function) const {
    while (function != 0 && tree_.functions[static_cast<std::size_t>(function)].field != "each") {
      function = tree_.functions[static_cast<std::size_t>(function)].outer;
    }
    return function;
  }

  // --- uses ----------------------------------------------------------------------------------------

  void Unclear(int node, std::string what, std::string reason) {
    uses_.unclear.push_back({At(node).line, std::move(what), std::move(reason)});
  }

  void Look(int node) {
    const LuaNode& it = At(node);
    if (it.kind == Kind::kIndex) LookAtMember(node);
    if (it.kind == Kind::kIndex && !it.name.empty()) LookAtFunction(node);
    if (it.kind == Kind::kName || it.kind == Kind::kCall) LookAtModule(node);
    if (it.kind == Kind::kMethod && it.name == "context") LookAtProcess(node);
    const bool describes = it.kind == Kind::kCall && At(it.base).kind == Kind::kIndex && At(it.base).name == "recipe" &&
                           ModuleOf(At(it.base).base) == kMusterModule;
    if (describes || (it.kind == Kind::kMethod && it.name == "extend")) LookAtRecipe(it);
  }

  void LookAtRecipe(const LuaNode& call) {
    uses_.extends = uses_.extends || call.kind == Kind::kMethod;
    if (call.children.size() != 1 || At(call.children.front()).kind != Kind::kTable) return;
    for (const LuaField& field : At(call.children.front()).fields) {
      if (field.name == "mindspore") uses_.release = field.value;
    }
  }

  // context.NAME, context["NAME"]
  void LookAtMember(int node) {
    const LuaNode& it = At(node);
    const bool is_setter = std::find(setters_.begin(), setters_.end(), it.name) != setters_.end();
    if (!IsContextModule(it.base)) {
      if (!is_setter) return;
      return Unclear(node, std::string(it.name),
                     "its source is not a local variable that holds require \"muster.context\"");
    }
    if (it.name.empty()) {
      return Unclear(node, "an index of the context module", "it is an expression, so the call cannot be followed");
    }
    const std::string name(it.name);
    const bool gets = name.starts_with("get_");
    if (!is_setter && !gets) return;
    const int call = it.parent;
    const bool is_called = call != kNoNode && At(call).kind == Kind::kCall && At(call).base == node;
    if (gets) return LookAtGetter(call, is_called, it.line);
    if (!is_called) {
      return Unclear(node, name, "it is used as a value here, so calls of it cannot be followed");
    }
    const LuaNode& base = At(it.base);
    AddCall(name, call, base.kind == Kind::kName ? base.local : -1, ScopeOf(At(call).function));
  }

  void LookAtGetter(int call, bool is_called, std::uint32_t line) {
    if (is_called && At(call).children.size() == 1) {
      if (const auto name = TextOf(At(call).children.front())) {
        uses_.read.insert(*name);
        return;
      }
    }
    uses_.reads_any = line;
  }

  void LookAtFunction(int node) {
    const std::string path = PathOf(node);
    if (path.empty() || schema_.FindCall(path) == nullptr) return;
    uses_.functions.push_back({path, At(node).line, ScopeOf(At(node).function)});
  }

  // The module itself as a value: only `context.NAME` and `local name = context` can be followed.
  void LookAtModule(int node) {
    if (!IsContextModule(node)) return;
    const int parent = At(node).parent;
    if (parent == kNoNode) {
      if (At(node).kind == Kind::kCall || values_.contains(node)) return;
    } else if ((At(parent).kind == Kind::kIndex && At(parent).base == node) || At(parent).kind == Kind::kParentheses) {
      return;
    }
    Unclear(node, ModuleOf(node), "the module is passed on here, so calls through it cannot be followed");
  }

  // process:context { … }; other tables may have a method of that name.
  void LookAtProcess(int node) {
    const LuaNode& it = At(node);
    const LuaNode& base = At(it.base);
    const int local = base.kind == Kind::kName ? base.local : -1;
    const LuaLocal* process = local < 0 ? nullptr : &tree_.locals[static_cast<std::size_t>(local)];
    if (process == nullptr || process->parameter_of < 0 || process->is_assigned ||
        tree_.functions[static_cast<std::size_t>(process->parameter_of)].field != "each") {
      return Unclear(node, "a call of :context",
                     "it is not called on the parameter of a function that is written at each =");
    }
    AddCall(std::string(kProcessContext), node, -1, process->parameter_of);
  }

  void AddCall(std::string api, int call, int module, int scope) {
    const LuaNode& it = At(call);
    const auto statement = statement_of_.find(call);
    if (statement == statement_of_.end()) {
      return Unclear(call, std::move(api), "the call is part of an expression");
    }
    if (it.children.size() != 1 || At(it.children.front()).kind != Kind::kTable) {
      return Unclear(call, std::move(api), "its argument is no table that is written out here");
    }
    std::set<std::string_view> names;
    for (const LuaField& field : At(it.children.front()).fields) {
      if (field.kind != LuaField::Kind::kNamed) {
        return Unclear(call, std::move(api), "its table has a field that is not written as name = value");
      }
      if (!names.insert(field.name).second) {
        return Unclear(call, std::move(api), "its table has " + std::string(field.name) + " twice");
      }
    }
    uses_.calls.push_back({std::move(api), call, statement->second->local, scope, module});
  }

  const LuaTree& tree_;
  std::string_view text_;
  const Schema& schema_;
  std::vector<std::string> setters_;
  std::set<int> values_;  // of locals
  std::map<int, const LuaCallStatement*> statement_of_;
  ContextUses uses_;
};

}  // namespace

int VisibleModule(const LuaTree& tree, const ContextUses& uses, int innermost, std::string_view module) {
  constexpr int kMax = 500;  // of hostile files; the caller can declare a local of its own
  std::set<std::string_view> seen;
  int more = kMax;
  for (int each = innermost; each >= 0 && more-- > 0; each = tree.locals[static_cast<std::size_t>(each)].outer) {
    const auto number = static_cast<std::size_t>(each);
    if (seen.insert(tree.locals[number].name).second && uses.modules[number] == module) return each;
  }
  return -1;
}

ContextUses FindContextUses(const LuaTree& tree, std::string_view text, const Schema& schema) {
  return Finder(tree, text, schema).Run();
}

namespace {

using Kind = LuaNode::Kind;

class Decider {
 public:
  Decider(const LuaTree& tree, std::string_view text, const ContextUses& uses, const RewriteTarget& target,
          bool names_release)
      : tree_(tree), text_(text), uses_(uses), target_(target), names_release_(names_release) {}

  Decisions Run() {
    for (const UnclearUse& use : uses_.unclear) decisions_.left.push_back({use.line, use.what, use.reason});
    for (std::size_t call = 0; call < uses_.calls.size(); ++call) FindSettings(call);
    ReadOtherFiles();
    for (OldSetting& setting : settings_) {
      if (setting.function != nullptr && setting.reason.empty()) JudgeAlone(setting);
    }
    JudgeOtherFiles();
    JudgePlaces();
    JudgeRequired();
    JudgeCompany();
    for (OldSetting& setting : settings_) {
      if (setting.reason.empty()) {
        decisions_.moved.push_back(std::move(setting));
      } else {
        decisions_.left.push_back({setting.line, setting.name, std::move(setting.reason)});
      }
    }
    std::stable_sort(decisions_.left.begin(), decisions_.left.end(),
                     [](const LeftSetting& a, const LeftSetting& b) { return a.line < b.line; });
    return std::move(decisions_);
  }

 private:
  const LuaNode& At(int node) const { return tree_.nodes[static_cast<std::size_t>(node)]; }
  const Schema& schema() const { return *target_.schema; }
  std::string Version() const { return "MindSpore " + ReleaseText(target_.release); }
  static std::string CallText(const Function& function) { return "mindspore." + function.name; }
  int ScopeOf(const OldSetting& setting) const { return uses_.calls[setting.call].scope; }

  // --- what there is -------------------------------------------------------------------------------

  // The function of the context API that has the attribute, for process:context.
  std::string ApiOf(const ContextCall& call, const std::string& name) const {
    static constexpr std::array<std::string_view, 3> kFunctions = {kSetContext, kSetAutoParallel, kSetPs};
    if (call.api != kProcessContext) return call.api;
    for (const std::string_view function : kFunctions) {
      if (schema().Find(function, name, target_.release) != nullptr) return std::string(function);
    }
    for (const std::string_view function : kFunctions) {
      if (schema().FindInAnyRelease(function, name, target_.release) != nullptr) return std::string(function);
    }
    return std::string(kSetContext);
  }

  void FindSettings(std::size_t number) {
    const ContextCall& call = uses_.calls[number];
    const LuaNode& node = At(call.node);
    const auto staying = target_.staying.find(call.api);
    if (staying != target_.staying.end()) decisions_.left.push_back({node.line, call.api, staying->second});
    const LuaNode& table = At(node.children.front());
    for (std::size_t i = 0; i < table.fields.size(); ++i) {
      const LuaField& field = table.fields[i];
      const std::string name(field.name);
      const std::string api = ApiOf(call, name);
      OldSetting setting;
      setting.call = number;
      setting.field = i;
      setting.line = field.line;
      setting.name = name;
      setting.attribute = setting.whole = schema().Find(api, name, target_.release);
      if (setting.attribute == nullptr || setting.attribute->documented_only) {
        const Diagnostic unknown = UnknownKey(schema(), target_.release, api, name, {});
        setting.reason = unknown.message + (unknown.hint.empty() ? "" : ": " + unknown.hint);
        settings_.push_back(std::move(setting));
      } else if (HasMovedKeys(*setting.attribute)) {
        FindSubSettings(field, setting);
      } else {
        AddIfOld(std::move(setting));
      }
    }
  }

  static bool HasMovedKeys(const Attribute& attribute) {
    return std::any_of(attribute.keys.begin(), attribute.keys.end(),
                       [](const Attribute& key) { return !key.moved.function.empty(); });
  }

  void FindSubSettings(const LuaField& field, const OldSetting& whole) {
    const LuaNode& table = At(field.value);
    const auto leave = [&](std::string reason) {
      settings_.push_back(whole);
      settings_.back().reason = std::move(reason);
    };
    if (table.kind != Kind::kTable) return leave("its value is no table that is written out here");
    std::set<std::string_view> names;
    for (const LuaField& sub : table.fields) {
      if (sub.kind != LuaField::Kind::kNamed || !names.insert(sub.name).second) {
        return leave("its table has a field twice, or one that is not written as name = value");
      }
    }
    for (std::size_t i = 0; i < table.fields.size(); ++i) {
      OldSetting setting = whole;
      const std::string name(table.fields[i].name);
      setting.sub_field = i;
      setting.line = table.fields[i].line;
      setting.name += "." + name;
      setting.attribute = nullptr;
      const Attribute* other = nullptr;
      for (const Attribute& key : whole.attribute->keys) {
        if (key.name != name) continue;
        (key.ExistsIn(target_.release) ? setting.attribute : other) = &key;
      }
      if (setting.attribute != nullptr) {
        if (setting.attribute->moved.function.empty() && setting.attribute->successor.empty()) {
          setting.reason = "no function replaces it in " + Version();
          settings_.push_back(std::move(setting));
        } else {
          AddIfOld(std::move(setting));
        }
        continue;
      }
      setting.reason = "it is not in " + Version();
      if (other != nullptr && !other->successor.empty()) setting.reason += ": use " + other->successor;
      settings_.push_back(std::move(setting));
    }
  }

  // A setting that the release deprecates, or for which it has something else.
  void AddIfOld(OldSetting setting) {
    const Attribute& attribute = *setting.attribute;
    const Move& move = attribute.moved;
    const std::string instead = attribute.successor.empty() ? "" : ": use " + attribute.successor + " instead";
    if (attribute.withdrawn) {
      setting.reason = Version() + " ignores it" + instead;
    } else if (move.function.empty()) {
      if (!attribute.deprecated && attribute.successor.empty()) return;
      setting.reason = "no function replaces it in " + Version() + instead;
    } else {
      setting.function = schema().FindCall(move.function);
      setting.parameter = ParameterOf(move, *setting.function);
    }
    settings_.push_back(std::move(setting));
  }

  // --- each by itself ------------------------------------------------------------------------------

  int ValueOf(const OldSetting& setting) const {
    const LuaNode& table = At(At(uses_.calls[setting.call].node).children.front());
    const int value = table.fields[setting.field].value;
    return setting.sub_field ? At(value).fields[*setting.sub_field].value : value;
  }

  std::optional<Value> LiteralOf(int node) const {
    const LuaNode& it = At(node);
    const std::string_view own = text_.substr(it.begin, it.end - it.begin);
    if (it.kind == Kind::kNil) return Value();
    if (it.kind == Kind::kTrue) return Value(true);
    if (it.kind == Kind::kFalse) return Value(false);
    if (it.kind == Kind::kString || it.kind == Kind::kNumber) return LuaLiteral(own);
    if (it.kind != Kind::kOperation || it.children.size() != 1 || !own.starts_with('-')) return std::nullopt;
    const auto number = LiteralOf(it.children.front());
    if (!number || !number->IsNumber()) return std::nullopt;
    return number->AsInt() != nullptr ? Value(-*number->AsInt()) : Value(-number->Number());
  }

  void JudgeAlone(OldSetting& setting) {
    const Attribute& attribute = *setting.attribute;
    const Move& move = attribute.moved;
    const Attribute* parameter = schema().Find(setting.function->name, setting.parameter, target_.release);
    if (!move.differs.empty()) {
      setting.reason = "it does not mean the same as " + attribute.successor + ": " + move.differs;
    } else if (parameter == nullptr) {
      setting.reason = CallText(*setting.function) + " is not in " + Version();
    } else if (!names_release_ && target_.own_release < parameter->since) {
      setting.reason = "the recipe is for MindSpore " + ReleaseText(target_.own_release) + ", which lacks " +
                       CallText(*setting.function) + ", and does not name that release in this file";
    } else if (const std::string device = DeviceWithout(setting); !device.empty()) {
      setting.reason = device;
    } else if ((move.pynative || (attribute.needs_pynative && IsDroppedInGraphMode(attribute))) && IsGraphMode()) {
      setting.reason = move.pynative
                           ? "the recipe uses GRAPH_MODE, where " + CallText(*setting.function) +
                                 " has an effect and the attribute has none"
                           : Version() + " drops it in GRAPH_MODE, and " + CallText(*setting.function) + " would not";
    } else if (IsRead(setting)) {
      setting.reason =
          "the recipe reads it with get_context, which does not see what " + CallText(*setting.function) + " sets";
    } else {
      JudgeValue(setting, *parameter);
    }
  }

  void JudgeValue(OldSetting& setting, const Attribute& parameter) {
    const Move& move = setting.attribute->moved;
    const auto literal = LiteralOf(ValueOf(setting));
    if (!literal) {
      if (!move.values.empty()) {
        std::string pairs;
        for (const auto& [from, to] : move.values) pairs += (pairs.empty() ? "" : ", ") + from + " -> " + ToText(to);
        setting.reason =
            "its value is an expression, and " + CallText(*setting.function) + " takes other values (" + pairs + ")";
      } else if (move.literals) {
        setting.reason = "its value is an expression, and " + CallText(*setting.function) +
                         " does not take every value that the attribute takes";
      }
      return;
    }
    Value argument = *literal;
    if (const auto other = move.values.find(ValueKey(*literal)); other != move.values.end()) {
      argument = other->second;
    } else if (const std::string* word = literal->AsString()) {
      const auto alias = setting.attribute->aliases.find(*word);
      if (alias != setting.attribute->aliases.end()) argument = alias->second;
    }
    if (argument != *literal) setting.argument = ToText(argument);
    setting.needs_no_call = setting.parameter == kCalled && argument == Value(false);
    Diagnostics problems;
    const Place nowhere;
    CheckValue(parameter, argument, setting.parameter, {target_.release, nowhere, nullptr, nullptr, nullptr}, problems);
    for (const Diagnostic& problem : problems) {
      if (problem.severity == Severity::kError) {
        setting.reason = CallText(*setting.function) + " refuses it: " + problem.message;
      }
    }
  }

  // Why a device that the recipe names makes a difference.
  std::string DeviceWithout(const OldSetting& setting) const {
    for (const Value::Map& context : target_.contexts) {
      for (const char* key : {"set_device.device_target", "set_context.device_target"}) {
        const auto target = context.find(key);
        const std::string* device = target == context.end() ? nullptr : target->second.AsString();
        if (device == nullptr) continue;
        const auto lacks = [device](const std::vector<std::string>& devices) {
          return !devices.empty() && std::find(devices.begin(), devices.end(), *device) == devices.end();
        };
        if (lacks(setting.function->devices)) {
          return CallText(*setting.function) + " is for " + WordList(setting.function->devices) +
                 ", and the recipe computes on " + *device;
        }
        if (lacks(setting.attribute->enforced) || lacks(setting.whole->enforced)) {
          return Version() + " skips it on " + *device + ", and " + CallText(*setting.function) + " would not";
        }
      }
    }
    return "";
  }

  Value ModeOf(const Value::Map& context) const {
    const auto mode = context.find("set_context.mode");
    if (mode != context.end()) return mode->second;
    const Attribute* attribute = schema().Find(kSetContext, "mode", target_.release);
    return attribute == nullptr ? Value() : attribute->default_value;
  }

  bool IsGraphMode() const {
    return std::any_of(target_.contexts.begin(), target_.contexts.end(),
                       [&](const Value::Map& context) { return ModeOf(context) != Value(kPynativeMode); });
  }

  // Whether some process has none of the settings with which it works in GRAPH_MODE as well.
  bool IsDroppedInGraphMode(const Attribute& attribute) const {
    return std::any_of(target_.contexts.begin(), target_.contexts.end(), [&](const Value::Map& context) {
      if (ModeOf(context) == Value(kPynativeMode)) return false;
      for (const auto& [path, values] : attribute.graph_with) {
        const std::size_t dot = path.find('.');
        const auto table = context.find(KeyOf(kSetContext, path.substr(0, dot)));
        if (table == context.end() || table->second.AsMap() == nullptr || values.AsList() == nullptr) continue;
        const auto value = table->second.AsMap()->find(path.substr(dot + 1));
        if (value == table->second.AsMap()->end()) continue;
        const Value::List& allowed = *values.AsList();
        if (std::find(allowed.begin(), allowed.end(), value->second) != allowed.end()) return false;
      }
      return true;
    });
  }

  // Whether the recipe reads it, or may.
  bool IsRead(const OldSetting& setting) const {
    const std::string name = setting.name.substr(0, setting.name.find('.'));
    if (!NewerFunction(kSetContext, name).empty()) return false;
    const auto reads = [&](const ContextUses& uses) {
      return uses.reads_any > 0 || uses.read.contains(name) || uses.read.contains(setting.attribute->name);
    };
    return reads(uses_) ||
           std::any_of(others_.begin(), others_.end(), [&](const auto& each) { return reads(each.uses); });
  }

  // --- together ------------------------------------------------------------------------------------

  // A recipe's files share one context. What another file sets has no effect beside a call of the function, and a call
  // in a recipe replaces that of the recipe which it extends.
  struct OtherFile {
    std::string name;
    LuaTree tree;
    ContextUses uses;
  };

  void ReadOtherFiles() {
    for (const auto& [name, text] : target_.other_files) {
      auto tree = ParseLua(text, name);
      if (!tree) continue;
      OtherFile& file = others_.emplace_back();
      file.name = name;
      file.tree = *std::move(tree);
      file.uses = FindContextUses(file.tree, text, schema());
    }
  }

  void AddMoves(const Attribute* attribute, const std::string& why, std::map<std::string, std::string>& taken) const {
    if (attribute == nullptr) return;
    for (const Attribute& key : attribute->keys) AddMoves(&key, why, taken);
    if (!attribute->moved.function.empty()) taken.emplace(attribute->moved.function, why);
  }

  void JudgeOtherFiles() {
    std::map<std::string, std::string> taken;  // by function: why it cannot be called here
    for (const OtherFile& file : others_) {
      for (const ContextCall& call : file.uses.calls) {
        const LuaNode& node = file.tree.nodes[static_cast<std::size_t>(call.node)];
        for (const LuaField& field : file.tree.nodes[static_cast<std::size_t>(node.children.front())].fields) {
          const std::string name(field.name);
          AddMoves(schema().Find(ApiOf(call, name), name, target_.release),
                   file.name + " sets " + name + ", too: rewrite that file first", taken);
        }
      }
      for (const FunctionCall& call : file.uses.functions) {
        taken.emplace(call.function, file.name + " calls mindspore." + call.function + ", too: set it there");
      }
    }
    std::set<std::string> here;
    for (const OldSetting& setting : settings_) here.insert(setting.name.substr(0, setting.name.find('.')));
    for (const Value::Map& context : target_.contexts) {
      for (const auto& [key, unused] : context) {
        if (!key.starts_with(std::string(kSetContext) + '.')) continue;
        const std::string name = key.substr(kSetContext.size() + 1);
        const Attribute* attribute = schema().Find(kSetContext, name, target_.release);
        if (here.contains(name) || attribute == nullptr || !attribute->keys.empty()) continue;
        AddMoves(attribute, name + " is set by a call that cannot be followed, and would have no effect then", taken);
      }
    }
    for (OldSetting& setting : settings_) {
      if (!Moves(setting) || setting.function->repeats == Function::Repeats::kFree) continue;
      const auto found = taken.find(setting.function->name);
      if (found != taken.end()) setting.reason = found->second;
    }
  }

  // A function that can be called once: its settings must stand in one call of each scope.
  void JudgePlaces() {
    using Scoped = std::pair<std::string, int>;
    std::map<Scoped, std::set<std::pair<std::uint32_t, int>>> lines;  // of the calls of it, made or to be made
    for (const OldSetting& setting : settings_) {
      if (setting.function == nullptr) continue;
      lines[{setting.function->name, ScopeOf(setting)}].insert(
          {At(uses_.calls[setting.call].node).line, uses_.calls[setting.call].node});
    }
    for (const FunctionCall& call : uses_.functions) lines[{call.function, call.scope}].insert({call.line, kNoNode});
    for (OldSetting& setting : settings_) {
      if (!Moves(setting) || setting.function->repeats == Function::Repeats::kFree) continue;
      const auto& places = lines.at({setting.function->name, ScopeOf(setting)});
      if (places.size() < 2) continue;
      setting.reason = CallText(*setting.function) + " can be called once, and lines " +
                       std::to_string(places.begin()->first) + " and " + std::to_string(places.rbegin()->first) +
                       " would both call it: put these settings into one call";
    }
  }

  // set_device of a process takes its device_target from the call for the job.
  void JudgeRequired() {
    std::set<std::tuple<std::string, std::string, std::size_t>> given;  // in that call
    std::set<std::pair<std::string, std::string>> given_to_job;
    for (const OldSetting& setting : settings_) {
      if (!Moves(setting)) continue;
      given.emplace(setting.function->name, setting.parameter, setting.call);
      if (ScopeOf(setting) == 0) given_to_job.emplace(setting.function->name, setting.parameter);
    }
    std::set<std::string> called_for_job;
    for (const FunctionCall& call : uses_.functions) {
      if (call.scope == 0) called_for_job.insert(call.function);
    }
    for (OldSetting& setting : settings_) {
      if (!Moves(setting)) continue;
      const std::string& function = setting.function->name;
      for (const std::string& name : setting.function->parameters) {
        const Attribute* parameter = schema().Find(function, name, target_.release);
        if (parameter == nullptr || !parameter->required || name == setting.parameter) continue;
        const bool of_job = ScopeOf(setting) == 0;
        if (given.contains({function, name, setting.call})) continue;
        if (!of_job && (given_to_job.contains({function, name}) || called_for_job.contains(function))) continue;
        setting.reason = CallText(*setting.function) + " needs " + name + ", which " +
                         (of_job ? "this call does not set" : "no call for the job sets in this file");
      }
    }
  }

  // Beside a call of the function, what the old attributes say has no effect: they move together or not at all.
  void JudgeCompany() {
    std::map<const Function*, const OldSetting*> staying;
    for (const OldSetting& setting : settings_) {
      if (setting.function != nullptr && !setting.reason.empty()) staying.emplace(setting.function, &setting);
    }
    for (OldSetting& setting : settings_) {
      if (!Moves(setting)) continue;
      const auto found = staying.find(setting.function);
      if (found == staying.end()) continue;
      setting.reason = found->second->name + " of line " + std::to_string(found->second->line) +
                       " stays, and would have no effect beside " + CallText(*setting.function);
    }
  }

  static bool Moves(const OldSetting& setting) { return setting.function != nullptr && setting.reason.empty(); }

  const LuaTree& tree_;
  std::string_view text_;
  const ContextUses& uses_;
  const RewriteTarget& target_;
  bool names_release_;
  std::vector<OtherFile> others_;
  std::vector<OldSetting> settings_;
  Decisions decisions_;
};

}  // namespace

Decisions DecideMoves(const LuaTree& tree, std::string_view text, const ContextUses& uses, const RewriteTarget& target,
                      bool names_release) {
  return Decider(tree, text, uses, target, names_release).Run();
}

}  // namespace muster
