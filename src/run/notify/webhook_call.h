// The call of curl that posts a text to a webhook. The address is a secret: it is in the input, not in the words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct WebhookCall {
  std::vector<std::string> words;
  std::string input;  // curl's configuration (curl(1), --config)
};

// `body` is JSON. `within_s`: curl gives up after that time.
WebhookCall CallOfWebhook(std::string_view url, std::string_view body, int within_s);

// Whether curl can be given the address: http or https, without blanks and control bytes.
bool IsWebhookAddress(std::string_view url);

}  // namespace muster
