'use strict';
// Options: what is none is said at once, and by its name.

const { shown } = require('./elements.js');

// What each kind of option takes: whether a value is one, and how it is called.
const string = { is: (value) => typeof value === 'string' && !value.includes('\0'), text: 'a string' };
const count = (most) => (
  { is: (value) => Number.isSafeInteger(value) && value >= 0 && value <= most, text: `an integer from 0 to ${most}` });
const bytes = {
  is: (value) => (typeof value === 'bigint' ? value >= 0n && value < 1n << 63n
    : Number.isSafeInteger(value) && value >= 0),
  text: 'a number of bytes',
};
const milliseconds = { is: (value) => Number.isFinite(value) && value >= 0 && value < 1e15, text: 'milliseconds' };
const boolean = { is: (value) => typeof value === 'boolean', text: 'a boolean' };
const oneOf = (...names) => ({ is: (value) => names.includes(value), text: names.map((name) => `'${name}'`).join(' or ') });
const either = (...kinds) => (
  { is: (value) => kinds.some((kind) => kind.is(value)), text: kinds.map((kind) => kind.text).join(' or ') });
const object = {
  is: (value) => value !== null && typeof value === 'object' && !Array.isArray(value) && !ArrayBuffer.isView(value),
  text: 'an object',
};
const instance = (type, text) => ({ is: (value) => value instanceof type(), text });

/** Throws unless `options` has nothing but what `known` says. `what` is how they are called, in the singular. */
function checkOptions(what, options, known) {
  if (!object.is(options))
    throw new TypeError(`${what}s are an object, not ${shown(options)}`);
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(known, name))
      throw new TypeError(`there is no ${what} '${name}', but ${Object.keys(known).join(', ')}`);
    if (value !== undefined && !known[name].is(value))
      throw new TypeError(`the ${what} '${name}' wants ${known[name].text}, not ${shown(value)}`);
  }
}

const limits = ['maxStackAllocaBytes', 'stackBudgetBytes', 'workspaceAlignment', 'maxTextBytes', 'maxOperations',
  'maxRank', 'maxVectorElements', 'maxConstantBytes'];

/** A plim_limits of these, or null. */
function limitsOf(given) {
  if (given === undefined)
    return null;
  checkOptions('limit', given, { externalWorkspaceOnly: boolean, ...Object.fromEntries(limits.map((name) => [name, bytes])) });
  const struct = Buffer.alloc(8 + 8 * limits.length);
  struct.writeUInt32LE(struct.length, 0);
  struct.writeUInt32LE({ true: 1, false: 2 }[given.externalWorkspaceOnly] ?? 0, 4);
  limits.forEach((name, i) => {
    const limit = given[name];
    if (limit !== undefined)
      struct.writeBigInt64LE(BigInt(limit) || -1n, 8 + 8 * i); // -1: a limit of zero
  });
  return struct;
}

const numerics = { undefined: 0, default: 1, strict: 2 };

module.exports = { boolean, bytes, checkOptions, count, either, instance, limitsOf, milliseconds, numerics, object, oneOf, string };
