/* The MPS2 board: its clock, and UART 0 as the line to the gateway. */

#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

enum { TICKS_A_MILLISECOND = 25000 };

/* Called each millisecond by the clock's interrupt. */
void on_millisecond(void);

/* Where the processor begins. */
void reset(void);

int main(void);

/* Starts clock and UART. */
void board_start(void);

/* Counts down from TICKS_A_MILLISECOND - 1, once in 40 ns. */
uint32_t board_ticks(void);

/* As `oasis_port` wants them. */
uint64_t board_uptime_ns(void *context);
size_t board_send(void *context, const uint8_t *bytes, size_t count);
size_t board_receive(void *context, uint8_t *bytes, size_t capacity);

/* Resets the processor; memory keeps its contents. */
void board_reset(void);

/* Sleeps until the next interrupt. */
void board_sleep(void);

/* Ends QEMU (-semihosting). */
void board_exit(void);

#endif
