'use strict';
// Run from a folder with the example and its packages: node --expose-gc --test.
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { setImmediate: turn } = require('node:timers/promises');
const { Engine, PlimsollError } = require('./plimsoll.js');

const engine = new Engine({ threads: 2 });

function load(source) {
  const module = engine.load(source, 'test.mlir');
  return module.function(module.functions[0]);
}

const increment = (element, op, one) => `
  func.func @increment(%x: memref<?x${element}>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?x${element}>
    %one = arith.constant ${one} : ${element}
    scf.for %i = %c0 to %n step %c1 {
      %u = memref.load %x[%i] : memref<?x${element}>
      %v = ${op} %u, %one : ${element}
      memref.store %v, %x[%i] : memref<?x${element}>
    }
    return
  }`;

test('a module lists its functions, and they their types', () => {
  const module = engine.load(`
    func.func @first(%a: f32, %x: tensor<2x?xf16>, %y: memref<4xi64>) -> (tensor<?xf32>, i1) {
      %c1 = arith.constant 1 : index
      %n = tensor.dim %x, %c1 : tensor<2x?xf16>
      %r = tensor.splat %a[%n] : tensor<?xf32>
      %t = arith.constant true
      %v = arith.constant 7 : i64
      memref.store %v, %y[%c1] : memref<4xi64>
      return %r, %t : tensor<?xf32>, i1
    }
    func.func @second() { return }`);
  assert.deepEqual(module.functions, ['first', 'second']);
  const first = module.function('first');
  const brief = (types) => types.map(({ kind, element, shape }) => [kind, element, shape]);
  assert.deepEqual(brief(first.arguments),
    [['scalar', 'f32', []], ['tensor', 'f16', [2, null]], ['memref', 'i64', [4]]]);
  assert.deepEqual(brief(first.results), [['tensor', 'f32', [null]], ['scalar', 'i1', []]]);
  assert.equal(first.arguments[2].access, 'writeonly');
  assert.deepEqual(module.function('second').arguments, []);
  assert.equal(module.function('second').call(), undefined);

  const y = new BigInt64Array(4);
  const [splat, yes] = first.call(1.5, { data: new Uint16Array(6), shape: [2, 3] }, y);
  assert.deepEqual([...splat.data], [1.5, 1.5, 1.5]);
  assert.deepEqual(splat.shape, [3]);
  assert.equal(yes, 1);
  assert.equal(y[1], 7n);
});

for (const [element, one, arrays] of [
  ['i8', '1', [Int8Array, Uint8Array]], ['i16', '1', [Int16Array, Uint16Array]],
  ['i32', '1', [Int32Array, Uint32Array]], ['i64', '1', [BigInt64Array, BigUint64Array]],
  ['f32', '1.0', [Float32Array]], ['f64', '1.0', [Float64Array]],
]) {
  test(`arrays of ${element} are used where they are`, () => {
    const f = load(increment(element, element[0] === 'f' ? 'arith.addf' : 'arith.addi', one));
    for (const Array of arrays) {
      for (const size of [0, 1, 3, 1000]) {
        const array = new Array(size);
        f.call(array);
        assert.ok(array.every((value) => Number(value) === 1), `${Array.name} ${size}`);
      }
      const part = new Array(8).subarray(3, 5); // begins inside its memory
      f.call(part);
      assert.equal(new Array(part.buffer).join(), '0,0,0,1,1,0,0,0');
    }
  });
}

test('scalars come back as they were', () => {
  for (const [element, value, expected = value] of [
    ['f32', 0.5], ['f64', Math.PI], ['i32', -7], ['i16', -7], ['i8', -7], ['i64', -(2n ** 62n)], ['index', 5n],
    ['i64', 3, 3n], ['i1', true, 1], ['i1', 0], ['f16', 0x3c00], ['bf16', 0x3f80],
  ]) {
    const f = load(`func.func @same(%a: ${element}) -> ${element} { return %a : ${element} }`);
    assert.equal(f.call(value), expected, element);
  }
});

const identity = 'func.func @same(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }';

test('results are views of memory that lives as long as they do', async () => {
  const f = load(`
    func.func @double(%x: tensor<?x2xf64>) -> tensor<?x2xf64> {
      %r = arith.addf %x, %x : tensor<?x2xf64>
      return %r : tensor<?x2xf64>
    }`);
  const kept = [];
  for (let i = 0; i < 200; i++) {
    const result = f.call({ data: Float64Array.of(i, 1, 2, 3), shape: [2, 2] });
    assert.deepEqual(result.shape, [2, 2]);
    kept.push(result.data.subarray(0, 3));
    if (i % 50 === 0) {
      global.gc();
      await turn();
    }
  }
  kept.forEach((data, i) => assert.deepEqual([...data], [2 * i, 2, 4]));
  try {
    structuredClone(kept[0].buffer, { transfer: [kept[0].buffer] });
  } catch {
    // Newer versions of Node refuse it, others copy.
  }
  assert.equal(kept[0].length, 3);
});

test('a result that is an argument keeps its memory', async () => {
  const f = load(identity);
  const results = [];
  for (let i = 0; i < 50; i++)
    results.push(f.call(Float32Array.from({ length: 1000 }, () => i)));
  global.gc();
  await turn();
  results.forEach(({ data }, i) => assert.ok(data.every((value) => value === i)));
});

test('memory of results is given back', async () => {
  const f = load(identity.replace('return %a', '%r = arith.negf %a : tensor<?xf32>\n return %r'));
  const argument = new Float32Array(1 << 20);
  const before = process.memoryUsage.rss();
  for (let i = 0; i < 400; i++) { // 1.6 GB in all
    f.call(argument);
    if (i % 8 === 0) {
      global.gc();
      await turn();
    }
  }
  assert.ok(process.memoryUsage.rss() - before < 400e6, `${process.memoryUsage.rss() - before} bytes`);
});

test('errors are exceptions with a code and a place', () => {
  assert.throws(() => engine.load('func.func @f() {\n  "no.such"() : () -> ()\n  return\n}', 'net.mlir'), (error) => {
    assert.ok(error instanceof PlimsollError && error instanceof Error);
    assert.deepEqual([error.code, error.file, error.line], ['invalid argument', 'net.mlir', 2]);
    assert.ok(error.column > 0);
    assert.match(error.message, /unknown dialect/);
    return true;
  });
  const module = engine.load(identity);
  assert.throws(() => module.function('sam'), { code: 'not found', message: /same/, file: null, line: 0 });
  const f = module.function('same');
  assert.throws(() => f.call(), { code: 'invalid argument', message: /argument/ });
  assert.throws(() => f.call(new Float32Array(1), 1), { code: 'invalid argument' });
  assert.throws(() => f.call({ data: new Float32Array(3), shape: [4] }), { code: 'invalid argument' });
  assert.throws(() => f.call({ data: new Float32Array(4), shape: [2, 2] }), { code: 'invalid argument' });
  assert.throws(() => f.call({ data: new Float32Array(1), shape: [-1] }), { code: 'invalid argument' });
  assert.throws(() => f.call(new Float64Array(1)), TypeError);
  assert.throws(() => f.call(null), TypeError);
  assert.throws(() => new Engine({ policy: 'best' }).load(identity), { code: 'invalid argument', message: /'best'/ });
});

test('a failure inside a function has its place', () => {
  const f = load(`func.func @f(%x: tensor<?xf32>, %i: index) -> f32 {
      %r = tensor.extract %x[%i] : tensor<?xf32>
      return %r : f32
    }`);
  assert.equal(f.call(Float32Array.of(1, 2), 1n), 2);
  assert.throws(() => f.call(Float32Array.of(1, 2), 2n), { file: 'test.mlir', line: 2, message: /out of range/ });
});

test('calls run beside the event loop', async () => {
  const f = load(increment('i32', 'arith.addi', '1'));
  const arrays = Array.from({ length: 20 }, () => new Int32Array(100));
  await Promise.all(arrays.map((array) => f.callAsync(array)));
  assert.ok(arrays.every((array) => array.every((value) => value === 1)));
  await assert.rejects(f.callAsync(), { code: 'invalid argument' });
});

test('what is released is gone, and may be released again', () => {
  const own = new Engine();
  const module = own.load(identity);
  const f = module.function('same');
  own.release();
  module.release();
  assert.deepEqual([...f.call(Float32Array.of(3)).data], [3]); // it keeps what it needs
  f.release();
  f.release();
  assert.throws(() => f.call(Float32Array.of(3)), { code: 'invalid argument' });
  assert.throws(() => module.function('same'), { code: 'invalid argument' });
  assert.throws(() => own.load(identity), { code: 'invalid argument' });
  assert.deepEqual(module.functions, []);
});
