"""Nothing is left beside the generated modules."""

import sys

sys.dont_write_bytecode = True
