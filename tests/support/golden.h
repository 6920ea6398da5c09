// Compares texts with golden files in the tree. With MUSTER_UPDATE_GOLDENS=1, set by tools/update-goldens, rewrites
// these instead.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "support/places.h"

namespace muster::testing {

// `kept` is the golden file's path below the source tree. An empty text means that there is no file.
inline void ExpectGolden(const std::string& said, const std::string& kept) {
  const std::string path = std::string(MUSTER_SOURCE_DIR) + "/" + kept;
  if (std::getenv("MUSTER_UPDATE_GOLDENS") != nullptr) {
    if (said.empty()) {
      std::filesystem::remove(path);
    } else {
      std::ofstream(path, std::ios::binary) << said;
    }
    return;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(said == content) << kept << " (tools/update-goldens rewrites it) is not what is said now:\n" << said;
}

}  // namespace muster::testing
