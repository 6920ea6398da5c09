// Tests the records of event files against bytes that TensorBoard's own reader accepts, and by a second decoder.
#include <fstream>

#include <gtest/gtest.h>

#include "base/values/fingerprint.h"
#include "support/temp_dir.h"
#include "tensorboard/event_file.h"
#include "tensorboard/read_events.h"

namespace muster::testing {
namespace {

constexpr double kTime = 1790000000;

std::string Hex(const std::string& bytes) {
  return HexText(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::vector<nlohmann::json> Read(const std::string& records) {
  const TempDir folder;
  std::ofstream(folder / "events") << FileVersionRecord(kTime) << records;
  return EventsOf(folder / "events");
}

TEST(EventRecord, BeginsAFileWithItsVersion) {
  EXPECT_EQ(Hex(FileVersionRecord(kTime)),
            "1800000000000000a37f4b2209000000e04eacda411a0d627261696e2e4576656e743a3236da95ad");
  EXPECT_EQ(Read("")[0], nlohmann::json::parse(R"({"wall_time": 1790000000.0, "file_version": "brain.Event:2"})"));
}

TEST(EventRecord, HasAScalarWithItsStep) {
  const auto events = Read(ScalarRecord(kTime + 0.5, 9'000'000'000'000'000, "loss/\xC3\xA9", 0.25F) +
                           ScalarRecord(kTime, 0, "x", 1e30F) + ScalarRecord(kTime, -1, "y", -0.5F));
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[1]["step"], 9'000'000'000'000'000);
  EXPECT_EQ(events[1]["wall_time"], kTime + 0.5);
  EXPECT_EQ(events[1]["summary"]["value"][0]["tag"], "loss/\xC3\xA9");
  EXPECT_EQ(events[1]["summary"]["value"][0]["simple_value"], 0.25);
  EXPECT_EQ(events[2]["summary"]["value"][0]["simple_value"].get<float>(), 1e30F);
  EXPECT_EQ(events[3]["step"], -1);
}

TEST(EventRecord, HasTheParametersOfASession) {
  const Value::Map parameters = {{"lr", 0.1},
                                 {"layers", 3},
                                 {"on", true},
                                 {"none", Value()},
                                 {"name", "a b"},
                                 {"optimizer", Value::Map{{"beta", Value::Map{{"one", 0.9}}}}},
                                 {"sizes", Value::List{1, 2}}};
  const auto events =
      Read(SessionBeganRecord(kTime, parameters) + SessionEndedRecord(kTime + 9, SessionStatus::kFailure));
  EXPECT_EQ(SessionOf(events, "session_start_info"),
            nlohmann::json::parse(R"({"start_time_secs": 1790000000.0, "hparams":
      {"lr": 0.1, "layers": 3.0, "on": true, "none": null, "name": "a b", "optimizer.beta.one": 0.9, "sizes": "[1,2]"}})"));
  EXPECT_EQ(SessionOf(events, "session_end_info"),
            nlohmann::json::parse(R"({"status": 2, "end_time_secs": 1790000009.0})"));
}

}  // namespace
}  // namespace muster::testing
