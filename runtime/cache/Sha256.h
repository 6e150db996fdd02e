//===- cache/Sha256.h - SHA-256 ---------------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// FIPS 180-4.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CACHE_SHA256_H
#define EIDER_RUNTIME_CACHE_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace eider {

class Sha256 {
public:
  /// Appends bytes to the message.
  void update(std::string_view bytes);

  /// Appends the length as 8 bytes, then the bytes: neighbouring fields cannot run into each other.
  void field(std::string_view bytes);

  /// The digest in hexadecimal, 64 characters. Ends the message.
  std::string hex();

private:
  void block(const unsigned char *bytes);

  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> pending;
  uint64_t length = 0; ///< of the message so far, in bytes
};

/// The digest of `bytes` in hexadecimal.
std::string sha256(std::string_view bytes);

} // namespace eider

#endif // EIDER_RUNTIME_CACHE_SHA256_H
