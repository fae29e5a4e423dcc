#pragma once

#include "error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace oasis {

/// Buffer that rows and packets are written to. `clear()` keeps its capacity, so that one which is used
/// again and again soon allocates nothing.
using Buffer = std::vector<std::byte>;

/// Borrowed bytes.
class Bytes {
public:
  constexpr Bytes() noexcept = default;
  constexpr Bytes(const std::byte *data, std::size_t size) noexcept : data_(data), size_(size) {}
  Bytes(const Buffer &buffer) noexcept : Bytes(buffer.data(), buffer.size()) {}
  /// As C interfaces hand them over.
  Bytes(const void *data, std::size_t size) noexcept
      : Bytes(static_cast<const std::byte *>(data), size) {}

  constexpr const std::byte *data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }

private:
  const std::byte *data_ = nullptr;
  std::size_t size_ = 0;
};

/// A cursor over untrusted bytes: every step is checked.
class Cursor {
public:
  explicit Cursor(Bytes bytes) noexcept : bytes_(bytes) {}

  /// The offset of the next value.
  std::size_t at() const noexcept { return at_; }

  /// Bytes not read yet.
  std::size_t left() const noexcept { return bytes_.size() - at_; }

  /// The next `length` bytes.
  const std::byte *take(std::size_t length) {
    if (length > left()) {
      ::oasis::detail::raise(DecodeError(DecodeError::Kind::truncated, at_,
                        std::to_string(length) + " bytes are needed and " + std::to_string(left()) +
                            " left"));
    }
    const std::byte *taken = bytes_.data() + at_;
    at_ += length;
    return taken;
  }

  std::uint8_t octet() { return std::to_integer<std::uint8_t>(*take(1)); }

  bool boolean() {
    const std::size_t at = at_;
    const std::uint8_t value = octet();
    if (value > 1) {
      ::oasis::detail::raise(DecodeError(DecodeError::Kind::boolean, at, "a boolean is neither 0 nor 1"));
    }
    return value == 1;
  }

  /// Skips padding of any content.
  void align(std::size_t alignment) { take((alignment - at_ % alignment) % alignment); }

  /// Throws if bytes are left.
  void finish() const {
    if (left() != 0) {
      ::oasis::detail::raise(DecodeError(DecodeError::Kind::leftover, at_,
                        std::to_string(left()) + " bytes are left over"));
    }
  }

private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

} // namespace oasis
