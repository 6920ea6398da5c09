// The answer that refuses a request with a sentence.
#pragma once

#include <string>

#include "serve/http/http_answer.h"

namespace muster {

HttpAnswer RefusedAnswer(int status, const std::string& why);

}  // namespace muster
