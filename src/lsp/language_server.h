// The language server: messages of the client in, messages for it out, and one evaluation of an open recipe at a time,
// which a newer text supersedes. Reads and writes no descriptor itself (server_loop.cc); evaluations are made by
// evaluator processes, as those of muster check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluator/evaluator.h"
#include "lsp/api_types.h"
#include "lsp/document.h"
#include "lsp/json_rpc.h"
#include "lsp/knowledge.h"
#include "muster/result.h"

namespace muster {

// What the program provides.
struct LanguageHost {
  // The request that muster check makes of that file (absolute). Empty: nothing is evaluated.
  std::function<Result<EvaluationOptions>(const std::string& file)> prepare;
  // What muster check adds about this machine.
  std::function<Diagnostics(const Plan& plan, const std::string& file)> machine_problems;
  // The documentation's topics for a release, or for all (""), and for those that are not known; lives as long as the
  // host.
  std::function<ReferenceView(const std::string& release)> reference;
  // The client's workspace: from there site files are looked up. Called once, before the first evaluation.
  std::function<void(const std::string& folder)> enter;
  ApiTypes types;
};

inline constexpr std::size_t kMaxOpenDocuments = 256;
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxPublished = 500;  // diagnostics of a document

class LanguageServer {
 public:
  explicit LanguageServer(LanguageHost host) : host_(std::move(host)) {}
  LanguageServer(const LanguageServer&) = delete;
  LanguageServer& operator=(const LanguageServer&) = delete;

  // Bytes from the client. All messages that are complete are handled, then the newest texts are evaluated.
  void Take(std::string_view bytes);
  // Bytes for the client; the caller removes what it has written.
  std::string& output() { return output_; }

  // While an evaluation is under way: Continue() can make progress when the descriptor is readable, and at that time
  // (monotonic). -1 otherwise.
  int evaluation_fd() const;
  std::uint64_t evaluation_deadline_ns() const;
  void Continue();

  // After `exit`, or a stream that cannot be read any more.
  std::optional<int> exit_code() const { return exit_code_; }
  // The client is gone.
  void EndOfInput();

 private:
  struct Document {
    std::string uri;  // as the client writes it
    std::string text;
    std::int64_t version = 0;
    std::optional<RecipeOutline> outline;           // of this text, once it is needed
    std::vector<ParameterState> parameters;         // of the last evaluation that gave any
    std::shared_ptr<const Evaluation> evaluation;   // the last one that gave a plan
    std::vector<std::string> read;                  // absolute paths of the files of the last evaluation …
    std::map<std::string, LibraryPlace> libraries;  // … and its libraries
    std::uint64_t dirty = 0;                        // when it became so; 0: its text was evaluated
  };
  // An evaluation under way.
  struct Running {
    std::string path;
    EvaluationOptions options;
    std::unique_ptr<Evaluator> evaluator;
    std::optional<PendingEvaluation> pending;
    bool for_parameters = false;  // after a plan with errors
  };
  // A diagnostic in a file as the client gets it.
  struct Published {
    Value diagnostic;
    std::string fix;  // "did you mean": the text for its range
    std::size_t begin = 0;
    std::size_t end = 0;
    bool operator==(const Published&) const = default;
  };

  void Queue(const RpcFrames::Frame& frame);
  void Handle(const RpcMessage& message);
  void HandleRequest(const RpcMessage& message);
  void HandleNotification(const RpcMessage& message);
  void Initialize(const RpcMessage& message);
  void DidOpen(const Value& params);
  void DidChange(const Value& params);
  void DidClose(const Value& params);
  void Changed(const std::string& path, bool text_changed);

  Value Hover(const Value& params);
  Value Completion(const Value& params);
  Value DefinitionOf(const Value& params);
  Value CodeActions(const Value& params);

  // The document of params.textDocument, with the cursor of params.position.
  struct At {
    std::string path;
    Document* document = nullptr;
    std::size_t offset = 0;
  };
  std::optional<At> Locate(const Value& params);
  const RecipeOutline& OutlineFor(Document& document);
  RecipeView ViewOf(Document& document);

  void BeginNext();
  bool Begin(const std::string& path, Document& document);
  bool BeginRequest();
  void Finish(Result<Evaluation> result);
  // The file that a recipe names, as an absolute path; empty for one that is not there, or outside of where it may be.
  std::string FileNamed(const std::string& name, const std::string& path, const Document& document) const;
  void Publish(const std::string& root, const Diagnostics& diagnostics);
  void PublishFile(const std::string& path);
  Published Converted(const Diagnostic& diagnostic, const std::string& path) const;
  std::string TextOf(const std::string& path) const;

  void Say(const std::string& message);  // an error in the client's log

  LanguageHost host_;
  RpcFrames frames_;
  std::deque<RpcMessage> queue_;
  std::string output_;
  PositionEncoding encoding_ = PositionEncoding::kUtf16;
  bool initialized_ = false;
  bool shut_down_ = false;
  std::optional<int> exit_code_;
  std::map<std::string, Document> documents_;  // by absolute path
  std::uint64_t changes_ = 0;
  std::shared_ptr<EvaluatorForkServer> fork_server_;
  std::optional<Running> running_;
  // By evaluated recipe and by file; the client gets a file's of all recipes.
  std::map<std::string, std::map<std::string, std::vector<Published>>> found_;
  std::map<std::string, std::vector<Published>> published_;
};

// Serves the client at these descriptors until it says exit, or closes its end. Returns the exit code.
int ServeLanguageClient(LanguageServer& server, int in, int out);

}  // namespace muster
