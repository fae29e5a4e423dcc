// A probe type from a struct, without PDL. Flushes ten samples to the DAC of the first argument, and ends with the first line of its input.

#include <oasis/node.hpp>
#include <oasis/probe.hpp>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace plant {

struct Motor {
  std::uint32_t rpm = 0;
  double temperature = 0;
  bool running = false;
  std::string mode;
  std::vector<float> loads;
  int not_a_metric = 0;

  OASIS_PROBE(Motor, "Plant::Motor", (rpm, "1/min", 0),
              (temperature, "Cel", -40, 150.5, oasis::alarm_above(95), oasis::warn_below(5),
               oasis::warn_above(80), oasis::doc("Of the \"winding\"."), oasis::kind("gauge"),
               oasis::label("Winding")),
              (running), (mode), (loads, "%", 0, 100))
};

struct Wrong {
  double temperature = 0;

  OASIS_PROBE(Wrong, "wrong", (temperature, "celsius"))
};

} // namespace plant

static int failures = 0;

static void check(bool holds, const char *what) {
  if (!holds) {
    std::fprintf(stderr, "does not hold: %s\n", what);
    ++failures;
  }
}

int main(int count, char **arguments) {
  const std::string schema(plant::Motor::schema);
  const std::string expected =
      R"({"name":"Plant::Motor","version":"1.0","metrics":[{"name":"rpm","type":"uint32","unit":"1/min","min":0},)"
      R"({"name":"temperature","type":"real64","doc":"Of the \"winding\".","unit":"Cel","kind":"gauge","label":"Winding",)"
      R"("min":-40,"max":150.5,"warn":{"below":5,"above":80},"alarm":{"above":95}},)"
      R"({"name":"running","type":"boolean"},{"name":"mode","type":"string"},)"
      R"({"name":"loads","type":{"vector":"real32"},"unit":"%","min":0,"max":100}]})";
  check(schema == expected, schema.c_str());

  plant::Motor motor;
  motor.rpm = 900;
  motor.temperature = 21.5;
  motor.running = true;
  motor.mode = "warm";
  motor.loads = {1.5F, 2.5F};
  oasis::Buffer row;
  oasis::write_row(motor, row);
  const auto read = oasis::read_row<plant::Motor>(row);
  check(read.rpm == 900 && read.mode == "warm" && read.loads.size() == 2, "a row is read as it was written");

  oasis::NodeBuilder builder("declared-cpp");
  try {
    builder.pushed<plant::Wrong>("wrong");
    check(false, "a unit that PDL does not have is refused");
  } catch (const std::exception &error) {
    check(std::string(error.what()).find("celsius") != std::string::npos, error.what());
  }
  auto probe = builder.pushed<plant::Motor>("motor");
  auto node = count > 1 ? builder.start(arguments[1]) : builder.start();
  for (int sample = 0; sample < 10; ++sample) check(probe.flush(motor), "the ring has room");
  std::printf("flushed\n");
  std::fflush(stdout);
  std::string line;
  std::getline(std::cin, line);
  node.shutdown();
  check(!probe.flush(motor) && !probe.flush(motor), "a sample after the shutdown is refused");
  check(probe.refused() == 2, "refused samples are counted");
  return failures == 0 ? 0 : 1;
}
