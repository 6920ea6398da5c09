// See checkpoint.h.
#include "ps_digits/checkpoint.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include <nlohmann/json.hpp>

#include "ps_digits/softmax.h"

namespace ps_digits {
namespace {

constexpr std::size_t kMaxCheckpointBytes = 1 << 20;

std::string NameOf(std::uint32_t epoch) { return "epoch_" + std::to_string(epoch) + ".json"; }

}  // namespace

Result<void> SaveCheckpoint(const std::string& folder, const Checkpoint& checkpoint) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path name = std::filesystem::path(folder) / NameOf(checkpoint.epoch);
  const std::string temporary = name.string() + ".tmp";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(temporary.c_str(), "we"), &std::fclose);
  if (file == nullptr) return SystemFailure("cannot write " + temporary, errno);
  const std::string text = nlohmann::json{{"epoch", checkpoint.epoch}, {"weights", checkpoint.weights}}.dump() + "\n";
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() || std::fflush(file.get()) != 0) {
    return SystemFailure("cannot write " + temporary, errno);
  }
  std::filesystem::rename(temporary, name, error);
  if (error) return Failure{"cannot write " + name.string() + ": " + error.message()};
  if (checkpoint.epoch > 0)
    std::filesystem::remove(std::filesystem::path(folder) / NameOf(checkpoint.epoch - 1), error);
  return {};
}

Result<Checkpoint> LoadCheckpoint(const std::string& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(std::fopen(file.c_str(), "re"), &std::fclose);
  if (opened == nullptr) return SystemFailure("cannot read " + file, errno);
  std::string text(kMaxCheckpointBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), opened.get()));
  const Failure refused{file + " is not a checkpoint of ps_digits: want {\"epoch\": N, \"weights\": [" +
                        std::to_string(kWeightCount) + " numbers]}"};
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("epoch") || !json.contains("weights")) return refused;
  if (!json["epoch"].is_number_unsigned() || !json["weights"].is_array() || json["weights"].size() != kWeightCount) {
    return refused;
  }
  Checkpoint checkpoint{json["epoch"].get<std::uint32_t>(), {}};
  for (const auto& weight : json["weights"]) {
    if (!weight.is_number() || !std::isfinite(weight.get<double>())) return refused;
    checkpoint.weights.push_back(weight.get<double>());
  }
  return checkpoint;
}

}  // namespace ps_digits
