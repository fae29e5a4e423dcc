// Generated types read and write `vectors/shapes.json`, and survive bytes that are none of theirs.

#include "shapes.hpp"
#include "check.hpp"

#include <oasis/eisa.hpp>

#include <cstring>
#include <random>
#include <type_traits>

namespace test {

/// One sample in every form.
struct Case {
  std::string_view name;
  std::string_view row;
  std::string_view little;
  std::string_view big;
};

/// Integers and enums by their bits, widened to 64.
template <class T> void set(T &place, std::uint64_t bits) {
  if constexpr (std::is_enum_v<T>) {
    place = static_cast<T>(static_cast<std::underlying_type_t<T>>(bits));
  } else if constexpr (std::is_same_v<T, float>) {
    const auto narrow = static_cast<std::uint32_t>(bits);
    std::memcpy(&place, &narrow, sizeof place);
  } else if constexpr (std::is_same_v<T, double>) {
    std::memcpy(&place, &bits, sizeof place);
  } else {
    place = static_cast<T>(bits);
  }
}

/// Reals of samples are compared by their bits, so that NaN is equal to itself.
template <class Probe> oasis::Buffer row_of(const Probe &sample) {
  oasis::Buffer row;
  oasis::write_row(sample, row);
  return row;
}

template <class Probe> void check_equal(const Probe &sample, const Probe &expected) {
  CHECK(row_of(sample) == row_of(expected));
  const bool has_nan = expected != expected;
  CHECK(has_nan || sample == expected);
  CHECK(has_nan || !(sample != expected));
}

template <class Probe> void check_row(const oasis::Buffer &row, const Probe &expected) {
  check_equal(oasis::read_row<Probe>(row), expected);
  CHECK(row_of(expected) == row);
  for (std::size_t length = 0; length < row.size(); ++length) {
    CHECK(is_refused([&] { oasis::read_row<Probe>(first(row, length)); }));
  }
  oasis::Buffer longer = row;
  longer.push_back(std::byte{0});
  CHECK(is_refused(oasis::DecodeError::Kind::leftover, row.size(),
                   [&] { oasis::read_row<Probe>(longer); }));
}

template <class Probe>
void check_packet(const oasis::Buffer &bytes, oasis::ByteOrder order, const Probe &expected) {
  using Packet = oasis::eisa::Packet<Probe>;
  const Packet packet = Packet::decode(bytes, order);
  CHECK(packet.seconds == 1763683199);
  CHECK(packet.microseconds == 999000);
  CHECK(packet.sequence == 41);
  CHECK(packet.state == 2);
  CHECK(packet.instance == "shapes");
  check_equal(packet.sample, expected);
  // A packet behind something else is aligned from its own start.
  oasis::Buffer out(3);
  packet.encode(order, out);
  CHECK(oasis::Buffer(out.begin() + 3, out.end()) == bytes);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK(is_refused([&] { Packet::decode(first(bytes, length), order); }));
  }
}

/// Reads what may be anything. What is taken must survive to be written and read again.
template <class Probe> void read_anything(const oasis::Buffer &bytes) {
  const auto settle = [](const Probe &sample) {
    const oasis::Buffer row = row_of(sample);
    CHECK(row_of(oasis::read_row<Probe>(row)) == row);
  };
  using Packet = oasis::eisa::Packet<Probe>;
  const auto attempt = [](auto action) {
    try {
      action();
    } catch (const oasis::DecodeError &) {
      // As it should.
    }
  };
  attempt([&] { settle(oasis::read_row<Probe>(bytes)); });
  attempt([&] { settle(Packet::decode(bytes, oasis::ByteOrder::little).sample); });
  attempt([&] { settle(Packet::decode(bytes, oasis::ByteOrder::big).sample); });
}

std::mt19937 random_numbers(20251121);

std::size_t below(std::size_t bound) {
  return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_numbers);
}

std::byte random_byte() { return static_cast<std::byte>(below(256)); }

/// Some bytes changed, some cut off.
oasis::Buffer damaged(const oasis::Buffer &bytes) {
  oasis::Buffer out = below(4) == 0 ? first(bytes, below(bytes.size() + 1)) : bytes;
  for (std::size_t change = below(4) + 1; change > 0 && !out.empty(); --change) {
    out[below(out.size())] = random_byte();
  }
  return out;
}

template <class Probe> void check_damage(const oasis::Buffer &bytes) {
  for (int round = 0; round < 300; ++round) {
    read_anything<Probe>(damaged(bytes));
    oasis::Buffer noise(below(64));
    for (std::byte &byte : noise) {
      byte = random_byte();
    }
    read_anything<Probe>(noise);
  }
}

template <class Probe> void check_case(const Case &of, const Probe &expected) {
  subject = of.name;
  check_row(bytes(of.row), expected);
  check_packet(bytes(of.little), oasis::ByteOrder::little, expected);
  check_packet(bytes(of.big), oasis::ByteOrder::big, expected);
  check_damage<Probe>(bytes(of.row));
  check_damage<Probe>(bytes(of.little));
  check_damage<Probe>(bytes(of.big));
}

// Made of the JSON file: `void check_cases()`.
#include "shapes_cases.inc"

} // namespace test

int main() {
  try {
    test::check_cases();
  } catch (const std::exception &error) {
    std::cerr << test::subject << ": " << error.what() << "\n";
    return 1;
  }
  return test::result();
}
