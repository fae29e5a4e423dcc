#ifndef STREAM_BUFFER_H
#define STREAM_BUFFER_H

#include "FreeRTOS.h"

typedef void *StreamBufferHandle_t;

typedef struct {
  uint32_t hidden[9];
} StaticStreamBuffer_t;

StreamBufferHandle_t xStreamBufferCreateStatic(size_t bytes, size_t trigger, uint8_t *storage,
                                               StaticStreamBuffer_t *memory);
size_t xStreamBufferReceive(StreamBufferHandle_t buffer, void *bytes, size_t capacity, TickType_t ticks);
size_t xStreamBufferSendFromISR(StreamBufferHandle_t buffer, const void *bytes, size_t count, BaseType_t *is_task_woken);

#endif
