// A request of a browser, as far as the server looks at it: the parts of its head that decide whether it is answered,
// and its body.
#pragma once

#include <string>

namespace muster {

struct HttpRequest {
  std::string method;        // "GET"
  std::string target;        // as received, "/TOKEN/sweep/3f9a1c2b4d5e/events"
  std::string host;          // of the Host header; empty: it is missing, or there are several
  std::string origin;        // empty: no such header
  std::string fetch_site;    // Sec-Fetch-Site: where the request comes from, as the browser says
  std::string fetch_mode;    // Sec-Fetch-Mode
  std::string fetch_dest;    // Sec-Fetch-Dest
  std::string content_type;  // of the body
  std::string last_event;    // Last-Event-ID: the last event of a stream that the page has seen
  std::string body;
};

}  // namespace muster
