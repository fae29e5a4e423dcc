#ifndef TASK_H
#define TASK_H

#include "FreeRTOS.h"

typedef void *TaskHandle_t;
typedef void (*TaskFunction_t)(void *);

void taskENTER_CRITICAL(void);
void taskEXIT_CRITICAL(void);
TickType_t xTaskGetTickCount(void);
BaseType_t vTaskDelayUntil(TickType_t *wake, TickType_t ticks);
void vTaskDelay(TickType_t ticks);
TaskHandle_t xTaskCreateStatic(TaskFunction_t task, const char *name, uint32_t words, void *context,
                               UBaseType_t priority, StackType_t *stack, StaticTask_t *memory);
void vTaskStartScheduler(void);

#endif
