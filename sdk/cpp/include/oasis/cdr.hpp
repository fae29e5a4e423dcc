#pragma once

#include "fields.hpp"
#include "number.hpp"
#include "text.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace oasis {

/// Appends Common Data Representation: each number aligned to its size, counted from the start of
/// the packet, which is the end of the buffer when the writer is made.
class CdrWriter {
public:
  CdrWriter(Buffer &out, ByteOrder order) noexcept : out_(out), start_(out.size()), order_(order) {}

  template <class T> void put(const T &value) { detail::put(*this, value); }

  /// Bytes of the packet so far.
  std::size_t at() const noexcept { return out_.size() - start_; }

  /// Zeros up to the next multiple of `alignment`.
  void align(std::size_t alignment) {
    out_.resize(out_.size() + (alignment - at() % alignment) % alignment);
  }

  template <class T> void number(const T &value) {
    align(sizeof(T));
    const auto bytes = detail::to_bytes(value, order_);
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }

  void octet(std::uint8_t value) { out_.push_back(static_cast<std::byte>(value)); }

  /// The length counts the NUL after the text.
  void text(std::string_view value) {
    length(value.size() + 1);
    detail::append_text(value, out_);
    octet(0);
  }

  void length(std::size_t value) { number(narrow(value)); }

  template <class T> void members(const T &value) { value.encode(*this); }

  /// Writes over a length that stands at offset `at`.
  void patch(std::size_t at, std::size_t value) {
    const auto bytes = detail::to_bytes(narrow(value), order_);
    for (std::size_t index = 0; index < bytes.size(); ++index) {
      out_.at(start_ + at + index) = bytes[index];
    }
  }

private:
  static std::uint32_t narrow(std::size_t value) {
    if (value > std::numeric_limits<std::uint32_t>::max()) {
      ::oasis::detail::raise(EncodeError(EncodeError::Kind::length,
                        "a length of " + std::to_string(value) + " exceeds 32 bits"));
    }
    return static_cast<std::uint32_t>(value);
  }

  Buffer &out_;
  std::size_t start_;
  ByteOrder order_;
};

/// Reads Common Data Representation from the start of a packet. Throws `DecodeError`.
class CdrReader {
public:
  CdrReader(Bytes packet, ByteOrder order) noexcept : packet_(packet), order_(order) {}

  std::size_t at() const noexcept { return packet_.at(); }
  std::size_t left() const noexcept { return packet_.left(); }
  /// Skips padding of any content.
  void align(std::size_t alignment) { packet_.align(alignment); }
  /// Throws if bytes are left.
  void finish() const { packet_.finish(); }

  template <class T> void get(T &value) { detail::get(*this, value); }

  template <class T> void number(T &value) {
    align(sizeof(T));
    detail::from_bytes(packet_.take(sizeof(T)), order_, value);
  }

  std::uint8_t octet() { return packet_.octet(); }

  bool boolean() { return packet_.boolean(); }

  std::string_view text() {
    const std::size_t length = this->length();
    const std::size_t at = packet_.at();
    Cursor behind = packet_;
    if (length == 0 || behind.take(length)[length - 1] != std::byte{0}) {
      ::oasis::detail::raise(DecodeError(DecodeError::Kind::terminator, at, "a string does not end with NUL"));
    }
    const std::string_view text = detail::take_text(packet_, length - 1);
    packet_ = behind;
    return text;
  }

  std::size_t length() {
    std::uint32_t value = 0;
    number(value);
    return value;
  }

  template <class T> void members(T &value) { value = T::decode(*this); }

private:
  Cursor packet_;
  ByteOrder order_;
};

} // namespace oasis
