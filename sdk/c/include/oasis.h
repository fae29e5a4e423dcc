/* OASIS for C: probes inside your program, and the node that carries their samples to a DAC.
 *
 * Generated from crates/c-abi. Do not edit. Guide: docs/sdk/c.md.
 */

#ifndef OASIS_H
#define OASIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Measurements: every flush is a sample.
#define OASIS_KIND_PUSHED 0

// Changes: a sample is kept if a metric has changed by more than its deadband since the last kept sample.
#define OASIS_KIND_ON_CHANGE 1

// Events.
#define OASIS_KIND_EVENT 2

// If the ring is full, the new sample is dropped.
#define OASIS_OVERFLOW_DROP_NEWEST 0

// If the ring is full, the oldest samples are dropped.
#define OASIS_OVERFLOW_DROP_OLDEST 1

// If the ring is full, the caller waits for room, at most `timeout_ns`.
#define OASIS_OVERFLOW_BLOCK 2

// Severities of log records, numbered as in OpenTelemetry; a number between two levels is shown as the level below.
#define OASIS_SEVERITY_TRACE 1

// For debugging.
#define OASIS_SEVERITY_DEBUG 5

// Normal operation.
#define OASIS_SEVERITY_INFO 9

// A possible problem.
#define OASIS_SEVERITY_WARN 13

// An operation failed.
#define OASIS_SEVERITY_ERROR 17

// The program cannot continue.
#define OASIS_SEVERITY_FATAL 21

// Result of a call. `oasis_last_error` gives details of every result from OASIS_STATUS_ARGUMENT on.
typedef enum {
  // Success.
  OASIS_STATUS_OK = 0,
  // The probe's ring had no room: the sample is dropped, counted, and reported to the DAC. Or the node was shut down:
  // the sample is dropped, and oasis_probe_refused counts it. Not an error of the caller.
  OASIS_STATUS_DROPPED = 1,
  // An argument is null, not UTF-8, or out of range; or the configuration is invalid.
  OASIS_STATUS_ARGUMENT = 2,
  // A schema is invalid, or a row or batch does not fit it.
  OASIS_STATUS_SCHEMA = 3,
  // A node has two instances of one name.
  OASIS_STATUS_DUPLICATE = 4,
  // The operating system reported an error.
  OASIS_STATUS_SYSTEM = 5,
  // A bug in OASIS. Please report it.
  OASIS_STATUS_INTERNAL = 6,
  // The DAC refuses the node, such as for a name that another node has: it has not received its samples.
  OASIS_STATUS_REFUSED = 7,
  // The process was forked after its node had started, and has none of its threads: no sample is taken. Build a node in
  // the child.
  OASIS_STATUS_FORKED = 8,
  // A row has more bytes than the probe's ring or a batch: the sample is dropped, counted, and reported to the DAC.
  OASIS_STATUS_TOO_LONG = 9,
} oasis_status;

// Encodes samples of one probe type as native batches (docs/reference/native-batch.md).
typedef struct oasis_encoder oasis_encoder;

// A logger: accepts log records from any number of threads.
typedef struct oasis_logger oasis_logger;

// A running node.
typedef struct oasis_node oasis_node;

// A node that has not started yet.
typedef struct oasis_node_builder oasis_node_builder;

// A pushed probe. For one thread at a time.
typedef struct oasis_probe oasis_probe;

// The row of one sample, while it is being written.
typedef struct oasis_row oasis_row;

// Receives one sample of a batch: its sequence number, its time in nanoseconds since 1970-01-01 UTC, its packed row
// (valid during the call).
typedef void (*oasis_batch_sample)(void *context,
                                   uint64_t sequence,
                                   uint64_t time,
                                   const uint8_t *row,
                                   size_t length);

// A text and its length in bytes; it need not end with NUL. Null with length 0 is the empty text. Invalid UTF-8 in
// it is replaced.
typedef struct {
  const char *data;
  size_t length;
} oasis_text;

// A named value.
typedef struct {
  oasis_text name;
  oasis_text value;
} oasis_field;

// A log record. Texts longer than the bounds of docs/reference/probes.md are cut, marked and counted; all zeros is
// an empty record with the current time.
typedef struct {
  // Nanoseconds since 1970-01-01 UTC, or 0 for now.
  uint64_t time;
  // For example OASIS_SEVERITY_INFO.
  uint8_t severity;
  // Line in the file, 0 if unknown.
  uint32_t line;
  // Source of the record: the name of a logger or module.
  oasis_text target;
  // The message.
  oasis_text message;
  // Source file.
  oasis_text file;
  // Thread, by name or number.
  oasis_text thread;
  // Names of the enclosing spans, outermost first, separated by colons.
  oasis_text span;
  // Additional fields.
  const oasis_field *fields;
  // Number of fields.
  size_t field_count;
} oasis_log_record;

// Takes a sample of a periodic probe: appends the packed row with oasis_row_append and returns 0. After an error
// number (errno.h), it is called again at the probe's rate. Called by a thread of the node; one call at a time.
typedef int (*oasis_sample)(void *context,
                            oasis_row *row);

// Frees the context of a periodic probe after its node has ended. Called by any thread.
typedef void (*oasis_release)(void *context);

// The deadband of a metric.
typedef struct {
  // The metric's name.
  const char *metric;
  // In the metric's unit, 0 or more; infinity for a metric that never counts.
  double deadband;
} oasis_deadband;

// Options of a pushed probe. All zeros except `ring_bytes` is equivalent to oasis_node_builder_pushed.
typedef struct {
  // At most 1 GiB; a sample needs its row, rounded up to eight bytes, and 24 bytes.
  size_t ring_bytes;
  // OASIS_KIND_PUSHED, OASIS_KIND_ON_CHANGE or OASIS_KIND_EVENT.
  uint32_t kind;
  // OASIS_OVERFLOW_DROP_NEWEST, OASIS_OVERFLOW_DROP_OLDEST or OASIS_OVERFLOW_BLOCK.
  uint32_t overflow;
  // Timeout of OASIS_OVERFLOW_BLOCK.
  uint64_t timeout_ns;
  // For OASIS_KIND_ON_CHANGE; a metric without a deadband counts as soon as its value differs.
  const oasis_deadband *deadbands;
  // Number of deadbands.
  size_t deadband_count;
} oasis_pushed_options;

// The time that a flight recorder sends around a trigger, and the limits that trigger it besides the command.
typedef struct {
  // Time before a trigger that is sent, in nanoseconds.
  uint64_t before_ns;
  // Time after a trigger that is sent, in nanoseconds.
  uint64_t after_ns;
  // Memory for the time before in bytes, at most 1 GiB: a sample needs its row and 32 bytes.
  size_t bytes;
  // Each is "METRIC > LIMIT" or "METRIC < LIMIT".
  const char *const *triggers;
  // Number of triggers.
  size_t trigger_count;
} oasis_recorder_options;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Creates an encoder for samples of this schema.
//
// # Safety
// `schema` ends with NUL; `encoder` is writable.
oasis_status oasis_encoder_new(const char *schema,
                               oasis_encoder **encoder);

// Adds a sample: its time in nanoseconds since 1970-01-01 UTC and its packed row. A batch has at most 65,535
// samples. A refused row has no effect.
//
// # Safety
// `encoder` is from oasis_encoder_new; `row` has `length` bytes.
oasis_status oasis_encoder_push(oasis_encoder *encoder,
                                uint64_t time,
                                const uint8_t *row,
                                size_t length);

// Encodes a batch of the added samples, and starts the next. Writes its address and length to `batch` and `length`;
// it is valid until the next use of the encoder. The length is 0 if there are no samples.
//
// # Safety
// `encoder` is from oasis_encoder_new; `batch` and `length` are writable.
oasis_status oasis_encoder_finish(oasis_encoder *encoder,
                                  uint32_t topic,
                                  uint16_t state,
                                  uint64_t first_sequence,
                                  uint64_t node_time,
                                  uint32_t dropped_before,
                                  const uint8_t **batch,
                                  size_t *length);

// Decodes a batch: calls `sample` for each of its samples, in order. Bytes that are not a batch of this schema are
// refused before the first call.
//
// # Safety
// `schema` ends with NUL; `batch` has `length` bytes; `sample` can be called with `context`.
oasis_status oasis_batch_read(const char *schema,
                              const uint8_t *batch,
                              size_t length,
                              oasis_batch_sample sample,
                              void *context);

// Frees an encoder. Null is ignored.
//
// # Safety
// `encoder` is from oasis_encoder_new and not used afterwards.
void oasis_encoder_free(oasis_encoder *encoder);

// Logs node events to standard error (connections, refusals, failing probes). `filter` is for example "info" or
// "oasis_probe=debug". Null selects the environment variable OASIS_LOG, or "warn" without it. Without this call
// only a refusal of the node is written there, once. Call it once in a process; later calls are refused.
//
// # Safety
// `filter` is null or ends with NUL.
oasis_status oasis_log(const char *filter);

// Adds a probe for log records, with a ring of `ring_bytes` (a record needs its texts and some 70 bytes). A record
// without room in the ring is dropped and counted.
//
// # Safety
// `builder` is from oasis_node_builder_new; `instance` ends with NUL; `logger` is writable.
oasis_status oasis_node_builder_logger(oasis_node_builder *builder,
                                       const char *instance,
                                       size_t ring_bytes,
                                       oasis_logger **logger);

// Returns whether records are taken: a command may have disabled the probe. Only reads a flag; false for null.
//
// # Safety
// `logger` is null or from oasis_node_builder_logger.
bool oasis_logger_is_enabled(const oasis_logger *logger);

// Logs a record. Callable from any number of threads; none waits for another, for the node or for the DAC. A record
// without room is counted, and reported to the DAC. In a child of the process in which the node has started, the result is
// OASIS_STATUS_FORKED.
//
// # Safety
// `logger` is from oasis_node_builder_logger; the texts and fields of `record` have their lengths.
oasis_status oasis_logger_log(const oasis_logger *logger,
                              const oasis_log_record *record);

// Frees a logger. Its instance stays registered while its node runs. Null is ignored.
//
// # Safety
// `logger` is from oasis_node_builder_logger and not used afterwards.
void oasis_logger_free(oasis_logger *logger);

// Creates a builder of a node. `name` is unique among the nodes of a DAC.
//
// # Safety
// `name` ends with NUL; `builder` is writable.
oasis_status oasis_node_builder_new(const char *name,
                                    oasis_node_builder **builder);

// Creates a builder with the settings of section [node] of a configuration file (docs/reference/oasis.toml): name,
// UUID, DAC or TEM, limits, spool directory, and the ready-made probe heartbeat. If `file` is null, the environment
// variable OASIS_CONFIG names the file; without it the defaults apply. OASIS_NODE_NAME, OASIS_NODE_UUID, OASIS_DAC,
// OASIS_TEM, OASIS_DAC_NAME, OASIS_CA, OASIS_CERTIFICATE, OASIS_KEY and OASIS_SPOOL_DIRECTORY override the file.
//
// In a child of a process that had a builder or a node, the name is NAME-PID and the UUID follows from it.
//
// # Safety
// `file` is null or ends with NUL; `builder` is writable.
oasis_status oasis_node_builder_from_file(const char *file,
                                          oasis_node_builder **builder);

// Lets a TEM name the DACs (docs/guides/name-dacs.md): "http://192.0.2.1:7000", the address of its page, or several with
// commas between them. `dac_name` is the DAC to connect to first; if it is null, that is the one that has the node, or
// the first in the TEM's order. Call oasis_node_builder_start with null for `dac` then. The node asks the TEM on a thread
// of its own, and when it loses its DAC. While no TEM answers, the node keeps the list that it knew last.
//
// # Safety
// `builder` is from this library; `tem` ends with NUL; `dac_name` is null or ends with NUL.
oasis_status oasis_node_builder_tem(oasis_node_builder *builder,
                                    const char *tem,
                                    const char *dac_name);

// Adds a probe that the application flushes with oasis_probe_flush. The ring between them has `ring_bytes` (at most
// 1 GiB; a sample needs its row, rounded up to eight bytes, and 24 bytes). If it is full, the sample is dropped and
// counted. `instance` is unique within the node; `schema` is the one in generated code.
//
// # Safety
// `builder` is from oasis_node_builder_new; the texts end with NUL; `probe` is writable.
oasis_status oasis_node_builder_pushed(oasis_node_builder *builder,
                                       const char *instance,
                                       const char *schema,
                                       size_t ring_bytes,
                                       oasis_probe **probe);

// Adds a probe that the node calls `hertz` times a second (0.01 to 1,000) until a command changes the rate.
// `context` is passed to each call; `release`, if not null, frees it, also if this call fails.
//
// # Safety
// `builder` is from oasis_node_builder_new; the texts end with NUL; `sample` and `release` can be called with `context` from another thread.
oasis_status oasis_node_builder_periodic(oasis_node_builder *builder,
                                         const char *instance,
                                         const char *schema,
                                         double hertz,
                                         oasis_sample sample,
                                         void *context,
                                         oasis_release release);

// Appends packed values to the row of a sample.
//
// # Safety
// `row` is the argument of the callback, during the callback; `values` has `length` bytes.
oasis_status oasis_row_append(oasis_row *row,
                              const uint8_t *values,
                              size_t length);

// Sets the state of the probe (docs/guides/choose-a-kind-of-probe.md); the default is 0, normal.
//
// # Safety
// `row` is the argument of the callback, during the callback.
oasis_status oasis_row_set_state(oasis_row *row,
                                 uint16_t state);

// Starts to sample, and connects to the data channel of the DAC at `dac`, for example "127.0.0.1:7071". With several,
// "192.0.2.7:7071,192.0.2.8:7071", the node goes to the next one when it loses one. If `dac` is null and the builder is
// from oasis_node_builder_from_file, the file names the DACs, or else the TEM of oasis_node_builder_tem. While none can be
// reached, the node retries and keeps samples, within limits. Always consumes the builder.
//
// # Safety
// `builder` is from this library and not used afterwards; `dac` is null or ends with NUL; `node` is writable.
oasis_status oasis_node_builder_start(oasis_node_builder *builder,
                                      const char *dac,
                                      oasis_node **node);

// Frees a builder that was not started. Null is ignored.
//
// # Safety
// `builder` is from oasis_node_builder_new and not used afterwards.
void oasis_node_builder_free(oasis_node_builder *builder);

// Takes the last samples, sends them, waits up to two seconds until the DAC has them, and frees the node. Null is
// ignored. Returns OASIS_STATUS_REFUSED if the DAC has refused the node, such as for a name that another node has: then
// it has not received the samples. In a child of the process in which the node has started, it returns
// OASIS_STATUS_FORKED at once, and changes nothing in the parent's node.
//
// # Safety
// `node` is from oasis_node_builder_start and not used afterwards.
oasis_status oasis_node_shutdown(oasis_node *node);

// Adds a probe like oasis_node_builder_pushed, with a choice of kind and overflow policy (docs/guides/choose-a-kind-of-probe.md).
//
// # Safety
// `builder` is from oasis_node_builder_new; the texts end with NUL; `options` and its deadbands are readable;
// `probe` is writable.
oasis_status oasis_node_builder_pushed_with(oasis_node_builder *builder,
                                            const char *instance,
                                            const char *schema,
                                            const oasis_pushed_options *options,
                                            oasis_probe **probe);

// Takes a sample now. Wait-free: no lock, no allocation once rows have their usual size, no system call. Only the first flush after
// 40 ms in which no probe of the node was flushed wakes the node with a system call.
//
// `row` is the packed row (docs/reference/native-batch.md), as generated code writes it. The node counts a row that
// does not fit the schema as dropped. While the probe is disabled, nothing is taken and the result is
// OASIS_STATUS_OK. In a child of the process in which the node has started it is OASIS_STATUS_FORKED; for a
// row that is longer than the ring it is OASIS_STATUS_TOO_LONG. After the shutdown of the node it is
// OASIS_STATUS_DROPPED.
//
// # Safety
// `probe` is from oasis_node_builder_pushed and not used by another thread at this time; `row` has `length` bytes.
oasis_status oasis_probe_flush(oasis_probe *probe,
                               const uint8_t *row,
                               size_t length);

// Takes a sample like oasis_probe_flush, with the given time in nanoseconds since 1970-01-01 UTC.
//
// # Safety
// As oasis_probe_flush.
oasis_status oasis_probe_flush_at(oasis_probe *probe,
                                  uint64_t time,
                                  const uint8_t *row,
                                  size_t length);

// Stores how many samples were dropped because the node was shut down. No report to a DAC contains them.
//
// # Safety
// `probe` is from oasis_node_builder_pushed and not used by another thread at this time; `count` points to a number.
oasis_status oasis_probe_refused(oasis_probe *probe,
                                 uint64_t *count);

// Sets the state of all following samples; 0 is normal, the application defines the others.
//
// # Safety
// `probe` is from oasis_node_builder_pushed or oasis_node_builder_pushed_with and not used by another thread at this
// time.
oasis_status oasis_probe_set_state(oasis_probe *probe,
                                   uint16_t state);

// Frees a probe. Its instance stays registered while its node runs. Null is ignored.
//
// # Safety
// `probe` is from oasis_node_builder_pushed and not used afterwards.
void oasis_probe_free(oasis_probe *probe);

// Returns nanoseconds since 1970-01-01 UTC by the clock that stamps samples.
uint64_t oasis_now(void);

// Gives an added probe a flight recorder: only its samples around a trigger are sent (docs/guides/record-around-a-trigger.md).
//
// # Safety
// `builder` is from oasis_node_builder_new; the texts end with NUL; `options` and its triggers are readable.
oasis_status oasis_node_builder_record(oasis_node_builder *builder,
                                       const char *instance,
                                       const oasis_recorder_options *options);

// Sets the importance of an added probe when rates must be lowered, from 0 (lowest) to 255 (docs/guides/limit-the-overhead.md).
//
// # Safety
// `builder` is from oasis_node_builder_new; `instance` ends with NUL.
oasis_status oasis_node_builder_importance(oasis_node_builder *builder,
                                           const char *instance,
                                           uint8_t importance);

// Returns the error of this thread's last call that did not return OASIS_STATUS_OK or OASIS_STATUS_DROPPED: UTF-8,
// valid until the next such call. Empty if there was none. Never null while the thread lives.
const char *oasis_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* OASIS_H */
