// One sample to the DAC of the first argument, from a node called like the second.

#include "counter.hpp"

#include <oasis/node.hpp>

int main(int count, char **arguments) {
  if (count != 3) {
    return 2;
  }
  oasis::NodeBuilder builder(arguments[2]);
  auto probe = builder.pushed<Package::Counter>("counter");
  const oasis::Node node = builder.start(arguments[1]);
  Package::Counter sample;
  sample.count = 7;
  return probe.flush(sample) ? 0 : 1;
}
