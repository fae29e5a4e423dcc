#include "probes.hpp"

#include <oasis/node.hpp>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <thread>

namespace {

void run(const std::string &dac) {
  // OASIS_NODE_NAME, OASIS_DAC and OASIS_CONFIG name another node, another DAC, or a file with all settings.
  setenv("OASIS_NODE_NAME", "@name@", 0);
  // The node says on standard error what keeps it from the DAC.
  oasis_log(nullptr);
  auto builder = oasis::NodeBuilder::from_file();
  auto probe = builder.pushed<Machine::Motor>("motor");
  const oasis::Node node = dac.empty() ? builder.start() : builder.start(dac);
  std::cout << "@name@ runs; Ctrl-C ends it." << std::endl;
  Machine::Motor motor;
  motor.mode = Machine::Mode::RUNNING;
  for (unsigned turn = 0;; ++turn) {
    const double seconds = turn / 100.0;
    motor.speed = 3000.0 + 500.0 * std::sin(seconds);
    motor.temperature = 70.0 + 15.0 * std::sin(seconds / 10.0);
    // Never waits: if the ring is full, the sample is dropped and counted.
    probe.flush(motor);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

} // namespace

int main(int count, char **arguments) {
  try {
    run(count > 1 ? arguments[1] : "");
  } catch (const std::exception &error) {
    std::cerr << "@name@: " << error.what() << '\n';
    return 1;
  }
}
