// What the compiler takes, and what it refuses. Never run.
import { Engine, Function, Module, PlimsollError, State, version } from 'plimsoll';
import type { Argument, ElementType, Scalar, Tensor, TypedArray, ValueType } from 'plimsoll';

const engine = new Engine({ threads: 2, cache: true, cacheBytes: 1n << 30n, limits: { maxRank: 4 } });
// @ts-expect-error: a misspelt option
new Engine({ treads: 2 });
// @ts-expect-error: of another type
new Engine({ threads: '2' });
// @ts-expect-error: one of two
new Engine({ numerics: 'exact' });
// @ts-expect-error: a misspelt limit
new Engine({ limits: { rank: 4 } });

const module: Module = engine.load('', 'a.mlir', { parameters: { w: Float32Array.of(1) }, timeout: 10 });
// @ts-expect-error: a load that blocks cannot be stopped by a signal
engine.load('', 'a.mlir', { signal: AbortSignal.timeout(1) });
const later: Promise<Module> = engine.loadAsync(new Uint8Array(), 'a', { signal: AbortSignal.timeout(1) });
engine.load('', 'a', { parameters: { w: { data: new Uint16Array(2), shape: [2], element: 'bf16' } } });
// @ts-expect-error: no such element type
engine.load('', 'a', { parameters: { w: { data: new Uint16Array(2), shape: [2], element: 'f15' } } });

const f: Function = module.function(module.functions[0]!);
const type: ValueType = f.arguments[0]!;
const kind: 'scalar' | 'tensor' | 'memref' = type.kind;
const element: ElementType = type.element;
const extent: number | null = type.shape[0]!;

const values: Argument[] = [1, 1n, true, new Float32Array(2), { data: new Int8Array(2), shape: [2, 1] }];
const any = f.call(...values);
// @ts-expect-error: what it is must be looked at
any.data;
const one: Tensor<Float32Array> = f.call<Tensor<Float32Array>>(2, new Float32Array(2));
const sum: number = one.data.reduce((a, b) => a + b, 0);
const [tensor, flag] = f.call<[Tensor<BigInt64Array>, boolean]>();
const big: bigint = tensor.data[0]!, yes: boolean = flag;
// @ts-expect-error: not an array of numbers
f.call([1, 2]);
// @ts-expect-error: not a result
f.call<string>();

const promise: Promise<Scalar> = f.callAsync<Scalar>(1);
f.callAsyncWith({ signal: AbortSignal.timeout(1), outputs: [new Float32Array(2), null] }, 1);
const state: State = module.createState();
const variable: TypedArray = state.variable('w').data;
f.callWith({ state }, 1);
// @ts-expect-error: states come from modules
new State();

try {
  f.release();
} catch (error) {
  if (error instanceof PlimsollError) {
    const place: [string, string | null, number, number] = [error.code, error.file, error.line, error.column];
    const messages: string[] = error.diagnostics.map((each) => `${each.severity}: ${each.message}`);
    void [place, messages];
  }
}
const text: string = version;
void [later, kind, element, extent, sum, big, yes, promise, variable, text];
