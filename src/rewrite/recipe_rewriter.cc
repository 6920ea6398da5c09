#include "rewrite/recipe_rewriter.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "rewrite/call_edits.h"
#include "rewrite/context_uses.h"
#include "rewrite/text_edits.h"

namespace muster {
namespace {

constexpr std::string_view kOldModule = "muster.context";
constexpr std::string_view kNewModule = "muster.mindspore";

class Rewriter {
 public:
  Rewriter(const LuaTree& tree, std::string_view text, const RewriteTarget& target)
      : tree_(tree), text_(text), target_(target), uses_(FindContextUses(tree, text, *target.schema)) {}

  Rewriting Run() {
    const bool names_release = NameRelease();
    const Decisions decisions = DecideMoves(tree_, text_, uses_, target_, names_release);
    done_.left.insert(done_.left.end(), decisions.left.begin(), decisions.left.end());
    std::map<std::size_t, std::vector<const OldSetting*>> by_call;
    for (const OldSetting& setting : decisions.moved) {
      by_call[setting.call].push_back(&setting);
      done_.moved.push_back({setting.line, setting.name, TargetText(setting)});
    }
    for (const auto& [number, settings] : by_call) RewriteCall(uses_.calls[number], settings);
    if (!new_name_.empty()) RequireModule();
    done_.text = Edited(text_, std::move(edits_));
    return std::move(done_);
  }

 private:
  const LuaNode& At(int node) const { return tree_.nodes[static_cast<std::size_t>(node)]; }
  const LuaLocal& Local(int number) const { return tree_.locals[static_cast<std::size_t>(number)]; }
  std::string_view Slice(std::size_t begin, std::size_t end) const { return text_.substr(begin, end - begin); }

  static std::string TargetText(const OldSetting& setting) {
    if (setting.needs_no_call) return "nothing, which means the same";
    const std::string with =
        setting.parameter == kCalled || setting.function->parameters.size() < 2 ? "" : " with " + setting.parameter;
    return "mindspore." + setting.function->name + with;
  }

  // Changes the release that the recipe names; whether it is named here.
  bool NameRelease() {
    const std::string wanted = "write mindspore = \"" + target_.release_text + "\" there";
    if (uses_.release == kNoNode) {
      if (target_.own_release != target_.release) {
        done_.left.push_back({0, "mindspore", "this file does not name the recipe's release: " + wanted});
      }
      return false;
    }
    const LuaNode& node = At(uses_.release);
    const std::string_view own = Slice(node.begin, node.end);
    const auto value = node.kind == LuaNode::Kind::kString ? LuaLiteral(own) : std::nullopt;
    if (!value || value->AsString() == nullptr) {
      if (target_.own_release != target_.release) {
        done_.left.push_back({node.line, "mindspore", "the release is an expression: " + wanted});
      }
      return false;
    }
    const auto named = target_.schema->FindRelease(*value->AsString(), {});
    if (named && *named == target_.release) return true;
    const std::string quote(1, own.front() == '\'' ? '\'' : '"');
    edits_.push_back({node.begin, node.end, quote + target_.release_text + quote});
    done_.names_release = true;
    return true;
  }

  void RewriteCall(const ContextCall& call, const std::vector<const OldSetting*>& settings) {
    const bool calls = std::any_of(settings.begin(), settings.end(), [](auto* each) { return !each->needs_no_call; });
    const int visible = VisibleModule(tree_, uses_, call.local, kNewModule);
    std::string module;
    if (visible >= 0) {
      module = Local(visible).name;
    } else if (calls) {
      if (new_name_.empty()) new_name_ = UnusedName();
      module = new_name_;
      first_need_ = std::min(first_need_, At(call.node).begin);
    }
    CallEdits made = EditsOfCall(tree_, text_, call, settings, module);
    if (made.nothing_left && call.module >= 0) ++given_up_[call.module];
    std::move(made.edits.begin(), made.edits.end(), std::back_inserter(edits_));
  }

  std::string UnusedName() const {
    std::string name = "mindspore";
    for (int i = 2; tree_.names.contains(name); ++i) name = "mindspore_" + std::to_string(i);
    return name;
  }

  // `local mindspore = require "muster.mindspore"`: instead of the old module's if nothing else uses that one, else
  // behind the last module that is required before the first use.
  void RequireModule() {
    const LuaLocal* last = nullptr;
    const LuaLocal* model = nullptr;
    for (std::size_t i = 0; i < tree_.locals.size(); ++i) {
      const LuaLocal& local = tree_.locals[i];
      if (!local.of_file || local.end > first_need_ || local.value == kNoNode) continue;
      const LuaNode& value = At(local.value);
      const bool requires_it = value.kind == LuaNode::Kind::kCall && At(value.base).name == "require";
      if (!requires_it) continue;
      last = &local;
      if (uses_.modules[i] != kOldModule) continue;
      model = &local;
      const auto given_up = given_up_.find(static_cast<int>(i));
      if (given_up != given_up_.end() && given_up->second == local.uses.size()) {
        edits_.push_back({local.begin, local.end, Statement(&local)});
        return;
      }
    }
    const std::string line_end = LineEndOf(text_);
    if (last == nullptr) {
      edits_.push_back({tree_.first_statement, tree_.first_statement, Statement(model) + line_end});
      return;
    }
    const auto indent = IndentOf(text_, last->begin);
    std::size_t end = BehindLineRest(tree_, text_, last->end);
    if (end < text_.size() && text_[end] == ';') end = BehindLineRest(tree_, text_, end + 1);
    if (indent && EndsLine(text_, end)) {
      edits_.push_back({end, end, line_end + std::string(*indent) + Statement(model)});
    } else {
      edits_.push_back({last->end, last->end, " " + Statement(model)});
    }
  }

  // With the quotes and parentheses of the statement that requires the old module.
  std::string Statement(const LuaLocal* model) const {
    std::string value = "require \"" + std::string(kNewModule) + "\"";
    if (model != nullptr) {
      const LuaNode& node = At(model->value);
      const std::string own(Slice(node.begin, node.end));
      const std::size_t at = own.find(kOldModule);
      const bool plain = own.find('\n') == std::string::npos && own.find("--") == std::string::npos;
      if (at != std::string::npos && plain) value = std::string(own).replace(at, kOldModule.size(), kNewModule);
    }
    return "local " + new_name_ + " = " + value;
  }

  const LuaTree& tree_;
  std::string_view text_;
  const RewriteTarget& target_;
  ContextUses uses_;
  std::vector<TextEdit> edits_;
  std::string new_name_;  // of the local to declare; empty: none
  std::size_t first_need_ = static_cast<std::size_t>(-1);
  std::map<int, std::size_t> given_up_;  // by local: the calls through it that are gone
  Rewriting done_;
};

}  // namespace

Result<Rewriting> RewriteRecipe(std::string_view text, const std::string& file, const RewriteTarget& target) {
  const auto tree = ParseLua(text, file);
  if (!tree) return Fail(tree.error());
  return Rewriter(*tree, text, target).Run();
}

}  // namespace muster
