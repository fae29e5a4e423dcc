/* A node in C and the children of its process: the DAC is the first argument, the number of children the second one.
 *
 * Threads log while it forks. Each child is refused by what it inherits, and then takes three samples at a node of its own.
 * A program that a child executes has none of the node's descriptors: it is this one, with their number as its argument. */

#define _POSIX_C_SOURCE 200809L

#include <oasis.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      fprintf(stderr, "fork.c:%d: %s: %s\n", __LINE__, #condition, oasis_last_error());          \
      _exit(3);                                                                                \
    }                                                                                          \
  } while (0)

enum { THREADS = 3, SAMPLES = 3 };

static const char *const schema =
    "{\"name\":\"Test::Counter\",\"uuid\":\"f6e0f3ee-6d2f-4a0e-9f0e-2f3c5d2b7a90\",\"version\":\"1.0\","
    "\"metrics\":[{\"name\":\"count\",\"type\":\"uint8\"}]}";
static const uint8_t row = 7;

static oasis_node_builder *builder;
static oasis_probe *probe;
static oasis_logger *logger;
static oasis_node *node;
static atomic_bool is_over;

static void *log_records(void *context) {
  (void)context;
  const struct timespec pause = {0, 100000};
  oasis_log_record record;
  memset(&record, 0, sizeof record);
  while (!atomic_load(&is_over)) {
    oasis_logger_log(logger, &record);
    nanosleep(&pause, NULL);
  }
  return NULL;
}

/* What the child has of its parent says so. */
static void check_inherited(void) {
  oasis_log_record record;
  memset(&record, 0, sizeof record);
  for (int turn = 0; turn < 1000; ++turn) {
    CHECK(oasis_probe_flush(probe, &row, sizeof row) == OASIS_STATUS_FORKED);
  }
  CHECK(strstr(oasis_last_error(), "was forked") != NULL);
  CHECK(oasis_logger_log(logger, &record) == OASIS_STATUS_FORKED);
  CHECK(oasis_node_shutdown(node) == OASIS_STATUS_FORKED);
  oasis_probe_free(probe);
  oasis_logger_free(logger);
}

static int be_child(const char *dac) {
  alarm(60);
  check_inherited();
  /* Its name follows from that in the environment. */
  CHECK(oasis_node_builder_from_file(NULL, &builder) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_pushed(builder, "counter", schema, 4096, &probe) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_start(builder, dac, &node) == OASIS_STATUS_OK);
  for (int turn = 0; turn < SAMPLES; ++turn) {
    CHECK(oasis_probe_flush(probe, &row, sizeof row) == OASIS_STATUS_OK);
  }
  CHECK(oasis_node_shutdown(node) == OASIS_STATUS_OK);
  CHECK(oasis_probe_flush(probe, &row, sizeof row) == OASIS_STATUS_DROPPED);
  oasis_probe_free(probe);
  return 0;
}

enum { DESCRIPTORS = 1024 };

static int count_descriptors(void) {
  int open = 0;
  for (int file = 0; file < DESCRIPTORS; ++file) {
    open += fcntl(file, F_GETFD) >= 0;
  }
  return open;
}

/* An executed program has the descriptors that this one had before its node. */
static void check_executed(char *program, int before) {
  char number[16];
  snprintf(number, sizeof number, "%d", before);
  const pid_t child = fork();
  if (child == 0) {
    execl(program, program, number, (char *)NULL);
    _exit(4);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

int main(int count, char **arguments) {
  const int before = count_descriptors();
  if (count == 2) return before == atoi(arguments[1]) ? 0 : 1;
  CHECK(count == 3);
  CHECK(oasis_node_builder_from_file(NULL, &builder) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_pushed(builder, "counter", schema, 4096, &probe) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_logger(builder, "log", 65536, &logger) == OASIS_STATUS_OK);
  CHECK(oasis_node_builder_start(builder, arguments[1], &node) == OASIS_STATUS_OK);
  pthread_t threads[THREADS];
  for (int at = 0; at < THREADS; ++at) {
    CHECK(pthread_create(&threads[at], NULL, log_records, NULL) == 0);
  }
  for (int child = atoi(arguments[2]); child > 0; --child) {
    const pid_t process = fork();
    if (process == 0) {
      exit(be_child(arguments[1]));
    }
    int status = -1;
    CHECK(process > 0 && waitpid(process, &status, 0) == process);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    printf("%ld\n", (long)process);
    /* Otherwise each child would print it again. */
    fflush(stdout);
    CHECK(oasis_probe_flush(probe, &row, sizeof row) == OASIS_STATUS_OK);
  }
  check_executed(arguments[0], before);
  atomic_store(&is_over, true);
  for (int at = 0; at < THREADS; ++at) {
    pthread_join(threads[at], NULL);
  }
  CHECK(oasis_node_shutdown(node) == OASIS_STATUS_OK);
  oasis_probe_free(probe);
  oasis_logger_free(logger);
  return 0;
}
