// Threads that log through one logger while another flushes a probe; to the DAC of the first argument.

#include "counter.hpp"

#include <oasis/node.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr unsigned threads = 4;
constexpr unsigned records = 500;

void log(const oasis::Logger &logger, unsigned thread) {
  const std::string name = std::to_string(thread);
  for (unsigned number = 0; number < records; ++number) {
    const std::string message = "record " + std::to_string(number);
    oasis::LogRecord record;
    record.target = "threads";
    record.message = message;
    record.thread = name;
    logger.log(record);
  }
}

void run(const std::string &dac) {
  oasis::NodeBuilder builder("threads");
  const oasis::Logger logger = builder.logger();
  auto probe = builder.pushed<Counter>("counter");
  Counter measured;
  builder.periodic<Counter>("periodic", 1000, [measured]() mutable {
    ++measured.count;
    return measured;
  });
  const oasis::Node node = builder.start(dac);
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread) {
    running.emplace_back([&logger, thread] { log(logger, thread); });
  }
  for (std::uint32_t count = 0; count < records; ++count) {
    probe.flush(Counter{count});
  }
  for (std::thread &thread : running) {
    thread.join();
  }
  std::cout << threads * records << std::endl;
  // The test says when it has seen enough.
  std::cin.get();
}

} // namespace

int main(int count, char **arguments) {
  if (count != 2) {
    return 2;
  }
  run(arguments[1]);
}
