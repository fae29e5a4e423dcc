// A node in C++ at the DAC of the first argument, by the name of the second one, which another node has.

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
  oasis::NodeBuilder builder(arguments[2]);
  builder.periodic<Counter>("counter", 50, [] { return Counter{}; });
  oasis::Node node = builder.start(arguments[1]);
  try {
    node.shutdown();
  } catch (const oasis::LibraryError &error) {
    std::cout << error.what() << '\n';
    return 1;
  }
  return 0;
}
