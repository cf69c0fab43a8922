'use strict';
// Functions and their calls.

const { markAsUntransferable } = require('node:worker_threads');
const { functions: c, koffi, sized, structs } = require('./library.js');
const { check, onThread, out } = require('./errors.js');
const { checkArray, elements, readScalar, shown, writeScalar } = require('./elements.js');
const { Handle, forgotten } = require('./handle.js');
const o = require('./options.js');

const kinds = [null, 'scalar', null, 'tensor', 'memref'];
const accesses = ['readonly', 'writeonly', 'readwrite'];
const [SCALAR, BUFFER] = [1, 2];

/** What the variables of a module hold, for one stream of calls. */
class State extends Handle {
  constructor(handle) {
    super(handle, c.state_release);
  }

  /** The memory of a variable, which calls write. */
  variable(name) {
    return view(out((pointer) => c.state_variable(this.handle, name, pointer)));
  }

  /** Every variable is again what it was in the beginning. */
  reset() {
    check(c.state_reset(this.handle));
  }
}

const callOptions = {
  outputs: { is: Array.isArray, text: 'an array' },
  state: o.instance(() => State, 'a State'),
};
const signal = o.instance(() => AbortSignal, 'an AbortSignal');

/** A public function. `arguments` and `results` say what it takes and gives. */
class Function extends Handle {
  constructor(handle, name, memory) {
    super(handle, c.function_release);
    Object.defineProperty(this, 'memory', { value: memory });
    this.name = name;
    const types = (count, read) => Array.from({ length: Number(count) }, (_, i) => {
      const type = sized(structs.ValueType);
      check(read(handle, i, type));
      const shape = type.rank ? koffi.decode(type.shape, 'int64_t', type.rank) : [];
      const described = { kind: kinds[type.kind], element: elements[type.element].name, name: type.name,
        shape: Array.from(shape, (extent) => (extent < 0 ? null : Number(extent))), access: accesses[type.access] };
      Object.defineProperty(described, 'code', { value: type.element });
      return described;
    });
    this.arguments = types(c.function_argument_count(handle), c.function_argument_type);
    this.results = types(c.function_result_count(handle), c.function_result_type);
  }

  /** Calls it. Gives the result, an array of them if there are several, or undefined. */
  call(...values) {
    return this.callWith({}, ...values);
  }

  /** The same with `outputs`, arrays to write the results into, and `state`. */
  callWith(options, ...values) {
    o.checkOptions('call option', options, callOptions);
    const call = new Call(this, values, options);
    try {
      check(c.function_call(this.handle, ...call.parameters()));
      return call.take();
    } finally {
      call.release();
    }
  }

  /** The same on another thread. What is passed must not be written until the promise is settled. */
  async callAsync(...values) {
    return this.callAsyncWith({}, ...values);
  }

  /** With a `signal` as well, which ends the call when it is aborted. */
  async callAsyncWith(options, ...values) {
    o.checkOptions('call option', options, { ...callOptions, signal });
    const call = new Call(this, values, options);
    try {
      check(await onThread(c.function_call, this.handle, ...call.parameters()));
      return call.take();
    } finally {
      call.release();
    }
  }
}

/** Ends calls and loads when a signal is aborted; none without one. */
function stopOn(abort) {
  if (!abort)
    return { handle: null, release() {} };
  const handle = out((pointer) => c.stop_create(pointer));
  const request = () => check(c.stop_request(handle));
  if (abort.aborted)
    request();
  else
    abort.addEventListener('abort', request, { once: true });
  return {
    handle,
    release() {
      abort.removeEventListener('abort', request);
      c.stop_release(handle);
    },
  };
}

/** A buffer where the array lies. */
function wrap({ data, shape }, code) {
  return out((pointer) => c.buffer_wrap(sized(structs.BufferMemory, {
    element: code, rank: shape.length, shape: BigInt64Array.from(shape, BigInt), data, bytes: data.byteLength,
  }), pointer));
}

/** An array over memory of the library's, which it takes over. It may be that of `kept`. */
function view(buffer, kept) {
  const element = elements[c.buffer_element_type(buffer)];
  const rank = c.buffer_rank(buffer);
  const shape = rank ? Array.from(koffi.decode(c.buffer_shape(buffer), 'int64_t', rank), Number) : [];
  const bytes = Number(c.buffer_bytes(buffer));
  const memory = bytes ? koffi.view(c.buffer_data(buffer), bytes) : new ArrayBuffer(0);
  markAsUntransferable(memory); // it must not outlive the object that is watched
  forgotten.register(memory, { release: c.buffer_release, handle: buffer, kept });
  return { data: new element.arrays[0](memory), shape };
}

/** The values of one call as the library has them: 16 bytes each, a kind, an element type and 8 bytes. */
class Call {
  constructor(function_, values, options) {
    this.function = function_; // not released while the call runs
    this.values = values;
    this.buffers = [];
    this.outputs = [];
    this.arguments = Buffer.alloc(16 * values.length);
    this.results = Buffer.alloc(16 * function_.results.length);
    this.options = null;
    this.state = options.state;
    this.stop = stopOn(options.signal);
    try {
      values.forEach((value, i) => this.addArgument(value, i));
      this.setOptions(options);
    } catch (error) {
      this.release();
      throw error;
    }
  }

  parameters() {
    return [this.arguments, this.values.length, this.results, this.function.results.length, this.options];
  }

  addArgument(value, i) {
    const type = this.function.arguments[i];
    if (type === undefined) // too many; the library says so
      return;
    const isScalar = type.kind === 'scalar', element = elements[type.code];
    this.arguments.writeUInt32LE(isScalar ? SCALAR : BUFFER, 16 * i);
    this.arguments.writeUInt32LE(type.code, 16 * i + 4);
    this.of(`argument #${i}${type.name ? ` (%${type.name})` : ''}`, () => {
      if (isScalar)
        writeScalar(this.arguments, 16 * i + 8, element, value);
      else
        this.arguments.writeBigUInt64LE(this.wrap(value, type), 16 * i + 8);
    });
  }

  setOptions({ outputs = [], state }) {
    if (outputs.length === 0 && !state && !this.stop.handle)
      return;
    if (outputs.length > 0 && outputs.length !== this.function.results.length) {
      throw new RangeError(`'${this.function.name}' has ${this.function.results.length} results, but there are `
        + `${outputs.length} outputs`);
    }
    const handles = new BigUint64Array(outputs.length);
    outputs.forEach((value, i) => this.of(`the output for result #${i}`, () => {
      const type = this.function.results[i];
      if (value === null)
        return;
      if (type.kind === 'scalar')
        throw new TypeError(`a scalar has none, but ${shown(value)} is given`);
      this.outputs[i] = checkArray(elements[type.code], type.shape, value);
      handles[i] = this.wrap(this.outputs[i], type);
    }));
    this.handles = handles;
    this.options = sized(structs.CallOptions, {
      outputs: outputs.length ? handles : null, output_count: outputs.length, state: state ? state.handle : null,
      stop: this.stop.handle,
    });
  }

  /** Runs `body`; what it throws says of what. */
  of(what, body) {
    try {
      body();
    } catch (error) {
      error.message = `${what} of '${this.function.name}': ${error.message}`;
      throw error;
    }
  }

  wrap(value, type) {
    const buffer = wrap(checkArray(elements[type.code], type.shape, value), type.code);
    this.buffers.push(buffer);
    return buffer;
  }

  take() {
    const results = this.function.results.map((type, i) => {
      if (type.kind === 'scalar')
        return readScalar(this.results, 16 * i + 8, elements[type.code]);
      const buffer = this.results.readBigUInt64LE(16 * i + 8);
      if (!this.outputs[i])
        return view(buffer, this.values);
      c.buffer_release(buffer);
      return this.outputs[i];
    });
    return results.length > 1 ? results : results[0];
  }

  release() {
    this.buffers.splice(0).forEach(c.buffer_release);
    this.stop.release();
  }
}

module.exports = { Function, State, stopOn, wrap };
