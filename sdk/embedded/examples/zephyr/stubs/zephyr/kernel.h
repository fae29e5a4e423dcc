/* Declarations as in Zephyr 3.7, so that the example compiles without the kernel. */

#ifndef ZEPHYR_KERNEL_H
#define ZEPHYR_KERNEL_H

#include <stdint.h>

#define __noinit __attribute__((section(".noinit")))

typedef struct {
  int64_t ticks;
} k_timeout_t;

#define K_MSEC(milliseconds) ((k_timeout_t){(milliseconds)})

struct k_timer {
  uint32_t hidden[12];
};

typedef void (*k_timer_expiry_t)(struct k_timer *timer);

void k_timer_init(struct k_timer *timer, k_timer_expiry_t on_expiry, void (*on_stop)(struct k_timer *timer));
void k_timer_start(struct k_timer *timer, k_timeout_t first, k_timeout_t period);
int32_t k_sleep(k_timeout_t timeout);
int64_t k_uptime_ticks(void);
uint64_t k_ticks_to_ns_floor64(uint64_t ticks);

#endif
