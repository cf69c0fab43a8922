"""ONNX Runtime through its C API, with results in arrays that the caller has.

OrtApi is a table of functions in an order that never changes, so that an index names a function; the
indices are those of onnxruntime_c_api.h, which says what each takes.
"""

import ctypes

GET_ERROR_MESSAGE = 2
CREATE_ENV = 3
CREATE_SESSION = 7
RUN = 9
CREATE_SESSION_OPTIONS = 10
SET_OPTIMIZATION_LEVEL = 23
SET_INTRA_OP_THREADS = 24
SET_INTER_OP_THREADS = 25
CREATE_TENSOR_WITH_DATA = 49
CREATE_CPU_MEMORY_INFO = 69
ADD_SESSION_CONFIG_ENTRY = 130

API_VERSION = 14
ERROR = 3              # OrtLoggingLevel
ALL = 99               # GraphOptimizationLevel
ARENA, DEFAULT = 1, 0  # OrtAllocatorType, OrtMemType
# ONNXTensorElementDataType
TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11}

pointer = ctypes.c_void_p


class Library:
    def __init__(self, path):
        self._library = ctypes.CDLL(path)

        class ApiBase(ctypes.Structure):
            _fields_ = [("get_api", ctypes.CFUNCTYPE(pointer, ctypes.c_uint32)),
                        ("version", ctypes.CFUNCTYPE(ctypes.c_char_p))]

        self._library.OrtGetApiBase.restype = ctypes.POINTER(ApiBase)
        base = self._library.OrtGetApiBase().contents
        self.version = base.version().decode()
        self._table = ctypes.cast(base.get_api(API_VERSION), ctypes.POINTER(pointer))
        self._message = ctypes.CFUNCTYPE(ctypes.c_char_p, pointer)(self._table[GET_ERROR_MESSAGE])
        self.environment = self.create(CREATE_ENV, (ctypes.c_int, ctypes.c_char_p), ERROR, b"bench")
        self.memory = self.create(CREATE_CPU_MEMORY_INFO, (ctypes.c_int, ctypes.c_int), ARENA, DEFAULT)

    def function(self, index, *types):
        call = ctypes.CFUNCTYPE(pointer, *types)(self._table[index])

        def checked(*arguments):
            status = call(*arguments)
            if status:
                raise RuntimeError(self._message(status).decode())

        return checked

    def create(self, index, types, *arguments):
        """What a function gives through its last parameter."""
        result = pointer()
        self.function(index, *types, ctypes.POINTER(pointer))(*arguments, ctypes.byref(result))
        return result

    def tensor(self, array):
        """A view of an array, which must outlive it."""
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        types = (pointer, pointer, ctypes.c_size_t, pointer, ctypes.c_size_t, ctypes.c_int)
        return self.create(CREATE_TENSOR_WITH_DATA, types, self.memory, array.ctypes.data,
                           array.nbytes, shape, array.ndim, TYPES[array.dtype.name])


class Session:
    """A model, ready for calls on arrays that are bound once."""

    def __init__(self, library, path, threads):
        options = library.create(CREATE_SESSION_OPTIONS, ())
        for index, value in ((SET_INTRA_OP_THREADS, threads), (SET_INTER_OP_THREADS, 1),
                             (SET_OPTIMIZATION_LEVEL, ALL)):
            library.function(index, pointer, ctypes.c_int)(options, value)
        # Its threads wait in turning loops within a call, and not after it, where they would take our cores.
        library.function(ADD_SESSION_CONFIG_ENTRY, pointer, ctypes.c_char_p, ctypes.c_char_p)(
            options, b"session.force_spinning_stop", b"1")
        types = (pointer, ctypes.c_char_p, pointer)
        self._library = library
        self._session = library.create(CREATE_SESSION, types, library.environment,
                                       str(path).encode(), options)

    def bind(self, inputs, outputs):
        """A function that reads and writes these arrays, by name."""
        library = self._library
        for array in (*inputs.values(), *outputs.values()):
            if array.dtype.name not in TYPES or not array.flags.c_contiguous:
                raise ValueError("only dense arrays of numbers that ONNX has")

        def handles(arrays):
            return ((ctypes.c_char_p * len(arrays))(*(name.encode() for name in arrays)),
                    (pointer * len(arrays))(*(library.tensor(array) for array in arrays.values())),
                    len(arrays))

        input_names, input_values, input_count = handles(inputs)
        output_names, output_values, output_count = handles(outputs)
        run = library.function(RUN, pointer, pointer, pointer, pointer, ctypes.c_size_t, pointer,
                               ctypes.c_size_t, pointer)
        session = self._session
        return lambda: run(session, None, input_names, input_values, input_count, output_names,
                           output_count, output_values)
