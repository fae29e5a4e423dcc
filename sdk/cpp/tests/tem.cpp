// A node in C++ that finds its DACs by the TEMs of the first argument, the one of the second argument first. It ends with its input.

#include <oasis/node.hpp>

#include <cstdint>
#include <iostream>
#include <string_view>

namespace {

/// What generated code looks like, of one number.
struct Counter {
  static constexpr std::string_view schema =
      R"({"name":"Test::Counter","uuid":"f6e0f3ee-6d2f-4a0e-9f0e-2f3c5d2b7a90","version":"1.0",)"
      R"("metrics":[{"name":"count","type":"uint32"}]})";

  std::uint32_t count = 0;

  void write(oasis::RowWriter &row) const { row.put(count); }
};

} // namespace

int main(int count, char **arguments) {
  if (count != 3) {
    return 2;
  }
  oasis::NodeBuilder builder("by-tem");
  builder.tem(arguments[1], arguments[2]);
  Counter measured;
  builder.periodic<Counter>("counter", 50, [measured]() mutable {
    ++measured.count;
    return measured;
  });
  const oasis::Node node = builder.start();
  // The test says when it has seen enough.
  std::cin.get();
}
