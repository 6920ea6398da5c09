#include "serve/site/collected_pages.h"

#include <optional>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "page/collect/make_page.h"
#include "page/write/page_data.h"
#include "serve/site/refusal.h"
#include "spawn/start/limited_command.h"

namespace muster {
namespace {

// What the copy returns: data, or a sentence.
constexpr char kData = '+';
constexpr char kRefusal = '-';

std::string TextOf(const std::string& dir, bool is_sweep, std::uint64_t version) {
  const auto page = MakePage({{dir, is_sweep}});
  if (!page) return kRefusal + Sentence(page.error());
  const PageData data = PageDataOf(*page);
  return fmt::format(R"({}{{"format": 1, "version": {}, "page": {}, "floats": "{}"}})", kData, version, data.json,
                     data.floats);
}

HttpAnswer AnswerOf(std::optional<std::string> text) {
  if (!text || text->empty()) return RefusedAnswer(503, "the data of the page could not be collected");
  const bool is_data = text->front() == kData;
  text->erase(0, 1);
  return is_data ? JsonAnswer(200, *std::move(text)) : RefusedAnswer(503, *text);
}

}  // namespace

CollectedPages::CollectedPages(boost::asio::io_context& io) : io_(io) {}

CollectedPages::~CollectedPages() = default;

void CollectedPages::Collect(const std::string& dir, bool is_sweep, std::uint64_t version, Reply reply) {
  const auto [at, is_new] = collections_.try_emplace(dir);
  at->second.replies.push_back(std::move(reply));
  if (!is_new) return;
  at->second.is_sweep = is_sweep;
  at->second.version = version;
  if (running_ < kMostAtOnce) return Begin(dir);
  waiting_.push_back(dir);
}

void CollectedPages::Begin(const std::string& dir) {
  ++running_;
  Collection& collection = collections_.at(dir);
  auto copy = ForkedFunction::Start(
      io_,
      [&dir, is_sweep = collection.is_sweep, version = collection.version] { return TextOf(dir, is_sweep, version); },
      [this, dir](std::optional<std::string> text) { End(dir, AnswerOf(std::move(text))); });
  if (copy) {
    collection.copy = *std::move(copy);
    return;
  }
  boost::asio::post(io_, [this, dir] { End(dir, RefusedAnswer(503, "this machine has no room for another process")); });
}

void CollectedPages::End(const std::string& dir, const HttpAnswer& answer) {
  --running_;
  const auto ended = collections_.extract(dir);
  if (!waiting_.empty()) {
    const std::string next = std::move(waiting_.front());
    waiting_.pop_front();
    Begin(next);
  }
  for (const Reply& reply : ended.mapped().replies) reply(answer);
}

}  // namespace muster
