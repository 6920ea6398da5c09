#include "plan/text/shell_text.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "plan/environment/environment.h"
#include "plan/environment/inherited_environment.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

// Characters that end a word outside quotes.
constexpr std::string_view kBetweenWords = " \t\n;&|()<>";
constexpr std::string_view kInName = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Whether "${" is followed by a name and '}', an expansion that contains no quotes.
bool IsNameInBraces(std::string_view text) {
  const std::size_t end = text.find_first_not_of(kInName, 2);
  return end != std::string_view::npos && end > 2 && text[end] == '}';
}

// `text` begins with '$' or '`': whether it begins a substitution whose end is unknown.
bool Substitutes(std::string_view text) {
  if (text.front() == '`') return true;
  if (text.size() < 2) return false;
  return text[1] == '(' || text[1] == '\'' || text[1] == '"' || (text[1] == '{' && !IsNameInBraces(text));
}

std::string Escaped(std::string_view value, std::string_view which) {
  std::string text;
  for (const char c : value) {
    if (which.find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

std::string InSingleQuotes(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

void ShellPlace::Pass(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const char before = std::exchange(before_, c);
    if (std::exchange(escaped_, false)) {
      begins_word_ = false;
      continue;
    }
    switch (where_) {
      case Where::kSingle:
        if (c == '\'') where_ = Where::kWords;
        break;
      case Where::kComment:
        if (c == '\n') {
          where_ = Where::kWords;
          begins_word_ = true;
        }
        break;
      case Where::kDouble:
        escaped_ = c == '\\';
        if (c == '"') where_ = Where::kWords;
        // A '"' here ends the string, whatever precedes it.
        if ((c == '$' || c == '`') && text.substr(at, 2) != "$\"" && text.substr(at, 2) != "$'") {
          unclear_ = unclear_ || Substitutes(text.substr(at));
        }
        break;
      case Where::kWords:
        escaped_ = c == '\\';
        if (c == '\'') where_ = Where::kSingle;
        if (c == '"') where_ = Where::kDouble;
        if (c == '#' && begins_word_) where_ = Where::kComment;
        if (c == '$' || c == '`') unclear_ = unclear_ || Substitutes(text.substr(at));
        if (c == '<' && before == '<') unclear_ = true;
        begins_word_ = kBetweenWords.find(c) != std::string_view::npos;
        break;
    }
  }
}

tl::expected<std::string, std::string> ShellPlace::Put(std::string_view value) {
  const bool unclear = unclear_ || escaped_ || (before_ == '$' && where_ != Where::kSingle);
  if (!value.empty()) {
    escaped_ = begins_word_ = false;
    before_ = 'x';
  }
  if (IsPlain(value)) return std::string(value);
  if (unclear) {
    if (IsPlain(value, " ")) return std::string(value);
    return tl::unexpected<std::string>(
        Quoted(value) +
        " has a special meaning in a shell, and it is uncertain how the shell reads the text "
        "there");
  }
  switch (where_) {
    case Where::kWords:
      return ShellQuoted(value);
    case Where::kSingle:
      return InSingleQuotes(value);
    case Where::kDouble:
      return Escaped(value, "\\$`\"");
    case Where::kComment:
      break;
  }
  if (value.find('\n') == std::string_view::npos) return std::string(value);
  return tl::unexpected<std::string>(Quoted(value) + " does not fit into a comment of a shell");
}

namespace {

Result<std::string> FillShellText(const Text& text, const Binding& binding, std::uint32_t attempt) {
  const auto pieces = Pieces(text);
  if (!pieces) return FillPlaceholders(text, binding, attempt);  // reports the error
  ShellPlace place;
  std::string filled;
  for (std::size_t at = 0; at < pieces->size(); ++at) {
    const TextPiece& piece = (*pieces)[at];
    if (!piece.hole || piece.hole->kind == Placeholder::Kind::kLiteral) {
      const std::string_view written = piece.hole ? kPlaceholderOpen : std::string_view(piece.literal);
      place.Pass(written);
      filled += written;
      continue;
    }
    const std::string hole = PlaceholderText(*piece.hole);
    const Result<std::string> value = FillPlaceholders(Text(hole), binding, attempt);
    if (!value) return Fail(value.error());
    const bool is_host =
        piece.hole->kind == Placeholder::Kind::kHostAddress || piece.hole->kind == Placeholder::Kind::kHostName;
    const auto put = place.Put(is_host && IsBeforePort(*pieces, at) ? AddressBeforePort(*value) : *value);
    if (!put) {
      return Fail(Error("binding", {}, Quoted(hole) + " cannot be filled in: " + put.error(),
                        "give it to the command by a variable (env = { … }), and write \"$VARIABLE\" in the text"));
    }
    filled += *put;
  }
  return filled;
}

}  // namespace

bool IsShellText(const std::vector<Text>& words, std::size_t word) {
  return word >= 2 && words[word - 1].marked == "-c" && words[word - 2].marked == "/bin/sh";
}

Result<std::string> FillWord(const std::vector<Text>& words, std::size_t word, const Binding& binding,
                             std::uint32_t attempt) {
  const Text& text = words[word];
  const bool has_holes = text.marked.find(kPlaceholderOpen) != std::string::npos;
  return has_holes && IsShellText(words, word) ? FillShellText(text, binding, attempt)
                                               : FillPlaceholders(text, binding, attempt);
}

namespace {

// A sed pattern for variable names in the output of env, including exported functions of bash.
constexpr const char* kNamePattern = "[A-Za-z0-9_.%()-]*";

// A sed pattern for the lines of variables that NAME or PREFIX* matches, up to their "=".
std::string Covered(std::string_view pattern) {
  const bool prefix = pattern.ends_with('*');
  std::string text;
  for (const char c : prefix ? pattern.substr(0, pattern.size() - 1) : pattern) {
    if (std::string_view("\\.*[]^$/").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  if (!prefix) return text;
  return (text.empty() ? "[A-Za-z_]" : text) + kNamePattern;
}

class LineWriter {
 public:
  LineWriter(const Plan& plan, const Process& process, const ShellBinding& bound)
      : plan_(plan), process_(process), role_(plan.roles[process.role]), bound_(bound) {}

  Result<std::string> Write() {
    const Text& cwd = EffectiveCwd(plan_, process_);
    const Variables variables = EffectiveEnv(plan_, process_);
    std::string command = Exported(variables);
    if (!cwd.marked.empty()) command += "cd " + Word(cwd) + " && \\\n  ";
    command += "env" + Removed();
    if (HasSiteLayer()) {
      for (const auto& [name, value] : plan_.site_environment.set) {
        if (variables.contains(name) || IsUnset(name)) continue;
        command += " \\\n    " + ShellQuoted(name) + "=" + (value.empty() ? "" : ShellQuoted(value));
      }
    }
    for (const auto& [name, value] : variables) {
      if (exported_.contains(name)) continue;
      command += " \\\n    " + ShellQuoted(name) + "=" + (value.marked.empty() ? "" : Word(value, true));
    }
    command += " \\\n  ";
    if (role_.shell) command += "/bin/sh -c";
    bool first = !role_.shell;
    // env would treat the word as another variable.
    if (first && EffectiveCommand(plan_, process_).front().marked.find('=') != std::string::npos) {
      command += "/bin/sh -c 'exec \"$0\" \"$@\"'";
    }
    std::vector<Text> words;
    if (role_.shell) words = {"/bin/sh", "-c"};
    const std::size_t begin = words.size();
    for (const Text& word : EffectiveCommand(plan_, process_)) words.push_back(word);
    for (std::size_t word = begin; word < words.size(); ++word) {
      if (command.back() != ' ') command += ' ';
      command += first && !bound_.program.empty() ? ShellQuoted(bound_.program) : CommandWord(words, word);
      first = false;
    }
    if (!problems_.empty()) return Fail(std::move(problems_));
    return Comments() + "( " + command + " )\n";
  }

 private:
  // With an activation the site's layer is applied before it, and so before this line.
  bool HasSiteLayer() const { return plan_.activation.empty() && !plan_.site_environment.empty(); }

  bool IsUnset(const std::string& name) const {
    return std::any_of(role_.unset.begin(), role_.unset.end(),
                       [&](const std::string& pattern) { return Matches(pattern, name); });
  }

  // Variables with secrets are exported by the subshell: arguments of env are visible to all users of the machine.
  std::string Exported(const Variables& variables) {
    std::string text;
    for (const auto& [name, value] : variables) {
      if (value.marked.find("${muster:secret:") == std::string::npos) continue;
      if (!IsIdentifier(name)) {
        Refuse(Text(name), "a shell cannot export a variable of this name, which holds a secret");
        continue;
      }
      text += name + "=" + Word(value, true) + " && export " + name + " && \\\n  ";
      exported_.emplace(name, value.marked);
    }
    return text;
  }

  // One word, quoted for the shell. In a shell text, values are also quoted for that shell.
  std::string CommandWord(const std::vector<Text>& words, std::size_t word) {
    if (bound_.binding == nullptr || !IsShellText(words, word)) return Word(words[word]);
    const auto filled = FillWord(words, word, *bound_.binding, 0);
    if (filled) return ShellQuoted(*filled);
    problems_.insert(problems_.end(), filled.error().begin(), filled.error().end());
    return {};
  }

  // One word, quoted for the shell; `variable`: the word is the value of a variable.
  std::string Word(const Text& text, bool variable = false) {
    const auto pieces = Pieces(text);
    if (!pieces) return Refuse(text, pieces.error());
    std::string word;
    for (std::size_t at = 0; at < pieces->size(); ++at) {
      const TextPiece& piece = (*pieces)[at];
      word += piece.hole ? OfPlaceholder(*piece.hole, variable, IsBeforePort(*pieces, at)) : ShellQuoted(piece.literal);
    }
    return word.empty() ? "''" : word;
  }

  std::string OfPlaceholder(const Placeholder& hole, bool variable, bool before_port) {
    switch (hole.kind) {
      case Placeholder::Kind::kLiteral:
        return ShellQuoted(kPlaceholderOpen);
      case Placeholder::Kind::kAttempt:
        return "0";
      case Placeholder::Kind::kSecret:
        return OfSecret(hole.name);
      case Placeholder::Kind::kInheritedPath:
        if (!variable) return Refuse(Text(PlaceholderText(hole)), "only a variable can append an inherited value");
        return OfInherited(hole.name, {}, ":+:$" + hole.name);
      case Placeholder::Kind::kInherited:
        if (!variable) return Refuse(Text(PlaceholderText(hole)), "only a variable can be inherited");
        return OfInherited(hole.name, hole.text, "-" + Escaped(hole.text));
      default:
        break;
    }
    if (bound_.binding == nullptr) return Wanted(hole);
    const auto filled = FillPlaceholders(Text(PlaceholderText(hole)), *bound_.binding, 0);
    if (filled) {
      const bool is_host = hole.kind == Placeholder::Kind::kHostAddress || hole.kind == Placeholder::Kind::kHostName;
      return filled->empty() ? "" : ShellQuoted(is_host && before_port ? AddressBeforePort(*filled) : *filled);
    }
    problems_.insert(problems_.end(), filled.error().begin(), filled.error().end());
    return {};
  }

  // Expanded by the shell; `otherwise`: the result if the site removes the variable. A path value of the site follows a
  // ':'.
  std::string OfInherited(const std::string& name, const std::string& otherwise, const std::string& expansion) const {
    if (HasSiteLayer()) {
      const SiteEnvironment& site = plan_.site_environment;
      const auto quoted = [](const std::string& text) { return text.empty() ? "" : ShellQuoted(text); };
      if (const auto set = site.set.find(name); set != site.set.end()) {
        const bool path = expansion.starts_with(":+");
        return quoted(path && !set->second.empty() ? ":" + set->second : set->second);
      }
      const auto left = InheritedAtSite(site, {name + "="});
      if (std::find(left.begin(), left.end(), name + "=") == left.end()) return quoted(otherwise);
    }
    return "\"${" + name + expansion + "}\"";
  }

  // Escaped for double quotes of the shell.
  static std::string Escaped(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '"' || c == '$' || c == '`' || c == '\\') escaped += '\\';
      escaped += c;
    }
    return escaped;
  }

  std::string OfSecret(const std::string& name) {
    const SecretSource& source = plan_.secrets.at(name);
    if (source.from_env.empty()) return "\"$(cat " + ShellQuoted(source.from_file) + ")\"";
    const std::string hole = PlaceholderText({Placeholder::Kind::kSecret, name, 0});
    if (const auto taken = exported_.find(source.from_env); taken != exported_.end() && taken->second != hole) {
      return Refuse(Text(hole),
                    "it is in the variable " + source.from_env + ", which is overwritten with another secret before");
    }
    if (!IsIdentifier(source.from_env)) return "\"$(printenv " + ShellQuoted(source.from_env) + ")\"";
    return "\"${" + source.from_env + ":?the secret " + name + "}\"";
  }

  // The shell variable for a value that is known only at the start.
  std::string Wanted(const Placeholder& hole) {
    const std::string what = PlaceholderText(hole).substr(kPlaceholderOpen.size());
    std::string name = "muster_";
    for (const char c : what.substr(0, what.size() - 1)) {
      const bool letter = IsLetterOrDigit(c);
      name += letter ? c : '_';
    }
    const auto same = [&](const auto& one) { return one.first == name && one.second != what; };
    while (std::any_of(wanted_.begin(), wanted_.end(), same)) name += '_';
    const std::pair<std::string, std::string> one(name, what);
    if (std::find(wanted_.begin(), wanted_.end(), one) == wanted_.end()) wanted_.push_back(one);
    // An empty checkpoint is valid, and outside a sweep its facts are empty.
    const bool may_be_empty =
        hole.kind == Placeholder::Kind::kNewestCheckpoint || hole.kind == Placeholder::Kind::kSweep;
    return may_be_empty ? "\"${" + name + "-}\"" : "\"${" + name + ":?}\"";
  }

  // Evaluated, like the values, before env removes anything. The first expression that matches a line applies.
  std::string Removed() const {
    const bool all = std::find(role_.unset.begin(), role_.unset.end(), "*") != role_.unset.end();
    if (all && exported_.empty()) return " -i";
    std::string words;
    std::string expressions;
    bool finds = false;
    const auto keep = [&](const std::string& pattern) {
      expressions += " -e " + ShellQuoted("/^" + Covered(pattern) + "=/d");
    };
    const auto find = [&](const std::string& pattern) {
      expressions += " -e " + ShellQuoted("s/^\\(" + Covered(pattern) + "\\)=.*/-u \\1/p");
      finds = true;
    };
    const auto remove = [&](const std::vector<std::string>& patterns) {
      for (const std::string& pattern : patterns) {
        if (pattern.ends_with('*')) {
          find(pattern);
        } else if (!exported_.contains(pattern)) {
          words += " -u " + ShellQuoted(pattern);
        }
      }
    };
    for (const auto& [name, unused] : exported_) keep(name);  // a line within another value may look the same
    remove(role_.unset);
    if (HasSiteLayer() && !all) {
      remove(plan_.site_environment.unset);
      if (!plan_.site_environment.pass.empty()) {
        keep("PATH");
        for (const std::string& pattern : plan_.site_environment.pass) keep(pattern);
        find("*");
      }
    }
    if (!finds) return words;
    // Lines within a secret may look like variables, and would become arguments.
    std::set<std::string> secrets;
    for (const auto& [name, unused] : exported_) secrets.insert(name);
    for (const auto& [unused, source] : plan_.secrets) {
      if (!source.from_env.empty()) secrets.insert(source.from_env);
    }
    std::string listed = "env";
    for (const std::string& name : secrets) listed += " -u " + ShellQuoted(name);
    return words + " \\\n    $(" + listed + " | sed -n" + expressions + ")";
  }

  std::string Comments() const {
    const PlanHost& host = plan_.hosts[process_.host];
    std::string text = "# " + Printable(ProcessName(plan_, process_));
    if (process_.rank) text += " rank " + std::to_string(*process_.rank) + " of " + std::to_string(process_.world_size);
    const bool bound = bound_.binding != nullptr && process_.host < bound_.binding->hosts.size();
    const std::string& name = bound ? bound_.binding->hosts[process_.host].name : host.name;
    text += " on " + Printable(name.empty() ? host.label : name) + ", of plan " + ShortPlanId(plan_) + "\n";
    if (const Container& container = role_.container; !container.image.marked.empty()) {
      text += "# this line runs it outside its container (" + Printable(container.runtime.name) + ", image " +
              Printable(container.image.marked) + ")\n";
    }
    for (const auto& [variable, what] : wanted_) {
      text += "# set first: " + variable + "=…  (" + Printable(what.substr(0, what.size() - 1)) + ")\n";
    }
    if (!plan_.activation.empty()) text += "# run the host's activation first\n" + SiteBeneathActivation();
    for (const auto& [key, value] : EffectiveContext(plan_, process_)) {
      const std::string* words = value.AsString();
      if (words == nullptr || words->find("${muster:secret:") == std::string::npos) continue;
      text += "# its context holds a secret (" + Printable(key) +
              "), which it would read from a descriptor that is missing here\n";
    }
    return text;
  }

  std::string SiteBeneathActivation() const {
    const SiteEnvironment& site = plan_.site_environment;
    std::string text;
    const auto words = [](const std::vector<std::string>& patterns) {
      std::string joined;
      for (const std::string& pattern : patterns) joined += " " + Printable(pattern);
      return joined + "\n";
    };
    if (!site.pass.empty()) text += "#   before it, the site inherits only PATH" + words(site.pass);
    if (!site.unset.empty()) text += "#   before it, the site unsets" + words(site.unset);
    for (const auto& [name, value] : site.set) {
      text += "#   before it, the site sets " + Printable(name + "=" + ShellQuoted(value)) + "\n";
    }
    return text;
  }

  std::string Refuse(const Text& text, const std::string& why) {
    problems_.push_back(Error("binding", {}, Quoted(text.marked) + ": " + why));
    return {};
  }

  const Plan& plan_;
  const Process& process_;
  const Role& role_;
  const ShellBinding& bound_;
  std::map<std::string, std::string> exported_;              // by name: texts with secrets
  std::vector<std::pair<std::string, std::string>> wanted_;  // shell variable, and its placeholder
  Diagnostics problems_;
};

}  // namespace

Result<std::string> ShellLine(const Plan& plan, const Process& process, const ShellBinding& bound) {
  return LineWriter(plan, process, bound).Write();
}

}  // namespace muster
