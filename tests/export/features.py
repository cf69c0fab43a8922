#!/usr/bin/env python3
"""What code for programs without the engine can do besides numbers, and what is refused: each case with its C program and what that prints.

  PYTHONPATH=build/python tests/export/features.py --bin build/bin [--machine NAME ...]

Exit status 1 if any was wrong.
"""
import re
import subprocess
import sys

import extents
import placement
import run as export

HEAD = """#include "case.h"
#include "tests/export/support.h"
#define SHOW(value) print_number((size_t)(value)), print_text(" ");
"""
TAIL = "void print_results(void) {}\n"


CASES = {
    "parameters, state, functions of the program, scalars, assertions": ("""
func.func private @note(tensor<4xf32>, f32) -> tensor<4xf32>
ml_program.global private @w(#ml_program.extern<tensor<4xf32>>) : tensor<4xf32>
ml_program.global private mutable @sum(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) : tensor<4xf32>
ml_program.global private mutable @count(dense<0> : tensor<i32>) : tensor<i32>
func.func @step(%x: tensor<4xf32>, %s: f32, %flag: i1, %i: index) -> (tensor<4xf32>, f32, index) {
  %w = ml_program.global_load_const @w : tensor<4xf32>
  %t = ml_program.global_load @sum : tensor<4xf32>
  %p = arith.mulf %x, %w : tensor<4xf32>
  %q = arith.addf %t, %p : tensor<4xf32>
  ml_program.global_store @sum = %q : tensor<4xf32>
  %n = func.call @note(%q, %s) : (tensor<4xf32>, f32) -> tensor<4xf32>
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %v = arith.addf %s, %one : f32
  %j = arith.addi %i, %c1 : index
  cf.assert %flag, "flag"
  return %n, %v, %j : tensor<4xf32>, f32, index
}
""", """
static float sum[4], x[4] = {1, 1, 1, 1}, y[4];
static const float w[4] = {10, 20, 30, 40};
static int32_t count, fails;
int32_t note(const float *argument0, float argument1, float *result0) {
  for (int i = 0; i < 4; ++i)
    result0[i] = argument0[i] + argument1;
  return fails;
}
int run_case(void) {
  const struct case_parameters parameters = {w};
#ifdef CASE_STATE_COUNT_BYTES
  const struct case_state state = {sum, &count};
#else
  const struct case_state state = {sum};
#endif
  (void)count;
  case_reset(&state);
  static _Alignas(64) uint8_t memory[CASE_WORKSPACE_BYTES];
  const struct case_workspaces workspaces = {memory};
  float v = 0;
  int64_t j = 0;
  for (int i = 0; i < 2; ++i) {
    SHOW(case_step(&workspaces, &parameters, &state, x, 0.5f, 1, ((int64_t)1 << (sizeof(void *) > 4 ? 33 : 20)) - 1, y, &v, &j))
    SHOW(y[0] * 2) SHOW(y[3] * 2) SHOW(v * 2) SHOW(j >> (sizeof(void *) > 4 ? 33 : 20))
  }
  SHOW(case_step(&workspaces, &parameters, &state, x, 0.5f, 0, 0, y, &v, &j) == CASE_FAILED_PRECONDITION)
  fails = 14;
  SHOW(case_step(&workspaces, &parameters, &state, x, 0.5f, 1, 0, y, &v, &j) == CASE_UNAVAILABLE)
  SHOW(case_step(&workspaces, &parameters, &state, NULL, 0.5f, 1, 0, y, &v, &j) == CASE_INVALID_ARGUMENT)
  SHOW(case_step(&workspaces, NULL, &state, x, 0.5f, 1, 0, y, &v, &j) == CASE_INVALID_ARGUMENT)
  SHOW(case_step(&workspaces, &parameters, &state, x, 0.5f, 1, 0, y, &v, NULL) == CASE_INVALID_ARGUMENT)
  return 0;
}
""", "0 23 89 3 1 0 43 169 3 1 1 1 1 1 1 "),
    "kernels": ("""
func.func @copy(%x: memref<4xf32>, %y: memref<4xf32>, %k: i16) -> i16 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %x[%i] : memref<4xf32>
    memref.store %a, %y[%i] : memref<4xf32>
  }
  return %k : i16
}
func.func @columns(%x: memref<3x2xf32, strided<[4, 2]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 7.0 : f32
  memref.store %v, %x[%c1, %c1] : memref<3x2xf32, strided<[4, 2]>>
  return
}
""", """
int run_case(void) {
  const float x[4] = {1, 2, 3, 4};
  float y[4] = {0}, z[12] = {0};
  int16_t k = 0;
  SHOW(case_copy(x, y, -5, &k)) SHOW(-k) SHOW(y[3])
  SHOW(case_columns(z)) SHOW(z[6])
  return 0;
}
""", "0 5 4 0 7 "),
    "each type of elements": ("""
func.func @all(%a: tensor<1xi1>, %b: tensor<1xi8>, %c: tensor<1xi16>, %d: tensor<1xi32>, %e: tensor<1xi64>, %f: tensor<1xf16>,
               %g: tensor<1xbf16>, %h: tensor<1xf64>, %i: tensor<1xf8E5M2>, %j: tensor<1xcomplex<f32>>, %k: tensor<f32>)
    -> (tensor<1xi1>, tensor<1xi8>, tensor<1xi16>, tensor<1xi32>, tensor<1xi64>, tensor<1xf16>, tensor<1xbf16>, tensor<1xf64>,
        tensor<1xf8E5M2>, tensor<1xcomplex<f32>>, tensor<f32>) {
  %b1 = arith.addi %b, %b : tensor<1xi8>
  %c1 = arith.addi %c, %c : tensor<1xi16>
  %d1 = arith.addi %d, %d : tensor<1xi32>
  %e1 = arith.addi %e, %e : tensor<1xi64>
  %f1 = arith.addf %f, %f : tensor<1xf16>
  %g1 = arith.addf %g, %g : tensor<1xbf16>
  %h1 = arith.addf %h, %h : tensor<1xf64>
  %k1 = arith.addf %k, %k : tensor<f32>
  return %a, %b1, %c1, %d1, %e1, %f1, %g1, %h1, %i, %j, %k1
      : tensor<1xi1>, tensor<1xi8>, tensor<1xi16>, tensor<1xi32>, tensor<1xi64>, tensor<1xf16>, tensor<1xbf16>, tensor<1xf64>,
        tensor<1xf8E5M2>, tensor<1xcomplex<f32>>, tensor<f32>
}
func.func @scalars(%a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: f16, %g: bf16, %h: f64, %i: f32, %j: index, %k: i4)
    -> (i1, i8, i16, i32, i64, f16, bf16, f64, f32, index, i4) {
  return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k : i1, i8, i16, i32, i64, f16, bf16, f64, f32, index, i4
}
""", """
int run_case(void) {
  uint8_t a = 1, a1 = 0, i = 0x3c, i1 = 0;
  int8_t b = 3, b1 = 0;
  int16_t c = 300, c1 = 0;
  int32_t d = 100000, d1 = 0;
  int64_t e = (int64_t)1 << 40, e1 = 0;
  uint16_t f = 0x3c00, f1 = 0, g = 0x3f80, g1 = 0;
  double h = 1.5, h1 = 0;
  float j[2] = {1, 2}, j1[2] = {0, 0}, k = 2.5f, k1 = 0;
  SHOW(case_all(&a, &b, &c, &d, &e, &f, &g, &h, &i, j, &k, &a1, &b1, &c1, &d1, &e1, &f1, &g1, &h1, &i1, j1, &k1))
  SHOW(a1) SHOW(b1) SHOW(c1) SHOW(d1) SHOW(e1 >> 41) SHOW(f1 == 0x4000) SHOW(g1 == 0x4000) SHOW(h1) SHOW(i1 == 0x3c) SHOW(j1[1]) SHOW(k1)
  a1 = 0, b1 = 0, c1 = 0, d1 = 0, e1 = 0, f1 = 0, g1 = 0, h1 = 0, k1 = 0;
  int64_t n = 0;
  int8_t m = 0;
  SHOW(case_scalars(a, b, c, d, e, f, g, h, k, 9, -3, &a1, &b1, &c1, &d1, &e1, &f1, &g1, &h1, &k1, &n, &m))
  SHOW(a1) SHOW(b1) SHOW(c1) SHOW(d1) SHOW(e1 >> 40) SHOW(f1 == f) SHOW(g1 == g) SHOW(h1 * 2) SHOW(k1 * 2) SHOW(n) SHOW(-m)
  return 0;
}
""", "0 1 6 600 200000 1 1 1 3 1 2 5 0 1 3 300 100000 1 1 1 3 5 9 3 "),
    "names that C has others for": ("""
func.func @main(%int: tensor<2xi32>, %class: tensor<2xi32>, %0: i32) -> tensor<2xi32> {
  %r = arith.addi %int, %class : tensor<2xi32>
  return %r : tensor<2xi32>
}
func.func @"a.b-c"(%x: i32) -> i32 {
  return %x : i32
}
""", """
int run_case(void) {
  const int32_t a[2] = {1, 2}, b[2] = {3, 4};
  int32_t r[2] = {0, 0}, s = 0;
  SHOW(case_main(a, b, 0, r)) SHOW(r[1]) SHOW(case_a_b_c(5, &s)) SHOW(s)
  return 0;
}
""", "0 6 0 5 "),
    "small integers for functions of the program": ("""
func.func private @signs(i8, i16, i32, i1, f16, index) -> i32
func.func @main(%a: tensor<1xi8>, %b: tensor<1xi16>, %c: tensor<1xi32>, %d: tensor<1xi1>, %h: tensor<1xf16>, %i: index) -> i32 {
  %0 = arith.constant 0 : index
  %a0 = tensor.extract %a[%0] : tensor<1xi8>
  %b0 = tensor.extract %b[%0] : tensor<1xi16>
  %c0 = tensor.extract %c[%0] : tensor<1xi32>
  %d0 = tensor.extract %d[%0] : tensor<1xi1>
  %h0 = tensor.extract %h[%0] : tensor<1xf16>
  %a1 = arith.addi %a0, %a0 : i8
  %b1 = arith.addi %b0, %b0 : i16
  %c1 = arith.addi %c0, %c0 : i32
  %one = arith.constant true
  %d1 = arith.xori %d0, %one : i1
  %h1 = arith.negf %h0 : f16
  %r = func.call @signs(%a1, %b1, %c1, %d1, %h1, %i) : (i8, i16, i32, i1, f16, index) -> i32
  return %r : i32
}
""", """
int32_t signs(int8_t argument0, int16_t argument1, int32_t argument2, uint8_t argument3, uint16_t argument4, int64_t argument5,
              int32_t *result0) {
  *result0 = (argument0 < 0) + 2 * (argument1 < 0) + 4 * (argument2 < 0) + 8 * (argument3 == 0) + 16 * (argument4 == 0xbc00) +
             32 * (argument5 == -7);
  return 0;
}
int run_case(void) {
  const int8_t a = -3;
  const int16_t b = -300;
  const int32_t c = -70000;
  const uint8_t d = 1;
  const uint16_t h = 0x3c00;
  int32_t r = 0;
  SHOW(case_main(&a, &b, &c, &d, &h, -7, &r)) SHOW(r)
  return 0;
}
""", "0 63 "),
    "indices beyond addresses": ("""
func.func @main(%x: tensor<4xf32>, %i: index) -> f32 {
  %r = tensor.extract %x[%i] : tensor<4xf32>
  return %r : f32
}
""", """
int run_case(void) {
  const float x[4] = {1, 2, 3, 4};
  float r = 0;
  SHOW(case_main(x, 3, &r)) SHOW(r) SHOW(case_main(x, 4, &r) != 0) SHOW(case_main(x, (int64_t)1 << 32, &r) != 0) SHOW(case_main(x, -1, &r) != 0)
  return 0;
}
""", "0 4 1 1 1 "),
    "words of C as names": ("""
func.func @main(%int32_t: tensor<2xi32>, %NULL: tensor<2xi32>, %linux: tensor<2xi32>, %_Bool: i32) -> tensor<2xi32> {
  %r = arith.addi %int32_t, %NULL : tensor<2xi32>
  %s = arith.addi %r, %linux : tensor<2xi32>
  return %s : tensor<2xi32>
}
""", """
int run_case(void) {
  const int32_t x[2] = {1, 2};
  int32_t y[2] = {0};
  SHOW(case_main(x, x, x, 0, y)) SHOW(y[1])
  return 0;
}
""", "0 6 "),
    "arguments that become results": ("""
func.func @main(%x: tensor<4xf32> {plim.donate = 0}, %i: index) -> tensor<4xf32> {
  %c = arith.constant 9.0 : f32
  %r = tensor.insert %c into %x[%i] : tensor<4xf32>
  return %r : tensor<4xf32>
}
""", """
int run_case(void) {
  float x[4] = {1, 2, 3, 4};
  SHOW(case_main(x, 2)) SHOW(x[1]) SHOW(x[2]) SHOW(case_main(x, 4) != 0)
  return 0;
}
""", "0 2 9 1 "),
    "extremes of floats": ("""
func.func @f64(%a: tensor<4xf64>, %b: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %x = arith.maximumf %a, %b : tensor<4xf64>
  %y = arith.minimumf %a, %b : tensor<4xf64>
  return %x, %y : tensor<4xf64>, tensor<4xf64>
}
func.func @f16(%a: tensor<4xf16>, %b: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>) {
  %x = arith.maximumf %a, %b : tensor<4xf16>
  %y = arith.minimumf %a, %b : tensor<4xf16>
  return %x, %y : tensor<4xf16>, tensor<4xf16>
}
""", """
int run_case(void) {
  const double a[4] = {1, -0.0, 0.0, __builtin_nan("")}, b[4] = {-2, 0.0, -0.0, 3};
  double x[4] = {0}, y[4] = {0};
  SHOW(case_f64(a, b, x, y))
  SHOW(x[0]) SHOW(x[1] == 0) SHOW(x[2] == 0) SHOW(x[3] != x[3])
  SHOW(-y[0]) SHOW(y[1] == 0) SHOW(y[2] == 0) SHOW(y[3] != y[3])
  const uint16_t c[4] = {0x3c00, 0x8000, 0x0000, 0x7e00}, d[4] = {0xc000, 0x0000, 0x8000, 0x4200};
  uint16_t u[4] = {0}, v[4] = {0};
  SHOW(case_f16(c, d, u, v))
  SHOW(u[0] == 0x3c00) SHOW(u[1] & 0x7fff) SHOW(u[2] & 0x7fff) SHOW((u[3] & 0x7fff) > 0x7c00)
  SHOW(v[0] == 0xc000) SHOW(v[1] & 0x7fff) SHOW(v[2] & 0x7fff) SHOW((v[3] & 0x7fff) > 0x7c00)
  return 0;
}
""", "0 1 1 1 1 2 1 1 1 0 1 0 0 1 1 0 0 1 "),
    "numbers that do not exist": ("""
func.func @main(%x: i32, %y: i32) -> i32 {
  %r = arith.divsi %x, %y : i32
  return %r : i32
}
""", """
int run_case(void) {
  int32_t r = 0;
  SHOW(case_main(7, 2, &r)) SHOW(r) SHOW(case_main(7, 0, &r) == CASE_FAILED_PRECONDITION)
  return 0;
}
""", "0 3 1 "),
    "constants in a memory": ("""
memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]> {plim.scope = "global.flash"}
func.func @main(%i: index) -> f32 {
  %t = memref.get_global @table : memref<4xf32>
  %r = memref.load %t[%i] : memref<4xf32>
  return %r : f32
}
""", """
int run_case(void) {
  float r = 0;
  SHOW(case_main(3, &r)) SHOW(r)
  return 0;
}
""", "0 4 ", "cortex-m55"),
    "memories that buffers may be in": ("""
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = bufferization.alloc_tensor() {plim.scope = "global.dtcm"} : tensor<64xf32>
  %b = bufferization.alloc_tensor() {plim.candidate_pools = ["sram"]} : tensor<64xf32>
  %r = linalg.exp ins(%x : tensor<64xf32>) outs(%a : tensor<64xf32>) -> tensor<64xf32>
  %s = tensor.insert_slice %r into %b[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1.0 : f32
  %t = tensor.insert %c1 into %s[%c0] : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %u = linalg.add ins(%t, %r : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %u : tensor<64xf32>
}
""", """
static _Alignas(CASE_DTCM_ALIGNMENT) uint8_t dtcm[CASE_DTCM_BYTES];
#ifdef CASE_SRAM_BYTES
static _Alignas(CASE_SRAM_ALIGNMENT) uint8_t sram[CASE_SRAM_BYTES];
#endif
int run_case(void) {
  static float x[64], y[64];
  static _Alignas(CASE_WORKSPACE_ALIGNMENT) uint8_t workspace[CASE_WORKSPACE_BYTES];
  const struct case_workspaces workspaces = {
      .workspace = workspace,
      .dtcm = dtcm,
#ifdef CASE_SRAM_BYTES
      .sram = sram,
#endif
  };
  SHOW(case_main(&workspaces, x, y)) SHOW(y[0]) SHOW(y[63])
  const struct case_workspaces none = {.workspace = workspace};
  SHOW(case_main(&none, x, y) == CASE_INVALID_ARGUMENT)
  return 0;
}
""", "0 2 2 1 ", "cortex-m55"),
}

# With the device of examples/microcontroller, whose program calls the export "keywords".
DEVICES = {
    "accelerators": ("""
func.func @main(%a: tensor<2x2xi8>, %b: tensor<2x2xi8>) -> tensor<2x2xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x2xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<2x2xi32>) -> tensor<2x2xi32>
  %r = linalg.matmul {plim.device = "ethos-u55"} ins(%a, %b : tensor<2x2xi8>, tensor<2x2xi8>) outs(%f : tensor<2x2xi32>) -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
func.func @other(%a: tensor<2xi32>) -> tensor<2xi32> {
  %r = arith.addi %a, %a : tensor<2xi32>
  return %r : tensor<2xi32>
}
""", """
static int32_t events, fails[5]; /* a digit for each call; what open, activate, run, deactivate, close return */
static int32_t note(int which) {
  events = 10 * events + which;
  return fails[which - 1];
}
static int32_t open_it(void *context) { return context == &events ? note(1) : 99; }
static int32_t activate(void *context) { return context == &events ? note(2) : 99; }
static int32_t run(void *context, const void *code, size_t bytes, void *const *buffers, size_t count) {
  if (context != &events || bytes != 12 || count != 3 || ((const int32_t *)code)[0] != 2)
    return 99;
  const int8_t *a = buffers[0], *b = buffers[1];
  int32_t *c = buffers[2];
  for (int i = 0; i < 4; ++i)
    c[i] = a[i / 2 * 2] * b[i % 2] + a[i / 2 * 2 + 1] * b[2 + i % 2];
  return note(3);
}
static int32_t deactivate(void *context) { return context == &events ? note(4) : 99; }
static int32_t close_it(void *context) { return context == &events ? note(5) : 99; }
int run_case(void) {
  struct keywords_devices devices = {{&events, open_it, activate, run, deactivate, close_it}};
  const int8_t a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  int32_t c[4] = {0};
  const int32_t x[2] = {4, 5};
  int32_t y[2] = {0};
  SHOW(keywords_open(&devices)) SHOW(keywords_main(&devices, a, b, c)) SHOW(keywords_close(&devices)) SHOW(events) SHOW(c[3])
  SHOW(keywords_other(x, y)) SHOW(y[1])
  for (int which = 0; which < 5; ++which) {
    events = 0;
    fails[which] = 40 + which;
    SHOW(keywords_open(&devices)) SHOW(keywords_main(&devices, a, b, c)) SHOW(keywords_close(&devices)) SHOW(events)
    fails[which] = 0;
  }
  /* The first failure counts. */
  events = 0, fails[2] = 7, fails[3] = 8;
  SHOW(keywords_main(&devices, a, b, c)) SHOW(events)
  fails[2] = fails[3] = 0;
  struct keywords_devices least = {{&events, NULL, NULL, run, NULL, NULL}};
  events = 0;
  SHOW(keywords_open(&least)) SHOW(keywords_main(&least, a, b, c)) SHOW(keywords_close(&least)) SHOW(events)
  SHOW(keywords_main(NULL, a, b, c) == KEYWORDS_INVALID_ARGUMENT) SHOW(keywords_open(NULL) == KEYWORDS_INVALID_ARGUMENT)
  return 0;
}
""", "0 0 0 12345 50 0 10 "
     "40 0 0 12345 0 41 0 125 0 42 0 12345 0 43 0 12345 0 0 44 12345 "
     "7 234 0 0 0 3 1 1 "),
}

REFUSED = {
    "func.func @main(%x: tensor<2xf32>, %X: tensor<3xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }":
        "the header would have 'CASE_MAIN_X_ELEMENTS' twice: names that differ in case or in signs alone",
    "func.func @main(%n: i32) -> i32 { %r = func.call @main(%n) : (i32) -> i32 return %r : i32 }":
        "this cannot be exported: the code is recursive, so that its stack has no bound",
    "func.func @\"a.b\"() { return } func.func @a_b() { return }": "'a_b' has the same name in C as another function, 'case_a_b'",
    "func.func @main(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {\n  %0 = arith.constant 0 : index\n  %1 = arith.constant 1 : index\n"
    "  %m = tensor.dim %x, %0 : tensor<?xf32>\n  %r = scf.for %i = %0 to %n step %1 iter_args(%a = %x) -> tensor<?xf32> {\n    %e = tensor.empty(%m) : tensor<?xf32>\n"
    "    %k = tensor.dim %a, %0 : tensor<?xf32>\n    %z = arith.subi %k, %1 : index\n    %s = tensor.extract_slice %a[1] [%z] [1] : tensor<?xf32> to tensor<?xf32>\n"
    "    %f = tensor.empty(%z) : tensor<?xf32>\n    %b = linalg.exp ins(%s : tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>\n    scf.yield %b : tensor<?xf32>\n  }\n"
    "  return %r : tensor<?xf32>\n}":
        "so that 'main' cannot be exported",
    "func.func private @int(i32) -> i32 func.func @main(%x: i32) -> i32 { %r = func.call @int(%x) : (i32) -> i32 return %r : i32 }":
        "'int' is no name for a function in C",
    "func.func private @case_main(i32) -> i32 func.func @main(%x: i32) -> i32 { %r = func.call @case_main(%x) : (i32) -> i32 return %r : i32 }":
        "'case_main' has the same name in C as another function, 'case_main'",
    "func.func private @\"a.b\"(i32) -> i32 func.func private @a_b(i32, i32) -> i32 func.func @main(%x: i32) -> i32 {\n"
    "  %r = func.call @\"a.b\"(%x) : (i32) -> i32\n  %s = func.call @a_b(%x, %r) : (i32, i32) -> i32\n  return %s : i32\n}":
        "has the same name in C as another function, 'a_b'",
}


def build(builder, source, program, brings=None, options=()):
    builder.write("case.mlir", source)
    builder.export("case.mlir", brings, options)
    builder.write("main.c", HEAD + program + TAIL)
    builder.link("main.c")


def main():
    arguments = export.parser(__doc__, ["x86-64", "riscv64", "cortex-m7", "cortex-m55"]).parse_args()
    wrong = done = 0
    for name, builder in export.builders(arguments):
        device = arguments.bin / "microcontroller-export"
        devices = DEVICES | placement.DEVICES
        for title, (source, program, want, *only) in (CASES | extents.CASES | placement.CASES | devices).items():
            if only and name != only[0] or title in devices and (name != "cortex-m55" or not device.exists()):
                continue
            done += 1
            try:
                build(builder, source, program, device if title in devices else None, ["--set", "cores=1", *only[1:]])
                have = builder.start()
                if "flash" in source and ".rodata.flash" not in builder.call("llvm-readelf-22", "-S", "case.o"):
                    have += "no constant in .rodata.flash"
                have += placement.faults(title, builder.call("llvm-readelf-22", "-S", "-W", "case.o"))
            except (RuntimeError, export.Refused, subprocess.TimeoutExpired) as error:
                have = str(error)
            if not re.fullmatch(re.escape(want) + r"status 0\nstack \d+\n", have):
                wrong += 1
                print(f"{name}, {title}: printed {have!r}, not {want!r}")
        for source, message in (REFUSED | extents.REFUSED).items():
            done += 1
            builder.write("case.mlir", source)
            try:
                builder.export("case.mlir")
                have = "it was exported"
            except (RuntimeError, export.Refused) as error:
                have = str(error)
            if message not in have or not have.startswith("error: case.mlir:" if "header" not in message else "error: "):
                wrong += 1
                print(f"{name}: said {have!r}, not {message!r}")
    print(f"{done} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
