"""ONNX Runtime as a reference, where its library is: $PLIMSOLL_ONNXRUNTIME, or what ./dev bench downloaded.

Models and arrays of any type go in, arrays come out; nothing of it is needed by the tests.
"""

import ctypes
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "bench", "peers"))
import onnx_runtime as c_api  # noqa: E402
from protobuf import TYPES  # noqa: E402

# More of OrtApi's indices than bench/peers/onnx_runtime.py has.
CREATE_SESSION_FROM_ARRAY = 8
GET_TENSOR_MUTABLE_DATA = 51
GET_TENSOR_ELEMENT_TYPE = 60
GET_DIMENSIONS_COUNT = 61
GET_DIMENSIONS = 62
GET_TENSOR_TYPE_AND_SHAPE = 65
RELEASE_SESSION = 95
RELEASE_VALUE = 96
RELEASE_TENSOR_TYPE_AND_SHAPE_INFO = 99
RELEASE_SESSION_OPTIONS = 100

pointer = c_api.pointer
c_api.TYPES.update({np.dtype(kind).name: number for number, kind in TYPES.items()})


def path():
    """Where the library is, or None."""
    for candidate in (os.environ.get("PLIMSOLL_ONNXRUNTIME"), f"{ROOT}/build/bench/onnxruntime/libonnxruntime.so.1"):
        if candidate and os.path.exists(candidate):
            return candidate
    return None


class Reference:
    """Runs models from their bytes, as they are: no optimisation, one thread."""

    def __init__(self, file):
        self.library = c_api.Library(file)

    def release(self, index, handle):
        ctypes.CFUNCTYPE(None, pointer)(self.library._table[index])(handle)

    def integer(self, index, handle, kind):
        out = kind()
        self.library.function(index, pointer, ctypes.POINTER(kind))(handle, ctypes.byref(out))
        return out.value

    def array(self, value):
        info = self.library.create(GET_TENSOR_TYPE_AND_SHAPE, (pointer,), value)
        kind = TYPES[self.integer(GET_TENSOR_ELEMENT_TYPE, info, ctypes.c_int)]
        rank = self.integer(GET_DIMENSIONS_COUNT, info, ctypes.c_size_t)
        shape = (ctypes.c_int64 * rank)()
        self.library.function(GET_DIMENSIONS, pointer, pointer, ctypes.c_size_t)(info, shape, rank)
        self.release(RELEASE_TENSOR_TYPE_AND_SHAPE_INFO, info)
        data = self.library.create(GET_TENSOR_MUTABLE_DATA, (pointer,), value)
        out = np.empty(list(shape), kind)
        if out.size:
            ctypes.memmove(out.ctypes.data, data, out.nbytes)
        return out

    def run(self, model, inputs, outputs):
        """Arrays by name in, those of the names `outputs` back."""
        library = self.library
        options = library.create(c_api.CREATE_SESSION_OPTIONS, ())
        for index, value in ((c_api.SET_INTRA_OP_THREADS, 1), (c_api.SET_INTER_OP_THREADS, 1),
                             (c_api.SET_OPTIMIZATION_LEVEL, 0)):
            library.function(index, pointer, ctypes.c_int)(options, value)
        session = None
        values = []
        try:
            session = library.create(CREATE_SESSION_FROM_ARRAY, (pointer, ctypes.c_char_p, ctypes.c_size_t, pointer),
                                     library.environment, model, len(model), options)
            arrays = {name: np.require(array, requirements="C") for name, array in inputs.items()}
            values = [library.tensor(array) for array in arrays.values()]
            results = (pointer * len(outputs))()
            library.function(c_api.RUN, pointer, pointer, pointer, pointer, ctypes.c_size_t, pointer, ctypes.c_size_t, pointer)(
                session, None, (ctypes.c_char_p * len(arrays))(*(name.encode() for name in arrays)),
                (pointer * len(values))(*values), len(values),
                (ctypes.c_char_p * len(outputs))(*(name.encode() for name in outputs)), len(outputs), results)
            out = []
            for each in results:
                values.append(pointer(each))
                out.append(self.array(values[-1]))
            return out
        finally:
            for value in values:
                self.release(RELEASE_VALUE, value)
            if session:
                self.release(RELEASE_SESSION, session)
            self.release(RELEASE_SESSION_OPTIONS, options)
