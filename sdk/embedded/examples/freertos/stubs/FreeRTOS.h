/* Declarations as in FreeRTOS V11, so that the example compiles without the kernel. */

#ifndef FREERTOS_H
#define FREERTOS_H

#include <stddef.h>
#include <stdint.h>

#define configTICK_RATE_HZ 1000u
#define pdFALSE 0

typedef long BaseType_t;
typedef unsigned long UBaseType_t;
typedef uint32_t TickType_t;
typedef uint32_t StackType_t;

typedef struct {
  uint32_t hidden[24];
} StaticTask_t;

void portYIELD_FROM_ISR(BaseType_t is_task_woken);

#endif
