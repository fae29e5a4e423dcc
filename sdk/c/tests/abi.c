/* What the C library refuses, and what a node in C sends to the DAC that the configuration on the command line names. */

#include <oasis.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check((condition), #condition, __LINE__)

static const char *const schema =
    "{\"name\":\"Test::Counter\",\"uuid\":\"f6e0f3ee-6d2f-4a0e-9f0e-2f3c5d2b7a90\",\"version\":\"1.0\","
    "\"metrics\":[{\"name\":\"count\",\"type\":\"uint8\"}]}";

/* A schema from somewhere: its vector could claim any number of elements, which take no bytes. */
static const char *const of_nothing =
    "{\"name\":\"Test::Counter\",\"uuid\":\"f6e0f3ee-6d2f-4a0e-9f0e-2f3c5d2b7a90\",\"version\":\"1.0\","
    "\"metrics\":[{\"name\":\"void\",\"type\":{\"vector\":{\"struct\":{\"name\":\"S\",\"members\":[]}}}}]}";

static int released;
static int called;

static void check(bool holds, const char *condition, int line) {
  if (!holds) {
    fprintf(stderr, "abi.c:%d: %s; last error: %s\n", line, condition, oasis_last_error());
    exit(1);
  }
}

static bool says(const char *words) { return strstr(oasis_last_error(), words) != NULL; }

static void release(void *context) { ++*(int *)context; }

/* Every second measurement fails. */
static int measure(void *context, oasis_row *row) {
  const uint8_t value = (uint8_t)called++;
  (void)context;
  if (value % 2 == 1) {
    return EIO;
  }
  if (oasis_row_set_state(row, value == 4) != OASIS_STATUS_OK) {
    return EINVAL;
  }
  return oasis_row_append(row, &value, 1) == OASIS_STATUS_OK ? 0 : EINVAL;
}

static void ignore(void *context, uint64_t sequence, uint64_t time, const uint8_t *row, size_t length) {
  (void)context, (void)sequence, (void)time, (void)row, (void)length;
}

static oasis_status add_periodic(oasis_node_builder *builder, double hertz, oasis_sample sample) {
  return oasis_node_builder_periodic(builder, "periodic", schema, hertz, sample, &released, release);
}

static void check_builder(void) {
  oasis_node_builder *builder = NULL;
  oasis_probe *probe = NULL;
  oasis_node *node = NULL;
  CHECK(oasis_node_builder_new(NULL, &builder) == OASIS_STATUS_ARGUMENT);
  CHECK(says("name is null"));
  CHECK(oasis_node_builder_new("\xff", &builder) == OASIS_STATUS_ARGUMENT);
  CHECK(says("name is not UTF-8"));
  CHECK(oasis_node_builder_new("c", NULL) == OASIS_STATUS_ARGUMENT);
  CHECK(says("builder is null"));
  CHECK(oasis_node_builder_new("c", &builder) == OASIS_STATUS_OK);

  CHECK(oasis_node_builder_pushed(builder, "pushed", "{", 64, &probe) == OASIS_STATUS_SCHEMA);
  CHECK(says("JSON"));
  /* What is refused leaves no instance behind. */
  CHECK(oasis_node_builder_pushed(builder, "pushed", schema, 64, NULL) == OASIS_STATUS_ARGUMENT);
  CHECK(oasis_node_builder_pushed(builder, "pushed", schema, 64, &probe) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_pushed(builder, "pushed", schema, 64, &probe) == OASIS_STATUS_DUPLICATE);
  CHECK(says("\"pushed\""));
  CHECK(oasis_node_builder_pushed(builder, "huge", schema, SIZE_MAX, &probe) == OASIS_STATUS_ARGUMENT);
  CHECK(says("\"huge\"") && says("1073741824"));

  CHECK(add_periodic(builder, 0, measure) == OASIS_STATUS_ARGUMENT);
  CHECK(says("0.01 to 1,000 Hz") && released == 1);
  CHECK(add_periodic(builder, 1, NULL) == OASIS_STATUS_ARGUMENT);
  CHECK(says("sample is null") && released == 2);

  CHECK(oasis_probe_flush(NULL, NULL, 0) == OASIS_STATUS_ARGUMENT);
  CHECK(says("probe is null"));
  CHECK(oasis_probe_flush(probe, NULL, 1) == OASIS_STATUS_ARGUMENT);
  CHECK(says("row is null"));
  oasis_probe_free(probe);
  oasis_probe_free(NULL);
  CHECK(oasis_node_builder_start(builder, NULL, &node) == OASIS_STATUS_ARGUMENT);
  CHECK(says("dac is null"));
  oasis_node_builder_free(NULL);
  CHECK(oasis_node_builder_from_file("/nowhere.toml", &builder) == OASIS_STATUS_SYSTEM);
  CHECK(says("/nowhere.toml"));
  oasis_node_shutdown(NULL);
}

/* A probe that sends only what lies around a trigger. */
static void check_recorder(void) {
  oasis_node_builder *builder = NULL;
  oasis_probe *probe = NULL;
  const char *trigger = "color > 1";
  oasis_recorder_options options = {0};
  CHECK(oasis_node_builder_new("recorder", &builder) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_record(builder, "a", &options) == OASIS_STATUS_ARGUMENT);
  CHECK(says("no instance \"a\""));
  CHECK(oasis_node_builder_importance(builder, "a", 9) == OASIS_STATUS_ARGUMENT);
  CHECK(oasis_node_builder_pushed(builder, "a", schema, 4096, &probe) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_importance(builder, "a", 9) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_record(builder, "a", NULL) == OASIS_STATUS_ARGUMENT);
  CHECK(says("options is null"));
  options.trigger_count = 1;
  CHECK(oasis_node_builder_record(builder, "a", &options) == OASIS_STATUS_ARGUMENT);
  CHECK(says("triggers is null"));
  options.triggers = &trigger;
  CHECK(oasis_node_builder_record(builder, "a", &options) == OASIS_STATUS_ARGUMENT);
  CHECK(says("no metric \"color\""));
  trigger = "count is high";
  CHECK(oasis_node_builder_record(builder, "a", &options) == OASIS_STATUS_ARGUMENT);
  CHECK(says("count is high"));
  trigger = "count > 1";
  CHECK(oasis_node_builder_record(builder, "a", &options) == OASIS_STATUS_OK);
  oasis_probe_free(probe);
  oasis_node_builder_free(builder);
}

/* A probe that keeps only changes, of which the node never hears: it does not start. */
static void check_options(void) {
  oasis_node_builder *builder = NULL;
  oasis_probe *probe = NULL;
  oasis_deadband deadband = {"color", 1.0};
  oasis_pushed_options options = {0};
  CHECK(oasis_node_builder_new("options", &builder) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_pushed_with(builder, "a", schema, NULL, &probe) == OASIS_STATUS_ARGUMENT);
  CHECK(says("options is null"));
  options.kind = 3;
  CHECK(oasis_node_builder_pushed_with(builder, "a", schema, &options, &probe) == OASIS_STATUS_ARGUMENT);
  CHECK(says("kind is 3"));
  options.kind = OASIS_KIND_ON_CHANGE;
  options.overflow = 3;
  CHECK(oasis_node_builder_pushed_with(builder, "a", schema, &options, &probe) == OASIS_STATUS_ARGUMENT);
  CHECK(says("overflow is 3"));
  options.overflow = OASIS_OVERFLOW_DROP_OLDEST;
  options.deadband_count = 1;
  CHECK(oasis_node_builder_pushed_with(builder, "a", schema, &options, &probe) == OASIS_STATUS_ARGUMENT);
  CHECK(says("deadbands is null"));
  options.deadbands = &deadband;
  CHECK(oasis_node_builder_pushed_with(builder, "a", schema, &options, &probe) == OASIS_STATUS_ARGUMENT);
  CHECK(says("no metric \"color\""));
  deadband.metric = "count";
  options.ring_bytes = 32;
  CHECK(oasis_node_builder_pushed_with(builder, "a", schema, &options, &probe) == OASIS_STATUS_OK);
  CHECK(oasis_probe_set_state(probe, 7) == OASIS_STATUS_OK);
  CHECK(oasis_probe_set_state(NULL, 7) == OASIS_STATUS_ARGUMENT);
  for (uint8_t value = 0; value < 10; ++value) {
    CHECK(oasis_probe_flush(probe, &value, 1) == OASIS_STATUS_OK);
  }
  oasis_probe_free(probe);
  options.kind = OASIS_KIND_EVENT;
  options.overflow = OASIS_OVERFLOW_BLOCK;
  options.timeout_ns = 1000000;
  CHECK(oasis_node_builder_pushed_with(builder, "b", schema, &options, &probe) == OASIS_STATUS_OK);
  CHECK(oasis_probe_flush(probe, (const uint8_t[]){1}, 1) == OASIS_STATUS_OK);
  CHECK(oasis_probe_flush(probe, (const uint8_t[]){2}, 1) == OASIS_STATUS_DROPPED);
  static const uint8_t long_row[1000];
  CHECK(oasis_probe_flush(probe, long_row, sizeof long_row) == OASIS_STATUS_TOO_LONG);
  CHECK(says("row too long: 1000 bytes, at most"));
  oasis_probe_free(probe);
  oasis_node_builder_free(builder);
}

static void check_encoder(void) {
  oasis_encoder *encoder = NULL;
  const uint8_t *batch = NULL;
  size_t length = 1;
  const uint8_t row[2] = {1, 2};
  CHECK(oasis_encoder_new("[]", &encoder) == OASIS_STATUS_SCHEMA);
  CHECK(oasis_encoder_new(schema, &encoder) == OASIS_STATUS_OK);
  CHECK(oasis_encoder_push(encoder, 1, row, 2) == OASIS_STATUS_SCHEMA);
  CHECK(says("row does not fit"));
  CHECK(oasis_encoder_finish(encoder, 0, 0, 1, 1, 0, &batch, &length) == OASIS_STATUS_OK);
  CHECK(length == 0);
  CHECK(oasis_encoder_push(encoder, 1, row, 1) == OASIS_STATUS_OK);
  CHECK(oasis_encoder_finish(encoder, 0, 0, 1, 1, 0, &batch, &length) == OASIS_STATUS_OK);
  CHECK(length > 48);
  CHECK(oasis_batch_read(schema, batch, length, NULL, NULL) == OASIS_STATUS_ARGUMENT);
  CHECK(says("sample is null"));
  CHECK(oasis_batch_read(schema, batch, length - 1, NULL, NULL) == OASIS_STATUS_SCHEMA);
  CHECK(says("batch"));
  CHECK(oasis_batch_read(of_nothing, batch, length, ignore, NULL) == OASIS_STATUS_SCHEMA);
  CHECK(says("the schema cannot be used") && says("\"void\""));
  oasis_encoder_free(encoder);
  oasis_encoder_free(NULL);
}

static oasis_text text_of(const char *text) {
  const oasis_text made = {text, strlen(text)};
  return made;
}

static void check_logger(void) {
  oasis_node_builder *builder = NULL;
  oasis_logger *logger = NULL;
  oasis_log_record record = {0};
  const oasis_field field = {{NULL, 1}, {NULL, 0}};
  CHECK(oasis_node_builder_new("c", &builder) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_logger(builder, NULL, 4096, &logger) == OASIS_STATUS_ARGUMENT);
  CHECK(oasis_node_builder_logger(builder, "log", 4096, NULL) == OASIS_STATUS_ARGUMENT);
  CHECK(says("logger is null"));
  CHECK(oasis_node_builder_logger(builder, "log", 4096, &logger) == OASIS_STATUS_OK);
  CHECK(oasis_logger_is_enabled(logger) && !oasis_logger_is_enabled(NULL));
  CHECK(oasis_logger_log(NULL, &record) == OASIS_STATUS_ARGUMENT);
  CHECK(oasis_logger_log(logger, NULL) == OASIS_STATUS_ARGUMENT);
  CHECK(says("record is null"));
  CHECK(oasis_logger_log(logger, &record) == OASIS_STATUS_OK);
  record.message = text_of("not \xff UTF-8");
  CHECK(oasis_logger_log(logger, &record) == OASIS_STATUS_OK);
  record.fields = &field;
  record.field_count = 1;
  CHECK(oasis_logger_log(logger, &record) == OASIS_STATUS_ARGUMENT);
  CHECK(says("text is null"));
  oasis_logger_free(logger);
  oasis_logger_free(NULL);
  oasis_node_builder_free(builder);
}

static void log_line(const oasis_logger *logger) {
  const oasis_field field = {text_of("bar"), text_of("8.1")};
  oasis_log_record record = {0};
  record.severity = OASIS_SEVERITY_WARN;
  record.target = text_of("pump");
  record.message = text_of("pressure is high");
  record.file = text_of(__FILE__);
  record.line = __LINE__;
  record.fields = &field;
  record.field_count = 1;
  CHECK(oasis_logger_log(logger, &record) == OASIS_STATUS_OK);
}

/* A log record, ten samples of a pushed probe, and a periodic probe of which every second measurement fails. */
static void run_node(const char *file) {
  oasis_node_builder *builder = NULL;
  oasis_probe *probe = NULL;
  oasis_logger *logger = NULL;
  oasis_node *node = NULL;
  released = 0;
  CHECK(oasis_node_builder_from_file(file, &builder) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_pushed(builder, "pushed", schema, 1024, &probe) == OASIS_STATUS_OK);
  CHECK(add_periodic(builder, 1000, measure) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_logger(builder, "log", 4096, &logger) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_start(builder, NULL, &node) == OASIS_STATUS_OK);
  log_line(logger);
  for (uint8_t value = 0; value < 10; ++value) {
    CHECK(oasis_probe_flush_at(probe, oasis_now(), &value, 1) == OASIS_STATUS_OK);
  }
  puts("flushed");
  fflush(stdout);
  /* The test says when it has seen enough. */
  getchar();
  oasis_node_shutdown(node);
  CHECK(released == 1 && called > 1);
  /* The ring is empty, but nobody reads it. */
  uint64_t refused = 1;
  CHECK(oasis_probe_refused(probe, &refused) == OASIS_STATUS_OK && refused == 0);
  CHECK(oasis_probe_flush(probe, (const uint8_t[]){1}, 1) == OASIS_STATUS_DROPPED);
  CHECK(oasis_probe_flush(probe, (const uint8_t[]){2}, 1) == OASIS_STATUS_DROPPED);
  CHECK(oasis_probe_refused(probe, &refused) == OASIS_STATUS_OK && refused == 2);
  oasis_logger_free(logger);
  oasis_probe_free(probe);
}

int main(int count, char **arguments) {
  CHECK(oasis_log("a=b=c") == OASIS_STATUS_ARGUMENT && says("log filter"));
  CHECK(oasis_log("error") == OASIS_STATUS_OK);
  check_builder();
  check_options();
  check_recorder();
  check_encoder();
  check_logger();
  if (count == 2) {
    run_node(arguments[1]);
  }
  return 0;
}
