#include "rewrite/call_edits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace muster {
namespace {

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

}  // namespace

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

}  // namespace muster
