// Reads lines of a journal, of a run or of a sweep, as JSON, and waits for further ones.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace muster::testing {

// Returns the records of one event in order, or of all events if `event` is empty. Skips invalid lines.
inline std::vector<nlohmann::json> RecordsOf(const std::string& journal, const std::string& event = {}) {
  std::vector<nlohmann::json> records;
  std::ifstream file(journal);
  for (std::string line; std::getline(file, line) && !file.eof();) {  // a last line without a newline is incomplete
    nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_discarded() && (event.empty() || record["event"] == event)) records.push_back(std::move(record));
  }
  return records;
}

}  // namespace muster::testing
