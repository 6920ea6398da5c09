// Tests evaluators that were taken over, killed, stopped or replaced: the parent always reports one error within its
// time limit and leaves no child.
#include <cerrno>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "evaluation/exchange/evaluation_archive.h"
#include "evaluator/evaluator.h"
#include "support/command.h"
#include "support/temp_dir.h"
#include "wire/archive/archive.h"

namespace muster::testing {
namespace {

// Escapes bytes for a shell's printf.
std::string Octal(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + (byte >> 3 & 7)),
             static_cast<char>('0' + (byte & 7))};
  }
  return text;
}

std::string FrameOf(char tag, const std::string& payload) {
  std::string bytes;
  for (unsigned i = 0; i < 4; ++i) bytes += static_cast<char>(payload.size() >> (8 * i));
  return bytes + tag + payload;
}

std::string Sending(const std::string& bytes) { return "printf '" + Octal(bytes) + "' >&3\n"; }

class Misbehaviour : public ::testing::Test {
 protected:
  Misbehaviour() { std::ofstream(recipe_) << "return 1"; }

  // Returns the error of an evaluation by this shell script; its descriptor 3 is the socket.
  Diagnostic ErrorOf(const std::string& script, std::uint64_t wall_ms = 400) {
    const std::string program = folder_ / "evaluator.sh";
    std::ofstream(program) << "#!/bin/sh\n" << script;
    ::chmod(program.c_str(), 0700);
    EvaluationOptions options;
    options.recipe_file = recipe_;
    options.program = program;
    options.limits.wall_ms = wall_ms;
    const auto evaluation = EvaluateRecipe(options);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD) << "a child was left behind";
    if (evaluation || evaluation.error().size() != 1) {
      ADD_FAILURE() << script << (evaluation ? " was believed" : " gave more than one error");
      return {};
    }
    return evaluation.error().front();
  }

  TempDir folder_;
  std::string recipe_ = folder_ / "recipe.lua";
};

TEST_F(Misbehaviour, OfEveryKindIsOneError) {
  const std::string closes = "exec 3>&-\n";
  const struct {
    const char* what;
    std::string script;
    const char* kind;
    const char* message;
  } cases[] = {
      {"ends at once", "exit 7", "evaluator", "without an answer (exit code 7)"},
      {"says nothing", "exec sleep 1000", "limit", "did not finish within 400 ms"},
      {"stops itself", "kill -STOP $$", "limit", "did not finish within 400 ms"},
      {"closes its end and stays", closes + "exec sleep 1000", "limit", "did not finish"},
      {"is killed", "kill -KILL $$", "limit", "killed"},
      {"crashes", "kill -SEGV $$", "crash", "SIGSEGV"},
      {"aborts", "kill -ABRT $$", "crash", "SIGABRT"},
      {"tries what is forbidden", "kill -SYS $$", "forbidden", "forbidden"},
      {"runs out of processor time", "kill -XCPU $$", "limit", "processor time"},
      {"sends noise", "head -c 100000 /dev/urandom >&3; exec sleep 1000", "evaluator|limit", ""},
      {"claims four gigabytes",
       Sending(std::string("\xff\xff\xff\xff"
                           "A",
                           5)) +
           "exec sleep 1000",
       "evaluator", "an invalid answer"},
      {"claims much and sends little",
       Sending(std::string("\0\0\0\x0f"
                           "A",
                           5)) +
           "exec sleep 1000",
       "limit", "did not finish"},
      {"sends an empty answer", Sending(FrameOf('A', "")), "evaluator", "an invalid answer"},
      {"sends a broken answer", Sending(FrameOf('A', "\x05hello")), "evaluator", "an invalid answer"},
      {"sends an answer without a plan", Sending(FrameOf('A', Archived(EvaluationAnswer{}))), "evaluator",
       "gave no plan"},
      {"sends an answer and more", Sending(FrameOf('A', Archived(EvaluationAnswer{}) + "x")), "evaluator",
       "an invalid answer"},
      {"sends a frame of no kind", Sending(FrameOf('X', "")), "evaluator", "an invalid answer"},
      {"sends the parent's own frame", Sending(FrameOf('R', "")), "evaluator", "an invalid answer"},
      {"sends a broken question", Sending(FrameOf('Q', "\xff\xff")), "evaluator", "an invalid answer"},
      {"asks without end",
       "while :; do " + Sending(FrameOf('Q', Archived(Question{Question::Kind::kPrint, "x"}))) + "done", "limit", ""},
      {"asks and never reads",
       "while :; do " + Sending(FrameOf('Q', Archived(Question{Question::Kind::kFile, "recipe.lua"}))) + "done",
       "limit", ""},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    const Diagnostic error = ErrorOf(test.script);
    EXPECT_NE(("|" + std::string(test.kind) + "|").find("|" + error.kind + "|"), std::string::npos) << error.kind;
    EXPECT_NE(error.message.find(test.message), std::string::npos) << error.message;
  }
}

TEST_F(Misbehaviour, OfAnAnswerIsDetected) {
  // A plan that no correct evaluator produces.
  EvaluationAnswer answer;
  answer.name = "evil";
  answer.plan.emplace();
  answer.plan->name = "evil";
  answer.plan->files["files/../../escape"] = {};
  EXPECT_EQ(ErrorOf(Sending(FrameOf('A', Archived(answer)))).kind, "plan_invalid");
  answer.plan->files.clear();
  Process process;
  process.role = 4'000'000'000U;
  answer.plan->processes.push_back(process);
  EXPECT_EQ(ErrorOf(Sending(FrameOf('A', Archived(answer)))).kind, "plan_invalid");
}

TEST_F(Misbehaviour, CannotMakeTheParentOpenFiles) {
  EvaluationAnswer answer;
  Diagnostic lie = Error("lua", {"/etc/shadow", 1}, "look at this line");
  lie.notes = {{"and this", {"/dev/zero", 7}}};
  answer.diagnostics = {lie};
  const Diagnostic shown = ErrorOf(Sending(FrameOf('A', Archived(answer))));
  EXPECT_EQ(shown.place, Place{});
  EXPECT_EQ(shown.notes.at(0).place, Place{});
  answer.diagnostics = {Error("lua", {recipe_, 1}, "honest")};
  EXPECT_EQ(ErrorOf(Sending(FrameOf('A', Archived(answer)))).place, (Place{recipe_, 1}));
}

TEST_F(Misbehaviour, OfAProgramThatReadsNoRecipeTimesOut) {
  std::ofstream(recipe_) << "return 1 --" << std::string(8U << 20, 'x');
  EXPECT_EQ(ErrorOf("exec sleep 1000").kind, "limit");
}

TEST_F(Misbehaviour, OfAnInvalidProgramIsReported) {
  EvaluationOptions options;
  options.recipe_file = recipe_;
  for (const std::string& program : {folder_ / "missing", folder_.path(), recipe_}) {
    options.program = program;
    const auto evaluation = EvaluateRecipe(options);
    ASSERT_FALSE(evaluation);
    EXPECT_EQ(evaluation.error().at(0).kind, "evaluator");
    EXPECT_EQ(evaluation.error().at(0).blame, Blame::kMachine);
    EXPECT_NE(evaluation.error().at(0).message.find("exec"), std::string::npos) << evaluation.error().at(0).message;
  }
}

TEST_F(Misbehaviour, OfAStrayCallIsRefused) {
  const std::string version = RunCommand({{MusterProgram(), "--version"}}).out.substr(7);
  // Started without its descriptors.
  const std::vector<std::string> words = {EvaluatorProgram(), "--evaluator", version.substr(0, version.size() - 1)};
  EXPECT_EQ(RunCommand({words}).exit_code, 70);
  EXPECT_EQ(RunCommand({{EvaluatorProgram()}}).exit_code, 2);
  EXPECT_EQ(RunCommand({{EvaluatorProgram(), "--version"}}).out, "muster-evaluator " + version);
}

TEST_F(Misbehaviour, OfAnEvaluatorOfAnotherVersionIsReported) {
  const Diagnostic error = ErrorOf("exec " + EvaluatorProgram() + " \"$1\" 0.0.0", 10'000);
  EXPECT_EQ(error.blame, Blame::kMachine);
  EXPECT_EQ(error.message, "muster-evaluator is of another version than muster");
}

}  // namespace
}  // namespace muster::testing
