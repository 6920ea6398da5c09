#include "rewrite/text_edits.h"

#include <algorithm>
#include <cassert>

namespace muster {

std::string Edited(std::string_view text, std::vector<TextEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const TextEdit& a, const TextEdit& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::string edited;
  std::size_t at = 0;
  for (const TextEdit& edit : edits) {
    assert(edit.begin >= at && edit.end >= edit.begin && edit.end <= text.size() && "edits do not overlap");
    edited += text.substr(at, edit.begin - at);
    edited += edit.text;
    at = edit.end;
  }
  edited += text.substr(at);
  return edited;
}

}  // namespace muster
