// The pages of engines that are part of the program, and answers that real engines gave (tests/engine/answers).
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "engine/engine_page.h"
#include "lua/state/own_data.h"
#include "support/places.h"

namespace muster::testing {

// Fails the test and returns an empty page if it cannot be read.
inline EnginePage OwnPage(const std::string& name) {
  const auto value = OwnEngine(name);
  EXPECT_TRUE(value) << name << ": " << value.error().front().message;
  if (!value) return {};
  auto page = ReadEnginePage(*value, name + ".lua", {});
  if (!page) {
    for (const Diagnostic& problem : page.error()) ADD_FAILURE() << name << ": " << problem.message;
    return {};
  }
  return *std::move(page);
}

inline std::string AnswerOf(const std::string& file) {
  std::ifstream stream(std::string(MUSTER_SOURCE_DIR) + "/tests/engine/answers/" + file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace muster::testing
