// What ends a ps_digits process early, as a value. Knows nothing of who reports it or with which exit code.
#pragma once

#include <cstring>
#include <string>
#include <utility>

#include <boost/system/result.hpp>

namespace ps_digits {

struct Failure {
  std::string message;
  // Another process said so first: the message already names its author and travels on unchanged, so that
  // every process of a broken job ends up naming the same origin.
  bool relayed = false;
};

template <class T>
using Result = boost::system::result<T, Failure>;

inline Failure SystemFailure(const std::string& what, int error_number) {
  return Failure{what + ": " + std::strerror(error_number)};
}

}  // namespace ps_digits
