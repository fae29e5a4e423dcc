// Output of the generated functions, with a ring of one sample.

#include "device.h"

#include <stdio.h>
#include <string.h>

static uint8_t row[64];
static int begun, committed, is_full;

uint8_t *oasis_begin(oasis_probe *probe) {
  (void)probe;
  ++begun;
  return is_full ? NULL : row;
}

void oasis_commit(oasis_probe *probe) {
  (void)probe;
  ++committed;
}

static int failures;

static void check(int is_right, const char *what) {
  if (!is_right) {
    printf("%s\n", what);
    ++failures;
  }
}

int main(void) {
  oasis_probe probe;
  memset(&probe, 0, sizeof probe);

  const Plant_Motor motor = {1, -2, 0x0304};
  const uint8_t motor_row[PLANT_MOTOR_ROW_BYTES] = {1, 0, 0xfe, 0xff, 4, 3};
  check(Plant_Motor_sample(&probe, &motor), "a sample is put into the ring");
  check(memcmp(row, motor_row, sizeof motor_row) == 0, "three metrics");
  check(Plant_Motor_type.column_count == 3 && Plant_Motor_type.row_bytes == 6, "the description");
  check(Plant_Motor_type.schema_bytes == strlen(Plant_Motor_schema), "the length of the schema");
  check(Plant_Motor_type.uuid[0] == 0x0f && Plant_Motor_type.uuid[15] == 0xaa, "the UUID");

  Plant_Everything all;
  memset(&all, 0, sizeof all);
  all.flag = true;
  all.int8_value = -1;
  all.uint8_value = 2;
  all.uint16_value = 0x0102;
  all.int32_value = -2;
  all.uint32_value = 0x01020304;
  all.int64_value = -3;
  all.uint64_value = 0x0102030405060708;
  all.real32_value = 1.5f;
  all.real64_value = -2.0;
  all.valve = Plant_Valve_CLOSED;
  all.spot.x = 7;
  all.spot.height = 0.5f;
  all.spot.valve = Plant_Valve_OPEN;
  all.value = 9;
  const uint8_t all_row[] = {
      1, 0xff, 2, 2, 1, 0xfe, 0xff, 0xff, 0xff, 4, 3, 2, 1, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 8, 7, 6, 5, 4,
      3, 2, 1, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0xff, 7, 0, 0, 0, 0, 0x3f, 1, 0, 9,
  };
  check(Plant_Everything_sample(&probe, &all), "each type is put into the ring");
  check(sizeof all_row == PLANT_EVERYTHING_ROW_BYTES, "the size of all types");
  check(memcmp(row, all_row, sizeof all_row) == 0, "all types");
  check(Plant_Everything_columns[0].kind == OASIS_UNSIGNED && Plant_Everything_columns[10].kind == OASIS_SIGNED &&
            Plant_Everything_columns[9].kind == OASIS_REAL && Plant_Everything_columns[11].kind == OASIS_ROWS &&
            Plant_Everything_columns[11].width == 8,
        "the columns");

  check(Plant_Tick_sample(&probe) && Plant_Tick_type.column_count == 0, "a probe without metrics");
  check(begun == 3 && committed == 3, "each sample is committed");
  is_full = 1;
  check(!Plant_Motor_sample(&probe, &motor) && committed == 3, "a full ring takes nothing");
  check(PLANT_MOTOR_ROW_BYTES_ == 1u, "two constants of one name");
  return failures;
}
