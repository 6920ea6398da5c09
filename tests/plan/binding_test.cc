// Tests placeholders: their syntax, and filling them.
#include "muster/binding.h"

#include <gtest/gtest.h>

#include "muster/plan.h"

namespace muster {
namespace {

Binding Sample() {
  Binding binding;
  binding.run_id = "20260101-1f3a";
  binding.run_dir = "/runs/x";
  binding.hosts = {{"n01", "192.0.2.11"}, {"n02", "192.0.2.12"}};
  binding.ports = {{"rpc", std::uint16_t{20300}}};
  binding.secrets = {{"key", "s3cret"}};
  return binding;
}

TEST(Placeholders, RoundTrip) {
  const Placeholder holes[] = {
      {Placeholder::Kind::kPort, "rpc", 0},         {Placeholder::Kind::kRunDir, "", 0},
      {Placeholder::Kind::kRunId, "", 0},           {Placeholder::Kind::kHostName, "", 3},
      {Placeholder::Kind::kHostAddress, "", 0},     {Placeholder::Kind::kAttempt, "", 0},
      {Placeholder::Kind::kSecret, "db-pass.1", 0}, {Placeholder::Kind::kInheritedPath, "PYTHONPATH", 0},
      {Placeholder::Kind::kLiteral, "", 0}};
  for (const Placeholder& hole : holes) {
    const auto pieces = Pieces("before " + PlaceholderText(hole) + " after");
    ASSERT_TRUE(pieces) << PlaceholderText(hole);
    ASSERT_EQ(pieces->size(), 3U);
    EXPECT_EQ((*pieces)[0].literal, "before ");
    EXPECT_EQ((*pieces)[1].hole, hole);
    EXPECT_TRUE((*pieces)[1].literal.empty());
    EXPECT_EQ((*pieces)[2].literal, " after");
  }
}

TEST(Placeholders, DoNotAffectOtherText) {
  for (const char* text : {"", "$", "${", "${muster", "${HOME}", "}", "${muster}", "$${x}", "${muster;port}"}) {
    const auto pieces = Pieces(text);
    ASSERT_TRUE(pieces) << text;
    EXPECT_EQ(pieces->size(), *text == '\0' ? 0U : 1U);
    EXPECT_EQ(*FillPlaceholders(text, Sample(), 0), text);
  }
}

TEST(Placeholders, RefuseInvalidSyntax) {
  for (const char* text :
       {"${muster:", "${muster:port:rpc", "${muster:}", "${muster:prot:x}", "${muster:port}", "${muster:port:}",
        "${muster:port:a b}", "${muster:run_dir:x}", "${muster:host_name}", "${muster:host_name:}",
        "${muster:host_name:-1}", "${muster:host_name:1x}", "${muster:host_name:4294967296}", "${muster:host_name:01}",
        "${muster:secret}", "${muster:attempt:0}", "${muster:literal:}", "${muster:port:${muster:port:x}}"}) {
    const auto pieces = Pieces(text);
    ASSERT_FALSE(pieces) << text;
    EXPECT_EQ(pieces.error().find('\n'), std::string::npos);
    EXPECT_EQ(FillPlaceholders(text, Sample(), 0).error().front().kind, "binding");
  }
}

TEST(Binding, FillsAnInheritedPathForVariablesOnly) {
  const auto inherited = [](const std::string& name) {
    return name == "P" ? std::optional<std::string>("/a:/b") : std::nullopt;
  };
  EXPECT_EQ(*FillPlaceholders("/m${muster:inherited_path:P}", Sample(), 0, inherited), "/m:/a:/b");
  EXPECT_EQ(*FillPlaceholders("/m${muster:inherited_path:Q}", Sample(), 0, inherited), "/m");
  const auto refused = FillPlaceholders("/m${muster:inherited_path:P}", Sample(), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().kind, "binding");
}

TEST(Binding, PrefersAnInheritedValueToADefaultEvenIfEmpty) {
  const auto inherited = [](const std::string& name) {
    return name == "FULL"    ? std::optional<std::string>("8")
           : name == "EMPTY" ? std::optional<std::string>("")
                             : std::nullopt;
  };
  EXPECT_EQ(*FillPlaceholders("${muster:inherited:FULL:1}", Sample(), 0, inherited), "8");
  EXPECT_EQ(*FillPlaceholders("${muster:inherited:EMPTY:1}", Sample(), 0, inherited), "");
  EXPECT_EQ(*FillPlaceholders("${muster:inherited:NONE:1:2 3}", Sample(), 0, inherited), "1:2 3");
  EXPECT_EQ(*FillPlaceholders("${muster:inherited:NONE:}", Sample(), 0, inherited), "");
  EXPECT_FALSE(FillPlaceholders("x${muster:inherited:FULL:1}", Sample(), 0, inherited)) << "only whole variables are";
  EXPECT_FALSE(FillPlaceholders("${muster:inherited:FULL:1}", Sample(), 0));
  EXPECT_FALSE(Pieces(Text("${muster:inherited:FULL}")));
  EXPECT_EQ(PlaceholderText({Placeholder::Kind::kInherited, "A", 0, "b"}), "${muster:inherited:A:b}");
}

TEST(Binding, FillsEveryKindOfPlaceholder) {
  EXPECT_EQ(*FillPlaceholders("${muster:host_address:0}:${muster:port:rpc}", Sample(), 0), "192.0.2.11:20300");
  EXPECT_EQ(*FillPlaceholders("${muster:run_id}/${muster:host_name:1}.${muster:attempt}", Sample(), 2),
            "20260101-1f3a/n02.2");
  EXPECT_EQ(*FillPlaceholders("--dir=${muster:run_dir}/out", Sample(), 0), "--dir=/runs/x/out");
  EXPECT_EQ(*FillPlaceholders("${muster:secret:key}", Sample(), 0), "s3cret");
  EXPECT_EQ(*FillPlaceholders("echo ${muster:literal}port:x}", Sample(), 0), "echo ${muster:port:x}");
}

// Programs split an address and its port at the last colon, or at the only one.
TEST(Binding, PutsAnIpv6AddressIntoBracketsWhereAPortOrAPathFollows) {
  Binding binding = Sample();
  binding.hosts = {{"::1", "::1"}, {"n02", "192.0.2.12"}};
  const auto filled = [&](const std::string& text) { return *FillPlaceholders(text, binding, 0); };
  const std::string at = "${muster:host_address:0}";
  const std::string name = "${muster:host_name:0}";
  EXPECT_EQ(filled(at + ":${muster:port:rpc}"), "[::1]:20300");
  EXPECT_EQ(filled(at + ":2,${muster:host_address:1}:2," + name + ":1"), "[::1]:2,192.0.2.12:2,[::1]:1");
  EXPECT_EQ(filled("{\"worker\":[\"" + at + ":1\",\"${muster:host_address:1}:1\"]}"),
            "{\"worker\":[\"[::1]:1\",\"192.0.2.12:1\"]}");
  EXPECT_EQ(filled("tcp://" + at + ":1"), "tcp://[::1]:1");
  EXPECT_EQ(filled("http://" + at + "/x"), "http://[::1]/x");
  EXPECT_EQ(filled("ssh://me@" + at), "ssh://me@[::1]");
  EXPECT_EQ(filled("me@" + at + ":/data"), "me@[::1]:/data");
  EXPECT_EQ(filled("[" + at + "]:1"), "[::1]:1") << "the recipe's own brackets";
  // Where the bare address is right.
  for (const std::string& bare : {at, "--master=" + at, at + "," + at, "me@" + at, "{\"id\": \"" + at + "\"}",
                                  at + ": text", "//x/y@z " + at, "a // b@c " + at}) {
    EXPECT_EQ(filled(bare).find('['), std::string::npos) << bare;
  }
}

TEST(Binding, FillsEachPlaceholderOnlyOnce) {
  Binding binding = Sample();
  binding.run_dir = "/runs/${muster:run_id}";
  EXPECT_EQ(*FillPlaceholders("${muster:run_dir}", binding, 0), "/runs/${muster:run_id}");
}

TEST(Binding, FailsOnAMissingValue) {
  for (const char* text :
       {"${muster:port:other}", "${muster:host_name:2}", "${muster:host_address:9}", "${muster:secret:other}"}) {
    const auto filled = FillPlaceholders(text, Sample(), 0);
    ASSERT_FALSE(filled) << text;
    EXPECT_EQ(filled.error().front().kind, "binding");
  }
}

TEST(Binding, UsesTheHostsNamesOfDevices) {
  Binding binding = Sample();
  binding.hosts.front().devices = {"4", "", "GPU-aa"};
  EXPECT_EQ(*FillPlaceholders("${muster:devices:0:0}", binding, 0), "4");
  EXPECT_EQ(*FillPlaceholders("see ${muster:devices:0:2,0}", binding, 0), "see GPU-aa,4");
  for (const char* text :
       {"${muster:devices:0:1}", "${muster:devices:0:3}", "${muster:devices:9:0}", "${muster:devices:0:}",
        "${muster:devices:0:01}", "${muster:devices:0:0,}", "${muster:devices:0}", "${muster:devices}"}) {
    EXPECT_FALSE(FillPlaceholders(text, binding, 0)) << text;
  }
}

TEST(Binding, PassesSecretsOnAsAWholeOrNotAtAll) {
  for (const char* text :
       {"key=${muster:secret:key}", "${muster:secret:key} ", "${muster:secret:key}${muster:secret:key}"}) {
    const auto filled = FillPlaceholders(text, Sample(), 0);
    ASSERT_FALSE(filled) << text;
    EXPECT_EQ(filled.error().front().message.find("s3cret"), std::string::npos);
  }
}

}  // namespace
}  // namespace muster
