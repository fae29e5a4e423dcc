#pragma once

#include "error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oasis {

/// Identity of a probe type (RFC 9562).
struct Uuid {
  /// In the order in which they are written.
  std::array<std::uint8_t, 16> bytes{};

  /// Reads 8-4-4-4-12 hexadecimal digits. Throws `DecodeError`.
  static constexpr Uuid parse(std::string_view text) {
    Uuid uuid;
    std::size_t at = 0;
    for (std::size_t index = 0; index < uuid.bytes.size(); ++index) {
      if (index == 4 || index == 6 || index == 8 || index == 10) {
        require(at < text.size() && text[at] == '-', at);
        ++at;
      }
      const unsigned high = digit(text, at);
      const unsigned low = digit(text, at + 1);
      uuid.bytes[index] = static_cast<std::uint8_t>(high << 4 | low);
      at += 2;
    }
    require(at == text.size(), at);
    return uuid;
  }

  /// In lower case.
  std::string to_string() const {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (std::size_t index = 0; index < bytes.size(); ++index) {
      if (index == 4 || index == 6 || index == 8 || index == 10) {
        text += '-';
      }
      text += digits[bytes[index] >> 4];
      text += digits[bytes[index] & 0xf];
    }
    return text;
  }

  friend constexpr bool operator==(const Uuid &left, const Uuid &right) noexcept {
    for (std::size_t index = 0; index < left.bytes.size(); ++index) {
      if (left.bytes[index] != right.bytes[index]) {
        return false;
      }
    }
    return true;
  }

  friend constexpr bool operator!=(const Uuid &left, const Uuid &right) noexcept {
    return !(left == right);
  }

private:
  static constexpr unsigned digit(std::string_view text, std::size_t at) {
    require(at < text.size(), at);
    const char character = text[at];
    if (character >= '0' && character <= '9') {
      return static_cast<unsigned>(character - '0');
    }
    const bool is_upper = character >= 'A' && character <= 'F';
    require(is_upper || (character >= 'a' && character <= 'f'), at);
    return static_cast<unsigned>(character - (is_upper ? 'A' : 'a')) + 10;
  }

  static constexpr void require(bool holds, std::size_t at) {
    if (!holds) {
      ::oasis::detail::raise(DecodeError(DecodeError::Kind::uuid, at, "text is no UUID"));
    }
  }
};

} // namespace oasis
