'use strict';
// Engines and modules.

const { functions: c, sized, structs } = require('./library.js');
const { out, outAsync, check } = require('./errors.js');
const { checkArray, elements } = require('./elements.js');
const { Function, State, stopOn, wrap } = require('./function.js');
const { Handle } = require('./handle.js');
const o = require('./options.js');

const engineOptions = {
  target: o.string, threads: o.count(1024), policy: o.string, numerics: o.oneOf('default', 'strict'), limits: o.object,
  cache: o.either(o.boolean, o.string), cacheBytes: o.bytes, checked: o.boolean,
};
const loadOptions = {
  policy: o.string, numerics: o.oneOf('default', 'strict'), limits: o.object, device: o.string, oracle: o.boolean,
  lazy: o.boolean, parameters: o.either(o.string, o.object), timeout: o.milliseconds,
};
const signal = o.instance(() => AbortSignal, 'an AbortSignal');
const [CHECKED, USER_CACHE, ORACLE, LAZY] = [1 << 0, 1 << 7, 1 << 0, 1 << 1];

/** Compiles modules for one target and runs them on threads of its own. */
class Engine extends Handle {
  constructor(options = {}) {
    o.checkOptions('engine option', options, engineOptions);
    const { cache = false } = options;
    const limits = o.limitsOf(options.limits);
    const target = options.target === undefined ? null
      : out((pointer) => c.target_create(options.target, null, 0, pointer));
    try {
      const given = sized(structs.EngineOptions, {
        flags: (options.checked ? CHECKED : 0) | (cache === true ? USER_CACHE : 0), target,
        threads: options.threads ?? 0, numerics: o.numerics[options.numerics], policy: options.policy ?? null, limits,
        cache_folder: typeof cache === 'string' ? cache : null, cache_bytes: options.cacheBytes ?? 0,
      });
      super(out((pointer) => c.engine_create(given, pointer)), c.engine_release);
    } finally {
      if (target)
        c.target_release(target);
    }
  }

  /** Threads that work at once on one call, the caller included; 0 when it is released. */
  get threads() {
    return c.engine_threads(this.handle);
  }

  /** Compiles MLIR text, or bytecode, a model or an artifact as bytes; `name` stands in errors. */
  load(source, name = 'module.mlir', options = {}) {
    const load = new Load(options);
    try {
      const bytes = sourceOf(source);
      return load.take(out((pointer) => c.module_load(this.handle, bytes, bytes.length, name, load.given, pointer)));
    } finally {
      load.release();
    }
  }

  /** The same for a file. */
  loadFile(path, options = {}) {
    const load = new Load(options);
    try {
      return load.take(out((pointer) => c.module_load_file(this.handle, path, load.given, pointer)));
    } finally {
      load.release();
    }
  }

  /** As load(), on another thread. */
  async loadAsync(source, name = 'module.mlir', options = {}) {
    const load = new Load(options, true);
    try {
      const bytes = sourceOf(source);
      return load.take(await outAsync(c.module_load, this.handle, bytes, bytes.length, name, load.given));
    } finally {
      load.release();
    }
  }

  /** As loadFile(), on another thread. */
  async loadFileAsync(path, options = {}) {
    const load = new Load(options, true);
    try {
      return load.take(await outAsync(c.module_load_file, this.handle, path, load.given));
    } finally {
      load.release();
    }
  }
}

function sourceOf(source) {
  if (typeof source === 'string')
    return Buffer.from(source);
  if (source instanceof Uint8Array)
    return source;
  throw new TypeError('a source is a string or a Uint8Array');
}

/** The options of a load, as long as it runs. */
class Load {
  constructor(options, isAsync = false) {
    o.checkOptions('load option', options, isAsync ? { ...loadOptions, signal } : loadOptions);
    const limits = o.limitsOf(options.limits);
    this.memory = []; // of parameters, which the module goes on using
    this.stop = stopOn(options.signal);
    this.parameters = null;
    try {
      this.parameters = this.parametersOf(options.parameters);
    } catch (error) {
      this.release();
      throw error;
    }
    this.given = sized(structs.LoadOptions, {
      flags: (options.oracle ? ORACLE : 0) | (options.lazy ? LAZY : 0), policy: options.policy ?? null, limits, parameters: this.parameters,
      device: options.device ?? null, stop: this.stop.handle, numerics: o.numerics[options.numerics],
      timeout_nanoseconds: BigInt(Math.ceil((options.timeout ?? 0) * 1e6)),
    });
  }

  parametersOf(given) {
    if (given === undefined)
      return null;
    const set = out((pointer) => c.parameters_create(pointer));
    try {
      if (typeof given === 'string')
        check(c.parameters_load_safetensors(set, given));
      else
        Object.entries(given).forEach(([name, value]) => this.setParameter(set, name, value));
      return set;
    } catch (error) {
      c.parameters_release(set);
      throw error;
    }
  }

  setParameter(set, name, value) {
    const data = ArrayBuffer.isView(value) ? value : value?.data;
    const code = value?.element === undefined
      ? elements.findIndex((each) => each && each.arrays[0] === data?.constructor)
      : elements.findIndex((each) => each?.name === value.element);
    if (code < 0)
      throw new TypeError(`parameter '${name}': a typed array, or { data, shape, element } is wanted`);
    try {
      const buffer = wrap(checkArray(elements[code], [null], value), code);
      check(c.parameters_set(set, name, buffer));
      c.buffer_release(buffer);
    } catch (error) {
      error.message = `parameter '${name}': ${error.message}`;
      throw error;
    }
    this.memory.push(data);
  }

  take(handle) {
    return new Module(handle, this.memory);
  }

  release() {
    if (this.parameters)
      c.parameters_release(this.parameters);
    this.stop.release();
  }
}

/** Compiled code. */
class Module extends Handle {
  constructor(handle, memory) {
    super(handle, c.module_release);
    Object.defineProperty(this, 'memory', { value: memory });
  }

  /** The names of the public functions. */
  get functions() {
    const count = c.module_function_count(this.handle);
    return Array.from({ length: Number(count) }, (_, i) => c.module_function_name(this.handle, i));
  }

  function(name) {
    return new Function(out((pointer) => c.module_function(this.handle, name, pointer)), name, this.memory);
  }

  /** Variables of their own, for one stream of calls. */
  createState() {
    return new State(out((pointer) => c.state_create(this.handle, pointer)));
  }

  /** Every placement, access, copy and dispatch, with the reason. */
  explain() {
    const report = out((pointer) => c.module_explain(this.handle, pointer));
    try {
      return JSON.parse(c.report_text(report));
    } finally {
      c.report_release(report);
    }
  }
}

module.exports = { Engine, Module };
