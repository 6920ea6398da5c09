// Tests round trips of archived values, and rejection of bytes that no writer produces.
#include "wire/archive/archive.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "wire/archive/value_archive.h"

namespace muster {
namespace {

enum class Colour : std::uint8_t { kRed, kGreen };

struct Sample {
  bool flag = false;
  std::int64_t number = 0;
  std::uint16_t small = 0;
  double real = 0;
  std::string text;
  Colour colour = Colour::kRed;
  std::optional<std::string> maybe;
  std::vector<std::int32_t> list;
  std::map<std::string, std::uint32_t> map;
  std::variant<std::string, std::uint8_t> either;

  bool operator==(const Sample&) const = default;
};

template <class A>
void Fields(A& archive, Sample& sample) {
  archive(sample.flag, sample.number, sample.small, sample.real, sample.text);
  InRange(archive, sample.colour, Colour::kGreen);
  archive(sample.maybe, sample.list, sample.map, sample.either);
}

Sample RichSample() {
  return {true,
          -7,
          65535,
          -0.1,
          std::string("a\0\xff", 3),
          Colour::kGreen,
          "x",
          {1, -2, std::numeric_limits<std::int32_t>::min()},
          {{"", 0}, {"b", 4294967295U}},
          std::uint8_t{255}};
}

template <class T>
void ExpectRoundTrip(const T& value) {
  const auto back = Unarchived<T>(Archived(value));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, value);
}

TEST(Archive, RoundTripsEveryKindOfField) {
  ExpectRoundTrip(RichSample());
  ExpectRoundTrip(Sample{});
}

TEST(Archive, RoundTripsExtremeNumbers) {
  using Signed = std::numeric_limits<std::int64_t>;
  using Unsigned = std::numeric_limits<std::uint64_t>;
  for (const std::int64_t number : {Signed::min(), Signed::min() + 1, std::int64_t{-1}, std::int64_t{0},
                                    std::int64_t{63}, std::int64_t{64}, Signed::max()}) {
    ExpectRoundTrip(number);
  }
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, Unsigned::max()})
    ExpectRoundTrip(number);
  for (const double number :
       {0.0, -0.0, 5e-324, std::numeric_limits<double>::max(), std::numeric_limits<double>::infinity()}) {
    ExpectRoundTrip(number);
  }
}

TEST(Archive, KeepsTheBitsOfNan) {
  const auto back = Unarchived<double>(Archived(std::numeric_limits<double>::quiet_NaN()));
  ASSERT_TRUE(back);
  EXPECT_NE(*back, *back);
}

TEST(Archive, RefusesEveryTruncation) {
  const std::string bytes = Archived(RichSample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Unarchived<Sample>(std::string_view(bytes).substr(0, size))) << size;
  }
}

TEST(Archive, RefusesTrailingBytes) { EXPECT_FALSE(Unarchived<Sample>(Archived(RichSample()) + '\0')); }

TEST(Archive, RefusesACountLargerThanTheRemainingBytes) {
  // Claims 2^63 - 1 elements with no bytes following: must neither allocate nor loop.
  const std::string lie("\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9);
  EXPECT_FALSE(Unarchived<std::string>(lie));
  EXPECT_FALSE(Unarchived<std::vector<std::uint64_t>>(lie));
  EXPECT_FALSE((Unarchived<std::map<std::string, std::uint64_t>>(lie)));
}

TEST(Archive, RefusesNumbersOutOfRangeOfTheirType) {
  EXPECT_FALSE(Unarchived<std::uint8_t>(Archived(std::uint64_t{256})));
  EXPECT_FALSE(Unarchived<std::int32_t>(Archived(std::int64_t{1} << 31)));
  EXPECT_FALSE(Unarchived<bool>(std::string_view("\x02", 1)));
  EXPECT_FALSE(Unarchived<std::uint64_t>(std::string(9, '\xff') + '\x02')) << "65 bits";
  EXPECT_FALSE(Unarchived<std::uint64_t>(std::string(11, '\x80'))) << "a varint without end";
}

TEST(Archive, RefusesUnknownEnumeratorsAndAlternatives) {
  std::string bytes = Archived(Sample{});
  const std::string good = bytes;
  ASSERT_TRUE(Unarchived<Sample>(good));
  const std::size_t colour = 1 + 1 + 1 + 8 + 1;
  bytes[colour] = 2;
  EXPECT_FALSE(Unarchived<Sample>(bytes));
  bytes = good;
  bytes[bytes.size() - 2] = 2;  // index of the variant
  EXPECT_FALSE(Unarchived<Sample>(bytes));
}

TEST(Archive, RefusesAKeyThatAppearsTwice) {
  ArchiveWriter writer;
  std::uint64_t count = 2;
  std::string key = "a";
  std::uint32_t value = 1;
  writer(count, key, value, key, value);
  EXPECT_FALSE((Unarchived<std::map<std::string, std::uint32_t>>(writer.Take())));
}

Value Nested(int levels) {
  Value value(1);
  for (int i = 0; i < levels; ++i) value = Value(Value::List{std::move(value)});
  return value;
}

TEST(Archive, RefusesUnsortedKeys) {
  using Flat = boost::container::flat_map<std::string, bool>;
  const std::string ordered(
      "\x02\x01"
      "a\x01\x01"
      "b\x01",
      7);
  const std::string disordered(
      "\x02\x01"
      "b\x01\x01"
      "a\x01",
      7);
  EXPECT_EQ(Unarchived<Flat>(ordered), (Flat{{"a", true}, {"b", true}}));
  EXPECT_EQ(Archived(Flat{{"a", true}, {"b", true}}), ordered);
  EXPECT_FALSE(Unarchived<Flat>(disordered));
  EXPECT_FALSE((Unarchived<std::map<std::string, bool>>(disordered)));
}

TEST(Archive, AcceptsValuesAsDeepAsJsonAllows) { ExpectRoundTrip(std::vector<std::optional<Value>>{Nested(64)}); }

TEST(Archive, RefusesEndlessNestingBeforeTheStackOverflows) {
  EXPECT_FALSE(Unarchived<Value>(Archived(Nested(200))));
  std::string bytes;
  for (int i = 0; i < 1'000'000; ++i) bytes += "\x05\x01";  // lists nested one million deep
  EXPECT_FALSE(Unarchived<Value>(bytes));
}

TEST(Archive, RefusesAnUnknownKindOfValue) { EXPECT_FALSE(Unarchived<Value>(std::string_view("\x07\x00", 2))); }

TEST(Archive, SurvivesAnyBytes) {
  std::mt19937 random(20261120);
  const std::string good = Archived(RichSample());
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (int change = 0; change < 1 + round % 4; ++change) {
      bytes[random() % bytes.size()] = static_cast<char>(random() & 0xff);
    }
    const auto read = Unarchived<Sample>(bytes);
    // An accepted value can be written and read again. (Compared as bytes, since NaN is not equal to itself.)
    if (!read) continue;
    EXPECT_EQ(Archived(*Unarchived<Sample>(Archived(*read))), Archived(*read));
  }
}

TEST(Archive, RoundTripsDiagnostics) {
  Diagnostic diagnostic = Warning("kind", {"a.lua", 3}, "message", "hint");
  diagnostic.blame = Blame::kBusy;
  diagnostic.notes = {{"note", {"b.lua", 4}}, {"", {}}};
  ExpectRoundTrip(Diagnostics{diagnostic, MachineError("x", "y")});
  std::string bytes = Archived(diagnostic);
  bytes[1] = 3;  // blame
  EXPECT_FALSE(Unarchived<Diagnostic>(bytes));
}

}  // namespace
}  // namespace muster
