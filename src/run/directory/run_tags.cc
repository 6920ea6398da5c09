#include "run/directory/run_tags.h"

#include <algorithm>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"

namespace muster {
namespace {

constexpr std::size_t kMaxTag = 200;

bool IsName(std::string_view name) {
  const auto letter = [](char c) { return IsLetter(c) || c == '_'; };
  return !name.empty() && letter(name.front()) && name.back() != '-' &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || IsDigit(c) || c == '-' || c == '.'; });
}

}  // namespace

std::string_view TagName(std::string_view tag) { return tag.substr(0, tag.find('=')); }

Result<void> CheckTag(const std::string& tag) {
  const bool one_line =
      std::none_of(tag.begin(), tag.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
  if (IsName(TagName(tag)) && tag.size() <= kMaxTag && IsUtf8(tag) && one_line) return {};
  return Fail(Error("tag", {}, fmt::format("{} is not a valid tag", Quoted(tag)),
                    "a word such as baseline, or name=value; names have letters, digits, '_', '-' and '.'"));
}

Result<std::vector<std::string>> ChangedTags(std::vector<std::string> tags, const std::vector<std::string>& changes) {
  for (const std::string& change : changes) {
    const bool taken = change.ends_with('-') && change.find('=') == std::string::npos;
    const std::string tag = taken                     ? change.substr(0, change.size() - 1)
                            : change.starts_with('+') ? change.substr(1)
                                                      : change;
    if (auto sound = CheckTag(tag); !sound) return Fail(sound.error());
    const auto removed = std::erase_if(tags, [&](const std::string& other) { return TagName(other) == TagName(tag); });
    if (taken && removed == 0) {
      return Fail(Error("tag", {}, fmt::format("there is no tag {} to remove", Quoted(tag))));
    }
    if (!taken) tags.push_back(tag);
  }
  if (tags.size() > kMaxTags) {
    return Fail(Error("tag", {}, fmt::format("at most {} tags, these are {}", kMaxTags, tags.size())));
  }
  std::sort(tags.begin(), tags.end());
  return tags;
}

Result<std::vector<std::string>> NewTags(const std::vector<std::string>& tags) {
  for (const std::string& tag : tags) {
    if (auto sound = CheckTag(tag); !sound) return Fail(sound.error());
  }
  return ChangedTags({}, tags);
}

Result<void> WriteTags(int folder, const std::vector<std::string>& tags) {
  struct stat facts {};
  if (tags.empty() && ::fstatat(folder, kTagsEntry.name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return {};
  return ReplaceFile(
      folder, kTagsEntry.name,
      JsonText(Value(Value::Map{{"format", 1}, {"tags", Value::List(tags.begin(), tags.end())}})) + "\n");
}

std::vector<std::string> ReadTags(int folder) {
  std::vector<std::string> tags;
  const Result<std::string> text = ReadFileAt(folder, kTagsEntry.name, kTagsEntry.most, O_NOFOLLOW);
  if (!text) return tags;
  const auto value = ValueFromJsonText(*text);
  if (!value || value->AsMap() == nullptr) return tags;
  const auto list = value->AsMap()->find("tags");
  if (list == value->AsMap()->end() || list->second.AsList() == nullptr) return tags;
  for (const Value& tag : *list->second.AsList()) {
    if (tag.AsString() != nullptr && CheckTag(*tag.AsString())) tags.push_back(*tag.AsString());
  }
  return tags;
}

std::vector<std::string> TagsOfRun(const std::string& run_dir) {
  const UniqueFd folder(::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder ? ReadTags(folder.get()) : std::vector<std::string>();
}

Value::Map TagValues(const std::vector<std::string>& tags) {
  Value::Map values;
  for (const std::string& tag : tags) {
    const std::string name(TagName(tag));
    values.emplace(name, name.size() == tag.size() ? Value(true) : Value(tag.substr(name.size() + 1)));
  }
  return values;
}

Value TagList(const Value::Map& tags) {
  Value::List list;
  for (const auto& [name, value] : tags) {
    list.emplace_back(name + (value.AsString() != nullptr ? "=" + *value.AsString() : ""));
  }
  return Value(std::move(list));
}

std::string TagsText(const Value::Map& tags) {
  std::string text;
  const Value list = TagList(tags);
  for (const Value& tag : *list.AsList()) text += (text.empty() ? "" : ",") + *tag.AsString();
  return text;
}

namespace {

std::string WithoutLineEnds(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

Result<void> CheckNote(const std::string& text) {
  if (text.size() > kMaxNote) {
    return Fail(Error("note", {}, fmt::format("a note has at most {} bytes, this one {}", kMaxNote, text.size()),
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
