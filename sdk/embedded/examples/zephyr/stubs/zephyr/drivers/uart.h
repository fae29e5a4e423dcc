#ifndef ZEPHYR_UART_H
#define ZEPHYR_UART_H

#include <zephyr/device.h>

int uart_poll_in(const struct device *uart, unsigned char *byte);
void uart_poll_out(const struct device *uart, unsigned char byte);

#endif
