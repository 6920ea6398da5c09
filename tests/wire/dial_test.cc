// Tests what head and agent share for dialling back: the code, the dial file, and the bytes of the handshake.
#include "wire/connection/dial.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/values/fingerprint.h"

namespace muster {
namespace {

std::string Repeated(char byte, std::size_t times) { return std::string(times, byte); }

TEST(HmacSha256, MatchesTheVectorsOfRfc4231) {
  std::string counted;
  for (char byte = 1; byte <= 25; ++byte) counted += byte;
  EXPECT_EQ(HmacSha256(Repeated('\x0b', 20), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(HmacSha256("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(HmacSha256(Repeated('\xaa', 20), Repeated('\xdd', 50)),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(HmacSha256(counted, Repeated('\xcd', 50)),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  EXPECT_EQ(HmacSha256(Repeated('\xaa', 131), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(HmacSha256(Repeated('\xaa', 131),
                       "This is a test using a larger than block-size key and a larger than block-size data. The key "
                       "needs to be hashed before being used by the HMAC algorithm."),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(EqualInConstantTime, ComparesEveryByte) {
  EXPECT_TRUE(EqualInConstantTime("", ""));
  EXPECT_TRUE(EqualInConstantTime("abc", "abc"));
  EXPECT_FALSE(EqualInConstantTime("abc", "abd"));
  EXPECT_FALSE(EqualInConstantTime("abc", "bbc"));
  EXPECT_FALSE(EqualInConstantTime("abc", "ab"));
  EXPECT_FALSE(EqualInConstantTime(std::string("a\0", 2), "a"));
}

// --- the dial file ---------------------------------------------------------------------------------

const DialFile kFile = {"ab01ab01ab01ab01ab01ab01ab01ab01",
                        "cd02cd02cd02cd02cd02cd02cd02cd02",
                        {{"10.0.0.1", 4711}, {"fd00::1", 4711}, {"127.0.0.1", 65535}},
                        "SLURMD_NODENAME"};
constexpr const char* kText =
    "muster-dial 1\n"
    "session ab01ab01ab01ab01ab01ab01ab01ab01\n"
    "token cd02cd02cd02cd02cd02cd02cd02cd02\n"
    "address 10.0.0.1:4711\n"
    "address [fd00::1]:4711\n"
    "address 127.0.0.1:65535\n"
    "node_variable SLURMD_NODENAME\n";

TEST(DialFile, RoundTrips) {
  EXPECT_EQ(DialFileText(kFile), kText);
  EXPECT_EQ(ParseDialFile(kText), kFile);
  DialFile without = kFile;
  without.node_variable.clear();
  EXPECT_EQ(ParseDialFile(DialFileText(without)), without);
}

// Replaces one line of the text and returns the error.
std::string ErrorWith(std::size_t line, const std::string& replacement) {
  std::string text;
  std::string rest = kText;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n') + 1;
    text += number == line ? replacement : rest.substr(0, end);
    rest.erase(0, end);
  }
  const auto parsed = ParseDialFile(text);
  return parsed ? "none" : parsed.error();
}

TEST(DialFile, RefusesEverythingElseWithTheLine) {
  EXPECT_EQ(ErrorWith(1, "muster-dial 2\n"), "line 1: expected `muster-dial 1`");
  EXPECT_EQ(ErrorWith(2, "session\n"), "line 2: expected `key value`");
  EXPECT_EQ(ErrorWith(2, "session ab\n"), "line 2: session is not of 32 hex digits");
  EXPECT_EQ(ErrorWith(3, "token CD02cd02cd02cd02cd02cd02cd02cd02\n"), "line 3: token is not of 32 hex digits");
  EXPECT_EQ(ErrorWith(2, "token cd02cd02cd02cd02cd02cd02cd02cd02\n"), "line 3: the key is given twice");
  EXPECT_EQ(ErrorWith(2, ""), "there is no session");
  EXPECT_EQ(ErrorWith(3, ""), "there is no token");
  EXPECT_EQ(ErrorWith(7, "node_variable A-B\n"), "line 7: node_variable is not the name of an environment variable");
  EXPECT_EQ(ErrorWith(7, "node_variable " + std::string(65, 'A') + "\n"),
            "line 7: node_variable is not the name of an environment variable");
  EXPECT_EQ(ErrorWith(7, "colour red\n"), "line 7: unknown key");
  EXPECT_EQ(ErrorWith(7, "node_variable A"), "line 7: the end of the line is missing");
  for (const char* wrong : {"10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:1x", "10.0.0:1", "n1:1",
                            "fd00::1:4711", "[10.0.0.1]:1", "[fd00::1]", "[fe80::1%eth0]:1", ":1", " 10.0.0.1:1"}) {
    EXPECT_EQ(ErrorWith(4, "address " + std::string(wrong) + "\n"),
              "line 4: an address is IP:PORT, or [IP]:PORT for IPv6")
        << wrong;
  }
  EXPECT_EQ(ParseDialFile("").error(), "there is no first line");
  DialFile many = kFile;
  many.addresses.assign(kMaxDialAddresses + 1, {"10.0.0.1", 1});
  EXPECT_EQ(ParseDialFile(DialFileText(many)).error(), "line 36: more than 32 addresses");
  EXPECT_EQ(ParseDialFile(std::string(kMaxDialFileBytes + 1, '\n')).error(), "more than 4096 bytes");
}

TEST(DialFile, HoldsTheMaximumNumberOfAddresses) {
  DialFile many = kFile;
  many.node_variable = std::string(64, 'A');
  many.addresses.assign(kMaxDialAddresses, {"fd00:1111:2222:3333:4444:5555:6666:7777", 65535});
  EXPECT_EQ(ParseDialFile(DialFileText(many)), many);
}

TEST(DialFile, NeverQuotesTheToken) {
  for (std::size_t line = 1; line <= 7; ++line) {
    for (const char* replacement : {"", "x\n", "token cd02cd02cd02cd02cd02cd02cd02cd02\n", "token cd02cd02\n", "x"}) {
      EXPECT_EQ(ErrorWith(line, replacement).find("cd02"), std::string::npos) << line << replacement;
    }
  }
}

// --- the handshake ---------------------------------------------------------------------------------

const std::string kToken = std::string("0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f");
const DialGreeting kGreeting = {std::string(32, 'a'), std::string(64, '1'), "n1"};
const std::string kNonce(64, '2');

TEST(DialHandshake, HasTheseBytes) {
  const std::string greeting = GreetingBytes({"abababababababababababababababab", std::string(64, '1'), "n1"});
  EXPECT_EQ(greeting, "muster-dial/1\nabababababababababababababababab" + std::string(64, '1') + "\x02n1" +
                          std::string(253, '\0'));
  EXPECT_EQ(greeting.size(), kGreetingBytes);
  // Expected value from Python's hmac.
  const std::string answer = HeadProof(kToken, greeting, kNonce);
  EXPECT_EQ(answer, kNonce + "f5bee7313c70b346c2b0edd3ce6ba3c41b7c2fce2dcc6eaab071969a8a0c8b84");
  EXPECT_EQ(AgentProof(kToken, greeting, answer), "da9d3fb3bc23fa67ce5704fdd8379dfc402e474082e9f5ef9c94a129cc0ed4ec");
}

TEST(DialHandshake, RoundTripsAGreeting) {
  for (const std::string& node :
       {std::string("n1"), std::string("n1.cluster"), std::string("fd00::1"), std::string(255, 'n')}) {
    DialGreeting greeting = kGreeting;
    greeting.node = node;
    EXPECT_EQ(ParseGreeting(GreetingBytes(greeting)), greeting) << node;
  }
}

TEST(DialHandshake, RefusesAGreetingThatDiffersInAnyPart) {
  const std::string greeting = GreetingBytes(kGreeting);
  EXPECT_FALSE(ParseGreeting(greeting.substr(1)));
  EXPECT_FALSE(ParseGreeting(greeting + '\0'));
  for (const auto& [at, byte] :
       {std::pair(std::size_t{12}, '2'), std::pair(std::size_t{14}, 'G'), std::pair(std::size_t{46}, 'G'),
        std::pair(std::size_t{110}, '\0'), std::pair(std::size_t{110}, '\x01'), std::pair(std::size_t{111}, '/'),
        std::pair(std::size_t{200}, 'x')}) {
    std::string changed = greeting;
    changed[at] = byte;
    EXPECT_FALSE(ParseGreeting(changed)) << at;
  }
}

TEST(DialHandshake, ProofsHoldForOneTokenOneConnectionAndOneRole) {
  const std::string greeting = GreetingBytes(kGreeting);
  const std::string answer = HeadProof(kToken, greeting, kNonce);
  const std::string proof = AgentProof(kToken, greeting, answer);
  ASSERT_TRUE(ProvesHead(kToken, greeting, answer));
  ASSERT_TRUE(ProvesAgent(kToken, greeting, answer, proof));
  EXPECT_FALSE(ProvesHead(std::string(32, '0'), greeting, answer));
  EXPECT_FALSE(ProvesAgent(std::string(32, '0'), greeting, answer, proof));
  // Another node, another nonce of the agent, another nonce of the head.
  DialGreeting other = kGreeting;
  other.node = "n2";
  EXPECT_FALSE(ProvesHead(kToken, GreetingBytes(other), answer));
  EXPECT_FALSE(ProvesAgent(kToken, GreetingBytes(other), answer, proof));
  other = kGreeting;
  other.nonce.back() = '3';
  EXPECT_FALSE(ProvesHead(kToken, GreetingBytes(other), answer));
  const std::string later = HeadProof(kToken, greeting, std::string(64, '3'));
  EXPECT_FALSE(ProvesAgent(kToken, greeting, later, proof));
  EXPECT_FALSE(ProvesHead(kToken, greeting, std::string(64, '3') + answer.substr(64)));
  // One side's own proof, reflected to it.
  EXPECT_FALSE(ProvesAgent(kToken, greeting, answer, answer.substr(64)));
  EXPECT_FALSE(ProvesHead(kToken, greeting, answer.substr(0, 64) + proof));
  // Every byte counts, and only the exact size is accepted.
  for (std::size_t at = 0; at < proof.size(); ++at) {
    std::string changed = proof;
    changed[at] = changed[at] == '0' ? '1' : '0';
    EXPECT_FALSE(ProvesAgent(kToken, greeting, answer, changed)) << at;
  }
  EXPECT_FALSE(ProvesAgent(kToken, greeting, answer, ""));
  EXPECT_FALSE(ProvesHead(kToken, greeting, ""));
  EXPECT_FALSE(ProvesHead(kToken, greeting, answer + "0"));
}

TEST(DialHandshake, KnowsThreeVerdicts) {
  EXPECT_EQ(ParseVerdict('a'), DialVerdict::kAccepted);
  EXPECT_EQ(ParseVerdict('u'), DialVerdict::kUnknownNode);
  EXPECT_EQ(ParseVerdict('c'), DialVerdict::kConnected);
  EXPECT_FALSE(ParseVerdict('m'));
  EXPECT_FALSE(ParseVerdict('\0'));
}

TEST(DialHandshake, UsesANewNonceEachTime) {
  const std::string nonce = MakeNonce();
  EXPECT_EQ(nonce.size(), 2 * kNonceBytes);
  EXPECT_NE(nonce, MakeNonce());
}

}  // namespace
}  // namespace muster
