// Commands and lines with placeholders, as pages of engines write them: { "scancel", "{each_job}" }.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace muster {

// Values of placeholders by name.
struct TemplateValues {
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, std::vector<std::string>, std::less<>> lists;  // a word that is {each_NAME} becomes these words
};

// The names of the placeholders of a word, in order: "{agent}" has agent. "{{" and "}}" stand for braces. The error is
// a phrase: a brace that is not closed, an empty name, a stray '}'.
tl::expected<std::vector<std::string>, std::string> PlaceholdersIn(std::string_view word);

// The word with its placeholders filled. All of them must have a value in `texts`, and the word must be well-formed.
std::string Filled(std::string_view word, const TemplateValues& values);

// The words of a command, filled; a word that consists of one placeholder of `lists` becomes as many words.
std::vector<std::string> FilledCommand(std::span<const std::string> words, const TemplateValues& values);

}  // namespace muster
