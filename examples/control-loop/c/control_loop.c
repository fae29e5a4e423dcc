/* The control loop in C, at 1 kHz with a pushed probe. docs/sdk/c.md says how to build it. */

#define _POSIX_C_SOURCE 200809L

#include "loop.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { AXES = 2, ROW_BYTES = 256 };

static const long period = 1000 * 1000;

static double seconds_between(struct timespec earlier, struct timespec later) {
  return (double)(later.tv_sec - earlier.tv_sec) + (double)(later.tv_nsec - earlier.tv_nsec) / 1e9;
}

static struct timespec now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time;
}

static void wait_for_next(struct timespec *due) {
  due->tv_nsec += period;
  if (due->tv_nsec >= 1000000000) {
    due->tv_nsec -= 1000000000;
    ++due->tv_sec;
  }
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL);
}

/* Each axis goes a hundredth of its way to a target that jumps every few seconds. */
static void control(Example_Axis axes[AXES], double seconds) {
  for (int index = 0; index < AXES; ++index) {
    Example_Axis *axis = &axes[index];
    axis->target = 90.0 * sin(floor(seconds / (4.0 + index)));
    axis->position += (axis->target - axis->position) * 0.01;
  }
}

static bool is_close(const Example_Axis *axis) { return fabs(axis->position - axis->target) < 5.0; }

static void run(oasis_probe *probe) {
  Example_Axis axes[AXES] = {{.name = oasis_text_of("azimuth")}, {.name = oasis_text_of("elevation")}};
  Example_ControlLoop sample = {.axes = {axes, AXES}};
  uint8_t row[ROW_BYTES];
  const struct timespec started = now();
  struct timespec due = started;
  for (;;) {
    wait_for_next(&due);
    const struct timespec began = now();
    control(axes, seconds_between(started, began));
    sample.lateness = 1e6 * seconds_between(due, began);
    sample.busy = 1e6 * seconds_between(began, now());
    ++sample.turns;
    sample.phase = is_close(&axes[0]) && is_close(&axes[1]) ? Example_Phase_TRACKING : Example_Phase_SLEWING;
    const size_t length = Example_ControlLoop_row(&sample, row, sizeof row);
    if (length <= sizeof row) {
      /* Wait-free: if the node cannot keep up the sample is dropped and counted, and the loop continues. */
      oasis_probe_flush(probe, row, length);
    }
  }
}

int main(int count, char **arguments) {
  oasis_node_builder *builder = NULL;
  oasis_probe *probe = NULL;
  oasis_node *node = NULL;
  const char *dac = count > 1 ? arguments[1] : "127.0.0.1:7071";
  if (oasis_node_builder_new("machine-c", &builder) != OASIS_STATUS_OK ||
      oasis_node_builder_pushed(builder, "control loop", Example_ControlLoop_schema, 64 * 1024, &probe) !=
          OASIS_STATUS_OK ||
      oasis_node_builder_start(builder, dac, &node) != OASIS_STATUS_OK) {
    fprintf(stderr, "control_loop: %s\n", oasis_last_error());
    return 1;
  }
  run(probe);
}
