"""DLPack: the versioned and the older form, both ways, with producers and consumers of our own."""

import ctypes
import gc
import threading

import numpy as np
import pytest
from conftest import copy_source

import plimsoll as pl


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("context", ctypes.c_void_p), ("deleter", Deleter), ("flags", ctypes.c_uint64),
                ("tensor", Tensor)]


class Legacy(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
get_name = ctypes.pythonapi.PyCapsule_GetName
get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]


class Producer:
    """An array as a tensor of either form; counts how often it was given back."""

    def __init__(self, array, code=2, versioned=True, flags=0, major=1, device=1, lanes=1, offset=0,
                 bits=None, null_strides=False):
        self.array, self.versioned, self.deleted = array, versioned, 0
        self.shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        strides = (stride // array.itemsize for stride in array.strides)
        self.strides = (ctypes.c_int64 * max(array.ndim, 1))(*strides)
        tensor = Tensor(array.__array_interface__["data"][0] - offset, device, 0, array.ndim, code,
                        bits or 8 * array.itemsize, lanes, self.shape,
                        None if null_strides else self.strides, offset)
        self.deleter = Deleter(self.delete)
        self.managed = (Versioned(major, 0, None, self.deleter, flags, tensor) if versioned
                        else Legacy(tensor, None, self.deleter))

    def delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        if options and not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.capsule = new_capsule(ctypes.addressof(self.managed),
                                   b"dltensor_versioned" if self.versioned else b"dltensor", None)
        return self.capsule


@pytest.fixture(scope="module")
def module(engine):
    return engine.loads(copy_source("f32", "?"))


@pytest.mark.parametrize("versioned", [True, False])
def test_import(module, versioned):
    x = np.arange(6, dtype=np.float32)
    producer = Producer(x, versioned=versioned)
    buffer = pl.from_dlpack(producer)
    assert get_name(producer.capsule).startswith(b"used_dltensor")
    assert buffer.array.__array_interface__["data"] == x.__array_interface__["data"]
    np.testing.assert_array_equal(module.copy(buffer), x)
    assert producer.deleted == 0
    del buffer
    assert producer.deleted == 1
    producer = Producer(x[::-2], versioned=versioned)
    np.testing.assert_array_equal(module.copy(producer), x[::-2])
    assert producer.deleted == 1
    producer = Producer(np.zeros(6, np.float32), versioned=versioned, offset=64, null_strides=True)
    assert module.copy(x, out=producer) is producer and producer.deleted == 1
    np.testing.assert_array_equal(producer.array, x)


def test_import_keeps_read_only(module):
    producer = Producer(np.zeros(3, np.float32), flags=1)
    assert pl.from_dlpack(producer).read_only
    assert not pl.from_dlpack(producer).array.flags.writeable
    with pytest.raises(pl.InvalidArgumentError, match="read-only"):
        module.put(np.ones(3, np.float32), producer)
    assert (producer.array == 0).all()


@pytest.mark.parametrize("wrong, error", [
    ({"major": 2}, pl.FailedPreconditionError), ({"device": 2}, pl.UnimplementedError),
    ({"lanes": 2}, pl.UnimplementedError), ({"code": 5}, pl.UnimplementedError),
    ({"code": 0, "bits": 4}, pl.UnimplementedError), ({"bits": 8}, pl.UnimplementedError)])
def test_refused(wrong, error):
    producer = Producer(np.zeros(3, np.float32), **wrong)
    with pytest.raises(error):
        pl.from_dlpack(producer)
    assert producer.deleted == 0  # still the producer's
    assert get_name(producer.capsule) == b"dltensor_versioned"


def test_taken_twice(module):
    producer = Producer(np.zeros(3, np.float32))
    capsule = producer.__dlpack__()
    first = pl._native.from_dlpack(capsule)
    with pytest.raises(pl.InvalidArgumentError):
        pl._native.from_dlpack(capsule)
    del first
    assert producer.deleted == 1


def test_bf16_from_dlpack(engine):
    bits = pl.to_bf16([1, 2, 3])
    producer = Producer(bits, code=4)
    assert pl.from_dlpack(producer).element_type == "bf16"
    np.testing.assert_array_equal(engine.loads(copy_source("bf16", "?")).copy(producer), bits)


def test_export(module):
    x = np.arange(6, dtype=np.float32)
    y = module.copy(x)
    capsule = y.base.__dlpack__(max_version=(1, 0))
    assert get_name(capsule) == b"dltensor_versioned"
    tensor = Versioned.from_address(get_pointer(capsule, b"dltensor_versioned"))
    assert (tensor.major, tensor.flags) == (1, 0)
    assert (tensor.tensor.ndim, tensor.tensor.code, tensor.tensor.bits) == (1, 2, 32)
    assert tensor.tensor.data == y.__array_interface__["data"][0]
    del y
    gc.collect()
    assert (ctypes.c_float * 6).from_address(tensor.tensor.data)[5] == 5
    del capsule  # nobody took it: it is given back
    y = module.copy(x)
    np.testing.assert_array_equal(np.from_dlpack(y.base), x)  # NumPy 1.24 knows the older form
    assert y.base.__dlpack_device__() == (1, 0)
    copied = np.from_dlpack(pl.Buffer(x))
    assert np.shares_memory(copied, x)


def test_export_of_read_only():
    x = np.zeros(3, np.float32)
    x.flags.writeable = False
    buffer = pl.Buffer(x)
    with pytest.raises(BufferError, match="read-only"):
        buffer.__dlpack__()
    capsule = buffer.__dlpack__(max_version=(1, 2))
    assert Versioned.from_address(get_pointer(capsule, b"dltensor_versioned")).flags == 1
    assert pl._native.from_dlpack(capsule).read_only
    capsule = buffer.__dlpack__(max_version=(1, 2), copy=True)
    copy = pl._native.from_dlpack(capsule)
    assert not copy.read_only and not np.shares_memory(copy.array, x)
    with pytest.raises(BufferError, match="device"):
        buffer.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="stream"):
        buffer.__dlpack__(stream=1)


def test_deleter_on_another_thread(module):
    producer = Producer(np.zeros(3, np.float32))
    held = [pl.from_dlpack(producer)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert producer.deleted == 1


@pytest.mark.parametrize("versioned", [True, False])
def test_copies_on_export(versioned):
    version = {"max_version": (1, 0)} if versioned else {}
    x = np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::2]
    for copy in (None, False, True):
        capsule = pl.Buffer(x).__dlpack__(copy=copy, **version)
        if versioned:
            managed = Versioned.from_address(get_pointer(capsule, b"dltensor_versioned"))
            assert managed.flags == (2 if copy else 0)
        array = pl._native.from_dlpack(capsule).array
        np.testing.assert_array_equal(array, x)
        assert np.shares_memory(array, x) == (not copy)
    x.flags.writeable = False
    assert not pl._native.from_dlpack(pl.Buffer(x).__dlpack__(copy=True, **version)).read_only
    if not versioned:
        for copy in (None, False):
            with pytest.raises(BufferError, match="read-only"):
                pl.Buffer(x).__dlpack__(copy=copy)
    with pytest.raises(BufferError, match="device"):
        pl.Buffer(x).__dlpack__(copy=False, dl_device=(2, 0), **version)
    bits = pl.to_bf16([1, 2])
    copied = pl._native.from_dlpack(pl.Buffer(bits, "bf16").__dlpack__(copy=True, **version))
    assert copied.element_type == "bf16" and (copied.array == bits).all()


def test_copies_on_import():
    """The producer is asked; where it cannot be, the copy is ours."""
    asked = []

    class Knows(Producer):
        def __dlpack__(self, **options):
            asked.append(options)
            if options.get("copy") is False:
                raise BufferError("it would be a copy")
            return super().__dlpack__(**options)

    class Earlier(Producer):  # 1.0, which had no copy=
        def __dlpack__(self, max_version=None):
            return super().__dlpack__()

    x = np.arange(3, dtype=np.float32)
    pl.from_dlpack(Knows(x)), pl.from_dlpack(Knows(x), copy=True)
    assert asked == [{"max_version": (1, 0)}, {"max_version": (1, 0), "copy": True}]
    with pytest.raises(BufferError, match="would be"):
        pl.from_dlpack(Knows(x), copy=False)
    for producer in (Earlier(x), Producer(x, versioned=False), pl.Buffer(x)):
        copied = pl.from_dlpack(producer, copy=True)
        np.testing.assert_array_equal(copied.array, x)
        assert not np.shares_memory(copied.array, x)
        assert getattr(producer, "deleted", 1) == 1
        for copy in (None, False):
            assert np.shares_memory(pl.from_dlpack(producer, copy=copy).array, x)
    with pytest.raises(AttributeError, match="__dlpack__"):
        pl.from_dlpack([1])

    class Broken:
        def __dlpack__(self, **options):
            raise TypeError("broken")

    with pytest.raises(TypeError, match="broken"):
        pl.from_dlpack(Broken())
