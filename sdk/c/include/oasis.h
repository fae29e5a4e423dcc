/* OASIS for C: probes inside your program, and the node that carries their samples to a DAC.
 *
 * Made of crates/c-abi. Change that, not this. How to use it: docs/sdk/c.md.
 */

#ifndef OASIS_H
#define OASIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Measurements: every flush is a sample.
#define OASIS_KIND_PUSHED 0

// Changes: a sample is kept if a metric moved by more than its deadband since the one kept last.
#define OASIS_KIND_ON_CHANGE 1

// Things that happened.
#define OASIS_KIND_EVENT 2

// A sample that finds the ring full is dropped.
#define OASIS_OVERFLOW_DROP_NEWEST 0

// It takes the place of the oldest ones.
#define OASIS_OVERFLOW_DROP_OLDEST 1

// The caller waits for room, `timeout_ns` at most.
#define OASIS_OVERFLOW_BLOCK 2

// Severities of log records, as OpenTelemetry numbers them; one between two levels is shown as the level below.
#define OASIS_SEVERITY_TRACE 1

// Of use while something is looked for.
#define OASIS_SEVERITY_DEBUG 5

// All is well.
#define OASIS_SEVERITY_INFO 9

// Worth a look.
#define OASIS_SEVERITY_WARN 13

// Something failed.
#define OASIS_SEVERITY_ERROR 17

// The program cannot go on.
#define OASIS_SEVERITY_FATAL 21

// How a call went. `oasis_last_error` says more about everything from OASIS_STATUS_ARGUMENT on.
typedef enum {
  // Done.
  OASIS_STATUS_OK = 0,
  // The probe's ring had no room: the sample is dropped and counted, and the DAC will know. Not an error of the caller.
  OASIS_STATUS_DROPPED = 1,
  // An argument is null, not UTF-8, or out of range; or a configuration is not right.
  OASIS_STATUS_ARGUMENT = 2,
  // A schema is no schema, or a row or batch does not fit it.
  OASIS_STATUS_SCHEMA = 3,
  // Two instances of a node have one name.
  OASIS_STATUS_DUPLICATE = 4,
  // The operating system refused something.
  OASIS_STATUS_SYSTEM = 5,
  // A mistake in OASIS. Please report it.
  OASIS_STATUS_INTERNAL = 6,
} oasis_status;

// Packs samples of one probe type into native batches (docs/reference/native-batch.md).
typedef struct oasis_encoder oasis_encoder;

// Takes log records, from any number of threads.
typedef struct oasis_logger oasis_logger;

// A running node.
typedef struct oasis_node oasis_node;

// A node that has not started yet.
typedef struct oasis_node_builder oasis_node_builder;

// A pushed probe. One thread at a time.
typedef struct oasis_probe oasis_probe;

// The row of one sample, while it is written.
typedef struct oasis_row oasis_row;

// Gets one sample of a batch: its sequence number, its time in nanoseconds since 1970-01-01 UTC, its packed row (valid during the call).
typedef void (*oasis_batch_sample)(void *context,
                                   uint64_t sequence,
                                   uint64_t time,
                                   const uint8_t *row,
                                   size_t length);

// A text and its length in bytes; it need not end with NUL. Null without bytes is the empty text. What is not UTF-8 in it is replaced.
typedef struct {
  const char *data;
  size_t length;
} oasis_text;

// A value that has a name.
typedef struct {
  oasis_text name;
  oasis_text value;
} oasis_field;

// A log record. Texts beyond the bounds of docs/reference/probes.md are cut, marked and counted; all zeros is an empty record of now.
typedef struct {
  // Nanoseconds since 1970-01-01 UTC, or 0 for now.
  uint64_t time;
  // Such as OASIS_SEVERITY_INFO.
  uint8_t severity;
  // Line in the file, 0 if nobody knows.
  uint32_t line;
  // Who says it: the name of a logger, a module.
  oasis_text target;
  // What it says.
  oasis_text message;
  // Source file.
  oasis_text file;
  // Thread, by name or number.
  oasis_text thread;
  // Names of the pieces of work around it, the outermost first, with colons between.
  oasis_text span;
  // What it says besides.
  const oasis_field *fields;
  // How many fields there are.
  size_t field_count;
} oasis_log_record;

// Measures for a periodic probe: appends the packed row with oasis_row_append and answers 0, or answers an error number (errno.h)
// and is called again at the probe's rate. Called by a thread of the node; one call at a time.
typedef int (*oasis_sample)(void *context,
                            oasis_row *row);

// Frees the context of a periodic probe when its node has ended. Called by whichever thread ends it.
typedef void (*oasis_release)(void *context);

// By how much a metric has to move.
typedef struct {
  // Its name.
  const char *metric;
  // In its unit, 0 or more; infinity for a metric that never counts.
  double deadband;
} oasis_deadband;

// How a probe is to be. All zeros but for `ring_bytes`: as with oasis_node_builder_pushed.
typedef struct {
  // 1 GiB at most; each sample takes its row, rounded up to eight bytes, and 24 bytes.
  size_t ring_bytes;
  // OASIS_KIND_PUSHED, OASIS_KIND_ON_CHANGE or OASIS_KIND_EVENT.
  uint32_t kind;
  // OASIS_OVERFLOW_DROP_NEWEST, OASIS_OVERFLOW_DROP_OLDEST or OASIS_OVERFLOW_BLOCK.
  uint32_t overflow;
  // How long OASIS_OVERFLOW_BLOCK waits.
  uint64_t timeout_ns;
  // For OASIS_KIND_ON_CHANGE; a metric that is not among them counts as soon as its value is another.
  const oasis_deadband *deadbands;
  // How many.
  size_t deadband_count;
} oasis_pushed_options;

// What a flight recorder sends around a trigger, and what triggers it besides the command.
typedef struct {
  // How much of the time before a trigger, in nanoseconds.
  uint64_t before_ns;
  // For how long after it, in nanoseconds.
  uint64_t after_ns;
  // Memory for the time before, 1 GiB at most: a sample takes its row and 32 bytes.
  size_t bytes;
  // Each "METRIC > LIMIT" or "METRIC < LIMIT".
  const char *const *triggers;
  // How many.
  size_t trigger_count;
} oasis_recorder_options;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Makes an encoder for samples of this schema.
//
// # Safety
// `schema` ends with NUL; `encoder` can be written.
oasis_status oasis_encoder_new(const char *schema,
                               oasis_encoder **encoder);

// Adds a sample: its time in nanoseconds since 1970-01-01 UTC and its packed row. At most 65,535 make a batch. A row that is refused leaves no trace.
//
// # Safety
// `encoder` is from oasis_encoder_new; `row` has `length` bytes.
oasis_status oasis_encoder_push(oasis_encoder *encoder,
                                uint64_t time,
                                const uint8_t *row,
                                size_t length);

// Makes a batch of the samples added, and begins the next. `batch` and `length` tell where it is: valid until the encoder is used again.
// Without samples the length is 0.
//
// # Safety
// `encoder` is from oasis_encoder_new; `batch` and `length` can be written.
oasis_status oasis_encoder_finish(oasis_encoder *encoder,
                                  uint32_t topic,
                                  uint16_t state,
                                  uint64_t first_sequence,
                                  uint64_t node_time,
                                  uint32_t dropped_before,
                                  const uint8_t **batch,
                                  size_t *length);

// Reads a batch: `sample` is called for each of its samples, in order. Bytes that are no batch of this schema are refused before the first call.
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

// Prints on standard error what happens to nodes (connections, refusals, probes that fail): `filter` is such as "info" or "oasis_probe=debug"; null
// means the environment variable OASIS_LOG, or "warn" without it. Without this call nothing is printed. Once a process; calls after the first are refused.
//
// # Safety
// `filter` is null or ends with NUL.
oasis_status oasis_log(const char *filter);

// Adds a probe for log records, with a ring of `ring_bytes` between (each takes its texts and some 70 bytes); one that finds no room is dropped and counted.
//
// # Safety
// `builder` is from oasis_node_builder_new; `instance` ends with NUL; `logger` can be written.
oasis_status oasis_node_builder_logger(oasis_node_builder *builder,
                                       const char *instance,
                                       size_t ring_bytes,
                                       oasis_logger **logger);

// Whether records are taken: a command may have said no. A look at a flag; false for null.
//
// # Safety
// `logger` is null or from oasis_node_builder_logger.
bool oasis_logger_is_enabled(const oasis_logger *logger);

// Logs. Any number of threads at a time; none waits for another, for the node or for the DAC. What finds no room is counted, and the DAC will know.
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

// Begins a node. `name` is unique among the nodes of a DAC.
//
// # Safety
// `name` ends with NUL; `builder` can be written.
oasis_status oasis_node_builder_new(const char *name,
                                    oasis_node_builder **builder);

// Begins a node as section [node] of a configuration file says (docs/reference/oasis.toml): its name, UUID, DAC, bounds, spool directory, and its
// ready-made probes. Without a file (null) that of the environment variable OASIS_CONFIG counts, or there are the defaults. OASIS_NODE_NAME,
// OASIS_NODE_UUID, OASIS_DAC and OASIS_SPOOL_DIRECTORY win over the file.
//
// # Safety
// `file` is null or ends with NUL; `builder` can be written.
oasis_status oasis_node_builder_from_file(const char *file,
                                          oasis_node_builder **builder);

// Adds a probe that the application flushes with oasis_probe_flush. Between them lies a ring of `ring_bytes` (1 GiB at most; each sample takes its
// row, rounded up to eight bytes, and 24 bytes); a sample that finds it full is dropped and counted. `instance` is unique within the node; `schema` is what generated code has.
//
// # Safety
// `builder` is from oasis_node_builder_new; the texts end with NUL; `probe` can be written.
oasis_status oasis_node_builder_pushed(oasis_node_builder *builder,
                                       const char *instance,
                                       const char *schema,
                                       size_t ring_bytes,
                                       oasis_probe **probe);

// Adds a probe that the node calls, `hertz` times a second (0.01 to 1,000) until a command says otherwise. `context` is passed to each call;
// `release`, if it is not null, frees it, also when this call fails.
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
// `row` is what the callback was given, during the callback; `values` has `length` bytes.
oasis_status oasis_row_append(oasis_row *row,
                              const uint8_t *values,
                              size_t length);

// Says which state the probe is in (docs/guides/choose-a-kind-of-probe.md); without it the sample says 0, normal.
//
// # Safety
// `row` is what the callback was given, during the callback.
oasis_status oasis_row_set_state(oasis_row *row,
                                 uint16_t state);

// Starts sampling, and connecting to the data channel of the DAC at `dac`, such as "127.0.0.1:7071", or at the one that the file says if `dac` is null
// and the builder is from oasis_node_builder_from_file; while it is away the node keeps trying and keeps samples, within bounds. The builder is consumed
// whatever the answer is.
//
// # Safety
// `builder` is from here and not used afterwards; `dac` is null or ends with NUL; `node` can be written.
oasis_status oasis_node_builder_start(oasis_node_builder *builder,
                                      const char *dac,
                                      oasis_node **node);

// Frees a builder that was not started. Null is ignored.
//
// # Safety
// `builder` is from oasis_node_builder_new and not used afterwards.
void oasis_node_builder_free(oasis_node_builder *builder);

// Takes the last samples, sends them, waits up to two seconds for the DAC to have them, and frees the node. Null is ignored.
//
// # Safety
// `node` is from oasis_node_builder_start and not used afterwards.
void oasis_node_shutdown(oasis_node *node);

// As oasis_node_builder_pushed, with a choice of kind and of what a full ring does (docs/guides/choose-a-kind-of-probe.md).
//
// # Safety
// `builder` is from oasis_node_builder_new; the texts end with NUL; `options` can be read, and as many deadbands as it says; `probe` can be written.
oasis_status oasis_node_builder_pushed_with(oasis_node_builder *builder,
                                            const char *instance,
                                            const char *schema,
                                            const oasis_pushed_options *options,
                                            oasis_probe **probe);

// Takes a sample now. Wait-free: no lock, no allocation once rows have their usual size, no system call.
//
// `row` is the packed row (docs/reference/native-batch.md), as generated code writes it. One that does not fit the schema is counted as
// dropped when the node sees it. Answers OASIS_STATUS_OK also while the probe is disabled, when nothing is taken.
//
// # Safety
// `probe` is from oasis_node_builder_pushed and not used by another thread now; `row` has `length` bytes.
oasis_status oasis_probe_flush(oasis_probe *probe,
                               const uint8_t *row,
                               size_t length);

// As oasis_probe_flush, with a time of the caller's own, in nanoseconds since 1970-01-01 UTC.
//
// # Safety
// As oasis_probe_flush.
oasis_status oasis_probe_flush_at(oasis_probe *probe,
                                  uint64_t time,
                                  const uint8_t *row,
                                  size_t length);

// The samples from now on carry this state; 0 is normal, the rest is the application's to give a meaning.
//
// # Safety
// `probe` is from oasis_node_builder_pushed or oasis_node_builder_pushed_with and not used by another thread now.
oasis_status oasis_probe_set_state(oasis_probe *probe,
                                   uint16_t state);

// Frees a probe. Its instance stays registered while its node runs. Null is ignored.
//
// # Safety
// `probe` is from oasis_node_builder_pushed and not used afterwards.
void oasis_probe_free(oasis_probe *probe);

// Nanoseconds since 1970-01-01 UTC by the clock that samples are stamped with.
uint64_t oasis_now(void);

// Gives a probe that was added a flight recorder: of its samples only what lies around a trigger is sent (docs/guides/record-around-a-trigger.md).
//
// # Safety
// `builder` is from oasis_node_builder_new; the texts end with NUL; `options` can be read, and as many triggers as it says.
oasis_status oasis_node_builder_record(oasis_node_builder *builder,
                                       const char *instance,
                                       const oasis_recorder_options *options);

// Says how much a probe that was added matters when rates have to be lowered: 0, the least, to 255 (docs/guides/limit-the-overhead.md).
//
// # Safety
// `builder` is from oasis_node_builder_new; `instance` ends with NUL.
oasis_status oasis_node_builder_importance(oasis_node_builder *builder,
                                           const char *instance,
                                           uint8_t importance);

// What was wrong with the last call of this thread that did not answer OASIS_STATUS_OK or OASIS_STATUS_DROPPED: UTF-8, valid until
// the next such call. Empty if there was none. Never null while the thread lives.
const char *oasis_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* OASIS_H */
