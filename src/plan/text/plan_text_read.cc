#include "plan/text/plan_text_read.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/values/parse_number.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Parses one line from its beginning. After the first error it stays bad.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  bool good() const { return good_; }
  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  // Whether the next word is this one; if so, consumes it.
  bool Take(std::string_view word) {
    if (!rest_.starts_with(word) || (rest_.size() > word.size() && rest_[word.size()] != ' ')) return false;
    Skip(word.size());
    return true;
  }

  // The next word, up to a blank or to `end`, which is consumed too.
  std::string Next(char end = ' ') {
    if (rest_.starts_with('"')) return NextQuoted(end);
    const std::size_t size = std::min(rest_.find(end), rest_.size());
    std::string word(rest_.substr(0, size));
    good_ = good_ && !word.empty();
    Skip(size);
    return word;
  }

  std::uint32_t Number() {
    const auto number = ParseNumber<std::uint32_t>(Next());
    good_ = good_ && number;
    return number.value_or(0);
  }

  void Expect(std::string_view word) { good_ = Take(word) && good_; }

 private:
  void Skip(std::size_t size) { rest_.remove_prefix(std::min(size + 1, rest_.size())); }

  std::string NextQuoted(char end) {
    std::string word;
    std::size_t i = 1;
    for (; i < rest_.size() && rest_[i] != '"'; ++i) {
      if (rest_[i] != '\\') {
        word += rest_[i];
        continue;
      }
      const char what = ++i < rest_.size() ? rest_[i] : '\0';
      const bool hex =
          what == 'x' && i + 2 < rest_.size() && HexDigit(rest_[i + 1]) >= 0 && HexDigit(rest_[i + 2]) >= 0;
      if (hex) {
        word += static_cast<char>(HexDigit(rest_[i + 1]) * 16 + HexDigit(rest_[i + 2]));
        i += 2;
      } else {
        word += what == 'n' ? '\n' : what == 't' ? '\t' : what;
        good_ = good_ && (what == 'n' || what == 't' || what == '"' || what == '\\');
      }
    }
    good_ = good_ && i < rest_.size() && (i + 1 == rest_.size() || rest_[i + 1] == end);
    Skip(std::min(i + 1, rest_.size()));
    return word;
  }

  std::string_view rest_;
  bool good_ = true;
};

Value ValueOf(std::string_view spelled) {
  if (Words words(spelled); spelled.starts_with('"')) {
    std::string text = words.Next();
    if (words.good() && words.done()) return Value(std::move(text));
  }
  auto value = ValueFromJsonText(spelled);
  return value && ToText(*value) == spelled ? *std::move(value) : Value(std::string(spelled));
}

class Reader {
 public:
  std::optional<ParsedPlanText> Read(std::string_view text) {
    while (good_ && !text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      Line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!good_ || !named_) return std::nullopt;
    std::vector<std::uint32_t> members(read_.plan.roles.size());
    for (const Process& process : read_.plan.processes) ++members[process.role];
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i] != counts_[i].first) Rest(counts_[i].second);
    }
    return std::move(read_);
  }

 private:
  void Rest(std::string_view line) { read_.rest.append(line) += '\n'; }

  void Line(std::string_view line) {
    Plan& plan = read_.plan;
    Words words(line);
    if (words.Take("process")) {
      OfProcess(words);
    } else if (words.Take("role")) {
      OfRole(words, line);
    } else if (words.Take("host")) {
      const std::string label = words.Next();
      words.Expect("devices");
      hosts_[label] = static_cast<std::uint32_t>(plan.hosts.size());
      plan.hosts.push_back({label, words.Number()});
    } else if (words.Take("file")) {
      const std::string path = words.Next();
      plan.files[path] = {words.Next()};
    } else if (words.Take("parameter")) {
      const std::string name = words.Next();
      words.Expect("=");
      plan.params[name] = ValueOf(words.rest());
    } else if (words.Take("derived")) {
      const std::string name = words.Next();
      words.Expect("=");
      plan.derived[name] = ValueOf(words.rest());
    } else if (!words.Take("doc") && !words.Take("named") && !words.Take("profile")) {
      if (words.Take("plan") && words.Take("name")) {
        plan.name = words.Next();
        named_ = true;
      }
      Rest(line);
    }
    good_ = good_ && words.good();
  }

  // Lines that roles and processes have in common.
  template <class Owner>
  bool Common(Words& words, Owner& owner) {
    if (words.Take("env")) {
      const std::string name = words.Next('=');
      owner.env[name] = words.done() ? std::string() : words.Next();
    } else if (words.Take("context")) {
      const std::string name = words.Next();
      words.Expect("=");
      owner.context[name] = ValueOf(words.rest());
    } else if (words.Take("cwd")) {
      owner.cwd = Text(words.Next());
    } else {
      return false;
    }
    return true;
  }

  static std::vector<Text> Command(Words& words) {
    std::vector<Text> command;
    while (!words.done() && words.good()) command.emplace_back(words.Next());
    return command;
  }

  void OfRole(Words& words, std::string_view line) {
    Plan& plan = read_.plan;
    const std::string name = words.Next();
    if (words.Take("count")) {
      roles_[name] = static_cast<std::uint32_t>(plan.roles.size());
      plan.roles.emplace_back().name = name;
      counts_.emplace_back(words.Number(), line);
      return;
    }
    const auto found = roles_.find(name);
    if (found == roles_.end()) {
      good_ = false;
      return;
    }
    Role& role = plan.roles[found->second];
    if (Common(words, role)) return;
    const bool shell = words.Take("shell");
    if (shell || words.Take("command")) {
      role.shell = shell;
      role.command = Command(words);
    } else {
      Rest(line);
    }
  }

  void OfProcess(Words& words) {
    Plan& plan = read_.plan;
    const std::string name = words.Next();
    const std::size_t dot = name.rfind('.');
    const auto role = roles_.find(name.substr(0, dot));
    Words index(dot == std::string::npos ? std::string_view() : std::string_view(name).substr(dot + 1));
    const std::uint32_t number = index.Number();
    if (role == roles_.end() || !index.good()) {
      good_ = false;
      return;
    }
    if (words.Take("host")) {
      Process& process = plan.processes.emplace_back();
      process.role = role->second;
      process.index = number;
      const auto host = hosts_.find(words.Next());
      good_ = good_ && host != hosts_.end();
      if (good_) process.host = host->second;
      Position(words, process);
      return;
    }
    if (plan.processes.empty() || plan.processes.back().role != role->second || plan.processes.back().index != number) {
      good_ = false;
      return;
    }
    Process& process = plan.processes.back();
    if (Common(words, process)) return;
    if (words.Take("ready")) {
      process.ready_what = Text(words.Next());
    } else {
      words.Expect("command");
      process.command = Command(words);
    }
  }

  static void Position(Words& words, Process& process) {
    if (words.Take("rank")) {
      process.rank = words.Number();
      words.Expect("of");
      process.world_size = words.Number();
    }
    words.Expect("local");
    process.local_rank = words.Number();
    words.Expect("of");
    process.local_size = words.Number();
    if (words.Take("devices")) {
      process.devices = DeviceNumbers(words.Next()).value_or(std::vector<std::uint32_t>());
    }
    process.rank_in_stage = process.rank.value_or(0);
    if (words.Take("stage")) {
      process.stage = words.Number();
      words.Expect("position");
      process.rank_in_stage = words.Number();
    }
  }

  ParsedPlanText read_;
  std::vector<std::pair<std::uint32_t, std::string_view>> counts_;  // of each role, and the line that states it
  std::map<std::string, std::uint32_t> hosts_;
  std::map<std::string, std::uint32_t> roles_;
  bool good_ = true;
  bool named_ = false;
};

}  // namespace

std::optional<ParsedPlanText> ReadPlanText(std::string_view text) { return Reader().Read(text); }

}  // namespace muster
