#include "board.h"

#include <stdbool.h>

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#define SYST_CSR REGISTER(0xe000e010u)
#define SYST_RVR REGISTER(0xe000e014u)
#define SYST_CVR REGISTER(0xe000e018u)
#define NVIC_ISER REGISTER(0xe000e100u)
#define SCB_ICSR REGISTER(0xe000ed04u)
#define SCB_AIRCR REGISTER(0xe000ed0cu)

#define UART_DATA REGISTER(0x40004000u)
#define UART_STATE REGISTER(0x40004004u)
#define UART_CTRL REGISTER(0x40004008u)
#define UART_INTERRUPTS REGISTER(0x4000400cu)
#define UART_BAUDDIV REGISTER(0x40004010u)

enum { TX_FULL = 1, RX_FULL = 2, TX_ENABLE = 1, RX_ENABLE = 2, RX_INTERRUPT = 8 };
enum { CLOCK_PENDING = 1 << 26 };
enum { CLOCK_HERTZ = 25000000, BAUD = 115200, RECEIVED = 128 };

extern uint32_t data_load[], data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];

static volatile uint32_t milliseconds;
static uint8_t received[RECEIVED];
static volatile uint8_t received_head, received_tail;

void reset(void) {
  uint32_t *from = data_load;
  for (uint32_t *to = data_begin; to < data_end; ++to) {
    *to = *from++;
  }
  for (uint32_t *to = bss_begin; to < bss_end; ++to) {
    *to = 0;
  }
  main();
  board_reset();
}

static void halt(void) { board_reset(); }

static void on_tick(void) {
  milliseconds += 1u;
  on_millisecond();
}

static void on_byte(void) {
  UART_INTERRUPTS = RX_ENABLE;
  while ((UART_STATE & RX_FULL) != 0) {
    const uint8_t byte = (uint8_t)UART_DATA;
    const uint8_t next = (uint8_t)((received_head + 1u) % RECEIVED);
    if (next != received_tail) {
      received[received_head] = byte;
      received_head = next;
    }
  }
}

typedef void (*handler)(void);

/* Stack, reset, faults, clock, and the receiver of UART 0. */
__attribute__((section(".vectors"), used)) static const struct {
  uint32_t *stack;
  handler handlers[16];
} vectors = {stack_top, {reset, halt, halt, halt, halt, halt, 0, 0, 0, 0, halt, halt, 0, halt, on_tick, on_byte}};

void board_start(void) {
  UART_BAUDDIV = CLOCK_HERTZ / BAUD;
  UART_CTRL = TX_ENABLE | RX_ENABLE | RX_INTERRUPT;
  NVIC_ISER = 1;
  SYST_RVR = TICKS_A_MILLISECOND - 1;
  SYST_CVR = 0;
  SYST_CSR = 7;
}

uint32_t board_ticks(void) { return SYST_CVR; }

uint64_t board_uptime_ns(void *context) {
  (void)context;
  uint32_t before, ticks;
  bool is_pending;
  do {
    before = milliseconds;
    ticks = SYST_CVR;
    is_pending = (SCB_ICSR & CLOCK_PENDING) != 0;
  } while (before != milliseconds);
  /* The counter has begun again, and its interrupt waits: for another one that asks for the time, or for the core. */
  if (is_pending && ticks > TICKS_A_MILLISECOND / 2) {
    ++before;
  }
  return before * UINT64_C(1000000) + (TICKS_A_MILLISECOND - 1u - ticks) * 40u;
}

size_t board_send(void *context, const uint8_t *bytes, size_t count) {
  (void)context;
  size_t sent = 0;
  while (sent < count && (UART_STATE & TX_FULL) == 0) {
    UART_DATA = bytes[sent++];
  }
  return sent;
}

size_t board_receive(void *context, uint8_t *bytes, size_t capacity) {
  (void)context;
  size_t count = 0;
  while (count < capacity && received_tail != received_head) {
    bytes[count++] = received[received_tail];
    received_tail = (uint8_t)((received_tail + 1u) % RECEIVED);
  }
  return count;
}

void board_reset(void) {
  SCB_AIRCR = 0x05fa0004u;
  for (;;) {
  }
}

void board_sleep(void) { __asm__ volatile("wfi"); }

void board_exit(void) {
  register uint32_t operation __asm__("r0") = 0x18u;
  register uint32_t reason __asm__("r1") = 0x20026u;
  __asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(reason) : "memory");
}
