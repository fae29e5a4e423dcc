// A node in C++ at the DAC of the first argument, by the name of the second one, which another node has.

#include "counter.hpp"

#include <oasis/node.hpp>

#include <iostream>

int main(int count, char **arguments) {
  if (count != 3) {
    return 2;
  }
  oasis::NodeBuilder builder(arguments[2]);
  builder.periodic<Counter>("counter", 50, [] { return Counter{}; });
  oasis::Node node = builder.start(arguments[1]);
#if OASIS_EXCEPTIONS
  try {
    node.shutdown();
  } catch (const oasis::LibraryError &error) {
    std::cout << error.what() << '\n';
    return 1;
  }
#else
  if (node.try_shutdown() != OASIS_STATUS_OK) {
    std::cout << oasis_last_error() << '\n';
    return 1;
  }
#endif
  return 0;
}
