// Tests the server with evaluators: documents, diagnostics with unsaved texts, answers, errors, and any prefix of
// recipes.
#include "lsp/language_server.h"

#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <poll.h>

#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "lua/state/own_data.h"
#include "support/command.h"
#include "support/file_content.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

const std::string kHead = "local muster = require \"muster\"\n";

class LanguageServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    LanguageHost host;
    const auto records = OwnData("muster/reference/types.lua");
    ASSERT_TRUE(records);
    host.types = ApiTypes::From(*records);
    host.prepare = [this](const std::string& file) -> Result<EvaluationOptions> {
      EvaluationOptions options;
      options.recipe_file = file;
      options.program = EvaluatorProgram();
      options.limits.wall_ms = wall_ms_;
      return options;
    };
    server_ = std::make_unique<LanguageServer>(std::move(host));
  }

  void Send(const std::string& method, Value params, Value id = {}) {
    Value::Map message = {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
    if (!id.IsNull()) message["id"] = std::move(id);
    SendBody(JsonText(Value(std::move(message))));
  }
  void SendBody(const std::string& body) {
    server_->Take("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    Receive();
  }
  void Receive() {
    reader_.Add(server_->output());
    server_->output().clear();
    while (const auto frame = reader_.Next()) {
      const Value message = *ValueFromJsonText(frame->text);
      if (TextField(message, "method") == "textDocument/publishDiagnostics") {
        const Value& params = ValueField(message, "params");
        diagnostics_[TextField(params, "uri")] = ListField(params, "diagnostics");
      } else {
        answers_.push_back(message);
      }
    }
  }
  void Initialize(Value::Map capabilities = {}) {
    Send("initialize", Value::Map{{"capabilities", std::move(capabilities)}}, 1);
    Send("initialized", Value::Map{});
    answers_.clear();
  }
  std::string Uri(const std::string& name) { return UriOfPath(folder_ / name); }
  void Open(const std::string& name, const std::string& text) {
    Send("textDocument/didOpen",
         Value::Map{{"textDocument", Value::Map{{"uri", Uri(name)}, {"version", 1}, {"text", text}}}});
  }
  void Change(const std::string& name, const std::string& text) {
    Send("textDocument/didChange", Value::Map{{"textDocument", Value::Map{{"uri", Uri(name)}, {"version", 2}}},
                                              {"contentChanges", Value::List{Value::Map{{"text", text}}}}});
  }
  // Until nothing is evaluated any more.
  void Settle() {
    while (server_->evaluation_fd() >= 0) {
      pollfd wanted{server_->evaluation_fd(), POLLIN, 0};
      ::poll(&wanted, 1, 100);
      server_->Continue();
    }
    Receive();
  }
  Value Ask(const std::string& method, const std::string& name, int line, int character) {
    answers_.clear();
    Send(method,
         Value::Map{{"textDocument", Value::Map{{"uri", Uri(name)}}},
                    {"position", Value::Map{{"line", line}, {"character", character}}}},
         7);
    return answers_.empty() ? Value() : ValueField(answers_.back(), "result");
  }
  std::int64_t LastError() { return answers_.empty() ? 0 : NumberField(ValueField(answers_.back(), "error"), "code"); }
  static std::string RangeText(const Value& diagnostic) { return JsonText(ValueField(diagnostic, "range")); }

  TempDir folder_;
  std::uint64_t wall_ms_ = 10'000;
  std::unique_ptr<LanguageServer> server_;
  RpcFrames reader_;
  std::map<std::string, Value::List> diagnostics_;
  std::vector<Value> answers_;
};

TEST_F(LanguageServerTest, AnswersErrorsByTheirCodes) {
  Send("textDocument/hover", Value::Map{}, 1);
  EXPECT_EQ(LastError(), -32002);
  Initialize();
  Send("no/such", Value::Map{}, 2);
  EXPECT_EQ(LastError(), -32601);
  Send("textDocument/hover", Value::Map{}, 3);
  EXPECT_EQ(LastError(), -32602);
  SendBody("{");
  EXPECT_EQ(LastError(), -32700);
  SendBody("[1]");
  EXPECT_EQ(LastError(), -32600);
  Send("initialize", Value::Map{}, 4);
  EXPECT_EQ(LastError(), -32600);
  Send("shutdown", {}, 5);
  Send("textDocument/hover", Value::Map{}, 6);
  EXPECT_EQ(LastError(), -32600);
  Send("exit", {});
  EXPECT_EQ(server_->exit_code(), 0);
}

TEST_F(LanguageServerTest, ExitsWithAnErrorWithoutShutdown) {
  Initialize();
  server_->EndOfInput();
  EXPECT_EQ(server_->exit_code(), 1);
}

TEST_F(LanguageServerTest, CancelsARequestThatWaits) {
  Initialize();
  const auto framed = [](const std::string& body) {
    return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  };
  server_->Take(
      framed(
          R"({"jsonrpc":"2.0","id":8,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a"}}})") +
      framed(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":8}})"));
  Receive();
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(LastError(), -32800);
}

TEST_F(LanguageServerTest, ReportsAllProblemsWithRangesAndCodes) {
  Initialize();
  Open("r.lua",
       kHead +
           "return muster.recipe {\n  name = \"r\", clustr = {},\n  params = { n = muster.int { 0, min = 1 } },\n"
           "  plan = function(p, job)\n    job:workers { count = p.m, command = { \"true\" } }\n  end,\n}\n");
  Settle();
  const Value::List& found = diagnostics_[Uri("r.lua")];
  ASSERT_GE(found.size(), 2U);
  EXPECT_EQ(TextField(found[0], "code"), "unknown_key");
  EXPECT_EQ(NumberField(found[0], "severity"), 1);
  EXPECT_EQ(RangeText(found[0]), R"({"end":{"character":20,"line":2},"start":{"character":14,"line":2}})");
  // A hint with one meaning is an edit.
  answers_.clear();
  Send("textDocument/codeAction",
       Value::Map{{"textDocument", Value::Map{{"uri", Uri("r.lua")}}},
                  {"range", ValueField(found[0], "range")},
                  {"context", Value::Map{}}},
       9);
  const Value::List& actions = ListField(answers_.back(), "result");
  ASSERT_EQ(actions.size(), 1U);
  const Value& changes = ValueField(ValueField(actions[0], "edit"), "changes");
  EXPECT_EQ(TextField(ListField(changes, Uri("r.lua")).front(), "newText"), "cluster");
}

TEST_F(LanguageServerTest, ClearsDiagnosticsOfACorrectedAndOfAClosedText) {
  Initialize();
  Open("r.lua", kHead + "return muster.recipe { name = 1 }\n");
  Settle();
  EXPECT_FALSE(diagnostics_[Uri("r.lua")].empty());
  const std::string right =
      kHead +
      "return muster.recipe { name = \"r\", plan = function(p, job) job:workers { command = { \"true\" } } end }\n";
  Change("r.lua", right);
  Settle();
  EXPECT_TRUE(diagnostics_[Uri("r.lua")].empty());
  Change("r.lua", right + "(");
  Settle();
  ASSERT_EQ(diagnostics_[Uri("r.lua")].size(), 1U);
  EXPECT_EQ(TextField(diagnostics_[Uri("r.lua")].front(), "code"), "syntax");
  Send("textDocument/didClose", Value::Map{{"textDocument", Value::Map{{"uri", Uri("r.lua")}}}});
  EXPECT_TRUE(diagnostics_[Uri("r.lua")].empty());
}

TEST_F(LanguageServerTest, UsesTheUnsavedTextOfAnExtendedRecipe) {
  const std::string base = kHead +
                           "return muster.recipe { name = \"b\", params = { layers = muster.int { 4 } },\n"
                           "plan = function(p, job) job:workers { count = p.layers, command = { \"true\" } } end }\n";
  std::ofstream(folder_ / "base.lua") << base;
  Initialize();
  Open("r.lua", kHead + "return muster.load(\"base.lua\"):extend { name = \"r\", params = { depth = 3 } }\n");
  Settle();
  ASSERT_FALSE(diagnostics_[Uri("r.lua")].empty());
  std::string renamed = base;
  for (std::size_t at = renamed.find("layers"); at != std::string::npos; at = renamed.find("layers"))
    renamed.replace(at, 6, "depth");
  Open("base.lua", renamed);
  Settle();
  Change("r.lua", kHead + "return muster.load(\"base.lua\"):extend { name = \"r\", params = { depth = 5 } }\n");
  Settle();
  EXPECT_TRUE(diagnostics_[Uri("r.lua")].empty());
  // The other way round, without a change of the extension itself.
  Change("base.lua", base);
  Settle();
  EXPECT_FALSE(diagnostics_[Uri("r.lua")].empty());
  EXPECT_TRUE(diagnostics_[Uri("base.lua")].empty());
  const Value location = Ask("textDocument/definition", "r.lua", 1, 22);
  EXPECT_EQ(TextField(location, "uri"), Uri("base.lua"));
}

TEST_F(LanguageServerTest, ExplainsValuesWithTheirOrigin) {
  Initialize();
  Open("r.lua", kHead +
                    "return muster.recipe { name = \"r\", params = { n = muster.int { 3, doc = \"how many\" } },\n"
                    "plan = function(p, job) job:workers { count = p.n, command = { \"true\" } } end }\n");
  Settle();
  const std::string hover = TextField(ValueField(Ask("textDocument/hover", "r.lua", 2, 48), "contents"), "value");
  EXPECT_NE(hover.find("how many"), std::string::npos) << hover;
  EXPECT_NE(hover.find("`3`, default"), std::string::npos) << hover;
  const Value location = Ask("textDocument/definition", "r.lua", 2, 48);
  EXPECT_EQ(JsonText(ValueField(location, "range")),
            R"({"end":{"character":47,"line":1},"start":{"character":46,"line":1}})");
}

TEST_F(LanguageServerTest, KnowsParametersWhileTheTextIsNoLua) {
  Initialize();
  const std::string text = kHead +
                           "return muster.recipe { name = \"r\", params = { n = muster.int { 3 } },\n"
                           "plan = function(p, job) job:workers { count = p.n, command = { \"true\" } } end }\n";
  Open("r.lua", text);
  Settle();
  Change("r.lua", kHead +
                      "return muster.recipe { name = \"r\", params = { n = muster.int { 3 } },\n"
                      "plan = function(p, job) job:workers { count = p.\n");
  Settle();
  const Value::List items = ListField(Ask("textDocument/completion", "r.lua", 2, 48), "items");
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(TextField(items[0], "label"), "n");
  EXPECT_EQ(TextField(items[0], "detail"), "int = 3");
}

TEST_F(LanguageServerTest, CountsInTheEncodingThatTheClientOffers) {
  for (const bool utf8 : {false, true}) {
    SetUp();
    Value::Map general;
    if (utf8) general["positionEncodings"] = Value::List{"utf-8", "utf-16"};
    Send("initialize", Value::Map{{"capabilities", Value::Map{{"general", general}}}}, 1);
    EXPECT_EQ(TextField(ValueField(ValueField(answers_.back(), "result"), "capabilities"), "positionEncoding"),
              utf8 ? "utf-8" : "utf-16");
    Open("r.lua", kHead + "return muster.recipe { doc = \"\xF0\x9F\x98\x80\", nme = 1 }\n");
    Settle();
    bool found = false;
    for (const Value& each : diagnostics_[Uri("r.lua")]) {
      if (TextField(each, "message").find("nme") == std::string::npos) continue;
      found = true;
      const std::int64_t at = NumberField(ValueField(ValueField(each, "range"), "start"), "character");
      EXPECT_EQ(at, utf8 ? 37 : 35);
    }
    EXPECT_TRUE(found);
  }
}

TEST_F(LanguageServerTest, StopsAnEvaluationThatTakesTooLongAndSupersedesIt) {
  wall_ms_ = 200;
  Initialize();
  Open("r.lua", kHead + "while true do end\n");
  Settle();
  ASSERT_EQ(diagnostics_[Uri("r.lua")].size(), 1U);
  wall_ms_ = 1'000'000;
  Change("r.lua", kHead + "while true do end -- \n");
  ASSERT_GE(server_->evaluation_fd(), 0);
  Change("r.lua", kHead +
                      "return muster.recipe { name = \"r\", plan = function(p, job) job:workers { command = { \"true\" "
                      "} } end }\n");
  Settle();
  EXPECT_TRUE(diagnostics_[Uri("r.lua")].empty());
}

TEST_F(LanguageServerTest, SaysNothingAboutOtherLuaFiles) {
  Initialize();
  Open("init.lua", "vim.opt.number = true\nlocal x = {\n");
  Open("lib.lua", kHead + "return { a = 1 }\n");
  Settle();
  EXPECT_TRUE(diagnostics_[Uri("init.lua")].empty());
  EXPECT_TRUE(diagnostics_[Uri("lib.lua")].empty());
}

TEST_F(LanguageServerTest, BoundsDocuments) {
  Initialize();
  Open("big.lua", std::string(kMaxDocumentBytes + 1, ' '));
  EXPECT_EQ(TextField(answers_.back(), "method"), "window/logMessage");
  for (std::size_t i = 0; i <= kMaxOpenDocuments; ++i) Open("d" + std::to_string(i) + ".lua", "");
  EXPECT_EQ(TextField(answers_.back(), "method"), "window/logMessage");
}

// Each prefix is opened, completed and explained at its end; the last one of all must be evaluated as if nothing had
// been.
TEST_F(LanguageServerTest, SurvivesPrefixesOfRecipes) {
  Initialize();
  std::mt19937 random(20);  // NOLINT(cert-msc51-cpp): the same prefixes every time
  std::vector<std::string> texts;
  for (const char* const name :
       {"gpt", "gpt_175b", "hello", "mindspore_dynamic_cluster", "parameter_server", "sweep_gpt", "pipeline"}) {
    texts.push_back(ContentOf(std::string(MUSTER_SOURCE_DIR "/recipes/") + name + ".lua"));
    ASSERT_FALSE(texts.back().empty());
  }
  Open("r.lua", "");
  for (int i = 0; i < 200; ++i) {
    const std::string& whole = texts[random() % texts.size()];
    std::string text = whole.substr(0, random() % (whole.size() + 1));
    while (!text.empty() && !ValueFromJsonText(JsonText(Value(text)))) text.pop_back();
    const Position end = PositionOf(text, text.size(), PositionEncoding::kUtf16);
    Change("r.lua", text);
    const auto line = static_cast<int>(end.line);
    const auto character = static_cast<int>(end.character);
    EXPECT_NE(Ask("textDocument/completion", "r.lua", line, character), Value());
    Ask("textDocument/hover", "r.lua", line, character);
    Ask("textDocument/definition", "r.lua", line, character);
    if (i % 10 == 0) Settle();
  }
  Change("r.lua", kHead + "return muster.recipe { name = 3 }\n");
  Settle();
  EXPECT_FALSE(diagnostics_[Uri("r.lua")].empty());
}

}  // namespace
}  // namespace muster::testing
