/* A node in C at the DAC of the first argument, by the name of the second one, which another node has. */

#include <oasis.h>

#include <stdint.h>
#include <stdio.h>

static const char *const schema =
    "{\"name\":\"Test::Counter\",\"uuid\":\"f6e0f3ee-6d2f-4a0e-9f0e-2f3c5d2b7a90\",\"version\":\"1.0\","
    "\"metrics\":[{\"name\":\"count\",\"type\":\"uint8\"}]}";

int main(int count, char **arguments) {
  static const uint8_t row = 7;
  oasis_node_builder *builder = NULL;
  oasis_probe *probe = NULL;
  oasis_node *node = NULL;
  if (count != 3 || oasis_node_builder_new(arguments[2], &builder) != OASIS_STATUS_OK ||
      oasis_node_builder_pushed(builder, "counter", schema, 4096, &probe) != OASIS_STATUS_OK ||
      oasis_node_builder_start(builder, arguments[1], &node) != OASIS_STATUS_OK) {
    fprintf(stderr, "refused.c: %s\n", oasis_last_error());
    return 2;
  }
  oasis_probe_flush(probe, &row, sizeof row);
  const oasis_status status = oasis_node_shutdown(node);
  oasis_probe_free(probe);
  if (status != OASIS_STATUS_OK) {
    printf("%d: %s\n", (int)status, oasis_last_error());
    return 1;
  }
  return 0;
}
