#pragma once

#include "node.hpp"

#include <spdlog/details/log_msg.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/sink.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace oasis {

/// Turns spdlog records into samples of a node. Threads that log do not wait for each other:
/// unlike most sinks it needs no mutex, and may be shared by loggers of any threads.
///
/// The message is what the program said; time, level, logger and place are metrics of their own, so
/// that patterns and formatters mean nothing here.
class SpdlogSink final : public spdlog::sinks::sink {
public:
  explicit SpdlogSink(Logger logger) : logger_(std::move(logger)) {}

  void log(const spdlog::details::log_msg &said) override {
    if (!logger_.is_enabled()) {
      return;
    }
    const std::string thread = std::to_string(said.thread_id);
    LogRecord record;
    record.severity = severity(said.level);
    record.target = view(said.logger_name);
    record.message = view(said.payload);
    if (!said.source.empty()) {
      record.file = said.source.filename == nullptr ? "" : said.source.filename;
      record.line = static_cast<std::uint32_t>(said.source.line);
    }
    record.thread = thread;
    logger_.log_at(said.time, record);
  }

  void flush() override {}
  void set_pattern(const std::string & /*pattern*/) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

private:
  static std::string_view view(spdlog::string_view_t text) { return {text.data(), text.size()}; }

  static Severity severity(spdlog::level::level_enum level) noexcept {
    switch (level) {
    case spdlog::level::trace:
      return Severity::trace;
    case spdlog::level::debug:
      return Severity::debug;
    case spdlog::level::info:
      return Severity::info;
    case spdlog::level::warn:
      return Severity::warn;
    case spdlog::level::err:
      return Severity::error;
    default:
      return Severity::fatal;
    }
  }

  Logger logger_;
};

/// Adds an instance to a node, with a ring of `ring_bytes` between, and answers with its sink.
inline std::shared_ptr<SpdlogSink> spdlog_sink(NodeBuilder &builder,
                                               const std::string &instance = "log",
                                               std::size_t ring_bytes = 256 * 1024) {
  return std::make_shared<SpdlogSink>(builder.logger(instance, ring_bytes));
}

} // namespace oasis
