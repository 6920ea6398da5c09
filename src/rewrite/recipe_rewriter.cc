#include "rewrite/recipe_rewriter.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace muster {
namespace {

// Replacements in a text, applied together.

struct TextEdit {
  std::size_t begin = 0;  // offsets in the text before all edits
  std::size_t end = 0;
  std::string text;
};

// The text after the edits, which must not overlap. Insertions at one place keep their order, and come before a
// replacement that begins there.
std::string Edited(std::string_view text, std::vector<TextEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const TextEdit& a, const TextEdit& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::string edited;
  std::size_t at = 0;
  for (const TextEdit& edit : edits) {
    assert(edit.begin >= at && edit.end >= edit.begin && edit.end <= text.size() && "edits do not overlap");
    edited += text.substr(at, edit.begin - at);
    edited += edit.text;
    at = edit.end;
  }
  edited += text.substr(at);
  return edited;
}

// The edits that turn settings of one call into calls of functions before it, with the comments that belong to them.

struct CallEdits {
  std::vector<TextEdit> edits;
  bool nothing_left = false;  // no setting of the call stays, and it goes as well
};

// "\r\n" if the first line of the text ends with it, else "\n".
std::string LineEndOf(std::string_view text);

// The blanks before `at` on its line; nothing if something else is there.
std::optional<std::string_view> IndentOf(std::string_view text, std::size_t at);

// Behind the blanks, and the comments of `tree`, that follow `at` on its line.
std::size_t BehindLineRest(const LuaTree& tree, std::string_view text, std::size_t at);
// Whether a line ends at `at`, or the text.
bool EndsLine(std::string_view text, std::size_t at);

using Kind = LuaNode::Kind;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// A field with the blanks and comments that go with it: from behind the field before it to behind the comments that
// follow it on its line.
struct Chunk {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Editor {
 public:
  Editor(const LuaTree& tree, std::string_view text, const ContextCall& call,
         const std::vector<const OldSetting*>& moved, const std::string& module)
      : tree_(tree),
        text_(text),
        call_(tree.nodes[static_cast<std::size_t>(call.node)]),
        moved_(moved),
        module_(module) {}

  CallEdits Run() {
    end_ = call_.end;
    std::size_t behind = BehindBlanks(end_);
    if (behind < text_.size() && text_[behind] == ';') {
      end_ = behind + 1;
      behind = BehindBlanks(end_);
    }
    const auto indent = IndentOf(text_, call_.begin);
    const std::size_t rest = BehindLineRest(tree_, text_, end_);
    alone_ = indent && EndsLine(text_, rest);
    indent_ = alone_ ? std::string(*indent) : "";
    comment_follows_ = rest != behind;

    CutTables();
    MakeGroups();
    Place(behind);
    return std::move(made_);
  }

 private:
  // One new call.
  struct Group {
    const Function* function = nullptr;
    std::vector<const OldSetting*> settings;
    std::vector<LuaComment> before;
    std::vector<LuaComment> behind;
  };

  const LuaNode& At(int node) const { return tree_.nodes[static_cast<std::size_t>(node)]; }
  std::string_view Slice(std::size_t begin, std::size_t end) const { return text_.substr(begin, end - begin); }
  const LuaNode& Table() const { return At(call_.children.front()); }

  std::size_t BehindBlanks(std::size_t at) const {
    while (at < text_.size() && IsBlank(text_[at])) ++at;
    return at;
  }

  const LuaNode& ValueOf(const OldSetting& setting) const {
    const LuaNode& value = At(Table().fields[setting.field].value);
    return setting.sub_field ? At(value.fields[*setting.sub_field].value) : value;
  }

  std::vector<LuaComment> CommentsIn(std::size_t begin, std::size_t end) const {
    const auto first = std::lower_bound(tree_.comments.begin(), tree_.comments.end(), begin,
                                        [](const LuaComment& comment, std::size_t at) { return comment.begin < at; });
    std::vector<LuaComment> found;
    for (auto each = first; each != tree_.comments.end() && each->end <= end; ++each) found.push_back(*each);
    return found;
  }

  std::vector<Chunk> ChunksOf(const LuaNode& table) const {
    std::vector<Chunk> chunks;
    std::size_t begin = table.begin + 1;
    for (const LuaField& field : table.fields) {
      const std::size_t rest = BehindLineRest(tree_, text_, field.end_with_separator);
      const std::size_t end = EndsLine(text_, rest) ? rest : field.end_with_separator;
      chunks.push_back({begin, end});
      begin = end;
    }
    return chunks;
  }

  // --- what is cut ---------------------------------------------------------------------------------

  void CutTables() {
    std::map<std::size_t, std::set<std::size_t>> subs;  // by field: its sub-fields that move
    std::set<std::size_t> gone;
    for (const OldSetting* setting : moved_) {
      if (setting->sub_field) {
        subs[setting->field].insert(*setting->sub_field);
      } else {
        gone.insert(setting->field);
      }
    }
    const std::vector<Chunk> chunks = ChunksOf(Table());
    for (const auto& [field, sub_fields] : subs) {
      const LuaNode& table = At(Table().fields[field].value);
      const std::vector<Chunk> sub_chunks = ChunksOf(table);
      for (const std::size_t sub : sub_fields) chunk_of_[{field, sub}] = sub_chunks[sub];
      if (sub_fields.size() < table.fields.size()) {
        Cut(table, sub_chunks, sub_fields);
        continue;
      }
      gone.insert(field);
      Stray(CommentsIn(chunks[field].begin, table.begin));
      Stray(CommentsIn(sub_chunks.back().end, table.end));
      Stray(CommentsIn(table.end, chunks[field].end));
    }
    for (const OldSetting* setting : moved_) {
      if (!setting->sub_field) chunk_of_[{setting->field, kWhole}] = chunks[setting->field];
    }
    made_.nothing_left = gone.size() == Table().fields.size();
    if (!made_.nothing_left) return Cut(Table(), chunks, gone);
    Stray(CommentsIn(call_.begin, Table().begin));
    Stray(CommentsIn(chunks.back().end, call_.end));
  }

  void Stray(const std::vector<LuaComment>& comments) { stray_.insert(stray_.end(), comments.begin(), comments.end()); }

  // Some fields of a table that keeps others.
  void Cut(const LuaNode& table, const std::vector<Chunk>& chunks, const std::set<std::size_t>& fields) {
    std::size_t last_kept = 0;
    std::size_t first_kept = table.fields.size();
    for (std::size_t i = 0; i < table.fields.size(); ++i) {
      if (fields.contains(i)) continue;
      last_kept = i;
      first_kept = std::min(first_kept, i);
    }
    const LuaField& last = table.fields.back();
    const LuaField& kept = table.fields[last_kept];
    const bool was_bare = last.end == last.end_with_separator;
    if (fields.contains(table.fields.size() - 1) && was_bare && kept.end != kept.end_with_separator) {
      made_.edits.push_back({kept.end_with_separator - 1, kept.end_with_separator, ""});
    }
    for (auto field = fields.begin(); field != fields.end();) {
      Chunk cut = chunks[*field];
      std::size_t next = *field + 1;
      for (++field; field != fields.end() && *field == next; ++field) cut.end = chunks[next++].end;
      // "{a = 1, b = 2}" becomes "{b = 2}".
      if (next == first_kept && table.fields.front().begin == table.begin + 1) cut.end = BehindBlanks(cut.end);
      made_.edits.push_back({cut.begin, cut.end, ""});
      if (!EndsLine(text_, cut.end) && EndsLineComment(cut.begin)) {  // "}" must not become a part of the comment
        made_.edits.back().end = BehindBlanks(cut.end);
        made_.edits.back().text = LineEndOf(text_) + indent_;
      }
    }
  }

  bool EndsLineComment(std::size_t at) const {
    const auto comment = std::lower_bound(tree_.comments.begin(), tree_.comments.end(), at,
                                          [](const LuaComment& each, std::size_t place) { return each.end < place; });
    return comment != tree_.comments.end() && comment->to_line_end && comment->end == at;
  }

  // --- what is put there ---------------------------------------------------------------------------

  void MakeGroups() {
    for (const OldSetting* setting : moved_) {
      const Chunk& chunk = chunk_of_.at({setting->field, setting->sub_field.value_or(kWhole)});
      const LuaNode& value = ValueOf(*setting);
      const auto before = CommentsIn(chunk.begin, value.begin);
      const auto behind = CommentsIn(value.end, chunk.end);
      if (setting->needs_no_call) {
        Stray(before);
        Stray(behind);
        continue;
      }
      auto group = std::find_if(groups_.begin(), groups_.end(),
                                [&](const Group& each) { return each.function == setting->function; });
      if (group == groups_.end()) group = groups_.insert(group, Group{setting->function, {}, {}, {}});
      group->settings.push_back(setting);
      group->before.insert(group->before.end(), before.begin(), before.end());
      group->behind.insert(group->behind.end(), behind.begin(), behind.end());
    }
    // The device decides what the other calls do.
    std::stable_partition(groups_.begin(), groups_.end(),
                          [](const Group& each) { return each.function->name == "set_device"; });
  }

  std::string ArgumentText(const OldSetting& setting) const {
    if (setting.argument) return *setting.argument;
    const LuaNode& value = ValueOf(setting);
    return std::string(Slice(value.begin, value.end));
  }

  // By position where the arguments are the first parameters, and the last one cannot be several values or a table of
  // names.
  std::string CallText(const Group& group) const {
    const std::string name = module_ + "." + group.function->name;
    const auto& parameters = group.function->parameters;
    if (parameters.empty()) return name + "()";
    std::vector<const OldSetting*> by_position(group.settings.size(), nullptr);
    bool positional = true;
    for (const OldSetting* setting : group.settings) {
      const auto at = static_cast<std::size_t>(std::find(parameters.begin(), parameters.end(), setting->parameter) -
                                               parameters.begin());
      if (at < by_position.size()) {
        by_position[at] = setting;
      } else {
        positional = false;
      }
    }
    if (positional) {
      const OldSetting& last = *by_position.back();
      const Kind kind = ValueOf(last).kind;
      const bool plain = kind != Kind::kCall && kind != Kind::kMethod && kind != Kind::kVararg && kind != Kind::kTable;
      positional = plain || last.argument.has_value();
    }
    std::string arguments;
    for (const OldSetting* setting : positional ? by_position : group.settings) {
      arguments += arguments.empty() ? "" : ", ";
      if (!positional) arguments += setting->parameter + " = ";
      arguments += ArgumentText(*setting);
    }
    return name + (positional ? "(" + arguments + ")" : " { " + arguments + " }");
  }

  std::string CommentText(const LuaComment& comment) const {
    std::string own(Slice(comment.begin, comment.end));
    if (alone_ || !comment.to_line_end) return own;
    std::string level;  // more follows on the line, so the comment needs an end of its own
    while (own.find("]" + level + "]") != std::string::npos) level += "=";
    return "--[" + level + "[" + own.substr(2) + " ]" + level + "]";
  }

  // The lines, or pieces of one line, to put before the call.
  std::vector<std::string> Pieces() const {
    std::vector<std::string> pieces;
    for (const LuaComment& comment : stray_) pieces.push_back(CommentText(comment));
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const Group& group = groups_[i];
      for (const LuaComment& comment : group.before) pieces.push_back(CommentText(comment));
      const bool comment_is_taken =
          made_.nothing_left && i + 1 == groups_.size() && (comment_follows_ || end_ != call_.end);
      const bool on_its_line = alone_ && group.behind.size() == 1 && !comment_is_taken;
      if (!on_its_line) {
        for (const LuaComment& comment : group.behind) pieces.push_back(CommentText(comment));
      }
      // What follows on the line, or a call that begins with a parenthesis, must not be taken for a part of it.
      const bool is_last = made_.nothing_left && i + 1 == groups_.size();
      const std::string end = !is_last && (!alone_ || text_[call_.begin] == '(') ? ";" : "";
      pieces.push_back(CallText(group) + end + (on_its_line ? "  " + CommentText(group.behind.front()) : ""));
    }
    if (made_.nothing_left && groups_.empty() && LeavesAnOpening(end_)) pieces.push_back("do end");
    return pieces;
  }

  // Whether without this statement Lua would take what follows for a part of the statement before it, or for an empty
  // statement, which it does not have.
  bool LeavesAnOpening(std::size_t at) const {
    while (true) {
      at = BehindLineRest(tree_, text_, at);
      if (at >= text_.size()) return false;
      if (text_[at] != '\n' && text_[at] != '\r') return text_[at] == '(' || text_[at] == ';';
      ++at;
    }
  }

  void Place(std::size_t behind) {
    const std::string between = alone_ ? LineEndOf(text_) + indent_ : " ";
    std::string put;
    const std::vector<std::string> pieces = Pieces();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const bool is_last = i + 1 == pieces.size();
      put += pieces[i];
      if (!is_last || !made_.nothing_left) put += between;
    }
    if (!made_.nothing_left) {
      made_.edits.push_back({call_.begin, call_.begin, std::move(put)});
    } else if (!pieces.empty()) {
      made_.edits.push_back({call_.begin, groups_.empty() ? end_ : call_.end, std::move(put)});
    } else if (alone_ && !comment_follows_) {
      std::size_t next = behind;
      while (next < text_.size() && text_[next] == '\r') ++next;
      if (next < text_.size()) ++next;
      made_.edits.push_back({call_.begin - indent_.size(), next, ""});
    } else {
      made_.edits.push_back({call_.begin, end_, ""});
    }
  }

  static constexpr std::size_t kWhole = static_cast<std::size_t>(-1);

  const LuaTree& tree_;
  std::string_view text_;
  const LuaNode& call_;
  const std::vector<const OldSetting*>& moved_;
  const std::string& module_;
  std::size_t end_ = 0;  // of the statement
  bool alone_ = false;   // nothing else is on its lines
  bool comment_follows_ = false;
  std::string indent_;
  std::map<std::pair<std::size_t, std::size_t>, Chunk> chunk_of_;  // by field and sub-field
  std::vector<LuaComment> stray_;                                  // of no new call in particular
  std::vector<Group> groups_;
  CallEdits made_;
};

// `moved` are settings of `call`, at least one, in the order of the text; `module` is the name under which the
// functions are called.
CallEdits EditsOfCall(const LuaTree& tree, std::string_view text, const ContextCall& call,
                      const std::vector<const OldSetting*>& moved, const std::string& module) {
  return Editor(tree, text, call, moved, module).Run();
}

std::string LineEndOf(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end != std::string_view::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

std::optional<std::string_view> IndentOf(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && IsBlank(text[begin - 1])) --begin;
  if (begin > 0 && text[begin - 1] != '\n' && text[begin - 1] != '\r') return std::nullopt;
  return text.substr(begin, at - begin);
}

bool EndsLine(std::string_view text, std::size_t at) {
  return at >= text.size() || text[at] == '\n' || text[at] == '\r';
}

std::size_t BehindLineRest(const LuaTree& tree, std::string_view text, std::size_t at) {
  while (true) {
    while (at < text.size() && IsBlank(text[at])) ++at;
    const auto comment = std::lower_bound(tree.comments.begin(), tree.comments.end(), at,
                                          [](const LuaComment& each, std::size_t place) { return each.begin < place; });
    if (comment == tree.comments.end() || comment->begin != at) return at;
    at = comment->end;
  }
}

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
