#pragma once

#include "library.hpp"
#include "row.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace oasis {

/// A sample of a native batch.
template <class Sample> struct Numbered {
  /// Sequence number, from 1 in each run of the node; a gap in the numbers is a loss.
  std::uint64_t sequence = 0;
  /// Nanoseconds since 1970-01-01 UTC by the node's clock.
  std::uint64_t time = 0;
  Sample sample;
};

/// The header of a batch.
struct BatchFields {
  /// The DAC's number of the instance; 0 without a DAC.
  std::uint32_t topic = 0;
  /// Probe state.
  std::uint16_t state = 0;
  /// Number of the first sample.
  std::uint64_t first_sequence = 1;
  /// When the batch was made, in nanoseconds since 1970-01-01 UTC.
  std::uint64_t node_time = 0;
  /// Samples lost since the previous batch.
  std::uint32_t dropped_before = 0;
};

/// Packs samples into native batches (docs/reference/native-batch.md).
template <class Sample> class BatchEncoder {
public:
  BatchEncoder() {
    oasis_encoder *encoder = nullptr;
    detail::check(oasis_encoder_new(std::string(Sample::schema).c_str(), &encoder));
    encoder_.reset(encoder);
  }

  /// Adds a sample. At most 65,535 make a batch.
  void push(std::uint64_t time, const Sample &sample) {
    write_row(sample, row_);
    detail::check(
        oasis_encoder_push(encoder_.get(), time, detail::octets(row_), row_.size()));
  }

  /// Makes a batch of the samples added, and begins the next. The bytes are valid until the encoder
  /// is used again; without samples there are none.
  Bytes finish(const BatchFields &fields) {
    const std::uint8_t *batch = nullptr;
    std::size_t length = 0;
    detail::check(oasis_encoder_finish(encoder_.get(), fields.topic, fields.state,
                                       fields.first_sequence, fields.node_time,
                                       fields.dropped_before, &batch, &length));
    return {static_cast<const void *>(batch), length};
  }

private:
  detail::Owned<oasis_encoder, oasis_encoder_free> encoder_;
  Buffer row_;
};

/// Reads a native batch of this probe type. Throws `LibraryError` for invalid bytes, and
/// `DecodeError` for a number that an enum does not declare.
template <class Sample> std::vector<Numbered<Sample>> read_batch(Bytes batch) {
  struct Reading {
    std::vector<Numbered<Sample>> samples;
    std::exception_ptr problem;

    // Nothing may be thrown through the library.
    static void take(void *context, std::uint64_t sequence, std::uint64_t time,
                     const std::uint8_t *row, std::size_t length) noexcept {
      auto &self = *static_cast<Reading *>(context);
      if (self.problem) {
        return;
      }
      const Bytes bytes(static_cast<const void *>(row), length);
#if OASIS_EXCEPTIONS
      try {
        self.samples.push_back({sequence, time, read_row<Sample>(bytes)});
      } catch (...) {
        self.problem = std::current_exception();
      }
#else
      self.samples.push_back({sequence, time, read_row<Sample>(bytes)});
#endif
    }
  };
  Reading reading;
  detail::check(oasis_batch_read(std::string(Sample::schema).c_str(),
                                 reinterpret_cast<const std::uint8_t *>(batch.data()), batch.size(),
                                 &Reading::take, &reading));
  if (reading.problem) {
    std::rethrow_exception(reading.problem);
  }
  return std::move(reading.samples);
}

} // namespace oasis
