// A program that logs with spdlog. docs/guides/log-from-your-program.md says how its lines come to the page.

#include <oasis/spdlog.hpp>

#include <spdlog/spdlog.h>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <thread>

namespace {

void run(const std::string &dac) {
  oasis::NodeBuilder builder("logger-cpp");
  // The program still prints to its console as before.
  spdlog::default_logger()->sinks().push_back(oasis::spdlog_sink(builder));
  const oasis::Node node = builder.start(dac);

  for (unsigned turn = 1;; ++turn) {
    spdlog::info("the valve is {}", turn % 2 == 0 ? "open" : "closed");
    spdlog::debug("nobody wants to see this");
    if (turn % 3 == 0) {
      spdlog::log(spdlog::source_loc{__FILE__, __LINE__, __func__}, spdlog::level::err,
                  "the filter is dirty");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
}

} // namespace

int main(int count, char **arguments) {
  try {
    run(count > 1 ? arguments[1] : "127.0.0.1:7071");
  } catch (const std::exception &error) {
    std::cerr << "logging: " << error.what() << '\n';
    return 1;
  }
}
