#pragma once

#include "cdr.hpp"
#include "uuid.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// The EISA packet of 2012: one sample, self-contained, in CDR.
namespace oasis::eisa {

namespace detail {

constexpr std::array<std::uint8_t, 4> magic = {'E', 'I', 'S', 'A'};
constexpr std::uint8_t major_version = 1;
constexpr std::uint8_t minor_version = 1;
/// Offsets of the version, the UUID and the size of the probe data.
constexpr std::size_t version_at = 4;
constexpr std::size_t uuid_at = 8;
constexpr std::size_t data_size_at = 40;
/// Probe data is aligned to this, counted from the start of the packet.
constexpr std::size_t data_alignment = 8;

inline void write_start(CdrWriter &to) {
  for (const std::uint8_t octet : magic) {
    to.octet(octet);
  }
  to.octet(major_version);
  to.octet(minor_version);
}

inline void read_start(CdrReader &from) {
  std::array<std::uint8_t, 4> start{};
  for (std::uint8_t &octet : start) {
    octet = from.octet();
  }
  if (start != magic) {
    ::oasis::detail::raise(DecodeError(DecodeError::Kind::magic, 0, "a packet does not begin with EISA"));
  }
  const std::uint8_t major = from.octet();
  const std::uint8_t minor = from.octet();
  if (major != major_version || minor > minor_version) {
    ::oasis::detail::raise(DecodeError(DecodeError::Kind::version, version_at,
                      "unsupported EISA version " + std::to_string(major) + "." + std::to_string(minor) +
                          ": supported are 1.0 and 1.1"));
  }
}

/// The first eight bytes of a UUID are three numbers, in the byte order of the packet.
template <class Number> Number field(const Uuid &uuid, std::size_t at) {
  Number number{};
  std::array<std::byte, sizeof(Number)> bytes{};
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    bytes[index] = static_cast<std::byte>(uuid.bytes.at(at + index));
  }
  oasis::detail::from_bytes(bytes.data(), ByteOrder::big, number);
  return number;
}

template <class Number> void set_field(Uuid &uuid, std::size_t at, Number number) {
  const auto bytes = oasis::detail::to_bytes(number, ByteOrder::big);
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    uuid.bytes.at(at + index) = std::to_integer<std::uint8_t>(bytes[index]);
  }
}

inline void write_uuid(const Uuid &uuid, CdrWriter &to) {
  to.number(field<std::uint32_t>(uuid, 0));
  to.number(field<std::uint16_t>(uuid, 4));
  to.number(field<std::uint16_t>(uuid, 6));
  for (std::size_t index = 8; index < uuid.bytes.size(); ++index) {
    to.octet(uuid.bytes[index]);
  }
}

inline Uuid read_uuid(CdrReader &from) {
  Uuid uuid;
  std::uint32_t low = 0;
  std::uint16_t middle = 0;
  std::uint16_t high = 0;
  from.number(low);
  from.number(middle);
  from.number(high);
  set_field(uuid, 0, low);
  set_field(uuid, 4, middle);
  set_field(uuid, 6, high);
  for (std::size_t index = 8; index < uuid.bytes.size(); ++index) {
    uuid.bytes[index] = from.octet();
  }
  return uuid;
}

} // namespace detail

/// The header of a packet; it has the probe type.
struct Header {
  Uuid uuid;
  /// Since 1970-01-01 UTC, by the node's clock.
  std::uint32_t seconds = 0;
  std::uint32_t microseconds = 0;
  /// Per probe instance, from 1; wraps.
  std::uint32_t sequence = 0;
  /// 0 is normal.
  std::uint16_t state = 0;
  /// Used by `read`: a part of the packet's bytes.
  std::string_view instance;

  /// Writes the header up to the probe data, whose size is patched later.
  void write(CdrWriter &to) const {
    detail::write_start(to);
    detail::write_uuid(uuid, to);
    to.number(seconds);
    to.number(microseconds);
    to.number(sequence);
    to.number(state);
    to.length(0);
    // A CDR string ends at its NUL.
    to.text(instance.substr(0, instance.find('\0')));
    to.align(detail::data_alignment);
  }

  /// Reads the header of a packet, which must end with its probe data.
  static Header read(CdrReader &from) {
    detail::read_start(from);
    Header header;
    header.uuid = detail::read_uuid(from);
    from.number(header.seconds);
    from.number(header.microseconds);
    from.number(header.sequence);
    from.number(header.state);
    const std::size_t data_size = from.length();
    header.instance = from.text();
    from.align(detail::data_alignment);
    if (data_size > from.left()) {
      ::oasis::detail::raise(DecodeError(DecodeError::Kind::truncated, from.at(),
                        std::to_string(data_size) + " bytes of probe data are needed and " +
                            std::to_string(from.left()) + " left"));
    }
    if (data_size < from.left()) {
      ::oasis::detail::raise(DecodeError(DecodeError::Kind::leftover, from.at() + data_size,
                        "the packet goes on behind its probe data"));
    }
    return header;
  }
};

/// A sample of a generated probe with the header of its packet.
template <class Probe> struct Packet {
  /// Since 1970-01-01 UTC, by the node's clock.
  std::uint32_t seconds = 0;
  std::uint32_t microseconds = 0;
  /// Per probe instance, from 1; wraps.
  std::uint32_t sequence = 1;
  /// 0 is normal.
  std::uint16_t state = 0;
  std::string instance;
  Probe sample;

  /// Appends the packet to `out`, padding zeroed.
  void encode(ByteOrder order, Buffer &out) const {
    CdrWriter writer(out, order);
    const Header header{Probe::uuid, seconds, microseconds, sequence, state, instance};
    header.write(writer);
    const std::size_t start = writer.at();
    sample.encode(writer);
    writer.patch(detail::data_size_at, writer.at() - start);
  }

  /// Reads a packet of this probe type; all of `bytes` must belong to it. Throws `DecodeError`.
  static Packet decode(Bytes bytes, ByteOrder order) {
    CdrReader reader(bytes, order);
    const Header header = Header::read(reader);
    if (header.uuid != Probe::uuid) {
      ::oasis::detail::raise(DecodeError(DecodeError::Kind::probe, detail::uuid_at,
                        "a packet of probe type " + header.uuid.to_string() + ", not " +
                            Probe::uuid.to_string()));
    }
    Packet packet{header.seconds, header.microseconds,          header.sequence,
                  header.state,   std::string(header.instance), Probe::decode(reader)};
    reader.finish();
    return packet;
  }
};

} // namespace oasis::eisa
