// Native batches of `vectors/shapes.json` hold the samples of generated types, and are made of them.

#include "check.hpp"
#include "shapes.hpp"

#include <oasis/batch.hpp>
#include <oasis/node.hpp>

#include <algorithm>

namespace test {

constexpr std::uint64_t node_time = 1763683200000000000;
constexpr std::uint64_t sample_time = node_time - 1000000;

template <class Action> bool is_no_batch(Action action) {
  try {
    action();
  } catch (const oasis::LibraryError &error) {
    return error.status() == OASIS_STATUS_SCHEMA && !std::string_view(error.what()).empty();
  }
  return false;
}

template <class Action> bool is_no_probe(Action action) {
  try {
    action();
  } catch (const oasis::LibraryError &error) {
    return error.status() == OASIS_STATUS_ARGUMENT;
  }
  return false;
}

template <class Probe> void check_batch(const char *name, const char *row, const char *batch) {
  subject = name;
  const oasis::Buffer expected = bytes(batch);
  const auto samples = oasis::read_batch<Probe>(expected);
  CHECK(samples.size() == 1 && samples[0].sequence == 41 && samples[0].time == sample_time);
  oasis::Buffer written;
  oasis::write_row(samples.at(0).sample, written);
  CHECK(written == bytes(row));

  oasis::BatchEncoder<Probe> encoder;
  encoder.push(sample_time, samples[0].sample);
  const oasis::Bytes finished = encoder.finish({3, 2, 41, node_time, 5});
  oasis::Buffer made(finished.data(), finished.data() + finished.size());
  // What the DAC stamps: offset and time.
  std::copy_n(expected.begin() + 16, 8, made.begin() + 16);
  std::copy_n(expected.begin() + 32, 8, made.begin() + 32);
  CHECK(made == expected);
  CHECK(encoder.finish({}).size() == 0);

  for (std::size_t length = 0; length < expected.size(); ++length) {
    CHECK(is_no_batch([&] { oasis::read_batch<Probe>(first(expected, length)); }));
  }
}

void check_cases() {
#include "shapes_batches.inc"
}

// Nobody listens to this node: what the rings do with samples is said at once.
void check_probes() {
  subject = "probes";
  oasis::NodeBuilder builder("probes");
  auto full = builder.pushed<Shapes::Nothing>("full", 24);
  CHECK(full.flush({}) && !full.flush({}));
  auto oldest = builder.pushed<Shapes::Nothing>("oldest", {24, oasis::Overflow::drop_oldest()});
  CHECK(oldest.flush({}) && oldest.flush({}));
  auto block =
      builder.event<Shapes::Nothing>("event", {24, oasis::Overflow::block(std::chrono::milliseconds(1))});
  CHECK(block.flush({}) && !block.flush({}));
  auto still = builder.on_change<Shapes::Numbers>("still", {{"uint64_value", 2.0}}, {500});
  Shapes::Numbers numbers{};
  for (int flush = 0; flush < 100; ++flush) {
    numbers.uint64_value = static_cast<std::uint64_t>(flush % 3);
    CHECK(still.flush(numbers));
  }
  still.set_state(7);
  builder.record("still", {std::chrono::seconds(2), std::chrono::seconds(0), 4096, {"uint64_value > 1"}})
      .importance("still", 9);
  CHECK(is_no_probe([&] { builder.record("still", {{}, {}, 0, {"color > 1"}}); }));
  CHECK(is_no_probe([&] { builder.on_change<Shapes::Numbers>("odd", {{"color", 2.0}}); }));
}

} // namespace test

int main() {
  test::check_cases();
  test::check_probes();
  return test::result();
}
