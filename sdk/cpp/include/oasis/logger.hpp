#pragma once

#include "library.hpp"

#include <oasis.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oasis {

namespace detail {

inline oasis_text text(std::string_view value) noexcept { return {value.data(), value.size()}; }

} // namespace detail

/// Severity of a log record: the severities of OpenTelemetry.
enum class Severity : std::uint8_t {
  trace = OASIS_SEVERITY_TRACE,
  debug = OASIS_SEVERITY_DEBUG,
  info = OASIS_SEVERITY_INFO,
  warn = OASIS_SEVERITY_WARN,
  error = OASIS_SEVERITY_ERROR,
  fatal = OASIS_SEVERITY_FATAL,
};

/// One log record. Texts beyond the bounds of docs/reference/probes.md are cut, marked and counted.
struct LogRecord {
  Severity severity = Severity::info;
  /// Source of the record: the name of a logger or a module.
  std::string_view target;
  std::string_view message;
  /// Source file and line; line 0 means unknown.
  std::string_view file;
  std::uint32_t line = 0;
  /// By name or number.
  std::string_view thread;
};

/// Takes log records from any number of threads. None of them waits for another, for the node or for
/// the DAC; a record that finds no room is counted, and the DAC reports the loss.
class Logger {
public:
  /// Returns whether records are taken: a command may have disabled the instance.
  bool is_enabled() const noexcept { return oasis_logger_is_enabled(logger_.get()); }

  /// Logs now.
  void log(const LogRecord &record) const noexcept { log_at({}, record); }

  /// Logs at `time`.
  void log_at(std::chrono::system_clock::time_point time, const LogRecord &record) const noexcept {
    const auto since = time.time_since_epoch();
    oasis_log_record raw{};
    raw.time = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
    raw.severity = static_cast<std::uint8_t>(record.severity);
    raw.line = record.line;
    raw.target = detail::text(record.target);
    raw.message = detail::text(record.message);
    raw.file = detail::text(record.file);
    raw.thread = detail::text(record.thread);
    oasis_logger_log(logger_.get(), &raw);
  }

private:
  friend class NodeBuilder;
  explicit Logger(oasis_logger *logger) : logger_(logger) {}

  detail::Owned<oasis_logger, oasis_logger_free> logger_;
};

} // namespace oasis
