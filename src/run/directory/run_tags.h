// Tags: words, and names with values, by which people tell their runs apart. They are in tags.json of the run
// directory, where they can be changed; those that a run was started with are in its journal, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"

namespace muster {

inline constexpr std::size_t kMostTags = 64;

// "word" or "name=value": a word or name begins with a letter or '_', goes on with letters, digits, '_', '-' and '.',
// and does not end with '-'; a value is any line of UTF-8. At most 200 bytes. Kind "tag".
Result<void> CheckTag(const std::string& tag);

// The tag's word or name.
std::string_view TagName(std::string_view tag);

// Those with `changes` made: "TAG" or "+TAG" takes the place of one of that name, "NAME-" takes it away. Sorted. Kind
// "tag", also for one that is taken away and was not there.
Result<std::vector<std::string>> ChangedTags(std::vector<std::string> tags, const std::vector<std::string>& changes);

// {"format": 1, "tags": […]}; no file for none, if there was none before.
Result<void> WriteTags(int folder, const std::vector<std::string>& tags);
// Of a run directory; none if it has no file, or one that is none.
std::vector<std::string> ReadTags(int folder);
std::vector<std::string> TagsOfRun(const std::string& run_dir);

// By name: true for a word, else the value; as one text ("good,owner=ann"); and as a list of such texts.
Value::Map TagValues(const std::vector<std::string>& tags);
std::string TagsText(const Value::Map& tags);
Value TagList(const Value::Map& tags);

}  // namespace muster
