// Reads tables of an engine's page field by field and collects what is wrong, at the lines of the user's file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/value.h"

namespace muster {

class PageReader {
 public:
  // Both must outlive the reader.
  PageReader(const std::string& file, const std::map<std::string, std::uint32_t>& lines) : file_(file), lines_(lines) {}

  // A table and its path ("hosts"; empty: the page itself). Fields are paths below it.
  struct Table {
    const Value::Map* map = nullptr;
    std::string path;

    std::string At(std::string_view field) const;
    const Value* Find(const std::string& field) const;
  };

  // The table, if the value is one with none but these fields.
  std::optional<Table> AsTable(const Value& value, const std::string& path, const std::vector<std::string>& known);

  // Fields of a table: `out` stays as it is if the field is missing or wrong. Texts are UTF-8 of one line; an empty one
  // is wrong unless `empty` allows it.
  void Text(const Table& table, const std::string& field, std::string& out, bool required = false, bool empty = false);
  void Texts(const Table& table, const std::string& field, std::vector<std::string>& out);
  void Flag(const Table& table, const std::string& field, bool& out);
  void Number(const Table& table, const std::string& field, std::uint32_t most, std::uint32_t& out);
  // A command: texts, whose placeholders are among `known` and contain each of `wanted`. {each_NAME} must be a whole
  // word.
  void Command(const Table& table, const std::string& field, const std::vector<std::string>& known,
               const std::vector<std::string>& wanted, std::vector<std::string>& out, bool required = false);
  void CheckPlaceholders(const std::string& path, std::string_view text, const std::vector<std::string>& known);

  // A word of `words`.
  template <class E>
  void Word(const Table& table, const std::string& field, const std::vector<std::pair<std::string, E>>& words, E& out) {
    const Value* value = table.Find(field);
    if (value == nullptr) return;
    for (const auto& [word, member] : words) {
      if (value->AsString() != nullptr && *value->AsString() == word) {
        out = member;
        return;
      }
    }
    std::vector<std::string> known;
    for (const auto& [word, unused] : words) known.push_back(word);
    NoSuchWord(table.At(field), *value, known);
  }

  void Wrong(const char* kind, const std::string& path, std::string message, std::string hint = {});
  Diagnostics TakeProblems() { return std::move(problems_); }
  bool sound() const { return problems_.empty(); }

 private:
  void NoSuchWord(const std::string& path, const Value& value, const std::vector<std::string>& known);
  const std::string* TextIn(const std::string& path, const Value& value, bool empty);

  const std::string& file_;
  const std::map<std::string, std::uint32_t>& lines_;
  Diagnostics problems_;
};

}  // namespace muster
