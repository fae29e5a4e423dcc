/* A simulated device: time passes only when its input says so. Each line is a command:
 *
 *   run MS [HEX]   HEX arrives, then MS milliseconds pass: prints what the device has sent
 *   reset          as the reset button does: only the kept memory survives
 *   torn           the same, in the middle of counting a sample
 *   brown-out      memory decays
 *   taken          prints how many samples each probe has counted since memory was invalid
 *
 * Arguments: the line's baud, the motor's samples in 4 ms, a seed, and `random` if no metric of the motor is its number. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pump.h"

enum { MOTOR_SLOTS = 256, OTHER_SLOTS = 16, UART_FIFO = 16, MOST_TEXT = 65536 };

static uint32_t motor_ring[OASIS_RING_WORDS(PUMP_MOTOR_ROW_BYTES, MOTOR_SLOTS)];
static uint32_t tank_ring[OASIS_RING_WORDS(PUMP_TANK_ROW_BYTES, OTHER_SLOTS)];
static uint32_t bearings_ring[OASIS_RING_WORDS(PUMP_BEARINGS_ROW_BYTES, OTHER_SLOTS)];
static oasis_kept kept;
static oasis_probe probes[3];
static oasis_node node;

static uint64_t now_ns;
static uint32_t baud = 115200;
static uint32_t motor_samples = 4;
static bool is_random;
/* Bits that the line has room for now. */
static uint64_t line_bits;
static uint8_t sent[MOST_TEXT];
static size_t sent_count;
static uint8_t arrived[MOST_TEXT];
static size_t arrived_count, arrived_at;
static uint32_t noise = 1;

static uint32_t next_noise(void) {
  noise = noise * 1664525u + 1013904223u;
  return noise >> 8;
}

static uint64_t uptime_ns(void *context) {
  (void)context;
  return now_ns;
}

static size_t send_bytes(void *context, const uint8_t *bytes, size_t count) {
  (void)context;
  size_t taken = 0;
  while (taken < count && line_bits >= 10u && sent_count < sizeof sent) {
    sent[sent_count++] = bytes[taken++];
    line_bits -= 10u;
  }
  return taken;
}

static size_t receive_bytes(void *context, uint8_t *bytes, size_t capacity) {
  (void)context;
  size_t count = 0;
  while (count < capacity && arrived_at < arrived_count) {
    bytes[count++] = arrived[arrived_at++];
  }
  return count;
}

/* Each sample carries its own number, so that a reader sees whether it is the one that it claims to be. */
static uint32_t number_of(const oasis_probe *probe) { return probe->kept->low + 1u; }

static void take_motor(oasis_probe *probe) {
  const int16_t x = (int16_t)(is_random ? next_noise() : number_of(probe));
  const Pump_Motor motor = {x, (int16_t)next_noise(), (int16_t)next_noise()};
  Pump_Motor_sample(probe, &motor);
}

static void take_tank(oasis_probe *probe) {
  const Pump_Tank tank = {1.5f, number_of(probe), next_noise() % 2u == 0, Pump_Mode_RUNNING, -(int32_t)(next_noise() % 9u)};
  Pump_Tank_sample(probe, &tank);
}

static void take_bearings(oasis_probe *probe) {
  const Pump_Bearing bearing = {40.5f, Pump_Mode_STOPPED};
  const Pump_Bearings bearings = {bearing, bearing, (int64_t)number_of(probe), 0.25};
  Pump_Bearings_sample(probe, &bearings);
}

static void start(void) {
  memset(&node, 0, sizeof node);
  memset(probes, 0, sizeof probes);
  memset(motor_ring, 0xa5, sizeof motor_ring);
  probes[0] = (oasis_probe){.type = &Pump_Motor_type, .name = "motor", .ring = motor_ring, .slots = MOTOR_SLOTS};
  probes[0].kind = OASIS_PUSHED;
  probes[1] = (oasis_probe){.type = &Pump_Tank_type, .name = "tank", .ring = tank_ring, .slots = OTHER_SLOTS};
  probes[1].millihertz = 20000;
  probes[1].take = take_tank;
  probes[2] = (oasis_probe){.type = &Pump_Bearings_type, .name = "bearings", .ring = bearings_ring, .slots = OTHER_SLOTS};
  probes[2].millihertz = 2000;
  probes[2].take = take_bearings;
  node.name = "pump 7";
  node.software = "demo 1.0";
  node.probes = probes;
  node.probe_count = 3;
  node.port.uptime_ns = uptime_ns;
  node.port.send = send_bytes;
  node.port.receive = receive_bytes;
  node.kept = &kept;
  arrived_count = arrived_at = 0;
  now_ns = 0;
  const oasis_status status = oasis_start(&node);
  if (status != OASIS_OK) {
    fprintf(stderr, "the node does not start: status %d\n", (int)status);
    exit(1);
  }
}

static void pass(uint32_t milliseconds) {
  static uint32_t quarters;
  for (uint32_t at = 0; at < 4u * milliseconds; ++at) {
    now_ns += 250000u;
    line_bits += baud / 4000u;
    if (line_bits > 10u * UART_FIFO + baud / 4000u) {
      line_bits = 10u * UART_FIFO + baud / 4000u;
    }
    /* Evenly within 4 ms. */
    quarters = (quarters + 1u) % 16u;
    for (uint32_t due = quarters * motor_samples / 16u; due < (quarters + 1u) * motor_samples / 16u; ++due) {
      take_motor(&probes[0]);
    }
    oasis_poll(&node);
  }
}

static int digit(char of) { return of <= '9' ? of - '0' : of - 'a' + 10; }

static void on_run(const char *text) {
  char *rest = NULL;
  const uint32_t milliseconds = (uint32_t)strtoul(text, &rest, 10);
  arrived_count = arrived_at = 0;
  while (*rest == ' ') {
    ++rest;
  }
  for (; rest[0] >= '0' && rest[1] >= '0' && arrived_count < sizeof arrived; rest += 2) {
    arrived[arrived_count++] = (uint8_t)(digit(rest[0]) * 16 + digit(rest[1]));
  }
  sent_count = 0;
  pass(milliseconds);
  for (size_t at = 0; at < sent_count; ++at) {
    printf("%02x", sent[at]);
  }
  printf("\n");
}

static void decay(void) {
  uint8_t *bytes = (uint8_t *)&kept;
  for (size_t at = 0; at < sizeof kept; ++at) {
    if (next_noise() % 4u == 0) {
      bytes[at] = (uint8_t)next_noise();
    }
  }
}

int main(int count, char **arguments) {
  static char line[2 * MOST_TEXT];
  if (count > 1) {
    baud = (uint32_t)strtoul(arguments[1], NULL, 10);
  }
  if (count > 2) {
    motor_samples = (uint32_t)strtoul(arguments[2], NULL, 10);
  }
  if (count > 3) {
    noise = (uint32_t)strtoul(arguments[3], NULL, 10);
  }
  is_random = count > 4;
  start();
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (strncmp(line, "run ", 4) == 0) {
      on_run(line + 4);
    } else if (strncmp(line, "reset", 5) == 0) {
      start();
    } else if (strncmp(line, "torn", 4) == 0) {
      kept.counts[0].low += 1u;
      start();
    } else if (strncmp(line, "brown-out", 9) == 0) {
      decay();
      start();
    } else if (strncmp(line, "taken", 5) == 0) {
      printf("%lu %lu %lu\n", (unsigned long)kept.counts[0].low, (unsigned long)kept.counts[1].low,
             (unsigned long)kept.counts[2].low);
    } else {
      fprintf(stderr, "unknown command: %s", line);
      return 1;
    }
    fflush(stdout);
  }
  return 0;
}
