// The control loop in C++, at 1 kHz with a pushed probe. docs/sdk/cpp.md
// says how to build it.

#include "loop.hpp"

#include <oasis/node.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

constexpr std::chrono::milliseconds period{1};

/// Each axis goes a hundredth of its way to a target that jumps every few seconds.
void control(std::array<Example::Axis, 2> &axes, double seconds) {
  for (std::size_t index = 0; index < axes.size(); ++index) {
    Example::Axis &axis = axes[index];
    axis.target = 90.0 * std::sin(std::floor(seconds / (4.0 + static_cast<double>(index))));
    axis.position += (axis.target - axis.position) * 0.01;
  }
}

bool is_close(const Example::Axis &axis) { return std::abs(axis.position - axis.target) < 5.0; }

void run(const std::string &dac) {
  oasis::NodeBuilder builder("machine-cpp");
  auto probe = builder.pushed<Example::ControlLoop>("control loop");
  const oasis::Node node = builder.start(dac);

  std::array<Example::Axis, 2> axes{};
  axes[0].name = "azimuth";
  axes[1].name = "elevation";
  const auto started = Clock::now();
  Example::ControlLoop sample;
  for (std::uint64_t turn = 1;; ++turn) {
    const auto due = started + period * static_cast<std::int64_t>(turn);
    std::this_thread::sleep_until(due);
    const auto began = Clock::now();
    control(axes, std::chrono::duration<double>(began - started).count());
    sample.lateness = Microseconds(began - due).count();
    sample.busy = Microseconds(Clock::now() - began).count();
    sample.turns = turn;
    sample.phase = is_close(axes[0]) && is_close(axes[1]) ? Example::Phase::TRACKING
                                                          : Example::Phase::SLEWING;
    sample.axes.assign(axes.begin(), axes.end());
    // Wait-free: if the node cannot keep up the sample is dropped and counted, and the loop continues.
    probe.flush(sample);
  }
}

} // namespace

int main(int count, char **arguments) {
  try {
    run(count > 1 ? arguments[1] : "127.0.0.1:7071");
  } catch (const std::exception &error) {
    std::cerr << "control_loop: " << error.what() << '\n';
    return 1;
  }
}
