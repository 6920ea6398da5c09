#include "run/notify/webhook_call.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster {
namespace {

// A value in a configuration of curl.
std::string InQuotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace

WebhookCall CallOfWebhook(std::string_view url, std::string_view body, int within_s) {
  while (body.ends_with('\n')) body.remove_suffix(1);
  // Without the user's own configuration, which could print the address.
  return {{"curl", "-q", "--config", "-"},
          fmt::format("silent\nshow-error\nfail\ngloboff\nmax-time = {}\nproto = \"=http,https\"\n"
                      "header = \"Content-Type: application/json\"\nuser-agent = \"muster\"\n"
                      "url = {}\ndata-raw = {}\n",
                      within_s, InQuotes(url), InQuotes(body))};
}

bool IsWebhookAddress(std::string_view url) {
  constexpr std::size_t kLongest = 4'096;
  const bool http = url.starts_with("http://") || url.starts_with("https://");
  return http && url.size() <= kLongest && !url.ends_with("//") &&
         std::all_of(url.begin(), url.end(), [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
}

}  // namespace muster
