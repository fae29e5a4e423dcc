/* Generated types write the rows of vectors/shapes.json, and nothing where there is no room. */

#include "shapes.h"

#include <stdio.h>
#include <stdlib.h>

#define WRITER(type) \
  static size_t write_##type(const void *value, uint8_t *bytes, size_t capacity) { \
    return type##_row(value, bytes, capacity); \
  }

WRITER(Shapes_Numbers)
WRITER(Shapes_Texts)
WRITER(Shapes_Vectors)
WRITER(Shapes_Structs)
WRITER(Shapes_Enums)
WRITER(Shapes_Nothing)
WRITER(Shapes_Inner_Numbers)
WRITER(Shapes_Inner_Words)

static float real32(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double real64(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void fail(const char *name, const char *what) {
  fprintf(stderr, "shapes.c: %s: %s\n", name, what);
  exit(1);
}

/* Whatever the room, the answer is the same, and memory behind it is left alone: it is of that size. */
static void check_row(const void *value, size_t (*write)(const void *, uint8_t *, size_t), const char *name,
                      const char *expected) {
  const size_t length = strlen(expected) / 2;
  for (size_t capacity = 0; capacity <= length; ++capacity) {
    uint8_t *row = malloc(capacity + (capacity == 0));
    if (row == NULL || write(value, row, capacity) != length) {
      fail(name, "another length than expected");
    }
    for (size_t index = 0; capacity == length && index < length; ++index) {
      char hex[3];
      snprintf(hex, sizeof hex, "%02x", row[index]);
      if (memcmp(hex, expected + 2 * index, 2) != 0) {
        fail(name, "another row than expected");
      }
    }
    free(row);
  }
}

#include "shapes_cases.inc"

int main(void) {
  check_cases();
  return 0;
}
