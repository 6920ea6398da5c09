// Tests the call of curl for webhooks: what is in its words, and in its configuration.
#include <gtest/gtest.h>

#include "run/notify/notifier.h"

namespace muster {
namespace {

TEST(WebhookCall, HasItsAddressInTheInputOnly) {
  const WebhookCall call = CallOfWebhook("https://hooks.example/T0/B0/s3cret", "{\"text\":\"a\"}\n", 25);
  for (const std::string& word : call.words) EXPECT_EQ(word.find("hooks"), std::string::npos) << word;
  EXPECT_EQ(call.words.front(), "curl");
  EXPECT_NE(call.input.find("url = \"https://hooks.example/T0/B0/s3cret\"\n"), std::string::npos) << call.input;
  EXPECT_NE(call.input.find("max-time = 25\n"), std::string::npos);
  EXPECT_TRUE(call.input.ends_with("data-raw = \"{\\\"text\\\":\\\"a\\\"}\"\n")) << call.input;
}

TEST(WebhookCall, QuotesWhatCurlsConfigurationTakesFor) {
  const WebhookCall call = CallOfWebhook("http://h/a\"b\\c", R"({"text":"say \"hi\"\\"})", 1);
  EXPECT_NE(call.input.find(R"(url = "http://h/a\"b\\c")"), std::string::npos) << call.input;
  EXPECT_NE(call.input.find(R"(data-raw = "{\"text\":\"say \\\"hi\\\"\\\\\"}")"), std::string::npos) << call.input;
}

TEST(WebhookCall, TakesHttpAddressesOnly) {
  for (const char* good : {"http://127.0.0.1:8080/hook", "https://hooks.example/T0/{a}[b]?x=1&y=2"}) {
    EXPECT_TRUE(IsWebhookAddress(good)) << good;
  }
  for (const char* bad : {"", "https://", "ftp://host/x", "file:///etc/passwd", "https://host/a b",
                          "http://host/\nurl = x", "hooks.example/T0", "HTTP://host"}) {
    EXPECT_FALSE(IsWebhookAddress(bad)) << bad;
  }
}

}  // namespace
}  // namespace muster
