#include "rewrite/context_uses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace muster {
namespace {

using Kind = LuaNode::Kind;

constexpr std::string_view kContextModule = "muster.context";
constexpr std::string_view kMindsporeModule = "muster.mindspore";
constexpr std::string_view kMusterModule = "muster";
constexpr int kMostAliases = 8;

class Finder {
 public:
  Finder(const LuaTree& tree, std::string_view text, const Schema& schema)
      : tree_(tree), text_(text), schema_(schema), setters_(schema.Functions()) {}

  ContextUses Run() {
    for (std::size_t i = 0; i < tree_.locals.size(); ++i) {
      uses_.modules.push_back(OfLocal(static_cast<int>(i), kMostAliases));
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
  std::string ModuleOf(int node, int more = kMostAliases) const {
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
    for (int most = kMostAliases; most > 0; --most) {
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
  constexpr int kMost = 500;  // of hostile files; the caller can declare a local of its own
  std::set<std::string_view> seen;
  int more = kMost;
  for (int each = innermost; each >= 0 && more-- > 0; each = tree.locals[static_cast<std::size_t>(each)].outer) {
    const auto number = static_cast<std::size_t>(each);
    if (seen.insert(tree.locals[number].name).second && uses.modules[number] == module) return each;
  }
  return -1;
}

ContextUses FindContextUses(const LuaTree& tree, std::string_view text, const Schema& schema) {
  return Finder(tree, text, schema).Run();
}

}  // namespace muster
