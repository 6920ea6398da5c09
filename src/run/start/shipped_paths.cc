#include "run/start/shipped_paths.h"

namespace muster {
namespace {

// Characters at which a path may end within a text, and the next one begin.
constexpr std::string_view kBetween = " \t\n'\":;,()<>|&=$`\\{}[]";

bool BeginsThere(std::string_view text, std::size_t at) {
  return at == 0 || kBetween.find(text[at - 1]) != std::string_view::npos;
}

}  // namespace

bool ShippedPaths::IsShipped(std::string_view below) const {
  // Tests ever shorter prefixes: a path may be followed by other characters of the text.
  for (std::size_t end = below.size();; --end) {
    if (end == below.size() || kBetween.find(below[end]) != std::string_view::npos) {
      std::string path(below.substr(0, end));
      while (path.ends_with('/')) path.pop_back();
      const std::size_t slash = path.rfind('/');
      if (tree_->Has(path) || tree_->Has(slash == std::string::npos ? std::string() : path.substr(0, slash)))
        return true;
    }
    if (end == 0) return false;
  }
}

std::string ShippedPaths::Led(std::string_view text) const {
  if (!tree_) return std::string(text);
  std::string led = LedFrom(tree_->folder, text);
  return tree_->also_named.empty() ? led : LedFrom(tree_->also_named, led);
}

std::string ShippedPaths::LedFrom(const std::string& root, std::string_view text) const {
  std::string led;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = text.find(root, at);
    if (found == std::string_view::npos) {
      led += text.substr(at);
      break;
    }
    led += text.substr(at, found - at);
    at = found + root.size();
    const bool ends = at == text.size() || kBetween.find(text[at]) != std::string_view::npos;
    const bool below = at < text.size() && text[at] == '/';
    const bool named = BeginsThere(text, found) && (ends || (below && IsShipped(text.substr(at + 1))));
    led += named ? folder_ : root;
  }
  return led;
}

}  // namespace muster
