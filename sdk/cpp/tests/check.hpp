#pragma once

#include <oasis/bytes.hpp>
#include <oasis/error.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

/// Notes a condition that does not hold, with the case that it does not hold for.
#define CHECK(condition) test::check((condition), #condition, __FILE__, __LINE__)

namespace test {

inline int failures = 0;
/// Name of the current test.
inline std::string subject;

inline void check(bool holds, const char *condition, const char *file, int line) {
  if (!holds) {
    ++failures;
    std::cerr << file << ":" << line << ": " << subject << ": " << condition << "\n";
  }
}

/// For `main` to return.
inline int result() {
  std::cerr << (failures == 0 ? "all checks hold" : std::to_string(failures) + " checks fail")
            << "\n";
  return failures == 0 ? 0 : 1;
}

inline unsigned digit(char character) {
  return static_cast<unsigned>(character <= '9' ? character - '0' : character - 'a' + 10);
}

inline oasis::Buffer bytes(std::string_view hex) {
  oasis::Buffer out;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    out.push_back(static_cast<std::byte>(digit(hex[at]) << 4 | digit(hex[at + 1])));
  }
  return out;
}

inline std::string text(std::string_view hex) {
  const oasis::Buffer out = bytes(hex);
  return std::string(reinterpret_cast<const char *>(out.data()), out.size());
}

/// The first bytes, alone in memory, so that the address sanitizer sees who reads on.
inline oasis::Buffer first(const oasis::Buffer &bytes, std::size_t length) {
  return oasis::Buffer(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
}

/// Whether an action throws a `DecodeError`, and nothing else.
template <class Action> bool is_refused(Action action) {
  try {
    action();
  } catch (const oasis::DecodeError &error) {
    return std::string_view(error.what()).find(" at offset ") != std::string_view::npos;
  } catch (const std::exception &error) {
    std::cerr << subject << ": " << error.what() << "\n";
  }
  return false;
}

/// Whether an action throws a `DecodeError` of this kind at this offset.
template <class Action>
bool is_refused(oasis::DecodeError::Kind kind, std::size_t offset, Action action) {
  try {
    action();
  } catch (const oasis::DecodeError &error) {
    if (error.kind() == kind && error.offset() == offset) {
      return true;
    }
    std::cerr << subject << ": refused as: " << error.what() << "\n";
  }
  return false;
}

} // namespace test
