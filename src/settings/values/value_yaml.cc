#include "settings/values/value_yaml.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <yaml.h>

#include "base/values/shell_quote.h"
#include "base/values/utf8.h"
#include "settings/values/yaml_scalar.h"

namespace muster {
namespace {

constexpr int kMaxDepth = 30;
constexpr std::size_t kMaxValues = 100'000;
constexpr std::size_t kMostTraps = 100;
constexpr std::size_t kMaxText = std::size_t{16} << 20;

std::string_view TextOf(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

// One event of the parser, freed by the destructor.
class Event {
 public:
  explicit Event(yaml_parser_t& parser) : ok_(yaml_parser_parse(&parser, &event_) == 1) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (ok_) yaml_event_delete(&event_);
  }
  bool ok() const { return ok_; }
  yaml_event_type_t type() const { return event_.type; }
  const yaml_event_t& operator*() const { return event_; }
  std::uint32_t line() const { return static_cast<std::uint32_t>(event_.start_mark.line + 1); }
  std::string_view scalar() const {
    return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
  }

 private:
  yaml_event_t event_{};
  bool ok_;
};

// A value, and its size once its aliases are expanded.
struct Measured {
  Value value;
  std::size_t values = 1;
  std::size_t text = 0;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_read_(text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { yaml_parser_delete(&parser_); }

  tl::expected<YamlText, YamlProblem> Read() {
    YamlText read;
    bool has_document = false;
    for (bool done = false; !done && !problem_;) {
      const Event event(parser_);
      if (!Sound(event)) break;
      switch (event.type()) {
        case YAML_STREAM_END_EVENT:
          done = true;
          break;
        case YAML_DOCUMENT_START_EVENT:
          if (std::exchange(has_document, true)) {
            Refuse(event.line(), "there is a second document");
            break;
          }
          if (auto root = Next(0)) read.value = std::move(root->value);
          break;
        default:
          break;
      }
    }
    if (problem_) return tl::unexpected(*std::move(problem_));
    NoteTabs();
    std::stable_sort(traps_.begin(), traps_.end(),
                     [](const YamlText::Trap& a, const YamlText::Trap& b) { return a.line < b.line; });
    read.traps = std::move(traps_);
    return read;
  }

 private:
  std::nullopt_t Refuse(std::uint32_t line, std::string message) {
    if (!problem_) problem_ = YamlProblem{std::move(message), line};
    return std::nullopt;
  }

  bool Sound(const Event& event) {
    if (event.ok()) return true;
    const std::string_view what = parser_.problem == nullptr ? "it is not valid YAML" : parser_.problem;
    const std::string_view context = parser_.context == nullptr ? "" : parser_.context;
    Refuse(static_cast<std::uint32_t>(parser_.problem_mark.line + 1),
           std::string(what) + (context.empty() ? "" : " " + std::string(context)));
    return false;
  }

  // The next value; nothing at the end of a collection (then `problem_` is not set), or after an error.
  std::optional<Measured> Next(int depth, bool as_key = false) {
    const Event event(parser_);
    if (!Sound(event)) return std::nullopt;
    const std::uint32_t line = event.line();
    std::optional<Measured> made;
    std::string_view anchor;
    switch (event.type()) {
      case YAML_SCALAR_EVENT:
        made = Scalar(event, as_key);
        anchor = TextOf((*event).data.scalar.anchor);
        break;
      case YAML_SEQUENCE_START_EVENT:
        if (!Tagged(TextOf((*event).data.sequence_start.tag), YAML_SEQ_TAG, line)) return std::nullopt;
        if (as_key) return Refuse(line, "a key is a text, not a list");
        if (depth >= kMaxDepth) return Refuse(line, TooDeep());
        made = Sequence(depth);
        anchor = TextOf((*event).data.sequence_start.anchor);
        break;
      case YAML_MAPPING_START_EVENT:
        if (!Tagged(TextOf((*event).data.mapping_start.tag), YAML_MAP_TAG, line)) return std::nullopt;
        if (as_key) return Refuse(line, "a key is a text, not a map");
        if (depth >= kMaxDepth) return Refuse(line, TooDeep());
        made = Mapping(depth);
        anchor = TextOf((*event).data.mapping_start.anchor);
        break;
      case YAML_ALIAS_EVENT: {
        const auto found = anchors_.find(TextOf((*event).data.alias.anchor));
        const std::string name = "*" + std::string(TextOf((*event).data.alias.anchor));
        if (found == anchors_.end()) return Refuse(line, name + " is used before it is complete, or is nowhere");
        if (as_key && found->second.value.AsString() == nullptr)
          return Refuse(line, "the key " + name + " is not text");
        made = found->second;
        break;
      }
      default:
        return std::nullopt;
    }
    if (!made || problem_) return std::nullopt;
    if (!Counted(*made, event.type() == YAML_ALIAS_EVENT, line)) return std::nullopt;
    // The value of an anchor is stored a second time; nested anchors each store everything inside.
    if (!anchor.empty() && !Counted(*made, true, line)) return std::nullopt;
    if (!anchor.empty()) anchors_.insert_or_assign(std::string(anchor), *made);
    return made;
  }

  static std::string TooDeep() { return "it is nested deeper than " + std::to_string(kMaxDepth) + " levels"; }

  // Whether the total size is still within limits; the content of a collection was counted when it was read, unless
  // this is a copy.
  bool Counted(const Measured& made, bool copy, std::uint32_t line) {
    const bool scalar = made.value.AsList() == nullptr && made.value.AsMap() == nullptr;
    values_ += copy ? made.values : 1;
    if (copy || scalar) text_ += made.text;
    if (values_ <= kMaxValues && text_ <= kMaxText) return true;
    Refuse(line, values_ > kMaxValues
                     ? "it holds more than " + std::to_string(kMaxValues) + " values once its aliases are followed"
                     : "it holds more than 16 MiB of text once its aliases are followed");
    return false;
  }

  bool Tagged(std::string_view tag, std::string_view own, std::uint32_t line) {
    if (tag.empty() || tag == own || tag == "!") return true;
    Refuse(line, "the tag " + Quoted(tag) + " has no counterpart in a recipe");
    return false;
  }

  // libyaml takes a tab between two tokens for a blank; PyYAML's own scanner refuses it there. Only quoted texts, block
  // texts and comments can hold one. Marks count characters from 0.
  void NoteTabs() {
    std::uint32_t line = 0;
    std::size_t column = 0;
    bool comment = false, noted = false;
    char before = '\n';
    std::size_t next = 0;  // of `may_hold_tabs_`
    if (text_read_.find('\t') == std::string_view::npos) return;
    for (const char c : text_read_) {
      if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) continue;  // within a character
      const auto is_before = [&](const yaml_mark_t& mark) {
        return line < mark.line || (line == mark.line && column < mark.column);
      };
      while (next < may_hold_tabs_.size() && !is_before(may_hold_tabs_[next].second)) ++next;
      const bool inside = next < may_hold_tabs_.size() && !is_before(may_hold_tabs_[next].first);
      if (!inside && c == '#' && (before == ' ' || before == '\t' || before == '\n')) comment = true;
      if (c == '\t' && !inside && !comment && !std::exchange(noted, true) && traps_.size() < kMostTraps) {
        traps_.push_back({line + 1, "a tab", "a blank", "an error", "a space"});
      }
      before = c;
      ++column;
      if (c == '\n') {
        ++line;
        column = 0;
        comment = noted = false;
      }
    }
  }

  void NoteTrap(std::string_view plain, std::uint32_t line, bool as_key) {
    auto old = traps_.size() < kMostTraps ? YamlOldMeaning(plain, as_key) : std::nullopt;
    if (!old) return;
    const auto value = as_key ? Value(plain) : YamlScalarValue(plain).value_or(Value(plain));
    const bool is_number = value.IsNumber() && old->starts_with("the text");
    const std::string instead = !is_number                 ? ""
                                : value.AsInt() != nullptr ? ToText(value)
                                                           : YamlNumberText(value.Number());
    traps_.push_back({line, std::string(plain), ToText(value), *std::move(old), instead});
  }

  std::optional<Measured> Scalar(const Event& event, bool as_key) {
    const std::string_view text = event.scalar();
    std::string_view tag = TextOf((*event).data.scalar.tag);
    const std::uint32_t line = event.line();
    if ((*event).data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
      may_hold_tabs_.emplace_back((*event).start_mark, (*event).end_mark);
    const bool plain = (*event).data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (text.find('\0') != std::string_view::npos) return Refuse(line, "a text holds a NUL");
    const Measured as_text{Value(text), 1, text.size()};
    merge_key_ = as_key && plain && text == "<<";
    if (as_key && plain && tag.empty()) NoteTrap(text, line, true);
    if (as_key) return tag.empty() || Tagged(tag, YAML_STR_TAG, line) ? std::optional(as_text) : std::nullopt;
    if (tag == "!" || tag == YAML_STR_TAG || (tag.empty() && !plain)) return as_text;
    auto value = YamlScalarValue(text);
    if (!value) return Refuse(line, value.error());
    if (!tag.empty()) {
      static const std::map<std::string_view, std::string_view> kTypes = {
          {YAML_NULL_TAG, "nil"}, {YAML_BOOL_TAG, "bool"}, {YAML_INT_TAG, "int"}, {YAML_FLOAT_TAG, "float"}};
      const auto type = kTypes.find(tag);
      if (type == kTypes.end()) return Tagged(tag, YAML_STR_TAG, line), std::nullopt;
      const bool fits = value->TypeName() == type->second || (type->second == "float" && value->IsNumber());
      if (!fits) return Refuse(line, Quoted(text) + " does not match its tag");
      if (type->second == "float") value = Value(value->Number());
    } else {
      NoteTrap(text, line, false);
    }
    const std::size_t size = value->AsString() == nullptr ? 0 : text.size();
    return Measured{*std::move(value), 1, size};
  }

  std::optional<Measured> Sequence(int depth) {
    Measured made;
    Value::List list;
    while (auto element = Next(depth + 1)) {
      made.values += element->values;
      made.text += element->text;
      list.push_back(std::move(element->value));
    }
    if (problem_) return std::nullopt;
    made.value = Value(std::move(list));
    return made;
  }

  std::optional<Measured> Mapping(int depth) {
    Measured made;
    Value::Map map;
    std::vector<Value> merged;
    while (auto key = Next(depth + 1, true)) {
      const auto line = static_cast<std::uint32_t>(parser_.mark.line + 1);
      const bool merges = std::exchange(merge_key_, false);
      auto mapped = Next(depth + 1);
      if (!mapped) return std::nullopt;
      made.values += mapped->values;
      made.text += mapped->text + key->text;
      const std::string& name = *key->value.AsString();
      if (merges) {
        merged.push_back(std::move(mapped->value));
      } else if (!map.emplace(name, std::move(mapped->value)).second) {
        return Refuse(line, "the key " + Quoted(name) + " appears twice");
      }
    }
    if (problem_) return std::nullopt;
    // Keys beside << win, then the first of the merged maps.
    for (const Value& from : merged) {
      const Value::List one = {from};
      for (const Value& source : from.AsList() != nullptr ? *from.AsList() : one) {
        if (source.AsMap() == nullptr) {
          return Refuse(static_cast<std::uint32_t>(parser_.mark.line + 1), "<< merges maps only");
        }
        map.insert(source.AsMap()->begin(), source.AsMap()->end());
      }
    }
    made.value = Value(std::move(map));
    return made;
  }

  yaml_parser_t parser_{};
  std::optional<YamlProblem> problem_;
  std::string_view text_read_;
  std::vector<std::pair<yaml_mark_t, yaml_mark_t>> may_hold_tabs_;  // extents of scalars that are not plain, in order
  std::vector<YamlText::Trap> traps_;
  std::map<std::string, Measured, std::less<>> anchors_;
  std::size_t values_ = 0;
  std::size_t text_ = 0;
  bool merge_key_ = false;  // the last key was an unquoted <<
};

class Writer {
 public:
  explicit Writer(std::string& out) {
    yaml_emitter_initialize(&emitter_);
    yaml_emitter_set_encoding(&emitter_, YAML_UTF8_ENCODING);
    yaml_emitter_set_unicode(&emitter_, 1);
    yaml_emitter_set_width(&emitter_, -1);
    yaml_emitter_set_output(
        &emitter_,
        [](void* data, unsigned char* bytes, std::size_t size) {
          static_cast<std::string*>(data)->append(reinterpret_cast<const char*>(bytes), size);
          return 1;
        },
        &out);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { yaml_emitter_delete(&emitter_); }

  void Write(const Value& value) {
    yaml_event_t event;
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    Emit(event);
    yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1);
    Emit(event);
    WriteValue(value);
    yaml_document_end_event_initialize(&event, 1);
    Emit(event);
    yaml_stream_end_event_initialize(&event);
    Emit(event);
  }

 private:
  void Emit(yaml_event_t& event) { yaml_emitter_emit(&emitter_, &event); }

  void WriteScalar(std::string_view text, yaml_scalar_style_t style) {
    yaml_event_t event;
    yaml_scalar_event_initialize(&event, nullptr, nullptr, reinterpret_cast<const yaml_char_t*>(text.data()),
                                 static_cast<int>(text.size()), 1, 1, style);
    Emit(event);
  }

  void WriteText(const std::string& text) {
    constexpr std::string_view kPort = "${muster:port:";
    const bool port = text.starts_with(kPort) && text.find('}') == text.size() - 1;
    WriteScalar(text, port || IsPlainYamlText(text) ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
  }

  void WriteValue(const Value& value) {
    yaml_event_t event;
    if (const Value::List* list = value.AsList()) {
      yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1,
                                           list->empty() ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
      Emit(event);
      for (const Value& element : *list) WriteValue(element);
      yaml_sequence_end_event_initialize(&event);
      Emit(event);
    } else if (const Value::Map* map = value.AsMap()) {
      yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1,
                                          map->empty() ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE);
      Emit(event);
      for (const auto& [key, mapped] : *map) {
        WriteText(key);
        WriteValue(mapped);
      }
      yaml_mapping_end_event_initialize(&event);
      Emit(event);
    } else if (const std::string* text = value.AsString()) {
      WriteText(*text);
    } else if (value.IsNull()) {
      WriteScalar("null", YAML_PLAIN_SCALAR_STYLE);
    } else if (const double* number = value.AsDouble()) {
      WriteScalar(YamlNumberText(*number), YAML_PLAIN_SCALAR_STYLE);
    } else {
      WriteScalar(ToText(value), YAML_PLAIN_SCALAR_STYLE);
    }
  }

  yaml_emitter_t emitter_{};
};

}  // namespace

tl::expected<YamlText, YamlProblem> ValueFromYamlText(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (!IsUtf8(text) || text.find('\0') != std::string_view::npos) {
    return tl::unexpected(YamlProblem{"it is not valid UTF-8 without NUL", 1});
  }
  return Reader(text).Read();
}

std::string YamlTextOf(const Value& value) {
  std::string out;
  Writer(out).Write(value);
  return out;
}

}  // namespace muster
