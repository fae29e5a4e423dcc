/* A node in C that finds its DACs by the TEMs of the first argument, the one of the second argument first. It ends with its input. */

#include <oasis.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

static const char *const schema =
    "{\"name\":\"Test::Counter\",\"uuid\":\"f6e0f3ee-6d2f-4a0e-9f0e-2f3c5d2b7a90\",\"version\":\"1.0\","
    "\"metrics\":[{\"name\":\"count\",\"type\":\"uint8\"}]}";

static int measure(void *context, oasis_row *row) {
  uint8_t *const count = context;
  ++*count;
  return oasis_row_append(row, count, 1) == OASIS_STATUS_OK ? 0 : EINVAL;
}

int main(int count, char **arguments) {
  static uint8_t counter;
  oasis_node_builder *builder = NULL;
  oasis_node *node = NULL;
  if (count != 3 || oasis_log("warn") != OASIS_STATUS_OK ||
      oasis_node_builder_new("by-tem", &builder) != OASIS_STATUS_OK ||
      oasis_node_builder_tem(builder, arguments[1], arguments[2]) != OASIS_STATUS_OK ||
      oasis_node_builder_periodic(builder, "counter", schema, 50, measure, &counter, NULL) != OASIS_STATUS_OK ||
      oasis_node_builder_start(builder, NULL, &node) != OASIS_STATUS_OK) {
    fprintf(stderr, "tem.c: %s\n", oasis_last_error());
    return 1;
  }
  /* The test says when it has seen enough. */
  getchar();
  oasis_node_shutdown(node);
  return 0;
}
