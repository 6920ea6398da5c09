#include "lua/engine/site_table.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "lua/state/stack.h"

namespace muster {
namespace {

// Limit for a key's path, such as environment.set.NAME; each key below repeats the path.
constexpr std::size_t kLongestPath = 1'000;

// Words, strings and symbols of a Lua text, one at a time; comments and blanks are skipped.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) { Next(); }

  enum class Kind { kEnd, kName, kString, kSign };
  Kind kind() const { return kind_; }
  std::string_view text() const { return token_; }  // of a string: its content
  std::uint32_t line() const { return line_; }
  bool Is(char sign) const { return kind_ == Kind::kSign && token_[0] == sign; }

  void Next() {
    SkipBlanks();
    if (at_ >= text_.size()) {
      kind_ = Kind::kEnd;
      token_ = {};
      return;
    }
    const char c = text_[at_];
    if (c == '"' || c == '\'') return Quoted(c);
    if (const auto level = LongBracket(at_)) {
      kind_ = Kind::kString;
      return Long(*level);
    }
    const std::size_t begin = at_;
    if (IsNamePart(c)) {
      while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
      kind_ = std::isdigit(static_cast<unsigned char>(c)) != 0 ? Kind::kSign : Kind::kName;
    } else {
      kind_ = Kind::kSign;
      ++at_;
      // "==" is not an assignment.
      if (c == '=' && at_ < text_.size() && text_[at_] == '=') ++at_;
    }
    token_ = text_.substr(begin, at_ - begin);
  }

 private:
  static bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

  void Skip(std::size_t count) {
    for (; count > 0 && at_ < text_.size(); --count) line_ += text_[at_++] == '\n' ? 1 : 0;
  }

  // The level of the long bracket that opens there, if any.
  std::optional<std::size_t> LongBracket(std::size_t at) const {
    if (at >= text_.size() || text_[at] != '[') return std::nullopt;
    std::size_t level = 0;
    while (at + 1 + level < text_.size() && text_[at + 1 + level] == '=') ++level;
    const bool opens = at + 1 + level < text_.size() && text_[at + 1 + level] == '[';
    return opens ? std::optional(level) : std::nullopt;
  }

  void Long(std::size_t level) {
    const std::string close = "]" + std::string(level, '=') + "]";
    const std::size_t begin = at_ + level + 2;
    const std::size_t end = std::min(text_.find(close, begin), text_.size());
    token_ = text_.substr(std::min(begin, text_.size()), end - std::min(begin, end));
    Skip(end - at_ + close.size());
  }

  void Quoted(char quote) {
    const std::size_t begin = at_ + 1;
    std::size_t end = begin;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    end = std::min(end, text_.size());
    kind_ = Kind::kString;
    token_ = text_.substr(begin, end - begin);
    Skip(end - at_ + 1);
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        Skip(1);
      } else if (text_.substr(at_).starts_with("--")) {
        if (const auto level = LongBracket(at_ + 2)) {
          at_ += 2;
          Long(*level);
        } else {
          Skip(std::min(text_.find('\n', at_), text_.size()) - at_);
        }
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  Kind kind_ = Kind::kEnd;
  std::string_view token_;
};

// The name of a field "name =" or "["name"] =" that begins here; the tokens are then after the '='.
std::string KeyAt(Tokens& tokens) {
  if (tokens.kind() == Tokens::Kind::kName) {
    const std::string name(tokens.text());
    tokens.Next();
    if (!tokens.Is('=') || tokens.text() != "=") return {};
    tokens.Next();
    return name;
  }
  if (!tokens.Is('[')) return {};
  tokens.Next();
  if (tokens.kind() != Tokens::Kind::kString) return {};
  const std::string name(tokens.text());
  tokens.Next();
  if (!tokens.Is(']')) return {};
  tokens.Next();
  if (!tokens.Is('=')) return {};
  tokens.Next();
  return name;
}

}  // namespace

std::map<std::string, std::uint32_t> KeyLines(std::string_view text, std::uint32_t line) {
  std::map<std::string, std::uint32_t> lines;
  Tokens tokens(text);
  while (tokens.kind() != Tokens::Kind::kEnd && (tokens.line() < line || !tokens.Is('{'))) tokens.Next();
  struct Table {
    std::string prefix;  // prefix of its keys
    bool known = true;
  };
  std::vector<Table> open;
  std::string key;         // the field whose value comes next
  bool begins = false;     // a field may begin here
  int brackets = 0;        // number of open '(': their content has no fields
  std::vector<int> outer;  // of the enclosing tables
  while (tokens.kind() != Tokens::Kind::kEnd) {
    if (begins && brackets == 0) {
      begins = false;
      const std::uint32_t at = tokens.line();
      key = KeyAt(tokens);
      if (!key.empty() && open.back().known && open.back().prefix.size() + key.size() <= kLongestPath) {
        lines.emplace(open.back().prefix + key, at);
      }
      if (!key.empty()) continue;
      if (tokens.kind() == Tokens::Kind::kEnd) break;
    }
    if (tokens.Is('{')) {
      const bool known = open.empty() || (open.back().known && !key.empty() && brackets == 0 &&
                                          open.back().prefix.size() + key.size() <= kLongestPath);
      open.push_back({open.empty() || !known ? "" : open.back().prefix + key + ".", known});
      outer.push_back(brackets);
      brackets = 0;
      begins = true;
      key.clear();
    } else if (tokens.Is('}')) {
      brackets = outer.back();
      outer.pop_back();
      open.pop_back();
      if (open.empty()) break;
    } else if (tokens.Is('(')) {
      ++brackets;
    } else if (tokens.Is(')')) {
      --brackets;
    } else if (tokens.Is(',') || tokens.Is(';')) {
      begins = true;
      key.clear();
    }
    tokens.Next();
  }
  return lines;
}

void ReportSiteVariables(Host& host) {
  const Site& site = host.request->site;
  const auto place_of = [&](const std::string& field) {
    const auto place = site.places.find(field);
    return place == site.places.end() ? Place{} : place->second;
  };
  for (auto& [role, sources] : host.provenance) {
    for (const auto& [name, value] : site.environment.set) {
      sources.emplace(name, VariableSource{Layer::kSite, place_of("environment.set." + name)});
    }
    for (const std::string& name : site.environment.unset) {
      sources.emplace(name, VariableSource{Layer::kSite, place_of("environment.unset")});
    }
  }
}

std::optional<SiteFileTable> ReadSiteTable(lua_State* lua, Host& host, int muster, int returned) {
  lua_getfield(lua, muster, "contents");
  lua_pushvalue(lua, returned);
  lua_pushliteral(lua, "a site file");
  lua_call(lua, 2, 1);
  const Place place = host.fallback;
  const bool page = host.request->engine_page;
  if (page && lua_isnil(lua, -1) && lua_istable(lua, returned)) lua_pushvalue(lua, returned);
  if (page && (!lua_istable(lua, -1) || !lua_rawequal(lua, -1, returned))) {
    host.Report(Error("engine", {host.request->recipe_file, 0}, "the file returns no page of an engine",
                      "end it with: return { name = \"…\", … }"));
    Stop(lua);
  }
  if (lua_isnil(lua, -1)) {
    host.Report(Error("site", {host.request->recipe_file, 0}, "the file returns no facts about a site",
                      "end it with: return muster.site { … }"));
    Stop(lua);
  }
  SiteFileTable site;
  std::string why;
  if (!ToValue(lua, -1, site.table, why)) {
    host.Report(Error("site", place, (page ? "the page: " : "muster.site: ") + why,
                      "it holds texts, numbers and tables of them"));
    Stop(lua);
  }
  site.lines = KeyLines(host.request->recipe_text, std::max<std::uint32_t>(place.line, 1));
  return site;
}

}  // namespace muster
