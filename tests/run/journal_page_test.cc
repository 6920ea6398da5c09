// docs/journal.md has every entry that is written, with each of its fields, and none that is not.
#include <cstddef>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run/journal.h"
#include "support/places.h"

namespace muster {
namespace {

std::set<std::string> InBackticks(const std::string& text) {
  std::set<std::string> words;
  for (std::size_t begin = text.find('`'); begin != std::string::npos;) {
    const std::size_t end = text.find('`', begin + 1);
    if (end == std::string::npos) break;
    words.insert(text.substr(begin + 1, end - begin - 1));
    begin = text.find('`', end + 1);
  }
  return words;
}

// Event -> words of its row.
std::map<std::string, std::set<std::string>> RowsOfThePage() {
  std::ifstream page(MUSTER_SOURCE_DIR "/docs/journal.md");
  std::map<std::string, std::set<std::string>> rows;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    const std::size_t name = line.find('`', 3);
    rows[line.substr(3, name - 3)] = InBackticks(line.substr(name + 1));
  }
  return rows;
}

template <std::size_t... kIndices>
std::vector<JournalEntry> OneOfEach(std::index_sequence<kIndices...>) {
  return {JournalEntry(std::in_place_index<kIndices>)...};
}

TEST(JournalPage, HasEveryEntryWithItsFields) {
  auto rows = RowsOfThePage();
  for (const JournalEntry& entry : OneOfEach(std::make_index_sequence<std::variant_size_v<JournalEntry>>())) {
    const std::string name(EntryName(entry));
    ASSERT_TRUE(rows.contains(name)) << name << " is written and not told";
    const auto json = nlohmann::json::parse(JournalLine({1, "", 0, entry}));
    for (const auto& [field, unused] : json.items()) {
      const bool of_all = field == "seq" || field == "wall" || field == "at" || field == "event" || field == "crc";
      EXPECT_TRUE(of_all || rows[name].contains(field)) << name << ": its field " << field << " is not told";
    }
    rows.erase(name);
  }
  for (const auto& [name, unused] : rows) ADD_FAILURE() << name << " is told and never written";
}

}  // namespace
}  // namespace muster
