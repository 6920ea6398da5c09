#include "engine/page_reader.h"

#include <algorithm>

#include "base/values/suggest.h"
#include "base/values/utf8.h"
#include "engine/command_template.h"

namespace muster {
namespace {

constexpr std::size_t kMostProblems = 20;
constexpr std::size_t kLongestPageText = 4'096;

bool IsOneLine(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

}  // namespace

std::string PageReader::Table::At(std::string_view field) const {
  return path.empty() ? std::string(field) : path + "." + std::string(field);
}

const Value* PageReader::Table::Find(const std::string& field) const {
  const auto found = map->find(field);
  return found == map->end() ? nullptr : &found->second;
}

void PageReader::Wrong(const char* kind, const std::string& path, std::string message, std::string hint) {
  if (problems_.size() >= kMostProblems) return;
  // The nearest line that is known: lists and computed tables have none of their own.
  Place place{file_, 0};
  for (std::string at = path; !at.empty(); at.resize(at.rfind('.') == std::string::npos ? 0 : at.rfind('.'))) {
    if (const auto line = lines_.find(at); line != lines_.end()) {
      place.line = line->second;
      break;
    }
  }
  problems_.push_back(Error(kind, std::move(place), std::move(message), std::move(hint)));
}

std::optional<PageReader::Table> PageReader::AsTable(const Value& value, const std::string& path,
                                                     const std::vector<std::string>& known) {
  const std::string what = path.empty() ? "an engine's page" : path;
  static const Value::Map kEmpty;
  // In Lua an empty list is an empty table.
  const bool empty = value.AsList() != nullptr && value.AsList()->empty();
  if (value.AsMap() == nullptr && !empty) {
    Wrong("type", path, what + " is a table of names and values, got " + ToText(value));
    return std::nullopt;
  }
  Table table{empty ? &kEmpty : value.AsMap(), path};
  for (const auto& [name, unused] : *table.map) {
    if (known.empty() || std::find(known.begin(), known.end(), name) != known.end()) continue;
    Wrong("unknown_key", table.At(name), what + " has no field " + name, DidYouMean(name, known));
  }
  return table;
}

const std::string* PageReader::TextIn(const std::string& path, const Value& value, bool empty) {
  const std::string* text = value.AsString();
  if (text == nullptr || (text->empty() && !empty)) {
    Wrong("type", path, path + " is a text, got " + ToText(value));
  } else if (!IsUtf8(*text) || !IsOneLine(*text) || text->size() > kLongestPageText) {
    Wrong("format", path, path + " is one line of UTF-8 of at most 4096 bytes, got " + ToText(value));
  } else {
    return text;
  }
  return nullptr;
}

void PageReader::Text(const Table& table, const std::string& field, std::string& out, bool required, bool empty) {
  const Value* value = table.Find(field);
  if (value == nullptr) {
    if (required)
      Wrong("missing", table.path, (table.path.empty() ? "an engine's page" : table.path) + " has no " + field);
    return;
  }
  if (const std::string* text = TextIn(table.At(field), *value, empty)) out = *text;
}

void PageReader::Texts(const Table& table, const std::string& field, std::vector<std::string>& out) {
  const Value* value = table.Find(field);
  if (value == nullptr) return;
  const std::string path = table.At(field);
  if (value->AsMap() != nullptr && value->AsMap()->empty()) return;
  const Value::List* list = value->AsList();
  if (list == nullptr) return Wrong("type", path, path + " is a list of texts, got " + ToText(*value));
  std::vector<std::string> texts;
  for (const Value& each : *list) {
    const std::string* text = TextIn(path, each, true);
    if (text == nullptr) return;
    texts.push_back(*text);
  }
  out = std::move(texts);
}

void PageReader::Flag(const Table& table, const std::string& field, bool& out) {
  const Value* value = table.Find(field);
  if (value == nullptr) return;
  if (value->AsBool() == nullptr) {
    return Wrong("type", table.At(field), table.At(field) + " is true or false, got " + ToText(*value));
  }
  out = *value->AsBool();
}

void PageReader::Number(const Table& table, const std::string& field, std::uint32_t most, std::uint32_t& out) {
  const Value* value = table.Find(field);
  if (value == nullptr) return;
  const std::int64_t* number = value->AsInt();
  if (number == nullptr || *number < 0 || *number > std::int64_t{most}) {
    return Wrong("range", table.At(field),
                 table.At(field) + " is a whole number from 0 to " + std::to_string(most) + ", got " + ToText(*value));
  }
  out = static_cast<std::uint32_t>(*number);
}

void PageReader::CheckPlaceholders(const std::string& path, std::string_view text,
                                   const std::vector<std::string>& known) {
  const auto names = PlaceholdersIn(text);
  if (!names) return Wrong("format", path, path + ": " + ToText(Value(text)) + " has " + names.error());
  for (const std::string& name : *names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      Wrong("unknown_key", path, path + " has no placeholder {" + name + "}", DidYouMean(name, known));
    } else if (name.starts_with("each_") && text.size() != name.size() + 2) {
      Wrong("format", path,
            path + ": {" + name + "} becomes several words, so it is a word of its own, got " + ToText(Value(text)));
    }
  }
}

void PageReader::Command(const Table& table, const std::string& field, const std::vector<std::string>& known,
                         const std::vector<std::string>& wanted, std::vector<std::string>& out, bool required) {
  const std::string path = table.At(field);
  if (table.Find(field) == nullptr) {
    if (required)
      Wrong("missing", table.path, (table.path.empty() ? "an engine's page" : table.path) + " has no " + field);
    return;
  }
  std::vector<std::string> words;
  Texts(table, field, words);
  if (words.empty() || words.front().empty()) {
    if (sound()) Wrong("type", path, path + " is a list of words, the program first");
    return;
  }
  for (const std::string& word : words) CheckPlaceholders(path, word, known);
  for (const std::string& name : wanted) {
    const bool there = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return word.find("{" + name + "}") != std::string::npos;
    });
    if (!there) Wrong("missing", path, path + " has no placeholder {" + name + "}");
  }
  out = std::move(words);
}

void PageReader::NoSuchWord(const std::string& path, const Value& value, const std::vector<std::string>& known) {
  std::string words;
  for (const std::string& word : known) words += (words.empty() ? "\"" : ", \"") + word + "\"";
  Wrong("enum", path, path + " is one of " + words + ", got " + ToText(value),
        value.AsString() == nullptr ? "" : DidYouMean(*value.AsString(), known));
}

}  // namespace muster
