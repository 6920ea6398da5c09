// The reason of an early exit of a ps_digits process, as a value. Independent of reporting and exit codes.
#pragma once

#include <cstring>
#include <string>
#include <utility>

#include <boost/system/result.hpp>

namespace ps_digits {

struct Failure {
  std::string message;
  // Received from another process: the message already names its author and is forwarded unchanged, so that every
  // process of a broken job reports the same origin.
  bool relayed = false;
};

template <class T>
using Result = boost::system::result<T, Failure>;

inline Failure SystemFailure(const std::string& what, int error_number) {
  return Failure{what + ": " + std::strerror(error_number)};
}

}  // namespace ps_digits
