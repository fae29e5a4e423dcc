#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace oasis {

/// Order of the bytes of a number.
enum class ByteOrder {
  /// Least significant first.
  little,
  /// Most significant first.
  big,
};

namespace detail {

static_assert(sizeof(float) == 4 && std::numeric_limits<float>::digits == 24, "IEEE 754 single");
static_assert(sizeof(double) == 8 && std::numeric_limits<double>::digits == 53, "IEEE 754 double");

template <std::size_t width> struct Unsigned;
template <> struct Unsigned<1> {
  using Type = std::uint8_t;
};
template <> struct Unsigned<2> {
  using Type = std::uint16_t;
};
template <> struct Unsigned<4> {
  using Type = std::uint32_t;
};
template <> struct Unsigned<8> {
  using Type = std::uint64_t;
};

/// Returns by how many bits the byte at this index of a number is shifted.
template <std::size_t width> constexpr unsigned shift(std::size_t index, ByteOrder order) {
  return static_cast<unsigned>(8 * (order == ByteOrder::little ? index : width - 1 - index));
}

/// The bytes of a number, whatever the order of this machine. Reals go by reference: on some
/// machines to return one by value changes the bits of a NaN.
template <class T>
std::array<std::byte, sizeof(T)> to_bytes(const T &value, ByteOrder order) noexcept {
  typename Unsigned<sizeof(T)>::Type bits;
  std::memcpy(&bits, &value, sizeof bits);
  std::array<std::byte, sizeof(T)> bytes{};
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    bytes[index] = static_cast<std::byte>((bits >> shift<sizeof(T)>(index, order)) & 0xff);
  }
  return bytes;
}

/// The number of `sizeof(T)` bytes.
template <class T> void from_bytes(const std::byte *bytes, ByteOrder order, T &value) noexcept {
  std::uint64_t wide = 0;
  for (std::size_t index = 0; index < sizeof(T); ++index) {
    wide |= std::to_integer<std::uint64_t>(bytes[index]) << shift<sizeof(T)>(index, order);
  }
  const auto bits = static_cast<typename Unsigned<sizeof(T)>::Type>(wide);
  std::memcpy(&value, &bits, sizeof bits);
}

} // namespace detail
} // namespace oasis
