// A node in C++ that finds its DACs by the TEMs of the first argument, the one of the second argument first. It ends with its input.

#include "counter.hpp"

#include <oasis/node.hpp>

#include <iostream>

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
