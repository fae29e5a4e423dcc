/* C against the installed library. */

#include "counter.h"

int main(void) {
  uint8_t row[8];
  const Package_Counter sample = {7};
  return Package_Counter_row(&sample, row, sizeof row) == sizeof row && oasis_now() > 0 ? 0 : 1;
}
