/* A pump with three probes on bare metal. The motor's 1,000 samples a second are taken by the clock's interrupt; the node
 * calls the other two probes at the rates that the page asks for. */

#include "board.h"
#include "pump.h"

enum { MOTOR_SLOTS = 256, OTHER_SLOTS = 16 };

static uint32_t motor_ring[OASIS_RING_WORDS(PUMP_MOTOR_ROW_BYTES, MOTOR_SLOTS)];
static uint32_t tank_ring[OASIS_RING_WORDS(PUMP_TANK_ROW_BYTES, OTHER_SLOTS)];
static uint32_t bearings_ring[OASIS_RING_WORDS(PUMP_BEARINGS_ROW_BYTES, OTHER_SLOTS)];

static void take_tank(oasis_probe *probe);
static void take_bearings(oasis_probe *probe);

enum { MOTOR, TANK, BEARINGS, PROBES };

static oasis_probe probes[PROBES] = {
    {.type = &Pump_Motor_type,
     .name = "motor",
     .ring = motor_ring,
     .slots = MOTOR_SLOTS,
     .kind = OASIS_PERIODIC,
     .millihertz = 1000000},
    {.type = &Pump_Tank_type,
     .name = "tank",
     .ring = tank_ring,
     .slots = OTHER_SLOTS,
     .kind = OASIS_PERIODIC,
     .millihertz = 20000,
     .take = take_tank},
    {.type = &Pump_Bearings_type,
     .name = "bearings",
     .ring = bearings_ring,
     .slots = OTHER_SLOTS,
     .kind = OASIS_PERIODIC,
     .millihertz = 2000,
     .take = take_bearings},
};

static OASIS_NOINIT oasis_kept kept;

/* Set by `main`: an initializer would put its buffers into flash. */
static oasis_node node;

/* A wave of 200 samples, and its quarters. */
static int16_t wave(uint32_t phase) {
  const int32_t at = (int32_t)(phase % 200u) - 100;
  return (int16_t)(at * (at < 0 ? at + 100 : 100 - at));
}

void on_millisecond(void) {
  static uint32_t phase;
  if (oasis_due(&probes[MOTOR])) {
    ++phase;
    const Pump_Motor motor = {wave(phase), wave(phase + 50u), (int16_t)(phase & 0x7fffu)};
    Pump_Motor_sample(&probes[MOTOR], &motor);
  }
}

static void take_tank(oasis_probe *probe) {
  static uint32_t pulses;
  ++pulses;
  const Pump_Tank tank = {2.5f, pulses, pulses % 100u < 50u, Pump_Mode_RUNNING, wave(pulses)};
  Pump_Tank_sample(probe, &tank);
}

static void take_bearings(oasis_probe *probe) {
  static int64_t wear;
  const Pump_Bearing front = {40.5f, Pump_Mode_RUNNING};
  const Pump_Bearing rear = {38.25f, Pump_Mode_RUNNING};
  const Pump_Bearings bearings = {front, rear, ++wear, 0.75};
  Pump_Bearings_sample(probe, &bearings);
}

int main(void) {
  node.name = "pump 7";
  node.software = "pump on a Cortex-M3";
  node.probes = probes;
  node.probe_count = PROBES;
  node.port.uptime_ns = board_uptime_ns;
  node.port.send = board_send;
  node.port.receive = board_receive;
  node.kept = &kept;
  if (oasis_start(&node) != OASIS_OK) {
    return 1;
  }
  board_start();
  for (;;) {
    oasis_poll(&node);
    board_sleep();
  }
}
