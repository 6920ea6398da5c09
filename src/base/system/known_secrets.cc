#include "base/system/known_secrets.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/values/quoting.h"
#include "base/values/value_text.h"

namespace muster {
namespace {

struct SecretForms {
  std::mutex mutex;
  std::vector<std::string> forms;  // the longest first
};

SecretForms& AllSecrets() {
  static SecretForms known;
  return known;
}

void AddForm(std::vector<std::string>& forms, std::string form) {
  if (form.size() < kMinHidden || std::find(forms.begin(), forms.end(), form) != forms.end()) return;
  forms.push_back(std::move(form));
}

// How many bytes at the beginning of the text are the end of the form; 0 for fewer than the shortest.
std::size_t RestAtBeginning(std::string_view text, std::string_view form) {
  for (std::size_t size = std::min(text.size(), form.size() - 1); size >= kMinHidden; --size) {
    if (text.substr(0, size) == form.substr(form.size() - size)) return size;
  }
  return 0;
}

// How many bytes at the end of the text are the beginning of the form; 0 for fewer than the shortest.
std::size_t BeginningAtEnd(std::string_view text, std::string_view form) {
  for (std::size_t size = std::min(text.size(), form.size() - 1); size >= kMinHidden; --size) {
    if (text.substr(text.size() - size) == form.substr(0, size)) return size;
  }
  return 0;
}

}  // namespace

void HideFromNowOn(std::string_view secret) {
  SecretForms& known = AllSecrets();
  const std::lock_guard lock(known.mutex);
  // Output is quoted in lines.
  while (!secret.empty()) {
    const std::size_t end = secret.find_first_of("\r\n");
    const std::string line(secret.substr(0, end));
    secret.remove_prefix(end == secret.npos ? secret.size() : end + 1);
    AddForm(known.forms, line);
    AddForm(known.forms, Printable(line));
    std::string json;
    AppendJsonString(line, json);
    AddForm(known.forms, json.substr(1, json.size() - 2));
  }
  std::stable_sort(known.forms.begin(), known.forms.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string WithoutSecrets(std::string_view text, TextCut cut) {
  SecretForms& known = AllSecrets();
  const std::lock_guard lock(known.mutex);
  std::size_t rest = 0;
  std::size_t beginning = 0;
  for (const std::string& form : known.forms) {
    if (cut.begin) rest = std::max(rest, RestAtBeginning(text, form));
    if (cut.end) beginning = std::max(beginning, BeginningAtEnd(text, form));
  }
  std::string shown(text);
  if (beginning > 0 && rest + beginning <= text.size()) {
    shown.replace(text.size() - beginning, beginning, kHiddenValue);
  }
  if (rest > 0) shown.replace(0, rest, kHiddenValue);
  for (const std::string& form : known.forms) {
    std::size_t at = shown.find(form);
    if (at == shown.npos) continue;
    std::string without;
    std::size_t from = 0;
    for (; at != shown.npos; at = shown.find(form, from)) {
      without.append(shown, from, at - from).append(kHiddenValue);
      from = at + form.size();
    }
    shown = without.append(shown, from);
  }
  return shown;
}

std::size_t OverwriteSecrets(std::string& text) {
  SecretForms& known = AllSecrets();
  const std::lock_guard lock(known.mutex);
  std::size_t count = 0;
  for (const std::string& form : known.forms) {
    for (std::size_t at = text.find(form); at != text.npos; at = text.find(form, at + form.size()), ++count) {
      text.replace(at, form.size(), form.size(), '*');
    }
  }
  return count;
}

std::size_t WithoutPartOfASecret(std::string_view text) {
  SecretForms& known = AllSecrets();
  const std::lock_guard lock(known.mutex);
  if (known.forms.empty()) return text.size();
  const std::size_t longest = known.forms.front().size();
  std::size_t end = text.size() - std::min(text.size(), longest - 1);
  for (bool moved = true; moved && end > 0;) {
    moved = false;
    for (const std::string& form : known.forms) {
      const std::size_t from = end - std::min(end, form.size() - 1);
      const std::size_t at = text.substr(0, std::min(text.size(), end + form.size() - 1)).find(form, from);
      if (at == text.npos || at >= end) continue;
      end = at;
      moved = true;
    }
  }
  return end;
}

}  // namespace muster
