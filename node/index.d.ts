/** Plimsoll for Node: compiles MLIR for the machine that is here and runs it. */

/** What elements and scalars are. f16, bf16 and floats of 8 bits are their bits. */
export type ElementType =
  | 'i1' | 'i2' | 'i4' | 'i8' | 'i16' | 'i32' | 'i64' | 'index'
  | 'f8E4M3FN' | 'f8E5M2' | 'f16' | 'bf16' | 'f32' | 'f64' | 'complex<f32>' | 'complex<f64>';

/** Arrays that hold elements: of as many bits, integers with a sign or without, complex numbers as two floats. */
export type TypedArray =
  | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array
  | BigInt64Array | BigUint64Array | Float32Array | Float64Array;

/** Elements in row-major order, and extents, outermost first. */
export interface Tensor<T extends TypedArray = TypedArray> {
  data: T;
  shape: number[];
}

/** i64 and index are bigints as results, i1 a boolean, all else numbers. */
export type Scalar = number | bigint | boolean;

/** An argument. An array without a shape has that of the argument, of which one extent may be open. */
export type Argument = Scalar | TypedArray | Readonly<{ data: TypedArray; shape?: readonly number[] }>;

export type Result = Scalar | Tensor;
/** One result, several, or none. */
export type Results = Result | Result[] | undefined;

/** What a function says of an argument or a result. */
export interface ValueType {
  readonly kind: 'scalar' | 'tensor' | 'memref';
  readonly element: ElementType;
  /** Extents, null for those that a call chooses. */
  readonly shape: readonly (number | null)[];
  /** What the source calls an argument, without '%'. */
  readonly name: string | null;
  /** What is done to the memory of an argument. */
  readonly access: 'readonly' | 'writeonly' | 'readwrite';
}

/** Of the stack, and of what a source may hold: as in plimsoll/limits.h. In bytes where the name says so. */
export interface Limits {
  externalWorkspaceOnly?: boolean;
  maxStackAllocaBytes?: number | bigint;
  stackBudgetBytes?: number | bigint;
  workspaceAlignment?: number | bigint;
  maxTextBytes?: number | bigint;
  maxOperations?: number | bigint;
  maxRank?: number | bigint;
  maxVectorElements?: number | bigint;
  maxConstantBytes?: number | bigint;
}

interface CompileOptions {
  /** Where temporaries live: "auto", "stack", "workspace", "heap", "fixed:N". */
  policy?: string;
  /** 'strict': every operation rounds as the source says, in its order. */
  numerics?: 'default' | 'strict';
  limits?: Limits;
}

export interface EngineOptions extends CompileOptions {
  /** "host-cpu" unless it is given; "host" with its GPUs, a tag such as "x86-64-v3", or the path of a target in JSON. */
  target?: string;
  /** That work at once on one call, the caller included; 0: all that this process may use. */
  threads?: number;
  /** A folder that keeps compiled code; true: that of the user. false unless it is given. */
  cache?: boolean | string;
  /** The most that is kept there; 0: 1 GiB. */
  cacheBytes?: number | bigint;
  /** Looks for accesses out of range while code runs; slow. */
  checked?: boolean;
}

export interface LoadOptions extends CompileOptions {
  /** The device that gets what the source gives to none. */
  device?: string;
  /** The plain lowering that every optimisation is compared with; slow. */
  oracle?: boolean;
  /** Each function is compiled, with what it calls, when it is called first; what cannot be compiled its
   * calls say. Not for sources with variables, nor to explain(). */
  lazy?: boolean;
  /** Values of the module's parameters, or the path of a .safetensors file with them. Arrays are used where they are, and must
   * not be written while the module lives. Without an element type it is that of the array. */
  parameters?: string | Record<string, TypedArray | (Tensor & { element?: ElementType })>;
  /** Milliseconds, after which the load fails; 0: never. */
  timeout?: number;
}

export interface AsyncLoadOptions extends LoadOptions {
  /** Ends the load when it is aborted. */
  signal?: AbortSignal;
}

export interface CallOptions {
  /** Arrays that get the results, one for each; null where one shall be made. */
  outputs?: (TypedArray | Tensor | null)[];
  /** The variables of the call; those of the module unless it is given. */
  state?: State;
}

export interface AsyncCallOptions extends CallOptions {
  /** Ends the call when it is aborted. */
  signal?: AbortSignal;
}

export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'remark' | 'note';
  readonly message: string;
  readonly file: string | null;
  readonly line: number;
  readonly column: number;
}

/** What the library reports. What is wrong with arguments and options themselves is a TypeError or a RangeError. */
export class PlimsollError extends Error {
  private constructor();
  /** The name of a status code: "invalid argument", "not found", "cancelled". */
  readonly code: string;
  /** The place that the message speaks of; null and 0 where it speaks of none. */
  readonly file: string | null;
  readonly line: number;
  readonly column: number;
  /** All that was said of a source. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Owns an object of the library. */
declare class Handle {
  protected constructor();
  /** Gives it up now, instead of some time after it is gone. May be called again. */
  release(): void;
}

/** Compiles modules for one target and runs them on threads of its own. Objects keep what they need: it may be released
 * before its modules. */
export class Engine extends Handle {
  constructor(options?: EngineOptions);
  readonly threads: number;
  /** Compiles MLIR text, or bytecode, a model or an artifact as bytes. `name` stands in errors. Blocks. */
  load(source: string | Uint8Array, name?: string, options?: LoadOptions): Module;
  loadFile(path: string, options?: LoadOptions): Module;
  /** The same on another thread. */
  loadAsync(source: string | Uint8Array, name?: string, options?: AsyncLoadOptions): Promise<Module>;
  loadFileAsync(path: string, options?: AsyncLoadOptions): Promise<Module>;
}

export class Module extends Handle {
  private constructor();
  /** The names of the public functions. */
  readonly functions: string[];
  function(name: string): Function;
  createState(): State;
  /** Every placement, access, copy and dispatch, with the reason. */
  explain(): Record<string, unknown>;
}

/** Results that are tensors are views of the engine's memory, which live as long as they are used. */
export class Function extends Handle {
  private constructor();
  readonly name: string;
  readonly arguments: readonly ValueType[];
  readonly results: readonly ValueType[];
  /** Calls it, and blocks. `R` is what the caller knows the results to be. */
  call<R extends Results = Results>(...values: Argument[]): R;
  callWith<R extends Results = Results>(options: CallOptions, ...values: Argument[]): R;
  /** The same on another thread. What is passed must not be written until the promise is settled. */
  callAsync<R extends Results = Results>(...values: Argument[]): Promise<R>;
  callAsyncWith<R extends Results = Results>(options: AsyncCallOptions, ...values: Argument[]): Promise<R>;
}

/** What the variables of a module hold, for one stream of calls. */
export class State extends Handle {
  private constructor();
  /** The memory of a variable, which calls write. */
  variable(name: string): Tensor;
  /** Every variable is again what it was in the beginning. */
  reset(): void;
}

/** That of the library. */
export const version: string;
