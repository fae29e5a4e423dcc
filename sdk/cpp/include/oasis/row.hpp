#pragma once

#include "fields.hpp"
#include "number.hpp"
#include "text.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace oasis {

/// Appends values to a packed row: little-endian, without alignment.
class RowWriter {
public:
  explicit RowWriter(Buffer &row) noexcept : row_(row) {}

  template <class T> void put(const T &value) { detail::put(*this, value); }

  template <class T> void number(const T &value) {
    const auto bytes = detail::to_bytes(value, ByteOrder::little);
    row_.insert(row_.end(), bytes.begin(), bytes.end());
  }

  void text(std::string_view value) {
    length(value.size());
    detail::append_text(value, row_);
  }

  /// LEB128: seven bits a byte, least significant first.
  void length(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      row_.push_back(static_cast<std::byte>((value & 0x7f) | 0x80));
    }
    row_.push_back(static_cast<std::byte>(value));
  }

  template <class T> void members(const T &value) { value.write(*this); }

private:
  Buffer &row_;
};

/// Reads values from a packed row. Throws `DecodeError`.
class RowReader {
public:
  explicit RowReader(Bytes row) noexcept : row_(row) {}

  std::size_t at() const noexcept { return row_.at(); }
  std::size_t left() const noexcept { return row_.left(); }
  /// Throws if bytes are left.
  void finish() const { row_.finish(); }

  template <class T> void get(T &value) { detail::get(*this, value); }

  template <class T> void number(T &value) {
    detail::from_bytes(row_.take(sizeof(T)), ByteOrder::little, value);
  }

  bool boolean() { return row_.boolean(); }

  std::string_view text() { return detail::take_text(row_, length()); }

  std::size_t length() {
    const std::size_t at = row_.at();
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t octet = row_.octet();
      value |= (octet & 0x7f) << shift;
      if (octet < 0x80) {
        // The tenth byte has room for one bit only.
        return shift == 63 && octet > 1 ? refuse(at) : narrow(value);
      }
    }
    return refuse(at);
  }

  template <class T> void members(T &value) { value = T::read(*this); }

private:
  [[noreturn]] static std::size_t refuse(std::size_t at) {
    ::oasis::detail::raise(DecodeError(DecodeError::Kind::varint, at, "a varint exceeds 64 bits"));
  }

  /// A value that does not fit the address space is more than there are bytes, too.
  static std::size_t narrow(std::uint64_t value) noexcept {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    return value > most ? most : static_cast<std::size_t>(value);
  }

  Cursor row_;
};

/// Makes `row` the packed row of a sample. Its capacity stays, so that nothing is allocated once it
/// is large enough.
template <class Sample> void write_row(const Sample &sample, Buffer &row) {
  row.clear();
  RowWriter writer(row);
  sample.write(writer);
}

/// The sample of a packed row, all of whose bytes must belong to it. Throws `DecodeError`.
template <class Sample> Sample read_row(Bytes row) {
  RowReader reader(row);
  Sample sample = Sample::read(reader);
  reader.finish();
  return sample;
}

} // namespace oasis
