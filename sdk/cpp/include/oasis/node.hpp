#pragma once

#include "library.hpp"
#include "logger.hpp"
#include "row.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace oasis {

/// Policy of a full ring (docs/guides/choose-a-kind-of-probe.md).
struct Overflow {
  static Overflow drop_newest() { return {OASIS_OVERFLOW_DROP_NEWEST, 0}; }
  static Overflow drop_oldest() { return {OASIS_OVERFLOW_DROP_OLDEST, 0}; }
  /// The flush waits for room, at most for `timeout`.
  static Overflow block(std::chrono::nanoseconds timeout) {
    return {OASIS_OVERFLOW_BLOCK, timeout.count() < 0 ? 0 : static_cast<std::uint64_t>(timeout.count())};
  }

  std::uint32_t policy;
  std::uint64_t timeout_ns;
};

/// The ring between a pushed probe and its node: at most 1 GiB. A sample takes its row, rounded up
/// to eight bytes, and 24 bytes.
struct Ring {
  std::size_t bytes = 64 * 1024;
  Overflow overflow = Overflow::drop_newest();
};

/// Deadbands by metric. Any change of a metric without a deadband counts.
using Deadbands = std::map<std::string, double>;

/// A probe that the application flushes. Use it from one thread at a time.
template <class Sample> class PushedProbe {
public:
  /// Takes a sample now. Wait-free: no lock, no system call, no allocation once the row has its
  /// usual size. Only the first flush after 40 ms in which no probe of the node was flushed makes a
  /// system call, which wakes the node. Returns whether the ring had room; a sample without room is dropped and counted,
  /// and the DAC reports the loss. Returns false after the shutdown of the node, too: see `refused`.
  bool flush(const Sample &sample) { return flush_at(oasis_now(), sample); }

  /// Takes a sample at `time`, in nanoseconds since 1970-01-01 UTC.
  bool flush_at(std::uint64_t time, const Sample &sample) {
    write_row(sample, row_);
    const oasis_status status =
        oasis_probe_flush_at(probe_.get(), time, detail::octets(row_), row_.size());
    if (status == OASIS_STATUS_DROPPED) {
      return false;
    }
    detail::check(status);
    return true;
  }

  /// Returns how many samples were dropped because the node was shut down. No report to a DAC
  /// contains them.
  std::uint64_t refused() {
    std::uint64_t count = 0;
    detail::check(oasis_probe_refused(probe_.get(), &count));
    return count;
  }

  /// Sets the state of all following samples; 0 is normal.
  void set_state(std::uint16_t state) { detail::check(oasis_probe_set_state(probe_.get(), state)); }

private:
  friend class NodeBuilder;
  explicit PushedProbe(oasis_probe *probe) : probe_(probe) {}

  detail::Owned<oasis_probe, oasis_probe_free> probe_;
  Buffer row_;
};

/// A running node. Its destructor takes the last samples, sends them, and waits up to two seconds
/// for the DAC to acknowledge them.
class Node {
public:
  /// Does what the destructor does, and throws `LibraryError` if the DAC refuses the node, such as for a name
  /// that another node has: then it has not received the samples. A second call does nothing.
  void shutdown() { detail::check(try_shutdown()); }

  /// Does the same, and returns the error: `OASIS_STATUS_OK` without one. `oasis_last_error()` has the
  /// reason.
  oasis_status try_shutdown() noexcept { return oasis_node_shutdown(node_.release()); }

private:
  friend class NodeBuilder;
  explicit Node(oasis_node *node) : node_(node) {}

  detail::Owned<oasis_node, oasis_node_shutdown> node_;
};

/// Settings of a flight recorder: what it sends around a trigger, and its triggers besides the command.
struct FlightRecorder {
  /// Time to send before a trigger.
  std::chrono::nanoseconds before = std::chrono::seconds(10);
  /// Time to send after a trigger.
  std::chrono::nanoseconds after = std::chrono::seconds(5);
  /// Memory for samples before a trigger, at most 1 GiB: each takes its row and 32 bytes.
  std::size_t bytes = 16 * 1024 * 1024;
  /// Limits, each "METRIC > LIMIT" or "METRIC < LIMIT".
  std::vector<std::string> triggers = {};
};

/// A node that has not started yet.
class NodeBuilder {
public:
  /// `name` is unique among the nodes of a DAC.
  explicit NodeBuilder(const std::string &name) {
    oasis_node_builder *builder = nullptr;
    detail::check(oasis_node_builder_new(name.c_str(), &builder));
    builder_.reset(builder);
  }

  /// Reads section [node] of a configuration file (docs/reference/oasis.toml). `heartbeat` is the
  /// only ready-made probe that C++ programs can choose; host probes run in `oasis node`. The default
  /// file is that of the environment variable OASIS_CONFIG. OASIS_NODE_NAME, OASIS_NODE_UUID,
  /// OASIS_DAC, OASIS_TEM, OASIS_DAC_NAME, OASIS_CA, OASIS_CERTIFICATE, OASIS_KEY and
  /// OASIS_SPOOL_DIRECTORY override the file.
  static NodeBuilder from_file(const std::string &file = {}) {
    oasis_node_builder *builder = nullptr;
    detail::check(
        oasis_node_builder_from_file(file.empty() ? nullptr : file.c_str(), &builder));
    return NodeBuilder(builder);
  }

  /// Adds a probe that the application flushes. `instance` is unique within the node.
  template <class Sample>
  PushedProbe<Sample> pushed(const std::string &instance, const Ring &ring = {}) {
    return add<Sample>(instance, OASIS_KIND_PUSHED, ring, {});
  }

  /// Adds a pushed probe with a ring of `ring_bytes` that drops the newest samples when full.
  template <class Sample>
  PushedProbe<Sample> pushed(const std::string &instance, std::size_t ring_bytes) {
    return pushed<Sample>(instance, Ring{ring_bytes, Overflow::drop_newest()});
  }

  /// Adds a probe that keeps only samples in which a metric changed by more than its deadband since
  /// the last kept sample.
  template <class Sample>
  PushedProbe<Sample> on_change(const std::string &instance, const Deadbands &deadbands = {},
                                const Ring &ring = {}) {
    return add<Sample>(instance, OASIS_KIND_ON_CHANGE, ring, deadbands);
  }

  /// Adds a probe for events: its samples are sent at once, without waiting for a full batch.
  template <class Sample>
  PushedProbe<Sample> event(const std::string &instance, const Ring &ring = {}) {
    return add<Sample>(instance, OASIS_KIND_EVENT, ring, {});
  }

  /// Gives an added probe a flight recorder: only samples around a trigger are sent.
  NodeBuilder &record(const std::string &instance, const FlightRecorder &recorder) {
    std::vector<const char *> triggers;
    for (const std::string &trigger : recorder.triggers) triggers.push_back(trigger.c_str());
    const auto nanoseconds = [](std::chrono::nanoseconds span) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(span.count(), 0));
    };
    const oasis_recorder_options options{nanoseconds(recorder.before), nanoseconds(recorder.after),
                                         recorder.bytes, triggers.data(), triggers.size()};
    detail::check(oasis_node_builder_record(builder_.get(), instance.c_str(), &options));
    return *this;
  }

  /// Sets the importance of an added probe for when rates must be lowered: 0 (least) to 255.
  NodeBuilder &importance(const std::string &instance, std::uint8_t importance) {
    detail::check(oasis_node_builder_importance(builder_.get(), instance.c_str(), importance));
    return *this;
  }

  /// Adds a probe that the node calls, `hertz` times a second (0.01 to 1,000) until a command changes
  /// the rate. A thread of the node calls `sample`, one call at a time. If `sample` throws, no sample
  /// is taken, and the node calls again at the probe's rate.
  template <class Sample>
  NodeBuilder &periodic(const std::string &instance, double hertz,
                        std::function<Sample()> sample) {
    auto probe = std::make_unique<Periodic<Sample>>(Periodic<Sample>{std::move(sample), {}});
    detail::check(oasis_node_builder_periodic(
        builder_.get(), instance.c_str(), std::string(Sample::schema).c_str(), hertz,
        &Periodic<Sample>::call, probe.release(), &Periodic<Sample>::free));
    return *this;
  }

  /// Adds a probe for log records with a ring of `ring_bytes`: a record takes its texts and about
  /// 70 bytes.
  Logger logger(const std::string &instance = "log", std::size_t ring_bytes = 256 * 1024) {
    oasis_logger *logger = nullptr;
    detail::check(
        oasis_node_builder_logger(builder_.get(), instance.c_str(), ring_bytes, &logger));
    return Logger(logger);
  }

  /// Lets a TEM name the DACs: "http://192.0.2.1:7000", the address of its page, or several with
  /// commas between them. `dac_name` is the DAC to connect to first, as the TEM lists it. Call
  /// start() without a DAC then. The node asks the TEM on a thread of its own.
  NodeBuilder &tem(const std::string &addresses, const std::string &dac_name = {}) {
    detail::check(oasis_node_builder_tem(builder_.get(), addresses.c_str(),
                                         dac_name.empty() ? nullptr : dac_name.c_str()));
    is_configured_ = true;
    return *this;
  }

  /// Starts sampling and connects to the data channel of the DAC. With several, separated by
  /// commas, the node goes to the next one when it loses one. While none can be reached, it retries
  /// and keeps samples, within bounds. Afterwards the builder is empty.
  Node start(const std::string &dac) { return start_at(dac.c_str()); }

  /// Connects to the DACs of the TEM or of the configuration file, or to 127.0.0.1:7071 without.
  Node start() { return start_at(default_dac()); }

  /// Does the same, and returns nothing instead of throwing. `oasis_last_error()` has the reason.
  std::optional<Node> try_start(const std::string &dac = {}) {
    oasis_node *node = nullptr;
    const char *to = dac.empty() ? default_dac() : dac.c_str();
    if (oasis_node_builder_start(builder_.release(), to, &node) != OASIS_STATUS_OK) {
      return std::nullopt;
    }
    return Node(node);
  }

private:
  explicit NodeBuilder(oasis_node_builder *configured)
      : builder_(configured), is_configured_(true) {}

  const char *default_dac() const noexcept { return is_configured_ ? nullptr : "127.0.0.1:7071"; }

  Node start_at(const char *dac) {
    oasis_node *node = nullptr;
    detail::check(oasis_node_builder_start(builder_.release(), dac, &node));
    return Node(node);
  }

  template <class Sample>
  PushedProbe<Sample> add(const std::string &instance, std::uint32_t kind, const Ring &ring,
                          const Deadbands &named) {
    std::vector<oasis_deadband> deadbands;
    for (const auto &[metric, deadband] : named) {
      deadbands.push_back({metric.c_str(), deadband});
    }
    const oasis_pushed_options options{ring.bytes,
                                       kind,
                                       ring.overflow.policy,
                                       ring.overflow.timeout_ns,
                                       deadbands.data(),
                                       deadbands.size()};
    oasis_probe *probe = nullptr;
    detail::check(oasis_node_builder_pushed_with(builder_.get(), instance.c_str(),
                                                 std::string(Sample::schema).c_str(), &options,
                                                 &probe));
    return PushedProbe<Sample>(probe);
  }

  template <class Sample> struct Periodic {
    std::function<Sample()> sample;
    Buffer row;

    static int call(void *context, oasis_row *row) noexcept {
      auto &self = *static_cast<Periodic *>(context);
#if OASIS_EXCEPTIONS
      try {
        write_row(self.sample(), self.row);
      } catch (const std::system_error &error) {
        return error.code().value() != 0 ? error.code().value() : EIO;
      } catch (...) {
        return EIO;
      }
#else
      write_row(self.sample(), self.row);
#endif
      oasis_row_append(row, detail::octets(self.row), self.row.size());
      return 0;
    }

    static void free(void *context) noexcept { delete static_cast<Periodic *>(context); }
  };

  detail::Owned<oasis_node_builder, oasis_node_builder_free> builder_;
  bool is_configured_ = false;
};

} // namespace oasis
