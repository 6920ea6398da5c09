#include "plan/environment/notifications.h"

#include <utility>

namespace muster {
namespace {

tl::unexpected<std::string> Misses(const char* member) {
  return tl::unexpected(std::string("notify has no valid ") + member);
}

const Value* MemberOf(const Value::Map& map, const char* name) {
  const auto found = map.find(name);
  return found == map.end() || found->second.IsNull() ? nullptr : &found->second;
}

std::string TextOf(const Value::Map& map, const char* name) {
  const Value* const member = MemberOf(map, name);
  return member != nullptr && member->AsString() != nullptr ? *member->AsString() : std::string();
}

// An empty table of Lua is a list.
const Value::Map* TableOf(const Value::Map& map, const char* name) {
  static const Value::Map kEmpty;
  const Value* const member = MemberOf(map, name);
  if (member == nullptr || (member->AsList() != nullptr && member->AsList()->empty())) return &kEmpty;
  return member->AsMap();
}

template <class Take>
bool TakeTexts(const Value::Map& map, const char* name, const Take& take) {
  const Value* const member = MemberOf(map, name);
  if (member == nullptr) return true;
  if (member->AsList() == nullptr) return false;
  for (const Value& text : *member->AsList()) {
    if (text.AsString() == nullptr) return false;
    take(*text.AsString());
  }
  return true;
}

}  // namespace

tl::expected<std::vector<Notification>, std::string> NotificationsFrom(const Value& value) {
  std::vector<Notification> notifications;
  if (value.AsMap() != nullptr && value.AsMap()->empty()) return notifications;
  if (value.AsList() == nullptr) return tl::unexpected<std::string>("notify is no list");
  for (const Value& each : *value.AsList()) {
    if (each.AsMap() == nullptr) return tl::unexpected<std::string>("notify is no list of tables");
    const Value::Map& map = *each.AsMap();
    Notification made;
    made.source = TextOf(map, "source");
    made.webhook = Text(TextOf(map, "webhook"));
    if (!TakeTexts(map, "command", [&](const std::string& word) { made.command.emplace_back(word); }))
      return Misses("command");
    if (!TakeTexts(map, "on", [&](const std::string& event) { made.on.push_back(event); })) return Misses("on");
    const Value::Map* const env = TableOf(map, "env");
    const Value::Map* const secrets = TableOf(map, "secrets");
    if (env == nullptr) return Misses("env");
    if (secrets == nullptr) return Misses("secrets");
    for (const auto& [name, text] : *env) {
      if (text.AsString() == nullptr) return Misses("env");
      made.env.emplace(name, *text.AsString());
    }
    for (const auto& [name, source] : *secrets) {
      if (source.AsMap() == nullptr) return Misses("secrets");
      made.secrets[name] = {TextOf(*source.AsMap(), "from_env"), TextOf(*source.AsMap(), "from_file")};
    }
    notifications.push_back(std::move(made));
  }
  return notifications;
}

}  // namespace muster
