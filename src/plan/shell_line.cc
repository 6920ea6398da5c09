#include "plan/shell_line.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/shell_quote.h"
#include "plan/plan_text.h"

namespace muster {
namespace {

class Line {
 public:
  Line(const Plan& plan, const Process& process, const ShellBinding& bound)
      : plan_(plan), process_(process), role_(plan.roles[process.role]), bound_(bound) {}

  Result<std::string> Write() {
    const Text& cwd = EffectiveCwd(plan_, process_);
    std::string command = cwd.marked.empty() ? "" : "cd " + Word(cwd) + " && \\\n  ";
    command += "env" + Removed();
    for (const auto& [name, value] : EffectiveEnv(plan_, process_)) {
      command += " \\\n    " + ShellQuoted(name) + "=" + (value.marked.empty() ? "" : Word(value, true));
    }
    command += " \\\n  ";
    if (role_.shell) command += "/bin/sh -c";
    bool first = !role_.shell;
    // env would take it for one more variable.
    if (first && EffectiveCommand(plan_, process_).front().marked.find('=') != std::string::npos) {
      command += "/bin/sh -c 'exec \"$0\" \"$@\"'";
    }
    for (const Text& word : EffectiveCommand(plan_, process_)) {
      if (command.back() != ' ') command += ' ';
      command += first && !bound_.program.empty() ? ShellQuoted(bound_.program) : Word(word);
      first = false;
    }
    if (!problems_.empty()) return Fail(std::move(problems_));
    return Comments() + "( " + command + " )\n";
  }

 private:
  // As one word of the shell; `variable`: it is the value of one.
  std::string Word(const Text& text, bool variable = false) {
    const auto pieces = Pieces(text);
    if (!pieces) return Refuse(text, pieces.error());
    std::string word;
    for (const TextPiece& piece : *pieces)
      word += piece.hole ? OfHole(*piece.hole, variable) : ShellQuoted(piece.literal);
    return word.empty() ? "''" : word;
  }

  std::string OfHole(const Hole& hole, bool variable) {
    switch (hole.kind) {
      case Hole::Kind::kLiteral:
        return ShellQuoted(kHoleOpen);
      case Hole::Kind::kAttempt:
        return "0";
      case Hole::Kind::kSecret:
        return OfSecret(hole.name);
      case Hole::Kind::kInheritedPath:
        if (!variable) return Refuse(Text(HoleText(hole)), "only a variable can go on with an inherited value");
        return "\"${" + hole.name + ":+:$" + hole.name + "}\"";
      default:
        break;
    }
    if (bound_.binding == nullptr) return Wanted(hole);
    const auto filled = FillHoles(Text(HoleText(hole)), *bound_.binding, 0);
    if (filled) return filled->empty() ? "" : ShellQuoted(*filled);
    problems_.insert(problems_.end(), filled.error().begin(), filled.error().end());
    return {};
  }

  std::string OfSecret(const std::string& name) {
    const SecretSource& source = plan_.secrets.at(name);
    if (source.from_env.empty()) return "\"$(cat " + ShellQuoted(source.from_file) + ")\"";
    const bool plain = std::all_of(source.from_env.begin(), source.from_env.end(), [](char c) {
      return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    });
    if (!plain) return "\"$(printenv " + ShellQuoted(source.from_env) + ")\"";
    return "\"${" + source.from_env + ":?the secret " + name + "}\"";
  }

  // A shell variable for what only a start knows.
  std::string Wanted(const Hole& hole) {
    const std::string what = HoleText(hole).substr(kHoleOpen.size());
    std::string name = "muster_";
    for (const char c : what.substr(0, what.size() - 1)) {
      const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      name += letter ? c : '_';
    }
    const auto same = [&](const auto& one) { return one.first == name && one.second != what; };
    while (std::any_of(wanted_.begin(), wanted_.end(), same)) name += '_';
    const std::pair<std::string, std::string> one(name, what);
    if (std::find(wanted_.begin(), wanted_.end(), one) == wanted_.end()) wanted_.push_back(one);
    // Nothing is a checkpoint, too.
    return hole.kind == Hole::Kind::kNewestCheckpoint ? "\"${" + name + "-}\"" : "\"${" + name + ":?}\"";
  }

  // Expanded, like the values, before env removes anything.
  std::string Removed() const {
    if (std::find(role_.unset.begin(), role_.unset.end(), "*") != role_.unset.end()) return " -i";
    std::string words;
    std::string patterns;
    for (const std::string& name : role_.unset) {
      if (!name.ends_with('*')) {
        words += " -u " + ShellQuoted(name);
        continue;
      }
      std::string literal;
      for (const char c : name.substr(0, name.size() - 1)) {
        if (std::string_view("\\.*[]^$/").find(c) != std::string_view::npos) literal += '\\';
        literal += c;
      }
      patterns += " -e " + ShellQuoted("s/^\\(" + literal + "[A-Za-z0-9_]*\\)=.*/-u \\1/p");
    }
    if (!patterns.empty()) words += " \\\n    $(env | sed -n" + patterns + ")";
    return words;
  }

  std::string Comments() const {
    const PlanHost& host = plan_.hosts[process_.host];
    std::string text = "# " + Printable(ProcessName(plan_, process_));
    if (process_.rank) text += " rank " + std::to_string(*process_.rank) + " of " + std::to_string(process_.world_size);
    const bool bound = bound_.binding != nullptr && process_.host < bound_.binding->hosts.size();
    const std::string& name = bound ? bound_.binding->hosts[process_.host].name : host.name;
    text += " on " + Printable(name.empty() ? host.label : name) + ", of plan " + ShortPlanId(plan_) + "\n";
    for (const auto& [variable, what] : wanted_) {
      text += "# set first: " + variable + "=…  (" + Printable(what.substr(0, what.size() - 1)) + ")\n";
    }
    if (!plan_.activation.empty()) text += "# the host's activation is yours to do before\n";
    for (const auto& [key, value] : EffectiveContext(plan_, process_)) {
      const std::string* words = value.AsString();
      if (words == nullptr || words->find("${muster:secret:") == std::string::npos) continue;
      text += "# its context holds a secret (" + Printable(key) + "), which it reads at a descriptor: there is none\n";
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
  std::vector<std::pair<std::string, std::string>> wanted_;  // variable, and the hole that it stands for
  Diagnostics problems_;
};

}  // namespace

Result<std::string> ShellLine(const Plan& plan, const Process& process, const ShellBinding& bound) {
  return Line(plan, process, bound).Write();
}

}  // namespace muster
