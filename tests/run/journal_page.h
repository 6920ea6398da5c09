// Parses the documentation of journal entries.
#pragma once

#include <cstddef>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace muster {

inline std::set<std::string> InBackticks(const std::string& text) {
  std::set<std::string> words;
  for (std::size_t begin = text.find('`'); begin != std::string::npos;) {
    const std::size_t end = text.find('`', begin + 1);
    if (end == std::string::npos) break;
    words.insert(text.substr(begin + 1, end - begin - 1));
    begin = text.find('`', end + 1);
  }
  return words;
}

// Maps each event to the words of its row, from all tables whose first column is the event.
inline std::map<std::string, std::set<std::string>> RowsOfThePage(const std::string& path) {
  std::ifstream page(path);
  std::map<std::string, std::set<std::string>> rows;
  bool of_events = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| ") && !line.starts_with("| `") && !line.starts_with("| -"))
      of_events = line.starts_with("| event");
    if (!of_events || !line.starts_with("| `")) continue;
    const std::size_t name = line.find('`', 3);
    rows[line.substr(3, name - 3)] = InBackticks(line.substr(name + 1));
  }
  return rows;
}

}  // namespace muster
