#include "lsp/language_server.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/values/quoting.h"
#include "base/values/value_json.h"

namespace muster {
namespace {

// Values of the protocol.
constexpr int kError = 1;
constexpr int kWarning = 2;
constexpr int kInformation = 3;
constexpr int kIncremental = 2;
constexpr int kCompletionMethod = 2;
constexpr int kCompletionField = 5;
constexpr int kCompletionVariable = 6;
constexpr int kCompletionValue = 12;
constexpr int kLogError = 1;

int CompletionKind(Suggestion::Kind kind) {
  switch (kind) {
    case Suggestion::Kind::kField:
      return kCompletionField;
    case Suggestion::Kind::kFunction:
      return kCompletionMethod;
    case Suggestion::Kind::kValue:
      return kCompletionValue;
    case Suggestion::Kind::kVariable:
      return kCompletionVariable;
  }
  return kCompletionField;
}

// The word of a hint `did you mean "workers"?`; empty for other hints.
std::string MeantIn(const std::string& hint) {
  constexpr std::string_view kBegin = "did you mean \"";
  const std::size_t at = hint.find(kBegin);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kBegin.size();
  const std::size_t end = hint.find('"', begin);
  return end == std::string::npos ? std::string() : hint.substr(begin, end - begin);
}

Value WholeLine(std::uint32_t line) {
  const std::int64_t number = line == 0 ? 0 : line - 1;
  constexpr std::int64_t kEndOfLine = 10'000;
  return Value::Map{{"start", Value::Map{{"line", number}, {"character", 0}}},
                    {"end", Value::Map{{"line", number}, {"character", kEndOfLine}}}};
}

Value Markdown(std::string text) { return Value::Map{{"kind", "markdown"}, {"value", std::move(text)}}; }

std::string Normal(const std::string& path) { return std::filesystem::path(path).lexically_normal(); }

// A site file returns no recipe.
bool IsSiteFile(const std::string& path) { return std::filesystem::path(path).filename() == "muster.site.lua"; }

}  // namespace

// --- messages
// ---------------------------------------------------------------------------------------------------------

void LanguageServer::Take(std::string_view bytes) {
  frames_.Add(bytes);
  while (const auto frame = frames_.Next()) Queue(*frame);
  while (!queue_.empty() && !exit_code_) {
    const RpcMessage message = std::move(queue_.front());
    queue_.pop_front();
    Handle(message);
  }
  if (!exit_code_) BeginNext();
}

void LanguageServer::EndOfInput() {
  if (!exit_code_) exit_code_ = shut_down_ ? 0 : 1;
}

void LanguageServer::Queue(const RpcFrames::Frame& frame) {
  if (frame.kind == RpcFrames::Frame::Kind::kBroken) {
    output_ += RpcError({RpcCode::kParseError, frame.text + "; the rest cannot be read", {}});
    exit_code_ = 1;
    return;
  }
  if (frame.kind == RpcFrames::Frame::Kind::kTooLong) {
    output_ += RpcError({RpcCode::kInvalidRequest, frame.text, {}});
    return;
  }
  auto message = ReadRpc(frame.text);
  if (!message) {
    output_ += RpcError(message.error());
    return;
  }
  if (message->method == "$/cancelRequest") {
    // A request that was answered already is not in the queue any more.
    const Value& id = ValueField(message->params, "id");
    const auto cancelled = std::find_if(queue_.begin(), queue_.end(),
                                        [&](const RpcMessage& queued) { return queued.is_request && queued.id == id; });
    if (cancelled == queue_.end()) return;
    output_ += RpcError({RpcCode::kRequestCancelled, "cancelled", id});
    queue_.erase(cancelled);
    return;
  }
  queue_.push_back(*std::move(message));
}

void LanguageServer::Handle(const RpcMessage& message) {
  if (message.method.empty()) return;  // a response; nothing is asked of the client
  if (!message.is_request) {
    if (message.method == "exit") {
      exit_code_ = shut_down_ ? 0 : 1;
    } else if (initialized_ && !shut_down_) {
      HandleNotification(message);
    }
    return;
  }
  if (message.method == "initialize") {
    if (initialized_) {
      output_ += RpcError({RpcCode::kInvalidRequest, "initialize was received before", message.id});
    } else {
      Initialize(message);
    }
  } else if (!initialized_) {
    output_ += RpcError(
        {RpcCode::kNotInitialized, "the first request must be initialize, got " + Quoted(message.method), message.id});
  } else if (shut_down_) {
    output_ += RpcError(
        {RpcCode::kInvalidRequest, "after shutdown only exit is expected, got " + Quoted(message.method), message.id});
  } else {
    HandleRequest(message);
  }
}

void LanguageServer::Initialize(const RpcMessage& message) {
  initialized_ = true;
  const Value& general = ValueField(ValueField(message.params, "capabilities"), "general");
  const std::vector<std::string> encodings = TextsField(general, "positionEncodings");
  const bool utf8 = std::find(encodings.begin(), encodings.end(), "utf-8") != encodings.end();
  encoding_ = utf8 ? PositionEncoding::kUtf8 : PositionEncoding::kUtf16;
  std::string root = TextField(message.params, "rootUri");
  if (const Value::List& folders = ListField(message.params, "workspaceFolders"); !folders.empty()) {
    root = TextField(folders.front(), "uri");
  }
  const auto folder = PathOfUri(root);
  if (folder && host_.enter) host_.enter(*folder);
  Value::Map capabilities = {
      {"positionEncoding", utf8 ? "utf-8" : "utf-16"},
      {"textDocumentSync", Value::Map{{"openClose", true}, {"change", kIncremental}, {"save", true}}},
      {"hoverProvider", true},
      {"definitionProvider", true},
      {"codeActionProvider", Value::Map{{"codeActionKinds", Value::List{"quickfix"}}}},
      {"completionProvider", Value::Map{{"triggerCharacters", Value::List{".", ":", "\"", "{"}}}},
  };
  output_ +=
      RpcResult(message.id, Value::Map{{"capabilities", std::move(capabilities)},
                                       {"serverInfo", Value::Map{{"name", "muster"}, {"version", MUSTER_VERSION}}}});
}

void LanguageServer::HandleRequest(const RpcMessage& message) {
  using Answer = Value (LanguageServer::*)(const Value&);
  static const std::map<std::string, Answer, std::less<>> kAnswers = {
      {"textDocument/hover", &LanguageServer::Hover},
      {"textDocument/completion", &LanguageServer::Completion},
      {"textDocument/definition", &LanguageServer::DefinitionOf},
      {"textDocument/codeAction", &LanguageServer::CodeActions},
  };
  if (message.method == "shutdown") {
    shut_down_ = true;
    running_.reset();
    output_ += RpcResult(message.id, {});
    return;
  }
  const auto answer = kAnswers.find(message.method);
  if (answer == kAnswers.end()) {
    output_ += RpcError({RpcCode::kMethodNotFound, "there is no method " + Quoted(message.method), message.id});
    return;
  }
  if (TextField(ValueField(message.params, "textDocument"), "uri").empty()) {
    output_ += RpcError({RpcCode::kInvalidParams, message.method + " needs textDocument.uri", message.id});
    return;
  }
  output_ += RpcResult(message.id, (this->*answer->second)(message.params));
}

void LanguageServer::HandleNotification(const RpcMessage& message) {
  if (message.method == "textDocument/didOpen") {
    DidOpen(message.params);
  } else if (message.method == "textDocument/didChange") {
    DidChange(message.params);
  } else if (message.method == "textDocument/didClose") {
    DidClose(message.params);
  } else if (message.method == "textDocument/didSave" || message.method == "workspace/didChangeWatchedFiles") {
    // Any recipe may read the file.
    for (auto& [path, document] : documents_) document.dirty = ++changes_;
  }
}

void LanguageServer::Say(const std::string& message) {
  output_ += RpcNotification("window/logMessage", Value::Map{{"type", kLogError}, {"message", message}});
}

// --- documents
// --------------------------------------------------------------------------------------------------------

void LanguageServer::DidOpen(const Value& params) {
  const Value& item = ValueField(params, "textDocument");
  const std::string uri = TextField(item, "uri");
  const auto path = PathOfUri(uri);
  if (!path) return Say("muster: " + Quoted(uri) + " is no file: only documents with a file: URI are checked");
  const std::string* const text = ValueField(item, "text").AsString();
  if (text == nullptr) return;
  if (documents_.size() >= kMaxOpenDocuments) {
    return Say("muster: more than " + std::to_string(kMaxOpenDocuments) + " open documents; " + Quoted(*path) +
               " is not checked");
  }
  if (text->size() > kMaxDocumentBytes) {
    return Say("muster: " + Quoted(*path) + " has more than " + std::to_string(kMaxDocumentBytes >> 20U) +
               " MiB and is not checked");
  }
  Document document;
  document.uri = uri;
  document.text = *text;
  document.version = NumberField(item, "version");
  const std::string name = Normal(*path);
  documents_.insert_or_assign(name, std::move(document));
  Changed(name, true);
}

void LanguageServer::DidChange(const Value& params) {
  const Value& item = ValueField(params, "textDocument");
  const auto path = PathOfUri(TextField(item, "uri"));
  const auto found = path ? documents_.find(Normal(*path)) : documents_.end();
  if (found == documents_.end()) return;
  Document& document = found->second;
  for (const Value& change : ListField(params, "contentChanges")) {
    if (ApplyChange(document.text, change, encoding_, kMaxDocumentBytes)) continue;
    // Its text is not known any more.
    Say("muster: a change of " + Quoted(found->first) + " is invalid or makes it too large; open it again");
    DidClose(params);
    return;
  }
  document.version = NumberField(item, "version");
  Changed(found->first, true);
}

void LanguageServer::DidClose(const Value& params) {
  const auto path = PathOfUri(TextField(ValueField(params, "textDocument"), "uri"));
  const auto found = path ? documents_.find(Normal(*path)) : documents_.end();
  if (found == documents_.end()) return;
  const std::string name = found->first;
  if (running_ && running_->path == name) running_.reset();
  Publish(name, {});
  documents_.erase(found);
  found_.erase(name);
  Changed(name, false);
}

// Evaluates again what depends on the text: the document itself, and open recipes that read it.
void LanguageServer::Changed(const std::string& path, bool text_changed) {
  for (auto& [name, document] : documents_) {
    const bool reads = std::find(document.read.begin(), document.read.end(), path) != document.read.end();
    const bool own = text_changed && name == path;
    if (!own && !reads) continue;
    document.dirty = ++changes_ + (own ? documents_.size() : 0);  // the edited one first
    if (own) document.outline.reset();
    if (running_ && running_->path == name) running_.reset();
  }
  changes_ += documents_.size();
}

const RecipeOutline& LanguageServer::OutlineFor(Document& document) {
  if (!document.outline) document.outline = OutlineOf(document.text);
  return *document.outline;
}

RecipeView LanguageServer::ViewOf(Document& document) {
  RecipeView view;
  view.outline = &OutlineFor(document);
  view.types = &host_.types;
  view.parameters = document.parameters.empty() ? nullptr : &document.parameters;
  view.evaluation = document.evaluation.get();
  std::string release = view.outline->release;
  if (release.empty() && document.evaluation) release = document.evaluation->plan.mindspore;
  if (host_.reference) view.reference = host_.reference(release);
  return view;
}

std::optional<LanguageServer::At> LanguageServer::Locate(const Value& params) {
  const auto path = PathOfUri(TextField(ValueField(params, "textDocument"), "uri"));
  const auto position = PositionFrom(ValueField(params, "position"));
  const auto found = path ? documents_.find(Normal(*path)) : documents_.end();
  if (found == documents_.end() || !position) return std::nullopt;
  return At{found->first, &found->second, OffsetOf(found->second.text, *position, encoding_)};
}

// --- answers
// ----------------------------------------------------------------------------------------------------------

Value LanguageServer::Hover(const Value& params) {
  const auto at = Locate(params);
  if (!at) return {};
  const Cursor cursor = CursorAt(at->document->text, at->offset);
  std::string text = HoverAt(cursor, ViewOf(*at->document));
  if (text.empty()) return {};
  return Value::Map{{"contents", Markdown(std::move(text))},
                    {"range", RangeValue(at->document->text, cursor.begin, cursor.end, encoding_)}};
}

Value LanguageServer::Completion(const Value& params) {
  Value::List items;
  if (const auto at = Locate(params)) {
    const std::string& text = at->document->text;
    const Cursor cursor = CursorAt(text, at->offset);
    const Value range = RangeValue(text, cursor.begin, std::max(at->offset, cursor.begin), encoding_);
    for (Suggestion& suggestion : SuggestionsAt(cursor, ViewOf(*at->document))) {
      // The order of the API, which clients would otherwise replace by that of the alphabet.
      std::string order = std::to_string(items.size());
      order.insert(0, 4 - std::min<std::size_t>(4, order.size()), '0');
      Value::Map item = {{"label", suggestion.label},
                         {"kind", CompletionKind(suggestion.kind)},
                         {"sortText", std::move(order)},
                         {"textEdit", Value::Map{{"range", range}, {"newText", std::move(suggestion.inserted)}}}};
      if (!suggestion.type.empty()) item["detail"] = std::move(suggestion.type);
      if (!suggestion.doc.empty()) item["documentation"] = Markdown(std::move(suggestion.doc));
      items.emplace_back(std::move(item));
    }
  }
  return Value::Map{{"isIncomplete", false}, {"items", std::move(items)}};
}

Value LanguageServer::DefinitionOf(const Value& params) {
  const auto at = Locate(params);
  if (!at) return {};
  const auto definition = DefinitionAt(CursorAt(at->document->text, at->offset), ViewOf(*at->document));
  if (!definition) return {};
  if (definition->here) {
    return Value::Map{
        {"uri", at->document->uri},
        {"range", RangeValue(at->document->text, definition->here->first, definition->here->second, encoding_)}};
  }
  std::string path = definition->place.file;
  if (path.empty()) {
    path = FileNamed(definition->file, at->path, *at->document);
    if (path.empty()) return {};
  }
  const auto open = documents_.find(Normal(path));
  Value range = WholeLine(definition->place.line);
  if (open != documents_.end() && definition->place.line > 0) {
    const TextRange word = RangeOfMessage(open->second.text, definition->place.line, "\"" + definition->name + "\"");
    range = RangeValue(open->second.text, word.begin, word.end, encoding_);
  } else if (definition->place.line == 0) {
    range = RangeValue("", 0, 0, encoding_);
  }
  return Value::Map{{"uri", open != documents_.end() ? open->second.uri : UriOfPath(path)},
                    {"range", std::move(range)}};
}

std::string LanguageServer::FileNamed(const std::string& name, const std::string& path,
                                      const Document& document) const {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::string below = name;
  if (name.starts_with('@')) {
    const std::size_t slash = std::min(name.find('/'), name.size() - 1);
    const auto library = document.libraries.find(name.substr(1, slash - 1));
    if (library == document.libraries.end()) return {};
    folder = library->second.folder;
    below = name.substr(slash + 1);
  }
  for (const std::string& each : {below, below + ".lua"}) {
    const std::string file = Normal((folder / each).string());
    if (documents_.contains(file) || ExistsBelow(folder.string(), each)) return file;
  }
  return {};
}

Value LanguageServer::CodeActions(const Value& params) {
  Value::List actions;
  const auto path = PathOfUri(TextField(ValueField(params, "textDocument"), "uri"));
  const auto document = path ? documents_.find(Normal(*path)) : documents_.end();
  const Value& range = ValueField(params, "range");
  const auto start = PositionFrom(ValueField(range, "start"));
  const auto end = PositionFrom(ValueField(range, "end"));
  if (document == documents_.end() || !start || !end) return actions;
  const std::string& text = document->second.text;
  const std::size_t from = OffsetOf(text, *start, encoding_);
  const std::size_t to = OffsetOf(text, *end, encoding_);
  // Ranges are those of the text that was evaluated.
  if (document->second.dirty != 0 || (running_ && running_->path == document->first && !running_->for_parameters))
    return actions;
  for (const Published& each : published_[document->first]) {
    if (each.fix.empty() || each.end < from || each.begin > to) continue;
    Value::Map edit = {{"range", RangeValue(text, each.begin, each.end, encoding_)}, {"newText", each.fix}};
    actions.emplace_back(Value::Map{
        {"title", "replace it by " + Quoted(each.fix)},
        {"kind", "quickfix"},
        {"isPreferred", true},
        {"diagnostics", Value::List{each.diagnostic}},
        {"edit", Value::Map{{"changes", Value::Map{{document->second.uri, Value::List{std::move(edit)}}}}}},
    });
  }
  return actions;
}

// --- evaluations
// ------------------------------------------------------------------------------------------------------

int LanguageServer::evaluation_fd() const { return running_ ? running_->pending->fd() : -1; }
std::uint64_t LanguageServer::evaluation_deadline_ns() const { return running_ ? running_->pending->deadline_ns() : 0; }

void LanguageServer::BeginNext() {
  while (!running_ && initialized_ && !shut_down_ && host_.prepare) {
    const auto next = std::max_element(documents_.begin(), documents_.end(), [](const auto& one, const auto& other) {
      return one.second.dirty < other.second.dirty;
    });
    if (next == documents_.end() || next->second.dirty == 0) return;
    next->second.dirty = 0;
    if (!OutlineFor(next->second).uses_muster || IsSiteFile(next->first)) {
      Publish(next->first, {});
      continue;
    }
    if (!Begin(next->first, next->second)) running_.reset();
  }
}

bool LanguageServer::Begin(const std::string& path, Document& document) {
  auto options = host_.prepare(path);
  if (!options) return Publish(path, options.error()), false;
  const auto unsaved = std::make_shared<UnsavedTexts>();
  for (const auto& [name, open] : documents_) (*unsaved)[name] = open.text;
  auto files = RecipeFiles::Open(options->recipe_file, options->libraries, RecipeFiles::Link::kInside, unsaved);
  if (!files) return Publish(path, files.error()), false;
  document.libraries = options->libraries;
  if (!fork_server_) fork_server_ = std::make_shared<EvaluatorForkServer>(StartOf(*options), true, true);
  running_.emplace();
  running_->path = path;
  running_->options = *std::move(options);
  running_->evaluator = std::make_unique<Evaluator>(fork_server_, *std::move(files));
  return BeginRequest();
}

bool LanguageServer::BeginRequest() {
  EvaluationOptions asked = running_->options;
  asked.task = PlanTask{running_->for_parameters ? EvaluationDepth::kParameters : EvaluationDepth::kPlan, {}};
  auto pending = running_->evaluator->Begin(std::move(asked));
  if (!pending) {
    if (!running_->for_parameters) Publish(running_->path, pending.error());
    return false;
  }
  running_->pending.emplace(*std::move(pending));
  return true;
}

void LanguageServer::Continue() {
  if (!running_) return;
  auto result = running_->pending->Continue();
  if (!result) return;
  Finish(*std::move(result));
  BeginNext();
}

void LanguageServer::Finish(Result<Evaluation> result) {
  Document& document = documents_.at(running_->path);
  const std::string path = running_->path;
  document.read.clear();
  for (const std::string& name : running_->evaluator->FilesRead()) {
    const bool in_library = name.starts_with('@');
    const std::size_t slash = std::min(name.find('/'), name.size());
    const auto library = document.libraries.find(in_library ? name.substr(1, slash - 1) : "");
    if (in_library && library == document.libraries.end()) continue;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    document.read.push_back(Normal(
        (in_library ? std::filesystem::path(library->second.folder) / name.substr(std::min(slash + 1, name.size()))
                    : folder / name)
            .string()));
  }
  if (result) {
    document.parameters = result->parameters;
    if (!running_->for_parameters) {
      Diagnostics problems = result->warnings;
      if (host_.machine_problems) {
        for (Diagnostic& problem : host_.machine_problems(result->plan, path)) problems.push_back(std::move(problem));
      }
      result->sources.clear();
      document.evaluation = std::make_shared<const Evaluation>(*std::move(result));
      Publish(path, problems);
    }
    running_.reset();
    return;
  }
  if (running_->for_parameters) {
    running_.reset();
    return;
  }
  Diagnostics problems = result.error();
  // A module beside a recipe returns none.
  if (problems.size() == 1 && problems.front().kind == "no_recipe") problems.clear();
  const bool whole = !problems.empty() && problems.front().kind != "syntax";
  Publish(path, problems);
  running_->for_parameters = true;
  if (!whole || !BeginRequest()) running_.reset();
}

// --- diagnostics
// ------------------------------------------------------------------------------------------------------

std::string LanguageServer::TextOf(const std::string& path) const {
  const auto open = documents_.find(path);
  return open == documents_.end() ? std::string() : open->second.text;
}

LanguageServer::Published LanguageServer::Converted(const Diagnostic& diagnostic, const std::string& path) const {
  const auto location = [&](const Place& place, const std::string& message, Published* published) {
    const std::string file = Normal(place.file);
    const auto open = documents_.find(file);
    Value range = WholeLine(place.line);
    if (open != documents_.end()) {
      const TextRange found = RangeOfMessage(open->second.text, place.line, message);
      range = RangeValue(open->second.text, found.begin, found.end, encoding_);
      if (published != nullptr && found.is_word) {
        published->begin = found.begin;
        published->end = found.end;
        published->fix = MeantIn(diagnostic.hint);
      }
    }
    return std::pair(open == documents_.end() ? UriOfPath(file) : open->second.uri, std::move(range));
  };
  Published published;
  const bool missing = diagnostic.kind == "parameter_missing";
  Value::Map map;
  map["range"] = location({path, diagnostic.place.line}, diagnostic.message, &published).second;
  map["severity"] = missing ? kInformation : diagnostic.severity == Severity::kError ? kError : kWarning;
  map["code"] = diagnostic.kind;
  map["source"] = "muster";
  map["message"] = diagnostic.message + (diagnostic.hint.empty() ? "" : "\nhint: " + diagnostic.hint);
  Value::List related;
  std::string without_place;
  for (const Note& note : diagnostic.notes) {
    if (note.place.file.empty() || !note.place.file.starts_with('/')) {
      without_place += "\nnote: " + note.message;
      continue;
    }
    auto [uri, range] = location(note.place, note.message, nullptr);
    related.emplace_back(Value::Map{{"location", Value::Map{{"uri", std::move(uri)}, {"range", std::move(range)}}},
                                    {"message", note.message}});
  }
  if (!without_place.empty()) map["message"] = *map["message"].AsString() + without_place;
  if (!related.empty()) map["relatedInformation"] = std::move(related);
  published.diagnostic = std::move(map);
  return published;
}

// Replaces what the evaluation of that recipe has found, in all files.
void LanguageServer::Publish(const std::string& root, const Diagnostics& diagnostics) {
  std::map<std::string, std::vector<Published>> by_file;
  by_file[root];
  std::size_t count = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (++count > kMaxPublished) break;
    const std::string file = diagnostic.place.file.starts_with('/') ? Normal(diagnostic.place.file) : root;
    by_file[file].push_back(Converted(diagnostic, file));
  }
  std::set<std::string> files;
  for (const auto& [file, unused] : found_[root]) files.insert(file);
  for (const auto& [file, unused] : by_file) files.insert(file);
  found_[root] = std::move(by_file);
  for (const std::string& file : files) PublishFile(file);
}

void LanguageServer::PublishFile(const std::string& path) {
  std::vector<Published> all;
  for (const auto& [root, by_file] : found_) {
    const auto of_file = by_file.find(path);
    if (of_file == by_file.end()) continue;
    for (const Published& each : of_file->second) {
      if (all.size() < kMaxPublished && std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
    }
  }
  const auto open = documents_.find(path);
  Value::List list;
  for (const Published& each : all) list.push_back(each.diagnostic);
  Value::Map params = {{"uri", open == documents_.end() ? UriOfPath(path) : open->second.uri},
                       {"diagnostics", std::move(list)}};
  if (open != documents_.end()) params["version"] = open->second.version;
  if (all.empty()) {
    published_.erase(path);
  } else {
    published_[path] = std::move(all);
  }
  output_ += RpcNotification("textDocument/publishDiagnostics", std::move(params));
}

}  // namespace muster
