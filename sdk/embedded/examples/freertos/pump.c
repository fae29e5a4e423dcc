/* A pump under FreeRTOS: one task samples the motor, another one has the node. All memory is static
 * (configSUPPORT_STATIC_ALLOCATION). The UART's interrupt puts what it receives into a stream buffer. */

#include <FreeRTOS.h>
#include <stream_buffer.h>
#include <task.h>

#include "pump.h"

enum { MOTOR_SLOTS = 256, STACK_WORDS = 256, RECEIVED_BYTES = 128 };

/* What the board's support has: both return at once. */
extern size_t uart_write(const uint8_t *bytes, size_t count);
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
static OASIS_NOINIT oasis_kept kept;
static oasis_node node;

static StreamBufferHandle_t received;

/* Two words that do not change at once: a task may be interrupted between them. */
static uint64_t uptime_ns(void *context) {
  static TickType_t before;
  static uint64_t wraps;
  (void)context;
  taskENTER_CRITICAL();
  const TickType_t ticks = xTaskGetTickCount();
  wraps += ticks < before;
  before = ticks;
  const uint64_t all = wraps << 32 | ticks;
  taskEXIT_CRITICAL();
  return all * (UINT64_C(1000000000) / configTICK_RATE_HZ);
}

static size_t send_bytes(void *context, const uint8_t *bytes, size_t count) {
  (void)context;
  return uart_write(bytes, count);
}

static size_t receive_bytes(void *context, uint8_t *bytes, size_t capacity) {
  (void)context;
  return xStreamBufferReceive(received, bytes, capacity, 0);
}

/* The interrupt of the UART's receiver. */
void on_uart_byte(uint8_t byte) {
  BaseType_t is_task_woken = pdFALSE;
  xStreamBufferSendFromISR(received, &byte, 1, &is_task_woken);
  portYIELD_FROM_ISR(is_task_woken);
}

static void sample(void *context) {
  (void)context;
  TickType_t wake = xTaskGetTickCount();
  for (;;) {
    if (oasis_due(&probes[0])) {
      int16_t values[3];
      read_accelerometer(values);
      const Pump_Motor motor = {values[0], values[1], values[2]};
      Pump_Motor_sample(&probes[0], &motor);
    }
    vTaskDelayUntil(&wake, 1);
  }
}

static void run_node(void *context) {
  (void)context;
  for (;;) {
    oasis_poll(&node);
    vTaskDelay(1);
  }
}

int main(void) {
  static StaticStreamBuffer_t buffer;
  static uint8_t bytes[RECEIVED_BYTES + 1];
  static StaticTask_t tasks[2];
  static StackType_t stacks[2][STACK_WORDS];
  received = xStreamBufferCreateStatic(sizeof bytes, 1, bytes, &buffer);
  node.name = "pump 7";
  node.software = "pump under FreeRTOS";
  node.probes = probes;
  node.probe_count = 1;
  node.port.uptime_ns = uptime_ns;
  node.port.send = send_bytes;
  node.port.receive = receive_bytes;
  node.kept = &kept;
  if (oasis_start(&node) != OASIS_OK) {
    return 1;
  }
  xTaskCreateStatic(sample, "sample", STACK_WORDS, NULL, 3, stacks[0], &tasks[0]);
  xTaskCreateStatic(run_node, "oasis", STACK_WORDS, NULL, 1, stacks[1], &tasks[1]);
  vTaskStartScheduler();
  return 1;
}
