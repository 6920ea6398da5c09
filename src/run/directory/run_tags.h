// What users write about runs, trials and sweeps, at their start or later: tags, which are words and names with
// values, in tags.json, and a note of free text in note.txt.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"
#include "wire/files/run_layout.h"

namespace muster {

// Tags: words, and names with values, by which users find their runs and sweeps. They are in tags.json of the run or
// sweep directory, where they can be changed; the tags given at the start of a run are in its journal, too.

inline constexpr std::size_t kMaxTags = 64;

// "word" or "name=value": a word or name begins with a letter or '_', continues with letters, digits, '_', '-' and '.',
// and does not end with '-'; a value is any line of UTF-8. At most 200 bytes. Kind "tag".
Result<void> CheckTag(const std::string& tag);

// The tag's word or name.
std::string_view TagName(std::string_view tag);

// The tags after `changes`, sorted: "TAG" or "+TAG" replaces the tag of that name, "NAME-" removes it. Kind "tag", also
// if a tag to be removed does not exist.
Result<std::vector<std::string>> ChangedTags(std::vector<std::string> tags, const std::vector<std::string>& changes);

// The tags of a new run or sweep, sorted; each as CheckTag wants it.
Result<std::vector<std::string>> NewTags(const std::vector<std::string>& tags);

// Writes {"format": 1, "tags": […]}; writes no file if there are no tags and were none before.
Result<void> WriteTags(int folder, const std::vector<std::string>& tags);
// The tags of a run directory; empty if it has no file, or an invalid one.
std::vector<std::string> ReadTags(int folder);
std::vector<std::string> TagsOfRun(const std::string& run_dir);

// By name: true for a word, else the value; as one text ("good,owner=ann"); and as a list of such texts.
Value::Map TagValues(const std::vector<std::string>& tags);
std::string TagsText(const Value::Map& tags);
Value TagList(const Value::Map& tags);

// A note: free text about a run, a trial or a sweep that a user adds at any time. It is in note.txt of the directory.

inline constexpr std::size_t kMaxNote = kNoteEntry.most - 1;  // and the end of its line

// UTF-8 without control characters except line ends and tabs, at most kMaxNote bytes. Kind "note".
Result<void> CheckNote(const std::string& text);

// Replaces the note; an empty text removes it. Kind "note", or those of file errors.
Result<void> WriteNote(int folder, const std::string& text);
// Empty if there is none, or an invalid one. Without a line end at its end.
std::string ReadNote(int folder);
std::string NoteOfRun(const std::string& run_dir);

// For a terminal: lines after the first one begin with so many blanks.
std::string NoteText(const std::string& note, std::size_t indent);

}  // namespace muster
