'use strict';
// a * x + y, compiled while the program runs.
const { Engine } = require('plimsoll');

const source = `
  func.func @saxpy(%a: f32, %x: memref<?xf32>, %y: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      %u = memref.load %x[%i] : memref<?xf32>
      %v = memref.load %y[%i] : memref<?xf32>
      %p = arith.mulf %a, %u : f32
      %q = arith.addf %p, %v : f32
      memref.store %q, %y[%i] : memref<?xf32>
    }
    return
  }`;

const saxpy = new Engine().load(source, 'saxpy.mlir').function('saxpy');
const y = Float32Array.of(10, 10, 10);
saxpy.call(2, Float32Array.of(1, 2, 3), y);
console.log(...y);
