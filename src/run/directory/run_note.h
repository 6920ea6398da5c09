// A note: free text about a run, a trial or a sweep that a user adds at any time. It is in note.txt of the directory.
#pragma once

#include <cstddef>
#include <string>

#include "muster/result.h"
#include "wire/files/run_layout.h"

namespace muster {

inline constexpr std::size_t kLongestNote = kNoteEntry.most - 1;  // and the end of its line

// UTF-8 without control characters except line ends and tabs, at most kLongestNote bytes. Kind "note".
Result<void> CheckNote(const std::string& text);

// Replaces the note; an empty text removes it. Kind "note", or those of file errors.
Result<void> WriteNote(int folder, const std::string& text);
// Empty if there is none, or an invalid one. Without a line end at its end.
std::string ReadNote(int folder);
std::string NoteOfRun(const std::string& run_dir);

// For a terminal: lines after the first one begin with so many blanks.
std::string NoteText(const std::string& note, std::size_t indent);

}  // namespace muster
