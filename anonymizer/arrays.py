"""Names for the types of arrays, by what they hold."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Numbers = NDArray[np.int32]
Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
