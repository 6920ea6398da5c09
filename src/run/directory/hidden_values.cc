#include "run/directory/hidden_values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include <fcntl.h>

#include "base/system/known_secrets.h"
#include "muster/plan.h"
#include "run/directory/private_files.h"

namespace muster {
namespace {

constexpr std::array<std::string_view, 6> kSecretWords = {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL"};

bool SoundsSecret(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                     [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

}  // namespace

HiddenValues::HiddenValues(const Plan& plan, const std::map<std::string, std::string>& secrets) : plan_(plan) {
  for (const auto& [name, value] : secrets) {
    if (!value.empty()) secrets_.emplace_back(value);
  }
}

std::string HiddenValues::Shown(std::string_view name, const std::string& value) const {
  const bool notifies =
      std::any_of(plan_.notifications.begin(), plan_.notifications.end(), [&](const Notification& notification) {
        return std::any_of(notification.secrets.begin(), notification.secrets.end(),
                           [&](const auto& secret) { return secret.second.from_env == name; });
      });
  const bool hidden = SoundsSecret(name) || notifies ||
                      std::any_of(plan_.secrets.begin(), plan_.secrets.end(),
                                  [&](const auto& secret) { return secret.second.from_env == name; }) ||
                      std::any_of(secrets_.begin(), secrets_.end(),
                                  [&](std::string_view secret) { return value.find(secret) != std::string::npos; });
  return hidden ? std::string(kHiddenValue) : value;
}

std::vector<std::string> HideSecretsOf(const Plan& plan) {
  constexpr std::size_t kMaxSecretBytes = 1U << 20;  // as at the start
  std::vector<std::string> unknown;
  for (const auto& [name, source] : plan.secrets) {
    if (!source.from_env.empty()) {
      const char* const value = std::getenv(source.from_env.c_str());
      if (value == nullptr) {
        unknown.push_back(name);
      } else {
        HideFromNowOn(value);
      }
    } else if (const Result<std::string> value = ReadFileAt(AT_FDCWD, source.from_file, kMaxSecretBytes, O_NONBLOCK)) {
      HideFromNowOn(*value);
    } else {
      unknown.push_back(name);
    }
  }
  return unknown;
}

}  // namespace muster
