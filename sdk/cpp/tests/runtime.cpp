// What rows and packets refuse and where, and that a watched thread allocates nothing.

#include "check.hpp"
#include "plant.hpp"

#include <oasis/eisa.hpp>

#include <cstdlib>
#include <new>

namespace {

std::size_t allocations = 0;

} // namespace

// Not inlined, or the compiler takes the new of one place for that of another.
[[gnu::noinline]] void *operator new(std::size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size)) {
    return memory;
  }
  throw std::bad_alloc();
}

[[gnu::noinline]] void operator delete(void *memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

namespace {

using oasis::ByteOrder;
using oasis::DecodeError;
using oasis::EncodeError;
using Plant::Line7::Line;
using test::bytes;
using test::is_refused;
using test::subject;
using Kind = DecodeError::Kind;
using Packet = oasis::eisa::Packet<Line>;

Line sample() {
  Line line;
  line.mode = Plant::Mode::NOT_WELL;
  line.temperature = 21.5F;
  line.counts = {1, 300};
  line.trends = {Plant::Trend::UP, Plant::Trend::DOWN};
  line.drives = {{"left", Plant::Mode::RUNNING}};
  line.type = Plant::Switch::On;
  return line;
}

void a_sample_has_its_place_in_every_row() {
  subject = "row";
  oasis::Buffer row;
  oasis::write_row(sample(), row);
  const char *hex = "06"
                    "0000ac41"
                    "0201000000000000002c01000000000000"
                    "022c01d4fe"
                    "01046c65667405"
                    "01";
  CHECK(row == bytes(hex));
  CHECK(oasis::read_row<Line>(row) == sample());
}

void a_probe_knows_its_type() {
  subject = "identity";
  static_assert(Line::name == "Plant::Line7::Line");
  static_assert(Line::version == "1.2");
  static_assert(Line::uuid == oasis::Uuid::parse("0F3C7D52-9C7E-4A57-8A9F-62C1F1B8C7AA"));
  CHECK(Line::uuid.to_string() == "0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa");
  CHECK(Line::schema.substr(0, 31) == R"({"name":"Plant::Line7::Line","u)");
  CHECK(Line().mode == Plant::Mode::IDLE);
  CHECK(Plant::is_declared(Plant::Trend::UP) && !Plant::is_declared(Plant::Trend{}));
}

void text_that_is_no_uuid_is_refused() {
  subject = "UUID";
  const auto parse = [](std::string_view text) { return [text] { oasis::Uuid::parse(text); }; };
  CHECK(is_refused(Kind::uuid, 0, parse("")));
  CHECK(is_refused(Kind::uuid, 8, parse("0f3c7d529c7e-4a57-8a9f-62c1f1b8c7aa")));
  CHECK(is_refused(Kind::uuid, 35, parse("0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7a")));
  CHECK(is_refused(Kind::uuid, 35, parse("0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7ag")));
  CHECK(is_refused(Kind::uuid, 36, parse("0f3c7d52-9c7e-4a57-8a9f-62c1f1b8c7aa ")));
}

template <class T> auto read(std::string_view hex) {
  return [hex] {
    const oasis::Buffer row = bytes(hex);
    oasis::RowReader reader(row);
    T value{};
    reader.get(value);
  };
}

void a_row_says_what_is_wrong_with_it_and_where() {
  subject = "row";
  CHECK(is_refused(Kind::truncated, 0, read<std::uint32_t>("010203")));
  CHECK(is_refused(Kind::truncated, 1, read<std::string>("0261")));
  CHECK(is_refused(Kind::text, 1, read<std::string>("01ff")));
  CHECK(is_refused(Kind::boolean, 0, read<bool>("02")));
  CHECK(is_refused(Kind::enumerator, 0, read<Plant::Mode>("07")));
  CHECK(is_refused(Kind::enumerator, 3, read<std::vector<Plant::Trend>>("022c01ffff")));
  CHECK(is_refused(Kind::elements, 0, read<std::vector<std::uint8_t>>("03aabb")));
  CHECK(is_refused(Kind::elements, 0, read<std::vector<double>>("020000000000000000")));
  CHECK(is_refused(Kind::varint, 0, read<std::string>("ffffffffffffffffff02")));
  CHECK(is_refused(Kind::varint, 0, read<std::string>("8080808080808080808000")));
  CHECK(is_refused(Kind::truncated, 10, read<std::string>("ffffffffffffffffff01")));
  CHECK(is_refused(Kind::elements, 0, read<std::vector<Plant::Drive>>("ffffffffffffffffff01")));
}

oasis::Buffer packet(std::size_t at = 0, std::byte value = std::byte{'E'}) {
  oasis::Buffer out;
  Packet{1, 2, 3, 4, "line", sample()}.encode(ByteOrder::little, out);
  out.at(at) = value;
  return out;
}

auto decode(oasis::Buffer bytes) {
  return [bytes] { Packet::decode(bytes, ByteOrder::little); };
}

void a_packet_says_what_is_wrong_with_it_and_where() {
  subject = "packet";
  CHECK(Packet::decode(packet(), ByteOrder::little).sample == sample());
  CHECK(is_refused(Kind::magic, 0, decode(packet(0, std::byte{'e'}))));
  CHECK(is_refused(Kind::version, 4, decode(packet(5, std::byte{2}))));
  CHECK(is_refused(Kind::probe, 8, decode(packet(8, std::byte{0}))));
  CHECK(is_refused(Kind::terminator, 48, decode(packet(52, std::byte{'x'}))));
  CHECK(is_refused(Kind::text, 48, decode(packet(48, std::byte{0xff}))));
  oasis::Buffer longer = packet();
  longer.push_back(std::byte{0});
  CHECK(is_refused(Kind::leftover, longer.size() - 1, decode(longer)));
  // Version 1.0, and whatever stands in the padding.
  CHECK(Packet::decode(packet(5, std::byte{0}), ByteOrder::little).sequence == 3);
  CHECK(Packet::decode(packet(6, std::byte{9}), ByteOrder::little).sequence == 3);
}

void an_instance_name_ends_at_its_nul() {
  subject = "instance name";
  oasis::Buffer out;
  Packet{0, 0, 1, 0, std::string("li\0ne", 5), {}}.encode(ByteOrder::big, out);
  CHECK(Packet::decode(out, ByteOrder::big).instance == "li");
}

void only_utf8_is_written_and_read() {
  subject = "UTF-8";
  const char *good[] = {"",       "7f",     "c280",     "dfbf",     "e0a080",  "ed9fbf",
                        "ee8080", "efbfbf", "f0908080", "f48fbfbf", "6100c3a4"};
  const char *bad[] = {"80",     "bf",     "c0af",   "c1bf",   "c2",       "c2c2",     "e08080",
                       "eda080", "edbfbf", "e282",   "f08080", "f0808080", "f4908080", "f5808080",
                       "fe",     "ff",     "61e282", "e28261", "f0908061"};
  for (const char *hex : good) {
    CHECK(oasis::detail::is_utf8(test::text(hex)));
  }
  for (const char *hex : bad) {
    CHECK(!oasis::detail::is_utf8(test::text(hex)));
  }
  Plant::Drive drive;
  drive.name = test::text("c3");
  oasis::Buffer row;
  try {
    oasis::write_row(drive, row);
    CHECK(false);
  } catch (const EncodeError &error) {
    CHECK(error.kind() == EncodeError::Kind::text);
  }
}

void nothing_is_allocated_once_the_buffer_is_large_enough() {
  subject = "allocations";
  oasis::Buffer row;
  oasis::Buffer out;
  Packet packet{1, 2, 3, 4, "an instance name longer than any short string", sample()};
  const auto write = [&] {
    oasis::write_row(packet.sample, row);
    out.clear();
    packet.encode(ByteOrder::little, out);
  };
  write();
  const std::size_t before = allocations;
  write();
  CHECK(allocations == before);
}

} // namespace

int main() {
  a_sample_has_its_place_in_every_row();
  a_probe_knows_its_type();
  text_that_is_no_uuid_is_refused();
  a_row_says_what_is_wrong_with_it_and_where();
  a_packet_says_what_is_wrong_with_it_and_where();
  an_instance_name_ends_at_its_nul();
  only_utf8_is_written_and_read();
  nothing_is_allocated_once_the_buffer_is_large_enough();
  return test::result();
}
