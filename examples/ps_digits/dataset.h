// The handwritten digits: one text line per image, 64 pixels 0..16 and the digit. Defines the file format and the split
// into training and test images; independent of workers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ps_digits/failure.h"

namespace ps_digits {

inline constexpr std::size_t kPixels = 64;
inline constexpr std::size_t kClasses = 10;
inline constexpr int kMaxPixel = 16;
// Every fifth line (the 5th, 10th, …) is a test image, and not used for training.
inline constexpr std::size_t kTestEvery = 5;

struct Image {
  std::array<double, kPixels> pixels{};  // scaled to 0..1
  std::uint8_t digit = 0;

  bool operator==(const Image&) const = default;
};

struct Dataset {
  std::vector<Image> training;
  std::vector<Image> test;
  std::uint64_t fingerprint = 0;  // of the text: lets workers verify that they read the same file
};

// `name` is only for messages: "digits.csv:7: …".
Result<Dataset> ParseDataset(std::string_view text, const std::string& name);

Result<Dataset> LoadDataset(const std::string& file);

}  // namespace ps_digits
