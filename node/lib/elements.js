'use strict';
// Element types: the typed arrays that hold them, and scalars as the library has them, in 64 bits.

// By number. Of the arrays the first is what results are. Small floats are their bits, complex numbers two elements.
const table = [
  ['i1', 1, Uint8Array], ['i8', 8, Int8Array, Uint8Array, Uint8ClampedArray], ['i16', 16, Int16Array, Uint16Array],
  ['i32', 32, Int32Array, Uint32Array], ['i64', 64, BigInt64Array, BigUint64Array], ['f16', 16, Uint16Array],
  ['bf16', 16, Uint16Array], ['f32', 32, Float32Array], ['f64', 64, Float64Array],
  ['index', 64, BigInt64Array, BigUint64Array], ['f8E4M3FN', 8, Uint8Array], ['f8E5M2', 8, Uint8Array],
  ['complex<f32>', 64, Float32Array], ['complex<f64>', 128, Float64Array], ['i2', 2, Int8Array, Uint8Array],
  ['i4', 4, Int8Array, Uint8Array],
];
const elements = [null, ...table.map(([name, bits, ...arrays]) => (
  { name, bits, arrays, parts: name.startsWith('complex') ? 2 : 1 }))];

function shown(value) {
  return typeof value === 'string' ? `'${value}'` : typeof value === 'bigint' ? `${value}n`
    : value !== null && typeof value === 'object' ? value.constructor?.name ?? 'an object' : String(value);
}

/** An integer that is read with a sign or without: as many bits. */
function integerBits({ name, bits }, value) {
  if (typeof value !== 'bigint' && !Number.isInteger(value))
    throw new TypeError(`${name} wants an integer, not ${shown(value)}`);
  const wide = BigInt(value);
  if (wide < -(1n << BigInt(bits - 1)) || wide >= 1n << BigInt(bits))
    throw new RangeError(`${value} is no ${name}`);
  return BigInt.asUintN(64, wide);
}

function writeScalar(buffer, at, element, value) {
  const { name } = element;
  if (name === 'f32' || name === 'f64') {
    if (typeof value !== 'number')
      throw new TypeError(`${name} wants a number, not ${shown(value)}`);
    if (name === 'f32')
      buffer.writeFloatLE(value, at);
    else
      buffer.writeDoubleLE(value, at);
  } else if (name === 'i1') {
    if (![true, false, 0, 1, 0n, 1n].includes(value))
      throw new TypeError(`i1 wants a boolean, not ${shown(value)}`);
    buffer.writeBigUInt64LE(BigInt(value), at);
  } else {
    buffer.writeBigUInt64LE(integerBits(element, value), at);
  }
}

function readScalar(buffer, at, { name, bits }) {
  switch (name) {
    case 'f32': return buffer.readFloatLE(at);
    case 'f64': return buffer.readDoubleLE(at);
    case 'i1': return buffer[at] !== 0;
    case 'i64': case 'index': return buffer.readBigInt64LE(at);
    default: {
      const read = name.startsWith('i') ? BigInt.asIntN : BigInt.asUintN;
      return Number(read(bits, buffer.readBigUInt64LE(at)));
    }
  }
}

/** An array that holds such elements, of `length` in all, and its shape; `dims` has null where a call chooses. */
function checkArray(element, dims, value) {
  const { data, shape } = ArrayBuffer.isView(value) ? { data: value } : value ?? {};
  if (!element.arrays.some((array) => data instanceof array)) {
    throw new TypeError(`${element.name} wants ${element.arrays.map((array) => array.name).join(' or ')}, not `
      + shown(data === undefined ? value : data));
  }
  const count = data.length / element.parts;
  if (shape === undefined)
    return { data, shape: shapeOf(dims, count) };
  if (!Array.isArray(shape) || !shape.every((extent) => Number.isSafeInteger(extent) && extent >= 0))
    throw new TypeError(`a shape is an array of extents, not ${Array.isArray(shape) ? `[${shape}]` : shown(shape)}`);
  if (shape.reduce((product, extent) => product * extent, 1) !== count)
    throw new RangeError(`the shape [${shape}] does not have ${count} elements`);
  return { data, shape };
}

/** The shape that an array without one has: at most one extent may be open. */
function shapeOf(dims, count) {
  const open = dims.filter((extent) => extent === null).length;
  const known = dims.reduce((product, extent) => product * (extent ?? 1), 1);
  if (open === 0 && known !== count)
    throw new RangeError(`[${dims}] wants ${known} elements, not ${count}`);
  if (open > 1 || (open === 1 && (known === 0 || count % known !== 0))) {
    const text = dims.map((extent) => extent ?? '?').join();
    throw new RangeError(`how ${count} elements are [${text}] is not known: give { data, shape }`);
  }
  return dims.map((extent) => extent ?? count / known);
}

module.exports = { checkArray, elements, readScalar, shown, writeScalar };
