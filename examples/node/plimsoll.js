'use strict';
// Plimsoll for Node: a binding of the C interface (plimsoll/plimsoll.h) by koffi, without a compiled part.
//
// Objects are released by release(), or some time after they are gone. Tensors are typed arrays: those that
// go in are used where they are, and those that come out are views of the engine's memory.

const { markAsUntransferable } = require('node:worker_threads');
const koffi = require('koffi');

const library = koffi.load(process.env.PLIMSOLL_LIBRARY || 'libplimsoll.so.0');
for (const handle of ['status', 'engine', 'module', 'function', 'buffer'])
  koffi.opaque(`plim_${handle}`);
const EngineOptions = koffi.struct('plim_engine_options', {
  struct_size: 'uint32_t', flags: 'uint32_t', target: 'void *', threads: 'uint32_t', reserved: 'uint32_t',
  policy: 'const char *', limits: 'void *', cache_folder: 'const char *',
  cache_bytes: 'uint64_t', logger: 'void *', allocator: 'void *', host_functions: 'void *',
});
const BufferMemory = koffi.struct('plim_buffer_memory', {
  struct_size: 'uint32_t', flags: 'uint32_t', element: 'uint32_t', rank: 'uint32_t',
  shape: 'int64_t *', strides: 'int64_t *', data: 'void *', bytes: 'size_t', bytes_before: 'size_t',
  release: 'void *', user: 'void *',
});
const ValueType = koffi.struct('plim_value_type', {
  struct_size: 'uint32_t', kind: 'uint32_t', element: 'uint32_t', rank: 'uint32_t',
  shape: 'void *', strides: 'void *', access: 'uint32_t', donated_to: 'int32_t',
});

const c = {};
for (const declaration of [
  'int32_t plim_status_code(plim_status *status)',
  'const char *plim_code_name(int32_t code)',
  'const char *plim_status_message(plim_status *status)',
  'const char *plim_status_file(plim_status *status)',
  'uint32_t plim_status_line(plim_status *status)',
  'uint32_t plim_status_column(plim_status *status)',
  'void plim_status_release(plim_status *status)',
  'plim_status *plim_engine_create(plim_engine_options *options, _Out_ plim_engine **engine)',
  'void plim_engine_release(plim_engine *engine)',
  'plim_status *plim_module_load(plim_engine *engine, const char *source, size_t size, const char *name, '
    + 'void *options, _Out_ plim_module **module)',
  'size_t plim_module_function_count(plim_module *module)',
  'const char *plim_module_function_name(plim_module *module, size_t index)',
  'plim_status *plim_module_function(plim_module *module, const char *name, _Out_ plim_function **function)',
  'void plim_module_release(plim_module *module)',
  'size_t plim_function_argument_count(plim_function *function)',
  'size_t plim_function_result_count(plim_function *function)',
  'plim_status *plim_function_argument_type(plim_function *function, size_t index, _Inout_ plim_value_type *type)',
  'plim_status *plim_function_result_type(plim_function *function, size_t index, _Inout_ plim_value_type *type)',
  'plim_status *plim_function_call(plim_function *function, void *arguments, size_t argument_count, '
    + 'void *results, size_t result_count, void *options)',
  'void plim_function_release(plim_function *function)',
  'plim_status *plim_buffer_wrap(plim_buffer_memory *memory, _Out_ plim_buffer **buffer)',
  'uint32_t plim_buffer_rank(plim_buffer *buffer)',
  'void *plim_buffer_shape(plim_buffer *buffer)',
  'size_t plim_buffer_bytes(plim_buffer *buffer)',
  'void *plim_buffer_data(plim_buffer *buffer)',
  'void plim_buffer_release(plim_buffer *buffer)',
]) {
  const [, name] = declaration.match(/(\w+)\(/);
  c[name.slice('plim_'.length)] = library.func(declaration);
}

// By number; typed arrays that hold such elements, and the one that results get. Small floats are their bits.
const elements = [
  null,
  ['i1', Uint8Array], ['i8', Int8Array, Uint8Array], ['i16', Int16Array, Uint16Array],
  ['i32', Int32Array, Uint32Array], ['i64', BigInt64Array, BigUint64Array], ['f16', Uint16Array],
  ['bf16', Uint16Array], ['f32', Float32Array], ['f64', Float64Array],
  ['index', BigInt64Array, BigUint64Array],
];
const kinds = [null, 'scalar', null, 'tensor', 'memref'];
const accesses = ['readonly', 'writeonly', 'readwrite'];
const [SCALAR, BUFFER] = [1, 2];

/** What the library reports: `code` is the name of a status code, and the place that of the source, if any. */
class PlimsollError extends Error {
  constructor(status) {
    super(c.status_message(status));
    this.name = 'PlimsollError';
    this.code = c.code_name(c.status_code(status));
    this.file = c.status_file(status);
    this.line = c.status_line(status);
    this.column = c.status_column(status);
    c.status_release(status);
  }
}

function check(status) {
  if (status)
    throw new PlimsollError(status);
}

function out(call) {
  const pointer = [null];
  check(call(pointer));
  return pointer[0];
}

const forgotten = new FinalizationRegistry(({ release, handle }) => release(handle));

/** A handle of the library with one owner, this object. */
class Handle {
  constructor(handle, release) {
    this.handle = handle;
    this.releaseHandle = release;
    forgotten.register(this, { release, handle }, this);
  }

  release() {
    if (this.handle)
      this.releaseHandle(this.handle);
    this.handle = null;
    forgotten.unregister(this);
  }
}

/** Compiles modules for this machine. Options: `threads`, `policy`, `cache_folder`, as in plimsoll/engine.h. */
class Engine extends Handle {
  constructor(options = {}) {
    const all = { struct_size: koffi.sizeof(EngineOptions), flags: 0, target: null, threads: 0, reserved: 0,
      policy: null, limits: null, cache_folder: null, cache_bytes: 0, logger: null,
      allocator: null, host_functions: null, ...options };
    super(out((engine) => c.engine_create(all, engine)), c.engine_release);
  }

  /** Compiles MLIR text; `name` stands in errors. */
  load(source, name = 'module.mlir') {
    const size = Buffer.byteLength(source);
    return new Module(out((module) => c.module_load(this.handle, source, size, name, null, module)));
  }
}

class Module extends Handle {
  constructor(handle) {
    super(handle, c.module_release);
  }

  /** The names of the public functions. */
  get functions() {
    const count = c.module_function_count(this.handle);
    return Array.from({ length: Number(count) }, (_, i) => c.module_function_name(this.handle, i));
  }

  function(name) {
    return new Function(out((function_) => c.module_function(this.handle, name, function_)));
  }
}

/** A public function. `arguments` and `results` say what it takes and gives: kind, element type, shape with
 * null for what a call chooses, and what is done to the memory of an argument. */
class Function extends Handle {
  constructor(handle) {
    super(handle, c.function_release);
    const types = (count, read) => Array.from({ length: Number(count) }, (_, i) => {
      const type = { struct_size: koffi.sizeof(ValueType), kind: 0, element: 0, rank: 0, shape: null,
        strides: null, access: 0, donated_to: -1 };
      check(read(handle, i, type));
      const shape = type.rank ? koffi.decode(type.shape, 'int64_t', type.rank) : [];
      return { kind: kinds[type.kind], element: elements[type.element][0], code: type.element,
        shape: Array.from(shape, (extent) => (extent < 0 ? null : Number(extent))),
        access: accesses[type.access] };
    });
    this.arguments = types(c.function_argument_count(handle), c.function_argument_type);
    this.results = types(c.function_result_count(handle), c.function_result_type);
  }

  /** Calls it. Scalars are numbers, of 64-bit integers bigints; buffers are typed arrays, with a shape of one
   * dimension, or {data, shape}. Gives the result, or an array of them. */
  call(...values) {
    const call = new Call(this, values);
    try {
      check(c.function_call(this.handle, call.arguments, values.length, call.results, this.results.length,
        null));
      return call.take();
    } finally {
      call.release();
    }
  }

  /** The same on another thread. What is passed must not be written until the promise is settled. */
  async callAsync(...values) {
    const call = new Call(this, values);
    try {
      check(await new Promise((resolve, reject) => {
        c.function_call.async(this.handle, call.arguments, values.length, call.results,
          this.results.length, null, (error, status) => (error ? reject(error) : resolve(status)));
      }));
      return call.take();
    } finally {
      call.release();
    }
  }
}

/** The values of one call as the library has them: 16 bytes each, a kind, an element type and 8 bytes. */
class Call {
  constructor(function_, values) {
    this.function = function_; // not released while the call runs
    this.values = values;
    this.buffers = [];
    this.arguments = Buffer.alloc(16 * values.length + 1);
    this.results = Buffer.alloc(16 * function_.results.length + 1);
    try {
      values.forEach((value, i) => {
        const type = function_.arguments[i];
        if (type === undefined) // too many; the library says so
          return;
        const scalar = type.kind === 'scalar';
        this.arguments.writeUInt32LE(scalar ? SCALAR : BUFFER, 16 * i);
        this.arguments.writeUInt32LE(type.code, 16 * i + 4);
        if (scalar)
          writeScalar(this.arguments, 16 * i + 8, type.element, value);
        else
          this.arguments.writeBigUInt64LE(this.wrap(value, type, i), 16 * i + 8);
      });
    } catch (error) {
      this.release();
      throw error;
    }
  }

  wrap(value, type, index) {
    const { data, shape = [data.length] } = ArrayBuffer.isView(value) ? { data: value } : value ?? {};
    const [, ...arrays] = elements[type.code];
    if (!arrays.some((array) => data instanceof array)) {
      throw new TypeError(`argument ${index}: ${type.element} wants ${arrays.map((array) => array.name)
        .join(' or ')}, not ${data?.constructor.name}`);
    }
    const memory = { struct_size: koffi.sizeof(BufferMemory), flags: 0, element: type.code,
      rank: shape.length, shape: BigInt64Array.from(shape, BigInt), strides: null, data,
      bytes: data.byteLength, bytes_before: 0, release: null, user: null };
    const buffer = out((pointer) => c.buffer_wrap(memory, pointer));
    this.buffers.push(buffer);
    return buffer;
  }

  take() {
    const results = this.function.results.map((type, i) => {
      if (type.kind === 'scalar')
        return readScalar(this.results, 16 * i + 8, type.element);
      return this.view(this.results.readBigUInt64LE(16 * i + 8), type);
    });
    return results.length > 1 ? results : results[0];
  }

  /** An array over memory of the library's. It may be that of an argument, which is kept therefore. */
  view(buffer, type) {
    const rank = c.buffer_rank(buffer);
    const shape = rank ? Array.from(koffi.decode(c.buffer_shape(buffer), 'int64_t', rank), Number) : [];
    const bytes = Number(c.buffer_bytes(buffer));
    const memory = bytes ? koffi.view(c.buffer_data(buffer), bytes) : new ArrayBuffer(0);
    markAsUntransferable(memory); // it must not outlive the object that is watched
    forgotten.register(memory, { release: c.buffer_release, handle: buffer, values: this.values });
    return { data: new elements[type.code][1](memory), shape };
  }

  release() {
    this.buffers.splice(0).forEach(c.buffer_release);
  }
}

function writeScalar(buffer, at, element, value) {
  switch (element) {
    case 'f32': buffer.writeFloatLE(value, at); break;
    case 'f64': buffer.writeDoubleLE(value, at); break;
    default: buffer.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), at);
  }
}

function readScalar(buffer, at, element) {
  switch (element) {
    case 'f32': return buffer.readFloatLE(at);
    case 'f64': return buffer.readDoubleLE(at);
    case 'i32': return buffer.readInt32LE(at);
    case 'i16': return buffer.readInt16LE(at);
    case 'i8': return buffer.readInt8(at);
    case 'i64': case 'index': return buffer.readBigInt64LE(at);
    default: return buffer.readUInt16LE(at);
  }
}

module.exports = { Engine, PlimsollError };
