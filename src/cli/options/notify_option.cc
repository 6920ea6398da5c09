#include "cli/options/notify_option.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "base/values/suggest.h"
#include "cli/lookup/current_site.h"
#include "cli/options/blank_variable.h"
#include "muster/notification.h"

namespace muster {
namespace {

constexpr const char* kExample =
    "for example: --notify failed,ended='mail -s muster ann', or --notify @~/.config/webhook";
constexpr const char* kFromOption = "command line";
constexpr const char* kFromRecipe = "recipe";

std::vector<std::string> EventNames() { return {kNotifyEventNames.begin(), kNotifyEventNames.end()}; }

tl::unexpected<Diagnostics> Refused(const std::string& text, const std::string& why, std::string hint) {
  return Fail(Error("usage", {}, "--notify " + Quoted(text) + ": " + why, std::move(hint)));
}

// "failed,ended" before a '='. A program's path may have a '=' as well, but is no list of such words.
bool LooksLikeEvents(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || c == '_' || c == ',' || c == ' ';
  });
}

Result<std::vector<std::string>> EventsIn(const std::string& text, std::string_view list) {
  std::vector<std::string> events;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string name(list.substr(0, comma));
    list.remove_prefix(std::min(list.size(), comma == std::string_view::npos ? list.size() : comma + 1));
    while (name.starts_with(' ')) name.erase(0, 1);
    while (name.ends_with(' ')) name.pop_back();
    if (!NotifyEventCalled(name)) {
      return Refused(text, "there is no event " + Quoted(name), DidYouMean(name, EventNames()));
    }
    if (std::find(events.begin(), events.end(), name) == events.end()) events.push_back(std::move(name));
  }
  return events;
}

Result<Notification> ParseOne(const std::string& text) {
  Notification made;
  made.source = kFromOption;
  std::string_view what = text;
  const std::size_t equals = what.find('=');
  if (equals != std::string_view::npos && LooksLikeEvents(what.substr(0, equals))) {
    auto events = EventsIn(text, what.substr(0, equals));
    if (!events) return Fail(events.error());
    made.on = *std::move(events);
    what.remove_prefix(equals + 1);
  } else {
    made.on = {std::string(kDefaultNotifyEvent)};
  }
  if (what.starts_with("http://") || what.starts_with("https://")) {
    return Refused(text.substr(0, text.find("://")) + "://…",
                   "the address of a webhook is a secret, and all users of a machine see command lines",
                   "write it to a file that only you can read, and --notify @FILE");
  }
  if (what.starts_with('@')) {
    std::string path(what.substr(1));
    if (path.empty()) return Refused(text, "there is no file after the @", kExample);
    std::error_code error;
    if (!path.starts_with("~/")) path = std::filesystem::absolute(path, error).lexically_normal();
    if (!error && !path.starts_with("~/") && !std::filesystem::exists(path, error)) {
      return Refused(text, "there is no file " + Quoted(path), "it holds the address of the webhook");
    }
    made.webhook = Text(PlaceholderText({Placeholder::Kind::kSecret, "webhook", 0}));
    made.secrets["webhook"] = {{}, path};
    return made;
  }
  auto words = ShellWords(what);
  if (!words) return Refused(text, words.error(), kExample);
  if (words->empty() || words->front().empty()) return Refused(text, "there is no command", kExample);
  std::string& program = words->front();
  std::error_code error;
  if (program.find('/') != std::string::npos) program = std::filesystem::absolute(program, error).lexically_normal();
  for (std::string& word : *words) {
    if (word.find(kPlaceholderOpen) != std::string::npos) return Refused(text, "it has a placeholder", kExample);
    made.command.emplace_back(std::move(word));
  }
  return made;
}

}  // namespace

void AddNotifyOption(CLI::App& app, std::vector<std::string>& texts) {
  app.add_option("--notify", texts, "run COMMAND, or call the webhook in FILE, at events (default: ended)")
      ->type_name("[EVENT,…=]COMMAND|@FILE|none")
      ->allow_extra_args(false);
}

Result<NotifyChoice> ParseNotify(const std::vector<std::string>& texts) {
  NotifyChoice choice;
  for (const std::string& text : texts) {
    if (text == "none") {
      choice.none = true;
      continue;
    }
    auto one = ParseOne(text);
    if (!one) return Fail(one.error());
    choice.notifications.push_back(*std::move(one));
  }
  return choice;
}

std::vector<std::string> NotifyWords(const NotifyChoice& choice) {
  std::vector<std::string> words;
  const auto add = [&words](std::string text) { words.insert(words.end(), {"--notify", std::move(text)}); };
  if (choice.none) add("none");
  for (const Notification& notification : choice.notifications) {
    std::vector<std::string> command;
    for (const Text& word : notification.command) command.push_back(word.marked);
    add(fmt::format("{}={}", fmt::join(notification.on, ","),
                    command.empty() ? "@" + notification.secrets.at("webhook").from_file : ShellQuoted(command)));
  }
  return words;
}

Result<void> ApplyNotify(Plan& plan, const NotifyChoice& choice) {
  std::erase_if(plan.notifications,
                [](const Notification& notification) { return notification.source != kFromRecipe; });
  const auto add = [&plan](const std::vector<Notification>& others) {
    plan.notifications.insert(plan.notifications.end(), others.begin(), others.end());
  };
  if (choice.none) {
    plan.notifications.clear();
  } else {
    const auto site = GetSite();
    if (!site) return Fail(site.error());
    add(site->facts.notifications);
  }
  add(choice.notifications);
  return {};
}

void BlankNotifySecrets(const std::vector<Notification>& notifications) {
  for (const Notification& notification : notifications) {
    for (const auto& [name, secret] : notification.secrets) BlankVariable(secret.from_env);
  }
}

}  // namespace muster
