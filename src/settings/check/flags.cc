#include "settings/check/flags.h"

#include <algorithm>
#include <vector>

#include "base/values/shell_quote.h"
#include "base/values/suggest.h"
#include "settings/schema/rule_note.h"
#include "settings/schema/setting_key.h"
#include "settings/schema/word_list.h"

namespace muster {
namespace {

struct Flag {
  std::string name;  // empty: the word is no option
  std::string value;
  std::string word;
};

// "--name" or "--name=value" with one "="; words are separated by blanks.
std::vector<Flag> FlagsOf(std::string_view text) {
  std::vector<Flag> flags;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return flags;
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    Flag& flag = flags.emplace_back();
    flag.word = word;
    if (!word.starts_with("--") || word.size() == 2) continue;
    const std::size_t equals = word.find('=', 3);
    if (equals == std::string_view::npos) {
      flag.name = word.substr(2);
    } else if (equals + 1 < word.size() && word.find('=', equals + 1) == std::string_view::npos) {
      flag.name = word.substr(2, equals - 2);
      flag.value = word.substr(equals + 1);
    }
  }
}

}  // namespace

std::optional<std::string> FlagValue(std::string_view flags, std::string_view name) {
  for (Flag& flag : FlagsOf(flags)) {
    if (flag.name == name) return std::move(flag.value);
  }
  return std::nullopt;
}

void CheckFlags(const Attribute& attribute, std::string_view flags, const std::string& path, const CheckedIn& where,
                Diagnostics& problems) {
  const std::string version = "MindSpore " + ReleaseText(where.release);
  const auto warn = [&](std::string message, std::string hint) {
    Diagnostic& problem =
        problems.emplace_back(Warning("format", where.place, path + ": " + std::move(message), std::move(hint)));
    Cite(problem, attribute, "flags");
  };
  std::vector<std::string> known;
  for (const auto& [name, unused] : attribute.flags) known.push_back(name);
  std::vector<std::string> seen;
  for (const Flag& flag : FlagsOf(flags)) {
    if (flag.name.empty()) {
      warn(Quoted(flag.word) + " is not an option, so " + version + " ignores it", "write --name or --name=value");
      continue;
    }
    if (Contains(seen, flag.name)) {
      warn("--" + flag.name + " is given twice, and " + version + " takes the first", "give it once");
      continue;
    }
    seen.push_back(flag.name);
    const auto documented = attribute.flags.find(flag.name);
    if (documented == attribute.flags.end()) {
      if (const auto near = Nearest(flag.name, known)) {
        warn("--" + flag.name + " is no documented option of " + version, "did you mean --" + *near + "?");
      }
      continue;
    }
    const Value::List* values = documented->second.AsList();
    if (values == nullptr || std::find(values->begin(), values->end(), Value(flag.value)) != values->end()) continue;
    std::vector<std::string> allowed;
    for (const Value& value : *values) {
      allowed.push_back(value == Value("") ? "--" + flag.name : "--" + flag.name + "=" + ValueKey(value));
    }
    warn(flag.word + " is not among the values that the documents of " + version + " give",
         "write " + WordList(allowed, " or "));
  }
}

}  // namespace muster
