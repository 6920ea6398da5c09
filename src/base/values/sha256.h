// SHA-256 of bytes that arrive in parts; for a single text use Sha256Hex() in base/values/fingerprint.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace muster {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Add(std::string_view bytes);
  // Of everything added so far.
  std::array<std::uint8_t, 32> Digest() const;
  std::string Hex() const;  // the same: 64 characters, lower-case

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace muster
