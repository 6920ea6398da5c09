// Tests which requests the server answers, by their heads alone.
#include <gtest/gtest.h>

#include "serve/http/http_server.h"

namespace muster {
namespace {

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

HttpRequest Valid() {
  HttpRequest request;
  request.method = "GET";
  request.target = std::string("/") + kToken + "/sweep/3f9a1c2b4d5e";
  request.host = "127.0.0.1:8080";
  return request;
}

HttpRequest ValidPost() {
  HttpRequest request = Valid();
  request.method = "POST";
  request.content_type = "application/json";
  request.origin = "http://127.0.0.1:8080";
  request.fetch_site = "same-origin";
  request.fetch_mode = "cors";
  return request;
}

int StatusOf(const HttpRequest& request) {
  const auto refusal = RefusalOf(request, kToken);
  return refusal ? refusal->status : 200;
}

TEST(RequestGuard, AdmitsItsOwnPagesAndTheUsersPrograms) {
  EXPECT_EQ(StatusOf(Valid()), 200);
  EXPECT_EQ(StatusOf(ValidPost()), 200);
  HttpRequest program = ValidPost();
  program.origin = program.fetch_site = program.fetch_mode = "";
  EXPECT_EQ(StatusOf(program), 200) << "curl sends neither";
}

TEST(RequestGuard, RefusesOtherHosts) {
  for (const char* host :
       {"", "evil.example", "127.0.0.1.evil.example", "127.0.0.2", "[::1]:8080", "127.0.0.1:", "127.0.0.1:80a",
        "127.0.0.1:123456", "localhost.evil.example:80", "user@127.0.0.1", "0.0.0.0"}) {
    HttpRequest request = Valid();
    request.host = host;
    EXPECT_EQ(StatusOf(request), 421) << host;
  }
  for (const char* host : {"127.0.0.1", "localhost", "localhost:1", "127.0.0.1:65535"}) {
    HttpRequest request = Valid();
    request.host = host;
    EXPECT_EQ(StatusOf(request), 200) << host << ": a tunnel has another port";
  }
}

TEST(RequestGuard, RefusesWrongTokens) {
  const std::string token = kToken;
  for (const std::string& path : {std::string("/"), std::string("/x/"), "/" + token.substr(1) + "/", "/" + token + "0/",
                                  "/" + token.substr(0, 31) + "/", "//" + token + "/", "/sweep/" + token + "/",
                                  "/?" + token, std::string("*"), "http://127.0.0.1/" + token + "/", std::string()}) {
    HttpRequest request = Valid();
    request.target = path;
    EXPECT_EQ(StatusOf(request), 404) << path;
  }
}

TEST(RequestGuard, DecodesNothing) {
  const std::string below = std::string("/") + kToken + "/";
  for (const std::string& path :
       {below + "%2e%2e/x", below + "a%00", below + "a b", below + "a\\b", below + std::string("a\0b", 3), below + "ü",
        below + "<script>", below + std::string(kMaxTarget, 'a')}) {
    HttpRequest request = Valid();
    request.target = path;
    EXPECT_EQ(StatusOf(request), 404) << path;
  }
}

TEST(RequestGuard, RefusesOtherMethods) {
  for (const char* method : {"HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", ""}) {
    HttpRequest request = Valid();
    request.method = method;
    EXPECT_EQ(StatusOf(request), 405) << method;
  }
}

TEST(RequestGuard, RefusesOtherOrigins) {
  for (const char* origin : {"null", "http://evil.example", "https://127.0.0.1:8080", "http://127.0.0.1:8081",
                             "http://localhost:8080", "http://127.0.0.1:8080.evil.example", "several"}) {
    HttpRequest request = ValidPost();
    request.origin = origin;
    EXPECT_EQ(StatusOf(request), 403) << origin;
    request = Valid();
    request.origin = origin;
    EXPECT_EQ(StatusOf(request), 403) << origin;
  }
}

TEST(RequestGuard, RefusesOtherSites) {
  for (const char* site : {"cross-site", "same-site", "several"}) {
    HttpRequest request = Valid();
    request.fetch_site = site;
    for (const char* mode : {"", "cors", "no-cors", "same-origin"}) {
      request.fetch_mode = mode;
      EXPECT_EQ(StatusOf(request), 403) << site << " " << mode;
    }
    request.fetch_mode = "navigate";
    request.fetch_dest = "document";
    EXPECT_EQ(StatusOf(request), 200) << "a link, or the file that leads to the address";
    request.fetch_dest = "iframe";
    EXPECT_EQ(StatusOf(request), 403) << "a page of another site must not show it";
    HttpRequest post = ValidPost();
    post.origin = "";
    post.fetch_site = site;
    post.fetch_mode = "navigate";
    post.fetch_dest = "document";
    EXPECT_EQ(StatusOf(post), 403) << "a form";
  }
}

TEST(RequestGuard, RefusesBodiesThatAFormCanSend) {
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "several"}) {
    HttpRequest request = ValidPost();
    request.content_type = type;
    EXPECT_EQ(StatusOf(request), 415) << type;
  }
}

TEST(RequestGuard, SeparatesPathAndQuery) {
  HttpRequest request = Valid();
  EXPECT_EQ(PathOf(request), "sweep/3f9a1c2b4d5e");
  request.target += "/events?from=12&x=3&from=13";
  EXPECT_EQ(PathOf(request), "sweep/3f9a1c2b4d5e/events");
  EXPECT_EQ(QueryOf(request, "from"), "12");
  EXPECT_EQ(QueryOf(request, "x"), "3");
  EXPECT_EQ(QueryOf(request, "fro"), "");
  EXPECT_EQ(QueryOf(request, "y"), "");
  request.target = std::string("/") + kToken;
  EXPECT_EQ(PathOf(request), "");
}

}  // namespace
}  // namespace muster
