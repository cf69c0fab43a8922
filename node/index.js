'use strict';
// Plimsoll for Node: compiles MLIR for the machine that is here and runs it. README.md says how; index.d.ts what there is.

const { Engine, Module } = require('./lib/engine.js');
const { PlimsollError } = require('./lib/errors.js');
const { Function, State } = require('./lib/function.js');
const { version } = require('./lib/library.js');

module.exports = { Engine, Function, Module, PlimsollError, State, version };
