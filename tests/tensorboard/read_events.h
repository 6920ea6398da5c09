// Reads event files with tests/support/read_events.py.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/command.h"
#include "support/places.h"

namespace muster::testing {

inline std::vector<nlohmann::json> EventsOf(const std::string& path) {
  const CommandResult read =
      RunCommand({{"/usr/bin/python3", "-B", MUSTER_SOURCE_DIR "/tests/support/read_events.py", path}});
  EXPECT_EQ(read.exit_code, 0) << read.err;
  std::vector<nlohmann::json> events;
  std::istringstream lines(read.out);
  for (std::string line; std::getline(lines, line);) events.push_back(nlohmann::json::parse(line));
  return events;
}

// (tag, step, value) of an event with a scalar, as text.
inline std::vector<std::string> ScalarsOf(const std::vector<nlohmann::json>& events) {
  std::vector<std::string> scalars;
  for (const nlohmann::json& event : events) {
    if (!event.contains("summary")) continue;
    const nlohmann::json& value = event["summary"]["value"][0];
    if (!value.contains("simple_value")) continue;
    std::ostringstream text;
    text << value["tag"].get<std::string>() << ' ' << event.value("step", 0) << ' ' << value["simple_value"];
    scalars.push_back(text.str());
  }
  return scalars;
}

// The data of HParams with this name, null if there is none.
inline nlohmann::json SessionOf(const std::vector<nlohmann::json>& events, const std::string& name) {
  for (const nlohmann::json& event : events) {
    if (!event.contains("summary")) continue;
    const nlohmann::json& value = event["summary"]["value"][0];
    if (value["tag"] != "_hparams_/" + name) continue;
    EXPECT_EQ(value["metadata"]["plugin_data"]["plugin_name"], "hparams");
    EXPECT_EQ(value["tensor"],
              nlohmann::json::parse(R"({"dtype": 1, "shape": {"dim": [{"size": 1}]}, "float_val": [0.0]})"));
    return value["metadata"]["plugin_data"]["content"][name];
  }
  return nullptr;
}

}  // namespace muster::testing
