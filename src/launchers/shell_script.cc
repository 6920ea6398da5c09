// Control flow of the shell interpreter.
#include "launchers/shell_script.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/values/quoting.h"
#include "launchers/shell_machine.h"

namespace muster {
namespace {

constexpr std::size_t kMaxSteps = 200'000;
constexpr std::size_t kMaxIterations = 20'000;
constexpr int kMaxFunctions = 32;

}  // namespace

ShellMachine::ShellMachine(const ScriptInput& input, const ScriptWorld& world)
    : input_(input), world_(world), file_(input.file) {
  state_.arguments = input.arguments;
  state_.folder = world.folder;
}

void ShellMachine::Refuse(const std::string& what, const std::string& hint) const {
  throw ScriptRefused{{Error("usage", Place{file_, substituted_ != 0 ? substituted_ : line_}, what, hint)}};
}

void ShellMachine::RefuseUnknown(const std::string& word, const std::string& why) const {
  Refuse("the value of " + Quoted(word) + " does not follow from the script" + (why.empty() ? "" : ": " + why),
         "give the script's arguments (muster init --from shell -- bash FILE ARGUMENT…), or write the value into it");
}

ShellMachine::NodePtr ShellMachine::Parsed(const std::string& text) const {
  auto parsed = ParsedShell(text, file_);
  if (!parsed) Refuse(parsed.error().front().message + " in " + Quoted(text));
  return *parsed;
}

ScriptOutcome ShellMachine::Run(std::string_view text) {
  auto parsed = ParsedShell(text, file_);
  if (!parsed) throw ScriptRefused{parsed.error()};
  const ShellFlow flow = Execute(*parsed);
  outcome_.exit_line = flow == ShellFlow::kExit ? line_ : 0;
  outcome_.commands = steps_;
  return std::move(outcome_);
}

ShellFlow ShellMachine::Execute(const NodePtr& node) {
  if (substituted_ == 0 && node->kind != Node::Kind::kList) line_ = node->line;
  if (++steps_ > kMaxSteps) Refuse("the script runs too many commands");
  constexpr int kMaxDepth = 200;
  if (depth_ > kMaxDepth) Refuse("the script is nested too deeply");
  ++depth_;
  const ShellFlow flow = node->background ? ExecuteInBackground(node) : ExecuteHere(node);
  --depth_;
  return flow;
}

ShellFlow ShellMachine::ExecuteHere(const NodePtr& node) {
  // Redirections of compound commands; the output of what they contain is not read by the script.
  const bool compound = node->kind != Node::Kind::kSimple && !node->redirections.empty();
  Capture ignored;
  Capture* const outer = output_;
  if (compound) {
    const std::string output = Redirected(node);
    if (!output.empty()) output_ = &ignored;
  }
  ShellFlow flow = ShellFlow::kNext;
  switch (node->kind) {
    case Node::Kind::kSimple:
      flow = ExecuteSimple(node);
      break;
    case Node::Kind::kTest: {
      std::size_t at = 0;
      SetStatus(DoubleTest(node->words, at, 0));
      break;
    }
    case Node::Kind::kArithmetic: {
      const auto number = Arithmetic(node->words[0]);
      SetStatus(number ? std::optional(*number != 0) : std::nullopt);
      break;
    }
    case Node::Kind::kAnd:
    case Node::Kind::kOr: {
      flow = Execute(node->parts[0]);
      if (flow != ShellFlow::kNext) break;
      const bool both = node->kind == Node::Kind::kAnd;
      const auto right = [&] { return Execute(node->parts[1]); };
      const auto nothing = [] { return ShellFlow::kNext; };
      if (state_.status) {
        if ((*state_.status == 0) == both) flow = right();
      } else if (both) {
        flow = Branch(node->parts[0], right, nothing);
      } else {
        flow = Branch(node->parts[0], nothing, right);
      }
      break;
    }
    case Node::Kind::kNot:
      flow = Execute(node->parts[0]);
      if (state_.status) state_.status = *state_.status == 0 ? 1 : 0;
      break;
    case Node::Kind::kPipeline:
      flow = ExecutePipeline(node);
      break;
    case Node::Kind::kIf:
      flow = ExecuteIf(node, 0);
      break;
    case Node::Kind::kWhile:
    case Node::Kind::kUntil:
      flow = ExecuteWhile(node);
      break;
    case Node::Kind::kFor:
      flow = ExecuteFor(node);
      break;
    case Node::Kind::kForCount:
      flow = ExecuteForCount(node);
      break;
    case Node::Kind::kCase:
      flow = ExecuteCase(node);
      break;
    case Node::Kind::kFunction:
      state_.functions[node->words[0]] = {node->parts[0]};
      state_.status = 0;
      break;
    case Node::Kind::kSubshell:
      flow = RunSubshell(node->parts[0]);
      break;
    case Node::Kind::kList:
      flow = ExecuteList(node);
      break;
  }
  output_ = outer;
  return flow;
}

ShellFlow ShellMachine::ExecuteList(const NodePtr& node) {
  for (const NodePtr& part : node->parts) {
    const ShellFlow flow = Execute(part);
    if (flow != ShellFlow::kNext) return flow;
  }
  return ShellFlow::kNext;
}

// In a copy of the shell; `exit` ends only the copy.
ShellFlow ShellMachine::RunSubshell(const NodePtr& node) {
  // A copy costs as much as what it copies.
  steps_ += state_.variables.size() / 64 + spent_ / (256U << 10);
  const ShellState before = state_;
  const int levels = std::exchange(levels_, 0);
  ExecuteHere(node);
  levels_ = levels;
  left_levels_ = 0;
  const auto status = state_.status;
  state_ = before;
  state_.status = status;
  return ShellFlow::kNext;
}

ShellFlow ShellMachine::ExecuteInBackground(const NodePtr& node) {
  const std::size_t first = outcome_.launches.size();
  // A `wait` there waits for its own processes.
  const int phase = phase_;
  const bool running = std::exchange(running_, false);
  RunSubshell(node);
  phase_ = phase;
  running_ = running;
  std::size_t started = 0;
  for (std::size_t i = first; i < outcome_.launches.size(); ++i) {
    ScriptLaunch& launch = outcome_.launches[i];
    if (launch.background) continue;
    launch.background = true;
    if (++started > 1) {
      launch.trouble = "several programs run one after the other in the background";
      launch.hint = "write a role with `after` for the second: muster docs recipes";
    }
  }
  running_ = running_ || outcome_.launches.size() > first;
  state_.status = 0;
  return ShellFlow::kNext;
}

ShellFlow ShellMachine::ExecutePipeline(const NodePtr& node) {
  Capture* const outer = output_;
  Capture between;
  for (std::size_t i = 0; i < node->parts.size(); ++i) {
    const bool last = i + 1 == node->parts.size();
    output_ = last ? outer : &between;
    piped_ = i > 0;
    RunSubshell(node->parts[i]);
    piped_ = false;
  }
  output_ = outer;
  // The exit code of `tee` and the like says nothing about the program before it.
  return ShellFlow::kNext;
}

ShellFlow ShellMachine::ExecuteIf(const NodePtr& node, std::size_t at) {
  if (at >= node->parts.size()) {
    if (!node->otherwise.empty()) return Execute(node->otherwise[0]);
    state_.status = 0;
    return ShellFlow::kNext;
  }
  const NodePtr& condition = node->parts[at];
  const ShellFlow flow = Execute(condition);
  if (flow != ShellFlow::kNext) return flow;
  const auto yes = [&] { return Execute(node->parts[at + 1]); };
  const auto no = [&] { return ExecuteIf(node, at + 2); };
  if (state_.status) return *state_.status == 0 ? yes() : no();
  return Branch(condition, yes, no);
}

ShellFlow ShellMachine::ExecuteCase(const NodePtr& node) {
  const ShellExpanded word = ExpandedOne(node->words[0]);
  if (!word.known) RefuseUnknown(node->words[0], word.why);
  for (std::size_t i = 0; i < node->patterns.size(); ++i) {
    for (const std::string& pattern : node->patterns[i]) {
      const auto expanded = PatternOf(pattern);
      if (!expanded) RefuseUnknown(pattern, why_);
      if (MatchesShellPattern(word.fields[0].text, *expanded)) return Execute(node->parts[i]);
    }
  }
  state_.status = 0;
  return ShellFlow::kNext;
}

// Whether a loop ends after its body has ended with `flow`, which becomes that of the loop.
bool ShellMachine::LoopEnds(ShellFlow& flow) {
  if (flow == ShellFlow::kReturn || flow == ShellFlow::kExit) return true;
  if (flow == ShellFlow::kNext) return false;
  const bool ends = flow == ShellFlow::kBreak;
  if (--left_levels_ > 0) return true;  // of an outer loop, with the same flow
  flow = ShellFlow::kNext;
  return ends;
}

ShellFlow ShellMachine::ExecuteWhile(const NodePtr& node) {
  const bool until = node->kind == Node::Kind::kUntil;
  for (std::size_t i = 0; i < kMaxIterations; ++i) {
    ShellFlow flow = Execute(node->parts[0]);
    if (flow != ShellFlow::kNext) return flow;
    if (!state_.status) return ExecuteUnknownLoop(node->parts[1], {});
    if ((*state_.status == 0) == until) {
      state_.status = 0;
      return ShellFlow::kNext;
    }
    ++levels_;
    flow = Execute(node->parts[1]);
    --levels_;
    if (LoopEnds(flow)) return flow;
  }
  Refuse("a loop does not end");
}

ShellFlow ShellMachine::ExecuteFor(const NodePtr& node) {
  std::vector<std::string> values;
  bool known = true;
  if (node->all_arguments) {
    values = state_.arguments;
    known = state_.arguments_known;
  }
  for (std::size_t i = 1; i < node->words.size(); ++i) {
    const ShellExpanded word = Expanded(node->words[i]);
    known = known && word.known;
    for (const ShellField& field : word.fields) {
      known = known && !field.pattern;
      values.push_back(field.text);
    }
  }
  const std::string& name = node->words[0];
  if (!known) return ExecuteUnknownLoop(node->parts[0], name);
  state_.status = 0;
  for (const std::string& value : values) {
    ShellVariable variable;
    variable.text = value;
    SetVariable(name, std::move(variable));
    ++levels_;
    ShellFlow flow = Execute(node->parts[0]);
    --levels_;
    if (LoopEnds(flow)) return flow;
  }
  return ShellFlow::kNext;
}

ShellFlow ShellMachine::ExecuteForCount(const NodePtr& node) {
  const auto evaluated = [this](const std::string& text) -> std::optional<std::int64_t> {
    if (text.find_first_not_of(" \t\n") == std::string::npos) return 1;
    return Arithmetic(text);
  };
  why_.clear();
  static_cast<void>(evaluated(node->words[0]));
  for (std::size_t i = 0; i < kMaxIterations; ++i) {
    const auto goes_on = evaluated(node->words[1]);
    if (!goes_on) return ExecuteUnknownLoop(node->parts[0], {});
    if (*goes_on == 0) {
      state_.status = 0;
      return ShellFlow::kNext;
    }
    ++levels_;
    ShellFlow flow = Execute(node->parts[0]);
    --levels_;
    if (LoopEnds(flow)) return flow;
    static_cast<void>(evaluated(node->words[2]));
  }
  Refuse("a loop does not end");
}

// A loop that runs an unknown number of times: what its body changes is unknown, and it must not start anything.
ShellFlow ShellMachine::ExecuteUnknownLoop(const NodePtr& body, const std::string& variable) {
  const std::string why = why_;
  const std::uint32_t line = line_;
  constexpr int kMaxRounds = 8;
  for (int round = 0; round < kMaxRounds; ++round) {
    const auto before = state_.variables;
    const auto folder = state_.folder;
    const Mark mark = Here();
    const auto once = [&] {
      if (!variable.empty()) {
        ShellVariable unknown;
        unknown.known = false;
        unknown.why = fmt::format("of the loop in line {}", line);
        SetVariable(variable, std::move(unknown));
      }
      ++levels_;
      ShellFlow flow = Execute(body);
      --levels_;
      if (outcome_.launches.size() > mark.launches || outcome_.steps.size() > mark.steps) {
        line_ = line;
        Refuse("how often this loop runs does not follow from the script" + (why.empty() ? "" : ": " + why),
               "give the script's arguments: muster init --from shell -- bash FILE ARGUMENT…");
      }
      if (flow == ShellFlow::kExit) return flow;
      return LoopEnds(flow) && flow == ShellFlow::kReturn ? flow : ShellFlow::kNext;
    };
    const ShellFlow flow = Branch(nullptr, once, [] { return ShellFlow::kNext; });
    if (flow != ShellFlow::kNext) return flow;
    if (state_.variables == before && state_.folder == folder) {
      state_.status = std::nullopt;
      return ShellFlow::kNext;
    }
  }
  Refuse("what this loop leaves does not follow from the script");
}

ShellMachine::Mark ShellMachine::Here() const {
  return {outcome_.launches.size(), outcome_.steps.size(), outcome_.activations.size(), outcome_.left_out.size()};
}

ShellMachine::Tail ShellMachine::CutAt(const Mark& mark) {
  const auto cut = [](auto& all, std::size_t at) {
    std::remove_reference_t<decltype(all)> tail(std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(at)),
                                                std::make_move_iterator(all.end()));
    all.resize(at);
    return tail;
  };
  return {cut(outcome_.launches, mark.launches), cut(outcome_.steps, mark.steps),
          cut(outcome_.activations, mark.activations), cut(outcome_.left_out, mark.left_out)};
}

void ShellMachine::Append(Tail tail) {
  const auto append = [](auto& all, auto& more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  append(outcome_.launches, tail.launches);
  append(outcome_.steps, tail.steps);
  append(outcome_.activations, tail.activations);
  append(outcome_.left_out, tail.left_out);
}

// The condition as it is in the script.
std::string ShellMachine::SourceText(const NodePtr& node) {
  if (node->kind == Node::Kind::kList && node->parts.size() == 1) return SourceText(node->parts[0]);
  if (node->kind == Node::Kind::kNot) return "! " + SourceText(node->parts[0]);
  if (node->kind == Node::Kind::kAnd || node->kind == Node::Kind::kOr)
    return SourceText(node->parts[0]) + (node->kind == Node::Kind::kAnd ? " && " : " || ") + SourceText(node->parts[1]);
  if (node->kind == Node::Kind::kTest) return "[[ " + Shown(node->words) + " ]]";
  if (node->kind == Node::Kind::kPipeline) return SourceText(node->parts[0]) + " | …";
  return node->words.empty() ? std::string("a condition") : Shown(node->words);
}

// Follows both branches of a condition that is unknown. A branch that ends the script is left out: without it the
// script would not start what it starts.
template <typename Yes, typename No>
ShellFlow ShellMachine::Branch(const NodePtr& condition, Yes yes, No no) {
  struct Side {
    ShellFlow flow = ShellFlow::kNext;
    ShellState state;
    Capture output;
    Tail tail;
    std::optional<ScriptRefused> refused;
    int phase = 0, left_levels = 0;
    bool running = false;
  };
  const std::uint32_t line = condition ? condition->line : line_;
  steps_ += 2 * (state_.variables.size() / 64 + spent_ / (256U << 10));
  const ShellState before = state_;
  const Capture output = output_ != nullptr ? *output_ : Capture{};
  const Mark mark = Here();
  const int phase = phase_, depth = depth_, words = words_, levels = levels_, functions = functions_;
  const bool running = running_;
  const std::uint32_t substituted = substituted_;
  const std::string file = file_;
  Capture* const where = output_;
  const auto locals = locals_;
  const auto follow = [&](auto branch) {
    Side side;
    state_ = before;
    if (where != nullptr) *where = output;
    phase_ = phase;
    running_ = running;
    locals_ = locals;
    try {
      side.flow = branch();
    } catch (ScriptRefused& refused) {
      side.refused = std::move(refused);
      output_ = where;
      depth_ = depth, words_ = words, levels_ = levels, functions_ = functions;
      substituted_ = substituted;
      file_ = file;
    }
    side.state = std::move(state_);
    if (where != nullptr) side.output = *where;
    side.phase = phase_;
    side.running = running_;
    side.left_levels = left_levels_;
    side.tail = CutAt(mark);
    return side;
  };
  Side first = follow(yes);
  Side second = follow(no);
  line_ = substituted_ == 0 ? line : line_;
  const auto take = [&](Side& side) {
    if (side.refused) throw std::move(*side.refused);
    state_ = std::move(side.state);
    if (where != nullptr) *where = side.output;
    phase_ = side.phase;
    running_ = side.running;
    left_levels_ = side.left_levels;
    Append(std::move(side.tail));
    return side.flow;
  };
  const bool first_ends = first.flow == ShellFlow::kExit, second_ends = second.flow == ShellFlow::kExit;
  if (first_ends != second_ends) {
    LeaveOut(condition ? SourceText(condition) : std::string("a loop"),
             "checked something before the start, and could end the script");
    return take(first_ends ? second : first);
  }
  if (first.refused) throw std::move(*first.refused);
  if (second.refused) throw std::move(*second.refused);
  if (first_ends) return take(second);
  if (first.flow != second.flow) {
    Refuse(
        "how the script goes on does not follow from it: the condition is unknown" + (why_.empty() ? "" : ": " + why_),
        "pass only the relevant part of the script: muster init --from shell -- bash -c 'for …'");
  }
  const ShellFlow flow = take(second);
  Tail both_second = CutAt(mark);
  if (first.phase != phase_ && (running || first.running)) Refuse("`wait` is called under a condition that is unknown");
  running_ = running_ || first.running;
  MergeState(first.state);
  if (where != nullptr) {
    if (first.output.text != where->text || !first.output.known) where->known = false;
  }
  MergeTails(condition, first.tail, both_second, line);
  return flow;
}

void ShellMachine::MergeState(const ShellState& other) {
  const std::string why = fmt::format("set under a condition that is unknown, in line {}", line_);
  const auto make_unknown = [&why](ShellVariable& variable) {
    variable.known = false;
    variable.set = true;
    if (variable.why.empty()) variable.why = why;
  };
  for (auto& [name, variable] : state_.variables) {
    const auto there = other.variables.find(name);
    if (there != other.variables.end() && there->second == variable) continue;
    const bool exported = variable.exported || (there != other.variables.end() && there->second.exported);
    make_unknown(variable);
    variable.exported = exported;
  }
  for (const auto& [name, variable] : other.variables) {
    if (state_.variables.contains(name)) continue;
    ShellVariable copy = variable;
    make_unknown(copy);
    state_.variables[name] = std::move(copy);
  }
  for (auto& [name, function] : state_.functions) {
    const auto there = other.functions.find(name);
    if (there == other.functions.end() || there->second.body != function.body) function.body = nullptr;
  }
  for (const auto& [name, function] : other.functions) {
    if (!state_.functions.contains(name)) state_.functions[name] = {};
  }
  if (state_.arguments != other.arguments || !other.arguments_known) state_.arguments_known = false;
  if (state_.folder != other.folder) state_.folder = std::nullopt;
  if (state_.status != other.status) state_.status = std::nullopt;
}

void ShellMachine::MergeTails(const NodePtr& condition, Tail& yes, Tail& no, std::uint32_t line) {
  const auto refuse = [&](const char* what) {
    line_ = substituted_ == 0 ? line : line_;
    Refuse(what,
           "give the script's arguments, or pass only the relevant part of the script: muster init --from shell -- "
           "bash -c 'for …'");
  };
  for (const Tail* tail : {&yes, &no}) {
    if (yes.launches == no.launches) break;
    for (const ScriptLaunch& launch : tail->launches) {
      if (!launch.background) continue;
      line = launch.line;
      refuse("processes are started under a condition that does not follow from the script");
    }
  }
  if (yes.activations != no.activations)
    refuse("an environment is activated under a condition that does not follow from the script");
  if (yes.launches == no.launches) {
    no.launches.clear();
  } else {
    for (Tail* tail : {&yes, &no}) {
      for (ScriptLaunch& launch : tail->launches) launch.conditional = true;
    }
  }
  if (yes.steps == no.steps) {
    no.steps.clear();
  } else {
    const auto text = condition ? ConditionText(condition) : std::nullopt;
    if (!text || !state_.folder) refuse("files are changed under a condition that does not follow from the script");
    const auto joined = [&](const std::vector<ScriptStep>& steps) {
      std::string all;
      for (const ScriptStep& step : steps) {
        if (step.folder != *state_.folder) all += " cd " + ShellQuoted(step.folder) + " && " + step.text + ";";
        if (step.folder == *state_.folder) all += " " + step.text + ";";
        if (step.folder != *state_.folder) all += " cd " + ShellQuoted(*state_.folder) + ";";
      }
      return all;
    };
    std::string step = "if " + *text + "; then" + (yes.steps.empty() ? std::string(" :;") : joined(yes.steps));
    if (!no.steps.empty()) step += " else" + joined(no.steps);
    yes.steps = {{*state_.folder, step + " fi", line}};
    no.steps.clear();
  }
  Append(std::move(yes));
  Append(std::move(no));
}

// The condition for a POSIX shell, if it tests files whose names are known.
std::optional<std::string> ShellMachine::ConditionText(const NodePtr& condition) {
  if (condition->kind == Node::Kind::kList) {
    if (condition->parts.size() != 1) return std::nullopt;
    return ConditionText(condition->parts[0]);
  }
  if (condition->kind == Node::Kind::kAnd || condition->kind == Node::Kind::kOr) {
    const auto left = ConditionText(condition->parts[0]), right = ConditionText(condition->parts[1]);
    if (!left || !right) return std::nullopt;
    return "{ " + *left + (condition->kind == Node::Kind::kAnd ? " && " : " || ") + *right + "; }";
  }
  if (condition->kind == Node::Kind::kNot) {
    const auto inner = ConditionText(condition->parts[0]);
    if (!inner) return std::nullopt;
    return "! " + *inner;
  }
  const bool twice = condition->kind == Node::Kind::kTest;
  if (!twice &&
      (condition->kind != Node::Kind::kSimple || (condition->words[0] != "[" && condition->words[0] != "test")))
    return std::nullopt;
  // Only tests of one file; in [[ ]] other operators mean other things.
  if (twice && condition->words.size() > 3) return std::nullopt;
  std::string text = "[";
  for (std::size_t i = twice ? 0 : 1; i < condition->words.size(); ++i) {
    const ShellExpanded word = twice ? ExpandedOne(condition->words[i]) : Expanded(condition->words[i]);
    if (!word.known) return std::nullopt;
    for (const ShellField& field : word.fields) {
      if (!twice && condition->words[0] == "[" && field.text == "]") continue;
      text += " " + field.quoted;
    }
  }
  return text + " ]";
}

ShellFlow ShellMachine::RunFunction(const std::string& name, const std::vector<std::string>& arguments) {
  const NodePtr body = state_.functions[name].body;
  if (!body) Refuse("which function " + Quoted(name) + " is does not follow from the script");
  if (functions_ == kMaxFunctions) Refuse("functions call each other too deeply");
  const auto outer = std::exchange(state_.arguments, arguments);
  const bool outer_known = std::exchange(state_.arguments_known, true);
  const int levels = std::exchange(levels_, 0);
  locals_.emplace_back();
  ++functions_;
  ShellFlow flow = Execute(body);
  --functions_;
  for (auto& [local, former] : locals_.back()) {
    if (former) {
      state_.variables[local] = std::move(*former);
    } else {
      state_.variables.erase(local);
    }
  }
  locals_.pop_back();
  levels_ = levels;
  state_.arguments = outer;
  state_.arguments_known = outer_known;
  return flow == ShellFlow::kExit ? flow : ShellFlow::kNext;
}

// A script that is called: it gets exported variables, and leaves nothing behind.
ShellFlow ShellMachine::RunScript(const std::string& path, const std::string& text,
                                  std::vector<std::string> arguments) {
  if (functions_ == kMaxFunctions) Refuse("scripts call each other too deeply");
  auto parsed = ParsedShell(text, path);
  if (!parsed) throw ScriptRefused{parsed.error()};
  const ShellState before = state_;
  std::erase_if(state_.variables, [](const auto& one) { return !one.second.exported; });
  state_.functions.clear();
  state_.stack.clear();
  state_.arguments = std::move(arguments);
  state_.arguments_known = true;
  const std::string file = std::exchange(file_, path);
  const std::uint32_t line = line_;
  const int levels = std::exchange(levels_, 0);
  ++functions_;
  Execute(*parsed);
  --functions_;
  levels_ = levels;
  file_ = file;
  line_ = line;
  const auto status = state_.status;
  state_ = before;
  state_.status = status;
  return ShellFlow::kNext;
}

Result<ScriptOutcome> OutcomeOfScript(std::string_view text, const ScriptInput& input, const ScriptWorld& world) {
  try {
    return ShellMachine(input, world).Run(text);
  } catch (const ScriptRefused& refused) {
    return Fail(refused.diagnostics);
  }
}

}  // namespace muster
