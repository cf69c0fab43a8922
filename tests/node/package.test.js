'use strict';
// Run from a folder with the package and what it needs: node --expose-gc --test.
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { setImmediate: turn } = require('node:timers/promises');
const { Engine, PlimsollError, State, version } = require('plimsoll');

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
  assert.equal(yes, true);
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
    ['i64', 3, 3n], ['i64', 2n ** 64n - 1n, -1n], ['i1', true], ['i1', 0, false], ['f16', 0x3c00], ['bf16', 0xbf80],
    ['i8', 255, -1], ['i4', -8], ['i4', 15, -1], ['i2', 1], ['f8E5M2', 0x3c], ['f8E4M3FN', 0xff],
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
    assert.deepEqual([error.diagnostics[0].severity, error.diagnostics[0].line], ['error', 2]);
    return true;
  });
  const module = engine.load(identity);
  assert.throws(() => module.function('sam'), { code: 'not found', message: /same/, file: null, line: 0 });
  const f = module.function('same');
  assert.throws(() => f.call(), { code: 'invalid argument', message: /argument/ });
  assert.throws(() => f.call(new Float32Array(1), 1), { code: 'invalid argument' });
  assert.throws(() => f.call({ data: new Float32Array(4), shape: [2, 2] }), { code: 'invalid argument' });
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

test('what is wrong with an argument names it', () => {
  const f = load('func.func @same(%x: tensor<?xf32>, %n: i8) -> tensor<?xf32> { return %x : tensor<?xf32> }');
  const x = new Float32Array(1);
  const refuses = (type, pattern, ...values) => assert.throws(() => f.call(...values), (error) => {
    assert.ok(error instanceof type && !(error instanceof PlimsollError), error);
    assert.match(error.message, pattern);
    return true;
  });
  refuses(TypeError, /^argument #0 \(%x\) of 'same': f32 wants Float32Array, not Float64Array$/, new Float64Array(1), 1);
  refuses(TypeError, /f32 wants Float32Array, not Array$/, [1], 1);
  refuses(TypeError, /f32 wants Float32Array, not null$/, null, 1);
  refuses(TypeError, /a shape is an array of extents, not \[-1\]$/, { data: x, shape: [-1] }, 1);
  refuses(TypeError, /a shape is an array of extents, not 1$/, { data: x, shape: 1 }, 1);
  refuses(RangeError, /the shape \[4\] does not have 1 elements$/, { data: x, shape: [4] }, 1);
  refuses(TypeError, /^argument #1 \(%n\) of 'same': i8 wants an integer, not 1.5$/, x, 1.5);
  refuses(TypeError, /i8 wants an integer, not '1'$/, x, '1');
  refuses(RangeError, /256 is no i8$/, x, 256);
  refuses(RangeError, /-129 is no i8$/, x, -129n);
  assert.throws(() => load('func.func @f(%x: f64) { return }').call(1n), { name: 'TypeError', message: /f64 wants a number, not 1n/ });
  assert.throws(() => load('func.func @f(%x: i1) { return }').call(2), { name: 'TypeError', message: /i1 wants a boolean, not 2/ });
});

test('a shape follows from the function where one extent is open', () => {
  const f = load('func.func @same(%x: tensor<2x?x3xf32>) -> tensor<2x?x3xf32> { return %x : tensor<2x?x3xf32> }');
  assert.deepEqual(f.call(new Float32Array(12)).shape, [2, 2, 3]);
  assert.throws(() => f.call(new Float32Array(13)), /13 elements are \[2,\?,3\] is not known/);
  const known = load('func.func @same(%x: tensor<2x3xf32>) -> tensor<2x3xf32> { return %x : tensor<2x3xf32> }');
  assert.deepEqual(known.call(new Float32Array(6)).shape, [2, 3]);
  assert.throws(() => known.call(new Float32Array(5)), /\[2,3\] wants 6 elements, not 5/);
  const open = load('func.func @same(%x: tensor<?x?xf32>) -> tensor<?x?xf32> { return %x : tensor<?x?xf32> }');
  assert.throws(() => open.call(new Float32Array(5)), /give \{ data, shape \}/);
  const scalar = load('func.func @same(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }');
  assert.deepEqual(scalar.call(Float32Array.of(7)), { data: Float32Array.of(7), shape: [] });
  const pair = load('func.func @same(%x: tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>> { return %x : tensor<?xcomplex<f32>> }');
  assert.deepEqual(pair.call(Float32Array.of(1, 2, 3, 4)), { data: Float32Array.of(1, 2, 3, 4), shape: [2] });
});

test('options are checked', () => {
  const refuses = (body, message) => assert.throws(body, { name: 'TypeError', message });
  refuses(() => new Engine({ treads: 1 }), /there is no engine option 'treads', but target, threads, policy/);
  refuses(() => new Engine({ threads: -1 }), /the engine option 'threads' wants an integer from 0 to 1024, not -1/);
  refuses(() => new Engine({ numerics: 'exact' }), /'numerics' wants 'default' or 'strict', not 'exact'/);
  refuses(() => new Engine({ cache: 1 }), /'cache' wants a boolean or a string, not 1/);
  refuses(() => new Engine({ policy: 'a\0' }), /'policy' wants a string/);
  refuses(() => new Engine(null), /engine options are an object, not null/);
  refuses(() => new Engine({ limits: { rank: 1 } }), /there is no limit 'rank'/);
  refuses(() => new Engine({ limits: { maxRank: -1 } }), /the limit 'maxRank' wants a number of bytes|'maxRank'/);
  refuses(() => engine.load(identity, 'a', { signal: AbortSignal.abort() }), /there is no load option 'signal'/);
  refuses(() => engine.load(7), /a source is a string or a Uint8Array/);
  const f = load(identity);
  refuses(() => f.callWith({ outputs: new Float32Array(1) }, new Float32Array(1)), /'outputs' wants an array, not Float32Array/);
  refuses(() => f.callWith({ state: {} }, new Float32Array(1)), /'state' wants a State, not Object/);
  assert.throws(() => new Engine({ target: 'x86-64-v22' }), { code: 'not found' });
});

test('options reach the engine', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'plimsoll-node-'));
  const before = process.env.XDG_CACHE_HOME;
  try {
    new Engine({ cache: path.join(folder, 'own'), cacheBytes: 1n << 20n }).load(identity);
    process.env.XDG_CACHE_HOME = folder;
    new Engine({ cache: true }).load(identity);
    assert.deepEqual(fs.readdirSync(folder).sort(), ['own', 'plimsoll']);
  } finally {
    delete process.env.XDG_CACHE_HOME;
    if (before !== undefined)
      process.env.XDG_CACHE_HOME = before;
    fs.rmSync(folder, { recursive: true });
  }
  const own = new Engine({ threads: 1, numerics: 'strict', target: 'host-cpu', checked: true,
    limits: { externalWorkspaceOnly: false, maxRank: 1 } });
  assert.equal(own.threads, 1);
  assert.throws(() => own.load(identity.replaceAll('?x', '?x?x')), { code: 'invalid argument', message: /rank/ });
  assert.throws(() => engine.load(identity, 'a', { limits: { maxOperations: 0 } }), { code: 'invalid argument' });
  assert.throws(() => engine.load(identity, 'a', { timeout: 1e-6 }), { code: 'deadline exceeded' });
  assert.throws(() => engine.load(identity, 'a', { device: 'npu' }), { code: 'invalid argument', message: /'npu'/ });
  assert.ok(engine.load(identity, 'a', { oracle: true, policy: 'heap' }).explain().functions);
  assert.match(version, /^\d+\.\d+\.\d+$/);
});

test('parameters are arrays or a file', () => {
  const source = `
    ml_program.global private @w(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>
    func.func @add(%x: tensor<2xf32>) -> tensor<2xf32> {
      %w = ml_program.global_load_const @w : tensor<2xf32>
      %r = arith.addf %x, %w : tensor<2xf32>
      return %r : tensor<2xf32>
    }`;
  const w = Float32Array.of(10, 20);
  const header = Buffer.from('{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  ');
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'plimsoll-node-'));
  const file = path.join(folder, 'w.safetensors');
  fs.writeFileSync(file, Buffer.concat([size, header, Buffer.from(w.buffer)]));
  for (const parameters of [{ w }, { w: { data: w, shape: [2] } }, { w: { data: w, shape: [2], element: 'f32' } }, file]) {
    const module = engine.load(source, 'add.mlir', { parameters });
    global.gc();
    assert.deepEqual(module.function('add').call(Float32Array.of(1, 2)).data, Float32Array.of(11, 22));
  }
  fs.rmSync(folder, { recursive: true });
  assert.throws(() => engine.load(source), { code: 'failed precondition', message: /'w'/ });
  assert.throws(() => engine.load(source, 'a', { parameters: { w: [1] } }), { name: 'TypeError', message: /parameter 'w'/ });
  assert.throws(() => engine.load(source, 'a', { parameters: { w: { data: w, shape: [3] } } }),
    { name: 'RangeError', message: /parameter 'w': the shape \[3\]/ });
  assert.throws(() => engine.load(source, 'a', { parameters: '/no/file' }), { code: 'not found' });
});

test('functions of lazy modules are compiled when they are called', async () => {
  const source = `func.func @one() -> i32 { %c = arith.constant 1 : i32 return %c : i32 }
    func.func @bad(%x: f32) -> f32 {
      %a = tensor.splat %x : tensor<4294967296x4294967296x16xf32>
      %c = arith.constant 0 : index
      %r = tensor.extract %a[%c, %c, %c] : tensor<4294967296x4294967296x16xf32>
      return %r : f32
    }`;
  assert.throws(() => engine.load(source), { code: 'invalid argument', line: 3 });
  for (const module of [engine.load(source, 'a', { lazy: true }), await engine.loadAsync(source, 'a', { lazy: true })]) {
    assert.deepEqual(module.functions, ['one', 'bad']);
    assert.equal(module.function('one').call(), 1);
    assert.throws(() => module.function('bad').call(1), { code: 'invalid argument', line: 3 });
    assert.throws(() => module.explain(), { code: 'failed precondition' });
  }
  assert.throws(() => engine.load(source, 'a', { lazy: 1 }), { name: 'TypeError', message: /'lazy'/ });
});

test('results go where the caller wants them', async () => {
  const f = load(`func.func @both(%x: tensor<?xf32>) -> (tensor<?xf32>, i32) {
      %r = arith.addf %x, %x : tensor<?xf32>
      %c = arith.constant 3 : i32
      return %r, %c : tensor<?xf32>, i32
    }`);
  const y = new Float32Array(2);
  const [first, three] = f.callWith({ outputs: [y, null] }, Float32Array.of(1, 2));
  assert.equal(first.data, y);
  assert.deepEqual([...y, three], [2, 4, 3]);
  await f.callAsyncWith({ outputs: [{ data: y, shape: [2] }, null] }, Float32Array.of(3, 4));
  assert.deepEqual([...y], [6, 8]);
  assert.throws(() => f.callWith({ outputs: [y] }, y), { name: 'RangeError', message: /'both' has 2 results, but there are 1 outputs/ });
  assert.throws(() => f.callWith({ outputs: [y, y] }, y), { name: 'TypeError', message: /the output for result #1 of 'both'/ });
  assert.throws(() => f.callWith({ outputs: [new Float32Array(3), null] }, y), { code: 'invalid argument' });
});

test('states keep variables apart', () => {
  const module = engine.load(`
    ml_program.global private mutable @total(dense<0.0> : tensor<f32>) : tensor<f32>
    func.func @add(%x: tensor<f32>) -> tensor<f32> {
      %t = ml_program.global_load @total : tensor<f32>
      %r = arith.addf %t, %x : tensor<f32>
      ml_program.global_store @total = %r : tensor<f32>
      return %r : tensor<f32>
    }`);
  const add = module.function('add'), state = module.createState();
  assert.ok(state instanceof State);
  const sum = (x, options = {}) => add.callWith(options, Float32Array.of(x)).data[0];
  assert.deepEqual([sum(1), sum(1), sum(5, { state }), sum(1)], [1, 2, 5, 3]);
  assert.equal(state.variable('total').data[0], 5);
  state.reset();
  assert.equal(sum(2, { state }), 2);
  assert.throws(() => state.variable('totals'), { code: 'not found' });
  state.release();
  assert.throws(() => state.reset(), { code: 'invalid argument' });
});

const endless = `
  func.func @endless(%x: memref<1xi64>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 0x7fffffffffffffff : index
    scf.for %i = %c0 to %n step %c1 {
      %u = memref.load %x[%c0] : memref<1xi64>
      %v = arith.muli %u, %u : i64
      %w = arith.addi %v, %u : i64
      memref.store %w, %x[%c0] : memref<1xi64>
    }
    return
  }`;

test('signals end calls and loads', async () => {
  const f = load(endless);
  const controller = new AbortController();
  const call = f.callAsyncWith({ signal: controller.signal }, BigInt64Array.of(3n));
  setImmediate(() => controller.abort());
  await assert.rejects(call, { code: 'cancelled' });
  await assert.rejects(f.callAsyncWith({ signal: AbortSignal.abort() }, BigInt64Array.of(3n)), { code: 'cancelled' });
  await assert.rejects(engine.loadAsync(identity, 'a', { signal: AbortSignal.abort() }), { code: 'cancelled' });
  await assert.rejects(f.callAsyncWith({ signal: 1 }), { name: 'TypeError', message: /'signal' wants an AbortSignal/ });
});

test('loads run beside the event loop', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'plimsoll-node-'));
  const file = path.join(folder, 'same.mlir');
  fs.writeFileSync(file, identity);
  const modules = [engine.loadFile(file), await engine.loadFileAsync(file), await engine.loadAsync(identity),
    await engine.loadAsync(Buffer.from(identity))];
  for (const module of modules)
    assert.deepEqual(module.function('same').call(Float32Array.of(1)).data, Float32Array.of(1));
  fs.rmSync(folder, { recursive: true });
  await assert.rejects(engine.loadFileAsync(file), { code: 'not found' });
  await assert.rejects(engine.loadAsync('nonsense', 'x.mlir'), { code: 'invalid argument', file: 'x.mlir' });
});

test('a library that cannot be used is named', () => {
  const refuses = (library, pattern) => {
    const environment = { ...process.env, PLIMSOLL_LIBRARY: library };
    const child = spawnSync(process.execPath, ['-e', `
      try { require('plimsoll'); } catch (error) { console.log(error.code, error.message); }`],
    { env: environment, encoding: 'utf8' });
    assert.match(child.stdout, pattern);
  };
  refuses('/no/libplimsoll.so', /^ERR_PLIMSOLL_LIBRARY plimsoll: cannot load \/no\/libplimsoll.so \(PLIMSOLL_LIBRARY names it\)/);
  refuses('', /^$|^ERR_PLIMSOLL_LIBRARY plimsoll: cannot load libplimsoll.so.0 \(install Plimsoll/); // where it is not installed
  refuses('libm.so.6', /^ERR_PLIMSOLL_LIBRARY plimsoll: libm.so.6 is not Plimsoll's library: .*plim_version_check/);
  refuses(process.env.PLIMSOLL_OTHER_LIBRARY, /^ERR_PLIMSOLL_LIBRARY plimsoll: .*: another version/);
});

test('handles may be disposed of', { skip: !Symbol.dispose }, () => {
  const own = new Engine();
  own[Symbol.dispose]();
  assert.equal(own.threads, 0);
});
