// Reads lines of a journal, of a run or of a sweep, as JSON, and waits for further ones.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace muster::testing {

// The records of one event in the file, in order; of all events if it is empty. Skips invalid lines.
inline std::vector<nlohmann::json> RecordsOf(const std::string& journal, const std::string& event = {}) {
  std::vector<nlohmann::json> records;
  std::ifstream file(journal);
  for (std::string line; std::getline(file, line) && !file.eof();) {  // a last line without its newline is not whole
    nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_discarded() && (event.empty() || record["event"] == event)) records.push_back(std::move(record));
  }
  return records;
}

}  // namespace muster::testing
