#define _POSIX_C_SOURCE 200809L

#include "probes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROW_BYTES = 64 };

int main(int count, char **arguments) {
  const char *dac = count > 1 ? arguments[1] : NULL;
  oasis_node_builder *builder = NULL;
  oasis_probe *probe = NULL;
  oasis_node *node = NULL;
  /* The node says on standard error what keeps it from the DAC. */
  oasis_log(NULL);
  /* OASIS_NODE_NAME, OASIS_DAC and OASIS_CONFIG name another node, another DAC, or a file with all settings. */
  setenv("OASIS_NODE_NAME", "@name@", 0);
  if (oasis_node_builder_from_file(NULL, &builder) != OASIS_STATUS_OK ||
      oasis_node_builder_pushed(builder, "motor", Machine_Motor_schema, 64 * 1024, &probe) != OASIS_STATUS_OK ||
      oasis_node_builder_start(builder, dac, &node) != OASIS_STATUS_OK) {
    fprintf(stderr, "@name@: %s\n", oasis_last_error());
    return 1;
  }
  printf("@name@ runs; Ctrl-C ends it.\n");
  fflush(stdout);
  for (unsigned turn = 0;; ++turn) {
    const double seconds = turn / 100.0;
    const Machine_Motor motor = {
        .speed = 3000.0 + 500.0 * sin(seconds),
        .temperature = 70.0 + 15.0 * sin(seconds / 10.0),
        .mode = Machine_Mode_RUNNING,
    };
    uint8_t row[ROW_BYTES];
    const size_t length = Machine_Motor_row(&motor, row, sizeof row);
    if (length <= sizeof row) {
      /* Never waits: if the ring is full, the sample is dropped and counted. */
      oasis_probe_flush(probe, row, length);
    }
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
  }
}
