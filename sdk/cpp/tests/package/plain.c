/* C against the installed library. */

#include <oasis.h>

int main(void) { return oasis_now() > 0 ? 0 : 1; }
