// Native batches of `vectors/shapes.json` hold the samples of generated types, and are made of them.

#include "check.hpp"
#include "shapes.hpp"

#include <oasis/batch.hpp>

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

} // namespace test

int main() {
  test::check_cases();
  return test::result();
}
