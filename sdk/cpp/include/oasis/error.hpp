#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

// Whether the program is compiled with exceptions. Compile all of it the same way.
#if defined(__cpp_exceptions)
#define OASIS_EXCEPTIONS 1
#else
#define OASIS_EXCEPTIONS 0
#endif

namespace oasis {

namespace detail {

/// Throws an error. A program without exceptions (`-fno-exceptions`) ends, with the error on standard error.
template <class Error> [[noreturn]] void raise(const Error &error) {
#if OASIS_EXCEPTIONS
  throw error;
#else
  std::fprintf(stderr, "oasis: %s\n", error.what());
  std::abort();
#endif
}

} // namespace detail

/// Bytes that cannot be decoded: kind of the error and its offset.
class DecodeError : public std::runtime_error {
public:
  enum class Kind {
    /// The bytes end too early.
    truncated,
    /// Bytes are left after the last value.
    leftover,
    /// A varint of more than 64 bits.
    varint,
    /// A boolean byte other than 0 and 1.
    boolean,
    /// Text that is not UTF-8.
    text,
    /// A CDR string without its NUL.
    terminator,
    /// A vector of more elements than there are bytes.
    elements,
    /// A number that its enum does not declare.
    enumerator,
    /// A packet that does not begin with `EISA`.
    magic,
    /// A packet of a version that is not known.
    version,
    /// A packet of another probe type.
    probe,
    /// Text that is not a UUID.
    uuid,
  };

  DecodeError(Kind kind, std::size_t offset, const std::string &what)
      : std::runtime_error(what + " at offset " + std::to_string(offset)), kind_(kind),
        offset_(offset) {}

  Kind kind() const noexcept { return kind_; }

  /// Counted from the first byte of the row or the packet.
  std::size_t offset() const noexcept { return offset_; }

private:
  Kind kind_;
  std::size_t offset_;
};

/// A value that cannot be encoded. The part written so far stays in the buffer.
class EncodeError : public std::runtime_error {
public:
  enum class Kind {
    /// Text that is not UTF-8.
    text,
    /// A text, a vector or a sample too long for the 32 bits of a length in CDR.
    length,
  };

  EncodeError(Kind kind, const std::string &what) : std::runtime_error(what), kind_(kind) {}

  Kind kind() const noexcept { return kind_; }

private:
  Kind kind_;
};

} // namespace oasis
