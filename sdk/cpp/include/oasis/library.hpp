#pragma once

#include "bytes.hpp"

#include <oasis.h>

#include <cstdint>
#include <memory>
#include <stdexcept>

namespace oasis {

/// An error of the C library.
class LibraryError : public std::runtime_error {
public:
  LibraryError(oasis_status status, const char *problem)
      : std::runtime_error(problem), status_(status) {}

  oasis_status status() const noexcept { return status_; }

private:
  oasis_status status_;
};

namespace detail {

inline void check(oasis_status status) {
  if (status != OASIS_STATUS_OK) {
    ::oasis::detail::raise(LibraryError(status, oasis_last_error()));
  }
}

inline const std::uint8_t *octets(const Buffer &bytes) noexcept {
  return reinterpret_cast<const std::uint8_t *>(bytes.data());
}

/// Deleter of objects of the library.
template <auto release> struct Free {
  template <class T> void operator()(T *thing) const noexcept { release(thing); }
};

template <class T, auto release> using Owned = std::unique_ptr<T, Free<release>>;

} // namespace detail

} // namespace oasis
