"""What computations are given."""
import numpy as np

WHOLE = {"nussinov": 4, "lcs": 3, "floyd": 50}  # numbers below which elements are: no result is rounded
LARGE_DIAGONALS = {"lu", "ludcmp", "cholesky", "trisolv"}  # or what they divide by may be nothing


def numbers_for(loops, random):
    """Random arrays in f64, and numbers, by name of the parameter."""
    values = {}
    for name in loops.parameters:
        if name not in loops.extents:
            values[name] = 1.25
            continue
        shape = loops.shape(name)
        if loops.name in WHOLE:
            array = random.integers(0, WHOLE[loops.name], shape).astype(float)
        else:
            array = random.uniform(0.25, 1, shape)
        if loops.name in LARGE_DIAGONALS and len(shape) == 2:
            array = (array + array.T) / 4 + np.eye(len(array)) * len(array)
        if loops.name == "durbin":
            array /= 4 * len(array)
        values[name] = array
    return values
