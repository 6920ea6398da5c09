#include "cli/options/start_settings.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>
#include <unistd.h>

#include "base/system/mechanism.h"
#include "base/system/own_environment.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "cli/command/small_file.h"
#include "cli/lookup/current_site.h"
#include "muster/notification.h"
#include "plan/check/plan_check.h"
#include "plan/environment/inherited_environment.h"
#include "run/directory/run_tags.h"

namespace muster {

void BlankVariable(const std::string& name) {
  if (name.empty()) return;
  const std::string prefix = name + "=";
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view entry(*variable);
    if (entry.starts_with(prefix)) ::explicit_bzero(*variable + prefix.size(), entry.size() - prefix.size());
  }
}

Diagnostics RefusedByRun(const Diagnostics& warnings) {
  Diagnostics refused;
  for (const Diagnostic& warning : warnings) {
    if (warning.kind != "secret_literal") continue;
    refused.push_back(warning);
    refused.back().severity = Severity::kError;
  }
  return refused;
}

Diagnostics WarnOfRemoved(const Evaluation& evaluation) {
  const std::vector<std::string> removed = RemovedByContract(
      evaluation.plan, evaluation.provenance, InheritedAtSite(evaluation.plan.site_environment, OwnVariables()));
  if (removed.empty()) return {};
  constexpr std::size_t kShown = 8;
  std::string names =
      fmt::format("{}", fmt::join(removed.begin(), removed.begin() + std::min(kShown, removed.size()), ", "));
  if (removed.size() > kShown) names += fmt::format(" and {} more", removed.size() - kShown);
  return {Warning("removed_variable", {},
                  fmt::format("set here, and not inherited by the processes: {}; framework {} sets or removes {}",
                              names, evaluation.plan.framework, removed.size() == 1 ? "it" : "them"),
                  "env = { NAME = \"…\", override = true } in the recipe sets one nevertheless")};
}

Result<void> SetCallerEnvironment(RunRequest& request) {
  request.environment = ChangedEnvironment({kWithoutVariable});  // for this muster only, not for one of a process
  std::error_code error;
  request.cwd = std::filesystem::current_path(error);
  if (error) return Fail(SystemError("cwd", "cannot determine the current folder", error.value()));
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) request.search_dirs.push_back(program.parent_path());
  return {};
}

namespace {

Result<void> ApplyLogLimit(Plan& plan, const std::string& size) {
  if (size.empty()) return {};
  const std::optional<std::int64_t> bytes = size == "none" ? 0 : ParseBytes(size);
  const auto limit = static_cast<std::uint64_t>(bytes.value_or(0));
  if (!bytes || (size != "none" && (limit < kMinLogBytes || limit > kMaxLogBytes))) {
    return Fail(Error("usage", {}, "--log-max " + Quoted(size) + ": this is not a size from 1MiB to 1PiB",
                      "for example --log-max 1GiB, or none"));
  }
  for (Role& role : plan.roles) role.limits.log_bytes = limit;
  return {};
}

Result<void> ApplyWraps(Plan& plan, const std::vector<std::string>& wraps) {
  for (const std::string& text : wraps) {
    const Result<Wrapping> wrapping = ParseWrapping(text);
    if (!wrapping) return Fail(wrapping.error());
    if (Result<void> wrapped = Wrap(plan, *wrapping); !wrapped) return wrapped;
  }
  return {};
}

}  // namespace

void AddWrapOption(CLI::App& app, PlanChanges& changes) {
  app.add_option("--wrap", changes.wraps, "prefix the command of a role, or of its process N: worker:3='gdb --args'")
      ->type_name("ROLE[:N]=WORDS")
      ->allow_extra_args(false);
}

void AddPlanChanges(CLI::App& app, PlanChanges& changes) {
  AddWrapOption(app, changes);
  app.add_option("--log-max", changes.log_max, "maximum size of each log (at least 1MiB, or none); drops its beginning")
      ->type_name("SIZE");
}

Result<void> ApplyPlanChanges(Plan& plan, const PlanChanges& changes) {
  if (auto wrapped = ApplyWraps(plan, changes.wraps); !wrapped) return wrapped;
  return ApplyLogLimit(plan, changes.log_max);
}

namespace {

constexpr const char* kExampleOfCommand =
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
    if (path.empty()) return Refused(text, "there is no file after the @", kExampleOfCommand);
    std::error_code error;
    if (!path.starts_with("~/")) path = AbsolutePath(path);
    if (!path.starts_with("~/") && !std::filesystem::exists(path, error)) {
      return Refused(text, "there is no file " + Quoted(path), "it holds the address of the webhook");
    }
    made.webhook = Text(PlaceholderText({Placeholder::Kind::kSecret, "webhook", 0}));
    made.secrets["webhook"] = {{}, path};
    return made;
  }
  auto words = ShellWords(what);
  if (!words) return Refused(text, words.error(), kExampleOfCommand);
  if (words->empty() || words->front().empty()) return Refused(text, "there is no command", kExampleOfCommand);
  std::string& program = words->front();
  if (program.find('/') != std::string::npos) program = AbsolutePath(program);
  for (std::string& word : *words) {
    if (word.find(kPlaceholderOpen) != std::string::npos)
      return Refused(text, "it has a placeholder", kExampleOfCommand);
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

Result<CheckedStart> CheckStart(const StartOptions& options) {
  auto notify = ParseNotify(options.notify);
  if (!notify) return Fail(notify.error());
  auto tags = NewTags(options.tags);
  if (!tags) return Fail(tags.error());
  return CheckedStart{*std::move(tags), *std::move(notify)};
}

void BlankNotifySecrets(const std::vector<Notification>& notifications) {
  for (const Notification& notification : notifications) {
    for (const auto& [name, secret] : notification.secrets) BlankVariable(secret.from_env);
  }
}

}  // namespace muster
