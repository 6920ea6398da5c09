#include "run/directory/run_note.h"

#include <algorithm>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "base/values/shell_quote.h"
#include "base/values/utf8.h"
#include "run/directory/private_files.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

std::string WithoutLineEnds(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

Result<void> CheckNote(const std::string& text) {
  if (text.size() > kLongestNote) {
    return Fail(Error("note", {}, fmt::format("a note has at most {} bytes, this one {}", kLongestNote, text.size()),
                      "put longer texts into a file of their own"));
  }
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= ' ' && byte != 0x7F) || c == '\n' || c == '\t';
  });
  if (plain && IsUtf8(text)) return {};
  return Fail(Error("note", {}, "a note is UTF-8 text without control characters"));
}

Result<void> WriteNote(int folder, const std::string& text) {
  if (auto sound = CheckNote(text); !sound) return sound;
  const std::string kept = WithoutLineEnds(text);
  if (!kept.empty()) return ReplaceFile(folder, kNoteEntry.name, kept + "\n");
  if (::unlinkat(folder, kNoteEntry.name, 0) == 0 || errno == ENOENT) return {};
  return Fail(SystemError("note", "the note cannot be removed", errno));
}

std::string ReadNote(int folder) {
  const Result<std::string> text = ReadFileAt(folder, kNoteEntry.name, kNoteEntry.most, O_NOFOLLOW);
  return text && CheckNote(*text) ? WithoutLineEnds(*text) : std::string();
}

std::string NoteOfRun(const std::string& run_dir) {
  const UniqueFd folder(::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder ? ReadNote(folder.get()) : std::string();
}

std::string NoteText(const std::string& note, std::size_t indent) {
  std::string text;
  std::size_t from = 0;
  for (std::size_t end = note.find('\n'); end != std::string::npos; end = note.find('\n', from)) {
    text += Printable(note.substr(from, end - from)) + '\n' + std::string(indent, ' ');
    from = end + 1;
  }
  return text + Printable(note.substr(from));
}

}  // namespace muster
