// Tests hashes with published vectors: FIPS 180-2 appendix B, RFC 3720 appendix B.4.
#include "base/values/fingerprint.h"

#include <set>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Sha256, AgreesWithThePublishedVectors) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Crc32c, AgreesWithThePublishedVectors) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending += static_cast<char>(i);
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eU);
  EXPECT_EQ(Crc32c(""), 0U);
}

TEST(RandomHex, HasTheRequestedLengthAndNeverRepeats) {
  EXPECT_EQ(RandomHex(0), "");
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string hex = RandomHex(16);
    EXPECT_EQ(hex.size(), 32U);
    EXPECT_EQ(hex.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_TRUE(seen.insert(hex).second);
  }
}

}  // namespace
}  // namespace muster
