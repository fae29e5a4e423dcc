/* A pump under Zephyr: a timer samples the motor, `main` has the node. The board's device tree names the UART
 * (chosen zephyr,console or a node of its own). */

#include <zephyr/device.h>
#include <zephyr/drivers/uart.h>
#include <zephyr/kernel.h>

#include "pump.h"

enum { MOTOR_SLOTS = 256 };

/* What the board's sensor driver has. */
extern void read_accelerometer(int16_t values[3]);

static uint32_t motor_ring[OASIS_RING_WORDS(PUMP_MOTOR_ROW_BYTES, MOTOR_SLOTS)];
static oasis_probe probes[1] = {
    {.type = &Pump_Motor_type,
     .name = "motor",
     .ring = motor_ring,
     .slots = MOTOR_SLOTS,
     .kind = OASIS_PERIODIC,
     .millihertz = 500000},
};
/* Zephyr's linker script has the section under this name too. */
static __noinit oasis_kept kept;
static oasis_node node;

static const struct device *const uart = DEVICE_DT_GET(DT_CHOSEN(zephyr_console));

static uint64_t uptime_ns(void *context) {
  (void)context;
  return k_ticks_to_ns_floor64((uint64_t)k_uptime_ticks());
}

/* A byte at a time: `uart_poll_out` waits for the transmitter, so a byte is 87 us at 115,200 baud. Boards with
 * CONFIG_UART_INTERRUPT_DRIVEN can use `uart_fifo_fill`. */
static size_t send_bytes(void *context, const uint8_t *bytes, size_t count) {
  (void)context;
  if (count > 0) {
    uart_poll_out(uart, bytes[0]);
    return 1;
  }
  return 0;
}

static size_t receive_bytes(void *context, uint8_t *bytes, size_t capacity) {
  (void)context;
  size_t count = 0;
  while (count < capacity && uart_poll_in(uart, &bytes[count]) == 0) {
    ++count;
  }
  return count;
}

static void on_timer(struct k_timer *timer) {
  (void)timer;
  if (oasis_due(&probes[0])) {
    int16_t values[3];
    read_accelerometer(values);
    const Pump_Motor motor = {values[0], values[1], values[2]};
    Pump_Motor_sample(&probes[0], &motor);
  }
}

int main(void) {
  static struct k_timer timer;
  node.name = "pump 7";
  node.software = "pump under Zephyr";
  node.probes = probes;
  node.probe_count = 1;
  node.port.uptime_ns = uptime_ns;
  node.port.send = send_bytes;
  node.port.receive = receive_bytes;
  node.kept = &kept;
  if (oasis_start(&node) != OASIS_OK) {
    return 1;
  }
  k_timer_init(&timer, on_timer, NULL);
  k_timer_start(&timer, K_MSEC(1), K_MSEC(1));
  for (;;) {
    oasis_poll(&node);
    k_sleep(K_MSEC(1));
  }
}
