#include "cli/command/word_problems.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "base/values/shell_quote.h"
#include "base/values/suggest.h"

namespace muster {
namespace {

// The option that the whole word names: "--host", "-f"; not "--host=n1".
const CLI::Option* OptionOf(const CLI::App& app, const std::string& word) {
  if (!word.starts_with('-') || word.size() < 2) return nullptr;
  return app.get_option_no_throw(word);
}

bool TakesValue(const CLI::Option& option) { return option.get_expected_min() > 0 && option.get_type_size_min() > 0; }
bool IsFlag(const CLI::Option& option) { return option.get_expected_max() == 0 || option.get_type_size_max() == 0; }

std::string ValueName(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  return name.empty() ? "VALUE" : name;
}

bool IsName(std::string_view word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) == 0 &&
         std::all_of(word.begin(), word.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-'; });
}

// "lr=0.1,0.2" of the words lr 0.1 0.2, as far as they are values.
std::string Joined(const std::vector<std::string>& words, std::size_t at) {
  std::string joined = words[at] + "=";
  bool first = true;
  for (std::size_t i = at + 1; i < words.size() && words[i].find('=') == std::string::npos; ++i) {
    if (words[i].starts_with("--")) break;
    joined += (first ? "" : ",") + words[i];
    first = false;
  }
  return ShellQuoted(joined);
}

// "-detach" is read as "-d -e …".
std::optional<WordProblem> OneDash(const CLI::App& app, const std::string& word) {
  if (word.size() < 4 || !word.starts_with('-') || word.starts_with("--")) return std::nullopt;
  if (std::isalpha(static_cast<unsigned char>(word[1])) == 0) return std::nullopt;
  const std::string name = "-" + word.substr(0, word.find('='));
  if (app.get_option_no_throw(name) == nullptr) return std::nullopt;
  return WordProblem{"there is no option " + Quoted(word), "did you mean \"-" + word + "\"?"};
}

constexpr std::array<std::string_view, 8> kTruths = {"true", "false", "yes", "no", "on", "off", "True", "False"};

}  // namespace

std::optional<WordProblem> FindWordProblem(const CLI::App& app, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (auto dash = OneDash(app, words[i])) return dash;
    const CLI::Option* option = OptionOf(app, words[i]);
    if (option == nullptr || option->get_positional()) continue;
    const bool is_last = i + 1 == words.size();
    if (IsFlag(*option)) {
      if (is_last || std::find(kTruths.begin(), kTruths.end(), words[i + 1]) == kTruths.end()) continue;
      return WordProblem{
          words[i] + " takes no value, got " + Quoted(words[i + 1]),
          words[i + 1].starts_with('f') || words[i + 1] == "no" || words[i + 1] == "off" || words[i + 1] == "False"
              ? "leave out " + words[i] + " " + words[i + 1]
              : "leave out " + Quoted(words[i + 1])};
    }
    if (!TakesValue(*option)) continue;
    const std::string name = ValueName(*option);
    if (is_last || OptionOf(app, words[i + 1]) != nullptr) {
      return WordProblem{words[i] + " needs a value" + (is_last ? "" : " before " + Quoted(words[i + 1])),
                         "write " + words[i] + " " + name};
    }
    const bool value_follows =
        i + 2 < words.size() && !words[i + 2].starts_with("--") && words[i + 2].find('=') == std::string::npos;
    if (name.starts_with("NAME=") && IsName(words[i + 1]) && value_follows) {
      return WordProblem{words[i] + " takes " + name + ", got " + Quoted(words[i + 1]),
                         "write " + words[i] + " " + Joined(words, i + 1)};
    }
    ++i;  // its value, which may look like anything
  }
  return std::nullopt;
}

std::string RefusalText(const CLI::ParseError& error) {
  const std::string text = error.what();
  constexpr std::string_view kOne = "The following argument was not expected: ";
  constexpr std::string_view kSeveral = "The following arguments were not expected: ";
  const std::string words = text.starts_with(kOne)       ? text.substr(kOne.size())
                            : text.starts_with(kSeveral) ? text.substr(kSeveral.size())
                                                         : "";
  if (words.empty()) return text;
  const bool several = text.starts_with(kSeveral);
  if (words.starts_with('-')) return (several ? "there are no options " : "there is no option ") + words;
  return (several ? "too many words: " : "one word too many: ") + words;
}

std::optional<WordProblem> ExplainRefusal(const CLI::App& app, const CLI::ParseError& error,
                                          const std::string& example) {
  const std::string text = error.what();
  constexpr std::string_view kConversion = "Could not convert: ";
  if (text.starts_with(kConversion)) {
    const std::size_t equals = text.find(" = ");
    if (equals == std::string::npos) return std::nullopt;
    const std::string name = text.substr(kConversion.size(), equals - kConversion.size());
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) return std::nullopt;
    const std::string value = ValueName(*option);
    return WordProblem{name + " takes " + value + ", got " + Quoted(text.substr(equals + 3)),
                       name + ": " + option->get_description()};
  }
  constexpr std::string_view kRequired = " is required";
  if (text.ends_with(kRequired)) {
    const std::string name = text.substr(0, text.size() - kRequired.size());
    const CLI::Option* option = app.get_option_no_throw(name);
    const bool named = option != nullptr && option->get_positional() && ValueName(*option) != "TEXT";
    return WordProblem{"missing argument " + (named ? ValueName(*option) : name), "for example: " + example};
  }
  return std::nullopt;
}

}  // namespace muster
