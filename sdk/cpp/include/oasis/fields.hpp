#pragma once

#include "bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Rows and packets differ in how they write numbers, texts and lengths, and in nothing else.

namespace oasis::detail {

template <class T> struct IsVector : std::false_type {};
template <class T> struct IsVector<std::vector<T>> : std::true_type {};

/// Writes a value of any type that the PDL has.
template <class Writer, class T> void put(Writer &to, const T &value) {
  if constexpr (std::is_same_v<T, bool>) {
    to.number(static_cast<std::uint8_t>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    to.number(value);
  } else if constexpr (std::is_enum_v<T>) {
    to.number(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    to.text(value);
  } else if constexpr (IsVector<T>::value) {
    to.length(value.size());
    for (typename T::const_reference element : value) {
      detail::put<Writer, typename T::value_type>(to, element);
    }
  } else {
    to.members(value);
  }
}

template <class Reader, class T> void get(Reader &from, T &value);

/// An enum; its number must be one that it declares.
template <class Reader, class T> void get_enum(Reader &from, T &value) {
  std::underlying_type_t<T> number{};
  from.number(number);
  value = static_cast<T>(number);
  if (!is_declared(value)) {
    ::oasis::detail::raise(DecodeError(DecodeError::Kind::enumerator, from.at() - sizeof number,
                      "an enum does not declare " + std::to_string(number)));
  }
}

/// A vector. Memory grows with the elements that were read, not with the number that is claimed.
template <class Reader, class T> void get_vector(Reader &from, std::vector<T> &value) {
  const std::size_t at = from.at();
  const std::size_t count = from.length();
  constexpr std::size_t least_width = std::is_arithmetic_v<T> ? sizeof(T) : 1;
  if (count > from.left() / least_width) {
    ::oasis::detail::raise(DecodeError(DecodeError::Kind::elements, at, "a vector has more elements than bytes"));
  }
  value.clear();
  for (std::size_t index = 0; index < count; ++index) {
    T element{};
    detail::get(from, element);
    value.push_back(std::move(element));
  }
}

/// Reads a value of any type that the PDL has.
template <class Reader, class T> void get(Reader &from, T &value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = from.boolean();
  } else if constexpr (std::is_arithmetic_v<T>) {
    from.number(value);
  } else if constexpr (std::is_enum_v<T>) {
    get_enum(from, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = from.text();
  } else if constexpr (IsVector<T>::value) {
    get_vector(from, value);
  } else {
    from.members(value);
  }
}

} // namespace oasis::detail
