// The probe type of test programs.

#ifndef OASIS_TESTS_COUNTER_HPP
#define OASIS_TESTS_COUNTER_HPP

#include <oasis/node.hpp>

#include <cstdint>
#include <string_view>

/// A probe of one number, as generated code has it.
struct Counter {
  static constexpr std::string_view schema =
      R"({"name":"Test::Counter","uuid":"f6e0f3ee-6d2f-4a0e-9f0e-2f3c5d2b7a90","version":"1.0",)"
      R"("metrics":[{"name":"count","type":"uint32"}]})";

  std::uint32_t count = 0;

  void write(oasis::RowWriter &row) const { row.put(count); }
};

#endif
