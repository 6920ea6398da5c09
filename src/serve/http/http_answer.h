// The answer to a request: a text, or a stream of events. Its head has the headers that keep a page to itself.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace muster {

class EventStream;

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain";
  std::shared_ptr<const std::string> body = {};
  std::string policy = {};  // Content-Security-Policy; empty: nothing may be loaded or run
  // If set, the body is a stream of events instead, which is passed to the function.
  std::function<void(std::shared_ptr<EventStream>)> stream = {};
};

HttpAnswer TextAnswer(int status, std::string text);
HttpAnswer JsonAnswer(int status, std::string json);

// Head and body as one text; of a stream the head alone. The connection is closed after each answer: no second request
// can be hidden in a first one.
std::string AnswerBytes(const HttpAnswer& answer);

}  // namespace muster
