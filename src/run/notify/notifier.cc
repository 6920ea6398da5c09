#include "run/notify/notifier.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <utility>

#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/known_secrets.h"
#include "base/system/private_files.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "spawn/start/spawn_spec.h"
#include "wire/archive/json_schema.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kMaxText = 2'000;

std::string OneLine(std::string_view text) {
  std::string line = Printable(WithoutSecrets(text));
  return line.size() > kMaxText ? std::string(Utf8Prefix(line, kMaxText)) + "…" : line;
}

}  // namespace

std::string NoticeText(const Notice& notice) {
  return OneLine(fmt::format("{} {} ({} {} on {})", notice.name, notice.what, notice.kind, notice.id, notice.host));
}

std::string NoticeSchema() { return SchemaOf(Notice()); }

std::string NoticeLine(Notice notice) {
  notice.text = NoticeText(notice);
  notice.why = OneLine(notice.why);
  return WithoutSecrets(JsonOf(notice)) + "\n";
}

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
  constexpr std::size_t kMax = 4'096;
  const bool http = url.starts_with("http://") || url.starts_with("https://");
  return http && url.size() <= kMax && !url.ends_with("//") &&
         std::all_of(url.begin(), url.end(), [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
}

namespace {

constexpr std::size_t kMaxSecretBytes = 64U << 10;
constexpr std::size_t kMaxOfOne = 2;       // commands of one notification at once, …
constexpr std::size_t kMaxOfOneAtEnd = 3;  // … so that hanging ones do not keep it from hearing of the end
constexpr int kMaxWebhookSeconds = 25;     // of curl, which reports then what it waited for

// A line of notifications.jsonl.
struct SentLine {
  std::string at;
  NotifyEvent event = NotifyEvent::kEnded;
  std::string to;
  std::string outcome;
  std::string why;
  std::uint64_t ms = 0;
  std::uint32_t omitted = 0;
};

template <class V>
void Fields(V& v, SentLine& line) {
  v("at", line.at), v("event", WithNames(line.event, kNotifyEventNames)), v("to", line.to), v("outcome", line.outcome);
  v("why", As<UnlessNone>(line.why)), v("ms", line.ms), v("omitted", As<UnlessNone>(line.omitted));
}

std::optional<std::string> VariableIn(const std::vector<std::string>& environment, const std::string& name) {
  const std::string prefix = name + "=";
  for (const std::string& variable : environment) {
    if (variable.starts_with(prefix)) return variable.substr(prefix.size());
  }
  return std::nullopt;
}

// The name of the secret that the text is, if it is one.
std::optional<std::string> SecretNamed(const std::string& text) {
  if (text.find(kPlaceholderOpen) == std::string::npos) return std::nullopt;
  const auto pieces = Pieces(Text(text));
  if (!pieces || pieces->size() != 1 || !pieces->front().hole) return std::nullopt;
  const Placeholder& hole = *pieces->front().hole;
  return hole.kind == Placeholder::Kind::kSecret ? std::optional(hole.name) : std::nullopt;
}

// The last line that a command wrote, for one line of text.
std::string LastWords(std::string words) {
  constexpr std::size_t kMaxShown = 300;
  while (words.ends_with('\n') || words.ends_with('\r') || words.ends_with(' ')) words.pop_back();
  const std::size_t newline = words.rfind('\n');
  std::string last = newline == std::string::npos ? words : words.substr(newline + 1);
  const bool cut = newline == std::string::npos || last.size() > kMaxShown;
  if (last.size() > kMaxShown) last.erase(0, last.size() - kMaxShown);
  return Printable(WithoutSecrets(last, {.begin = cut}));
}

}  // namespace

struct Notifier::Delivery {
  Notice notice;
  Clock::time_point began;
  std::shared_ptr<LimitedCommand> command = {};
};

struct Notifier::Target {
  const Notification& notification;
  std::string label;                  // "notify-send (recipe)"
  std::string url = {};               // of a webhook
  std::vector<std::string> env = {};  // "NAME=value"
  bool broken = false;
  std::deque<Notice> waiting = {};
  std::list<Delivery> running = {};
  std::array<std::optional<Clock::time_point>, kNotifyEvents.size()> sent_at = {};

  bool Wants(NotifyEvent event) const {
    const std::vector<std::string>& on = notification.on;
    return !broken && std::find(on.begin(), on.end(), FactsOf(event).name) != on.end();
  }
};

Notifier::Notifier(boost::asio::io_context& io, NotifierSetting setting)
    : io_(io), setting_(std::move(setting)), next_(io.get_executor()), end_(io.get_executor()) {
  for (const Notification& notification : setting_.notifications) {
    const std::string to = notification.command.empty() ? "webhook" : notification.command.front().marked;
    targets_.push_back({notification, fmt::format("{} ({})", to, notification.source)});
    Settle(targets_.back());
  }
}

Notifier::~Notifier() = default;

// Finds out what is needed to send it.
void Notifier::Settle(Target& target) {
  const auto refuse = [&](const std::string& why) {
    target.broken = true;
    setting_.warn(fmt::format("warning: no notifications to {}: {}", target.label, why));
  };
  SpawnSpec spec;
  spec.argv = {target.notification.command.empty() ? "curl" : target.notification.command.front().marked};
  spec.env = EnvPointers(setting_.environment);
  spec.search_dirs = setting_.search_dirs;
  if (const auto program = FindProgram(spec); !program) return refuse(SpawnErrorText(program.error()));
  if (target.notification.command.empty()) {
    auto url = SecretOf(target, target.notification.webhook.marked);
    if (!url) return refuse(url.error().front().message);
    if (!IsWebhookAddress(*url)) return refuse("its address does not begin with http:// or https://, or has blanks");
    target.url = *std::move(url);
  }
  for (const auto& [name, text] : target.notification.env) {
    const auto value = SecretOf(target, text);
    if (!value) return refuse(value.error().front().message);
    target.env.push_back(name + "=" + *value);
  }
}

Result<std::string> Notifier::SecretOf(const Target& target, const std::string& text) {
  const auto name = SecretNamed(text);
  if (!name) return text;
  const auto own = target.notification.secrets.find(*name);
  if (own == target.notification.secrets.end()) {
    return Fail(Error("secret", {}, fmt::format("the secret {} is not available", Quoted(*name))));
  }
  const SecretSource& source = own->second;
  std::string value;
  if (!source.from_env.empty()) {
    auto variable = VariableIn(setting_.sources, source.from_env);
    if (!variable) return Fail(Error("secret", {}, fmt::format("the variable {} is not set", source.from_env)));
    value = *std::move(variable);
  } else {
    std::string path = source.from_file;
    if (path.starts_with("~/")) path = VariableIn(setting_.sources, "HOME").value_or("") + path.substr(1);
    auto content = ReadFileAt(AT_FDCWD, path, kMaxSecretBytes, O_NONBLOCK);
    if (!content) return Fail(content.error());
    value = *std::move(content);
    while (value.ends_with('\n') || value.ends_with('\r')) value.pop_back();
  }
  if (value.empty() || value.find('\0') != std::string::npos) {
    return Fail(Error("secret", {}, fmt::format("the secret {} is empty, or no text", Quoted(*name))));
  }
  HideFromNowOn(value);
  return value;
}

bool Notifier::Wants(NotifyEvent event) const {
  return std::any_of(targets_.begin(), targets_.end(), [event](const Target& target) { return target.Wants(event); });
}

void Notifier::Send(const Notice& notice) {
  if (over_) return;
  if (notice.event == NotifyEvent::kEnded) ended_ = true;
  for (Target& target : targets_) {
    if (!target.Wants(notice.event)) continue;
    const auto waiting = std::find_if(target.waiting.begin(), target.waiting.end(),
                                      [&](const Notice& other) { return other.event == notice.event; });
    if (waiting == target.waiting.end()) {
      target.waiting.push_back(notice);
    } else {
      const std::uint32_t omitted = waiting->omitted + 1;
      *waiting = notice;
      waiting->omitted = omitted;
    }
  }
  if (!std::exchange(advance_due_, true)) Later(&Notifier::Advance);
}

void Notifier::Later(void (Notifier::*method)()) {
  boost::asio::post(io_, [this, method, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) (this->*method)();
  });
}

void Notifier::Advance() {
  advance_due_ = false;
  if (over_) return;
  Clock::time_point next = Clock::time_point::max();
  for (Target& target : targets_) {
    while (AdvanceOne(target, next)) continue;
  }
  CheckDone();
  if (next == Clock::time_point::max()) return;
  next_.expires_at(next);
  next_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (!error && !alive.expired()) Advance();
  });
}

// Starts the command for the first event that is due, if one may be started; else says when to look again.
bool Notifier::AdvanceOne(Target& target, Clock::time_point& next) {
  if (target.waiting.empty() || running_ >= kMaxAtOnce) return false;
  const Clock::time_point now = Clock::now();
  if (target.running.size() >= (ended_ ? kMaxOfOneAtEnd : kMaxOfOne)) return false;
  for (const Delivery& delivery : target.running) {
    const Clock::time_point held_until = delivery.began + setting_.times.hold;
    if (held_until <= now) continue;
    next = std::min(next, held_until);
    return false;
  }
  for (auto notice = target.waiting.begin(); notice != target.waiting.end(); ++notice) {
    auto& sent_at = target.sent_at[static_cast<std::size_t>(notice->event)];
    if (FactsOf(notice->event).repeats && sent_at && !ended_ && *sent_at + setting_.times.interval > now) {
      next = std::min(next, *sent_at + setting_.times.interval);
      continue;
    }
    sent_at = now;
    Notice due = std::move(*notice);
    target.waiting.erase(notice);
    Start(target, std::move(due));
    return true;
  }
  return false;
}

void Notifier::Start(Target& target, Notice notice) {
  const std::string line = NoticeLine(notice);
  std::vector<std::string> environment;
  SpawnSpec spec;
  std::string input = line;
  if (target.notification.command.empty()) {
    WebhookCall call = CallOfWebhook(target.url, line, kMaxWebhookSeconds);
    spec.argv = std::move(call.words);
    input = std::move(call.input);
    environment = setting_.environment;
  } else {
    for (const Text& word : target.notification.command) spec.argv.push_back(word.marked);
    std::vector<std::string> own = target.env;
    own.push_back(fmt::format("MUSTER_NOTIFY_EVENT={}", FactsOf(notice.event).name));
    own.push_back("MUSTER_NOTIFY_TEXT=" + NoticeText(notice));
    for (const std::string& variable : setting_.environment) {
      const std::string name = variable.substr(0, variable.find('=') + 1);
      const bool replaced =
          std::any_of(own.begin(), own.end(), [&](const std::string& each) { return each.starts_with(name); });
      if (!replaced) environment.push_back(variable);
    }
    environment.insert(environment.end(), own.begin(), own.end());
  }
  spec.env = EnvPointers(environment);
  spec.cwd = setting_.cwd;
  spec.search_dirs = setting_.search_dirs;
  target.running.push_back({std::move(notice), Clock::now()});
  Delivery& delivery = target.running.back();
  auto command = LimitedCommand::Start(
      io_, launcher_, std::move(spec), input, setting_.times.most,
      [this, &target, &delivery](const LimitedCommand::End& end) { OnEnd(target, delivery, end); });
  if (command) {
    ++running_;
    delivery.command = *std::move(command);
    return;
  }
  Note(target, delivery.notice, "failed", command.error(), 0);
  target.running.pop_back();
}

void Notifier::OnEnd(Target& target, const Delivery& delivery, const LimitedCommand::End& end) {
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - delivery.began);
  const auto ms = static_cast<std::uint64_t>(took.count());
  std::string why;
  if (end.late) {
    why = fmt::format("it was killed after {}", DurationText(static_cast<double>(setting_.times.most.count()) / 1000));
  } else if (end.process.signalled || end.process.code != 0) {
    why = EndText(end.process);
  }
  if (!why.empty()) {
    if (const std::string words = LastWords(end.words); !words.empty()) why += ": " + words;
  }
  Note(target, delivery.notice, why.empty() ? "sent" : "failed", why, ms);
  --running_;
  target.running.remove_if([&](const Delivery& each) { return &each == &delivery; });
  if (!std::exchange(advance_due_, true)) Later(&Notifier::Advance);
}

void Notifier::Note(const Target& target, const Notice& notice, std::string_view outcome, const std::string& why,
                    std::uint64_t ms) {
  const SentLine sent{UtcText(WallNowNs()), notice.event, target.label, std::string(outcome), why, ms, notice.omitted};
  if (const auto file = OpenOrCreateFile(setting_.folder, kNotificationsEntry.name)) {
    ::lseek(file->get(), 0, SEEK_END);
    static_cast<void>(WriteAll(file->get(), WithoutSecrets(JsonOf(sent)) + "\n"));
  }
  if (why.empty()) return;
  setting_.warn(fmt::format("warning: notification of {} to {}: {}", FactsOf(notice.event).name, target.label, why));
}

void Notifier::Finish(std::function<void()> done) {
  done_ = std::move(done);
  end_.expires_after(setting_.times.end);
  end_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (!error && !alive.expired()) GiveUp();
  });
  if (over_) return CheckDone();
  Advance();
}

void Notifier::GiveUp() {
  if (std::exchange(over_, true)) return;
  for (Target& target : targets_) {
    const auto abandon = [&](const Notice& notice, const char* why) { Note(target, notice, "abandoned", why, 0); };
    for (const Delivery& delivery : target.running)
      abandon(delivery.notice, "the end was not delayed for it any longer");
    target.running.clear();  // kills the commands
    for (const Notice& notice : target.waiting) abandon(notice, "it was not sent before the end");
    target.waiting.clear();
  }
  running_ = 0;
  CheckDone();
}

void Notifier::CheckDone() {
  const bool all_sent = std::all_of(targets_.begin(), targets_.end(), [](const Target& target) {
    return target.waiting.empty() && target.running.empty();
  });
  if (!all_sent || !done_) return;
  next_.cancel();
  end_.cancel();
  boost::asio::post(io_, std::exchange(done_, nullptr));
}

std::string NotificationsSchema() { return SchemaOf(SentLine()); }

}  // namespace muster
