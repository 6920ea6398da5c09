// Tests described values as JSON: what is written, and how texts that are not valid are refused or left out.
#include "wire/archive/json_fields.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

enum class LeafColour : std::uint8_t { kRed, kGreen };
constexpr std::array<std::string_view, 2> kLeafColours = {"red", "green"};

struct Leaf {
  std::uint32_t size = 0;
  LeafColour colour = LeafColour::kRed;
  std::string note = {};

  bool operator==(const Leaf&) const = default;
};
template <class V>
void Fields(V& v, Leaf& leaf) {
  v("colour", WithNames(leaf.colour, kLeafColours)), v("note", As<UnlessNone>(leaf.note)), v("size", leaf.size);
}

struct Branch {
  std::vector<Leaf> leaves = {};
  std::map<std::string, Leaf> named = {};
  std::optional<double> weight = {};
  std::string text = {};
  std::vector<std::string> words = {};
  std::uint32_t later = 7;
  bool odd = false;
  std::string why = {};

  bool operator==(const Branch&) const = default;
};
template <class V>
void Fields(V& v, Branch& branch) {
  v("leaves", AtMost(branch.leaves, 3)), v("named", branch.named), v("weight", branch.weight);
  v("text", As<NullIfNone>(branch.text)), v("words", AtMost(branch.words, 2, 4)),
      v("later", MayBeMissing(branch.later));
  v("odd", branch.odd), v("why", OnlyIf(branch.odd, branch.why));
}

const Branch kSampleBranch = {
    {{1, LeafColour::kGreen}, {2, LeafColour::kRed, "n"}}, {{"a", {3}}}, 0.5, "t", {"w"}, 8, true, "y"};
const std::string kBranchText =
    R"({"leaves":[{"colour":"green","size":1},{"colour":"red","note":"n","size":2}],)"
    R"("named":{"a":{"colour":"red","size":3}},"weight":0.5,"text":"t","words":["w"],"later":8,"odd":true,"why":"y"})";

TEST(JsonFields, AreReadAsTheyAreWritten) {
  EXPECT_EQ(JsonOf(kSampleBranch), kBranchText);
  EXPECT_EQ(FromJson<Branch>(kBranchText), kSampleBranch);
  EXPECT_EQ(JsonOf(Leaf{}, 1), "{\n \"colour\": \"red\",\n \"size\": 0\n}");
  EXPECT_EQ(JsonOf(std::vector<std::vector<int>>{{}, {1, 2}}, 2), "[\n  [],\n  [\n    1,\n    2\n  ]\n]");
  EXPECT_EQ(JsonOf(std::string("a\xff\n")), R"("a\\xff\\n")");
  EXPECT_EQ(JsonOf(std::nan("")), "null");
}

std::string BranchWith(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST(JsonFields, NameTheMemberThatIsNotValid) {
  const struct {
    const char* what;
    const char* by;
    const char* why;
  } cases[] = {
      {"\"size\":2", "\"size\":-1", "\"size\" of leaves[1] must be a whole number in range"},
      {"\"size\":3", "\"size\":4294967296", "\"size\" of named.a must be a whole number in range"},
      {"\"size\":2", "\"sise\":2", "leaves[1] has no field \"size\""},
      {"\"green\"", "\"blue\"", "\"colour\" of leaves[0] must be one of red, green"},
      {"{\"colour\":\"green\",\"size\":1}", "7", "leaves[0] must be an object"},
      {"[{\"colour\":\"green\",\"size\":1}", "[{},{},{}", "\"leaves\" must be a list of at most 3 elements"},
      {"[\"w\"]", "[1]", "\"words\" must be a list of one kind of element"},
      {"[\"w\"]", "[\"12345678901234567890\"]", "\"words\" must be a list of one kind of element"},
      {"0.5", "\"x\"", "\"weight\" must be a number or null"},
      {"\"t\"", "3", "\"text\" must be text"},
      {",\"why\":\"y\"", "", "missing member \"why\""},
  };
  for (const auto& test : cases) {
    const auto read = FromJson<Branch>(BranchWith(kBranchText, test.what, test.by));
    ASSERT_FALSE(read) << test.by;
    EXPECT_EQ(read.error(), test.why);
  }
  EXPECT_EQ(FromJson<Branch>("7").error(), "it must be an object");
  EXPECT_FALSE(FromJson<Branch>("{"));
}

TEST(JsonFields, MayBeMissingIfTheyWereAddedLater) {
  EXPECT_EQ(FromJson<Branch>(BranchWith(kBranchText, "\"later\":8,", ""))->later, 7U);
  EXPECT_EQ(FromJson<Branch>(BranchWith(kBranchText, "\"t\"", "null"))->text, "");
}

TEST(JsonFields, IgnoreOrRefuseOtherMembers) {
  const std::string more = BranchWith(kBranchText, "\"size\":1", "\"size\":1,\"taste\":2");
  EXPECT_EQ(FromJson<Branch>(more), kSampleBranch);
  EXPECT_EQ(FromJson<Branch>(kBranchText, JsonReading::kClosed), kSampleBranch);
  EXPECT_EQ(FromJson<Branch>(more, JsonReading::kClosed).error(), "unknown key \"taste\" of leaves[0]");
}

TEST(JsonFields, AreLeftOutLeniently) {
  const auto read = FromJson<Branch>(
      R"({"leaves":[3,{"colour":1,"size":2},null],"words":["a",2],"weight":"x","named":{"a":0,"b":{}},"odd":3})",
      JsonReading::kLenient);
  EXPECT_EQ(read, (Branch{.leaves = {{2}}, .named = {{"b", {}}}, .words = {"a"}}));
}

TEST(JsonFields, LimitNumbers) {
  const Value json = *ValueFromJsonText(R"({"colour":"red","size":1000})");
  Leaf leaf;
  JsonReader reader(JsonReading::kOpen, 100);
  reader.Get(json, leaf);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(leaf.size, 100U);
}

}  // namespace
}  // namespace muster
