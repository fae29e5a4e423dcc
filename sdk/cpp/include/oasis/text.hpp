#pragma once

#include "bytes.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace oasis::detail {

/// Bytes of the UTF-8 sequence that begins with `first`, and the bounds of its second byte; a
/// length of 0 where none can begin (Unicode 15.0, table 3-7).
struct Utf8Lead {
  std::size_t length;
  unsigned char least;
  unsigned char greatest;
};

constexpr Utf8Lead utf8_lead(unsigned char first) noexcept {
  if (first < 0x80) {
    return {1, 0x80, 0xbf};
  }
  if (first < 0xc2 || first > 0xf4) {
    return {0, 0x80, 0xbf};
  }
  if (first < 0xe0) {
    return {2, 0x80, 0xbf};
  }
  switch (first) {
  case 0xe0:
    return {3, 0xa0, 0xbf};
  case 0xed:
    return {3, 0x80, 0x9f};
  case 0xf0:
    return {4, 0x90, 0xbf};
  case 0xf4:
    return {4, 0x80, 0x8f};
  default:
    return {first < 0xf0 ? std::size_t{3} : std::size_t{4}, 0x80, 0xbf};
  }
}

constexpr bool is_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Lead lead = utf8_lead(static_cast<unsigned char>(text[at]));
    if (lead.length == 0 || lead.length > text.size() - at) {
      return false;
    }
    for (std::size_t index = 1; index < lead.length; ++index) {
      const auto next = static_cast<unsigned char>(text[at + index]);
      const bool is_second = index == 1;
      if (next < (is_second ? lead.least : 0x80) || next > (is_second ? lead.greatest : 0xbf)) {
        return false;
      }
    }
    at += lead.length;
  }
  return true;
}

/// Takes `length` bytes of UTF-8.
inline std::string_view take_text(Cursor &from, std::size_t length) {
  const std::size_t at = from.at();
  const std::byte *bytes = from.take(length);
  if (length == 0) {
    return {};
  }
  const std::string_view text(reinterpret_cast<const char *>(bytes), length);
  if (!is_utf8(text)) {
    ::oasis::detail::raise(DecodeError(DecodeError::Kind::text, at, "text is not UTF-8"));
  }
  return text;
}

inline void append(std::string_view text, Buffer &out) {
  const auto *bytes = reinterpret_cast<const std::byte *>(text.data());
  out.insert(out.end(), bytes, bytes + text.size());
}

/// Appends text, which must be UTF-8.
inline void append_text(std::string_view text, Buffer &out) {
  if (!is_utf8(text)) {
    ::oasis::detail::raise(EncodeError(EncodeError::Kind::text, "the text to be written is not UTF-8"));
  }
  append(text, out);
}

} // namespace oasis::detail
