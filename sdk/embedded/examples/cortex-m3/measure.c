/* Counts the instructions of a flush: QEMU with `-icount shift=0` executes one instruction a nanosecond, and the clock
 * counts once in 40 ns. Counted is the whole call of `Pump_Motor_sample` with three int16: number, kept count, clock,
 * three values, commit, and the loop around it. Then the instructions a sample of encoding the batch and its frame. */

#include "../../src/batch.h"
#include "../../src/frame.h"
#include "board.h"
#include "pump.h"

enum { SLOTS = 65, FLUSHES = 64, REPEATS = 10 };

static uint32_t ring[OASIS_RING_WORDS(PUMP_MOTOR_ROW_BYTES, SLOTS)];
static oasis_kept kept;
static oasis_probe probe = {.type = &Pump_Motor_type, .name = "motor", .ring = ring, .slots = SLOTS};
static oasis_node node = {
    .name = "measured",
    .software = "",
    .probes = &probe,
    .probe_count = 1,
    .port = {board_uptime_ns, board_send, board_receive, NULL},
    .kept = &kept,
};

void on_millisecond(void) {}

static void print_number(uint32_t number) {
  uint8_t digits[12];
  size_t at = sizeof digits;
  digits[--at] = '\n';
  do {
    digits[--at] = (uint8_t)('0' + number % 10u);
    number /= 10u;
  } while (number > 0);
  while (at < sizeof digits) {
    at += board_send(NULL, digits + at, sizeof digits - at);
  }
}

int main(void) {
  if (oasis_start(&node) != OASIS_OK) {
    return 1;
  }
  board_start();
  uint32_t most = 0;
  for (uint32_t repeat = 0; repeat < REPEATS; ++repeat) {
    probe.tail = probe.head;
    board_sleep(); /* begins after an interrupt */
    const uint32_t before = board_ticks();
    for (uint32_t flush = 0; flush < FLUSHES; ++flush) {
      const Pump_Motor motor = {(int16_t)(flush * flush * 7u), (int16_t)(flush % 9u), 3};
      Pump_Motor_sample(&probe, &motor);
    }
    const uint32_t instructions = (before - board_ticks()) * 40u;
    most = instructions > most ? instructions : most;
  }
  print_number((most + FLUSHES - 1u) / FLUSHES);
  board_sleep();
  const uint64_t begun = board_uptime_ns(NULL);
  const size_t bytes =
      oasis_take_batch(&probe, 1, 0, node.out + OASIS_STUFFING + OASIS_HEAD_BYTES, OASIS_BODY_BYTES);
  oasis_finish_frame(node.out, OASIS_KIND_BATCH, 0, 0, bytes);
  print_number((uint32_t)(board_uptime_ns(NULL) - begun) / FLUSHES);
  board_exit();
  return 0;
}
