// Tests the schemas that are made of descriptions of values.
#include "wire/archive/json_schema.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

enum class Shade : std::uint8_t { kRed, kGreen };
constexpr std::array<std::string_view, 2> kShades = {"red", "green"};

struct Twig {
  std::string text;
  std::uint8_t small = 0;
};
template <class V>
void Fields(V& v, Twig& twig) {
  v("text", AtMost(twig.text, 10)), v("small", twig.small);
}

struct Bush {
  Shade colour = Shade::kRed;
  std::optional<Twig> leaf;
  std::vector<Bush> parts;
  std::map<std::string, double> numbers;
  std::string later;
  bool usual = true;
};
template <class V>
void Fields(V& v, Bush& bush) {
  std::int64_t format = 2;
  v("format", format), v("colour", WithNames(bush.colour, kShades)), v("leaf", bush.leaf);
  v("parts", AtMost(bush.parts, 5)), v("numbers", As<UnlessNone>(bush.numbers));
  v("later", MayBeMissing(bush.later)), v("usual", As<UnlessTrue>(bush.usual));
  v("red", OnlyIf(bush.colour == Shade::kRed, As<NullIfNone>(bush.later)));
  v(bush.usual);
}

TEST(JsonSchema, HasTypesBoundsNamesAndWhatMayBeMissing) {
  EXPECT_EQ(SchemaOf(Twig()), R"({"type":"object","properties":{"text":{"type":"string","maxLength":40},)"
                              R"("small":{"type":"integer","minimum":0,"maximum":255}},"required":["text","small"]})");
  EXPECT_EQ(SchemaOf(Twig(), SchemaBounds::kIgnored),
            R"({"type":"object","properties":{"text":{"type":"string"},)"
            R"("small":{"type":"integer","minimum":0,"maximum":255}},"required":["text","small"]})");
  EXPECT_EQ(SchemaOf(Bush(), SchemaBounds::kIgnored),
            R"({"type":"object","properties":{"format":{"const":2},"colour":{"enum":["red","green"]},)"
            R"("leaf":{"type":["object","null"],"properties":{"text":{"type":"string"},)"
            R"("small":{"type":"integer","minimum":0,"maximum":255}},"required":["text","small"]},)"
            R"("parts":{"type":"array","items":{"$ref":"#"}},)"
            R"("numbers":{"type":"object","additionalProperties":{"type":["number","null"]}},)"
            R"("later":{"type":"string"},"usual":{"type":"boolean"},"red":{"type":["string","null"]}},)"
            R"("required":["format","colour","leaf","parts"]})");
}

TEST(JsonSchema, OfAMemberWithTwoDescriptionsAllowsBoth) {
  SchemaWriter<> writer;
  const std::string schema = writer.Object([&] {
    writer("value", std::string());
    writer("value", std::vector<std::uint64_t>());
  });
  EXPECT_EQ(schema, R"({"type":"object","properties":{"value":{"anyOf":[{"type":"string"},)"
                    R"({"type":"array","items":{"type":"integer","minimum":0}}]}},"required":["value"]})");
}

TEST(JsonSchema, IsADocumentWithTitleAndDescription) {
  EXPECT_EQ(schema::Document(schema::List(schema::OrNull(schema::String())), "words", "some \"words\""),
            "{\n \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n \"title\": \"words\",\n"
            " \"description\": \"some \\\"words\\\"\",\n \"type\": \"array\",\n \"items\": {\n  \"type\": [\n"
            "   \"string\",\n   \"null\"\n  ]\n }\n}\n");
}

}  // namespace
}  // namespace muster
