"""Cases of features.py about extents that only a call knows: each with its C program and what that prints."""

CASES = {
    "extents of arguments and results": ("""
func.func @main(%x: tensor<?x3xf32>, %w: tensor<3x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x3xf32>
  %n = tensor.dim %w, %c1 : tensor<3x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%x, %w : tensor<?x3xf32>, tensor<3x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
""", """
#ifdef CASE_WORKSPACE_BYTES
static _Alignas(CASE_WORKSPACE_ALIGNMENT) uint8_t memory[CASE_WORKSPACE_BYTES];
static const struct case_workspaces workspaces = {memory};
#define MAIN(...) case_main(&workspaces, __VA_ARGS__)
#else
#define MAIN case_main
#endif
int run_case(void) {
  static float x[5 * 3], w[3 * 7], y[5 * 7 + 1];
  for (int i = 0; i < 15; ++i) x[i] = (float)i;
  for (int i = 0; i < 21; ++i) w[i] = (float)(i % 5);
  int wrong = 0;
  for (int64_t m = 0; m <= 5; ++m)
    for (int64_t n = 0; n <= 7; ++n) {
      int64_t rows = -1, columns = -1;
      y[m * n] = 99;
      wrong += MAIN(x, m, w, n, y, 35, &rows, &columns) != 0 || rows != m || columns != n || y[m * n] != 99;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          float sum = 0;
          for (int64_t k = 0; k < 3; ++k) sum += x[i * 3 + k] * w[k * n + j];
          wrong += y[i * n + j] != sum;
        }
    }
  SHOW(wrong)
  /* Too little room says what it takes. */
  int64_t rows = 0, columns = 0;
  SHOW(MAIN(x, 5, w, 7, y, 34, &rows, &columns) == CASE_RESOURCE_EXHAUSTED) SHOW(rows) SHOW(columns)
  SHOW(MAIN(x, 5, w, 7, y, -1, &rows, &columns) == CASE_INVALID_ARGUMENT)
  SHOW(MAIN(x, -1, w, 7, y, 35, &rows, &columns) == CASE_INVALID_ARGUMENT)
  SHOW(MAIN(x, (int64_t)1 << 62, w, 7, y, 35, &rows, &columns) == CASE_INVALID_ARGUMENT)
  SHOW(MAIN(x, (int64_t)1 << (sizeof(void *) > 4 ? 46 : 30), w, 7, y, 35, &rows, &columns) == CASE_INVALID_ARGUMENT)
  SHOW(MAIN(x, 5, w, 7, y, 35, NULL, &columns) == CASE_INVALID_ARGUMENT)
  return 0;
}
""", "0 1 5 7 1 1 1 1 1 "),
    "workspaces as large as extents ask for": ("""
func.func @main(%x: tensor<?xf32>, %i: index, %scale: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %g = tensor.insert %scale into %f[%i] : tensor<?xf32>
  %h = linalg.add ins(%g, %f : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = tensor.extract %h[%i] : tensor<?xf32>
  return %r : f32
}
func.func @fixed(%x: tensor<4xf32>, %i: index, %scale: f32) -> f32 {
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %g = tensor.insert %scale into %f[%i] : tensor<4xf32>
  %h = linalg.add ins(%g, %f : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.extract %h[%i] : tensor<4xf32>
  return %r : f32
}
""", """
int run_case(void) {
  static float x[100];
  static _Alignas(CASE_WORKSPACE_ALIGNMENT) uint8_t memory[4096];
  size_t small = 0, large = 0, none = 1;
  float r = 0;
  SHOW(case_main_workspace_bytes(1, 0, &small)) SHOW(case_main_workspace_bytes(100, 0, &large)) SHOW(case_main_workspace_bytes(0, 0, &none))
  SHOW(none) SHOW(small >= 8) SHOW(small <= 192) SHOW(large >= 800) SHOW(large <= 3 * 448)
  struct case_workspaces workspaces = {memory, large};
  SHOW(case_main(&workspaces, x, 100, 99, 2.0f, &r)) SHOW(r)
  --workspaces.workspace_bytes;
  SHOW(case_main(&workspaces, x, 100, 99, 2.0f, &r) == CASE_RESOURCE_EXHAUSTED)
  SHOW(case_main(&workspaces, x, 99, 99, 2.0f, &r) != 0) /* the index */
  SHOW(case_main_workspace_bytes(-1, 0, &none) == CASE_INVALID_ARGUMENT)
  SHOW(case_main_workspace_bytes(1, 0, NULL) == CASE_INVALID_ARGUMENT)
  SHOW(case_main_workspace_bytes((int64_t)1 << (sizeof(void *) > 4 ? 45 : 28), 0, &none) == CASE_RESOURCE_EXHAUSTED)
#ifdef CASE_WORKSPACE_BYTES
  workspaces.workspace_bytes = CASE_WORKSPACE_BYTES - 1;
  SHOW(case_fixed(&workspaces, x, 3, 2.0f, &r) == CASE_RESOURCE_EXHAUSTED)
  workspaces.workspace_bytes = CASE_WORKSPACE_BYTES;
  SHOW(case_fixed(&workspaces, x, 3, 2.0f, &r))
#endif
  return 0;
}
""", "0 0 0 0 1 1 1 1 0 3 1 1 1 1 1 1 0 "),
    "extents that scalars say": ("""
func.func @main(%n: index, %v: f32) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%v : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %f : tensor<?xf32>
}
""", """
int run_case(void) {
  float y[8] = {0};
  int64_t n = -1;
  SHOW(case_main(6, 3.0f, y, 8, &n)) SHOW(n) SHOW(y[5]) SHOW(y[6])
  SHOW(case_main(9, 3.0f, y, 8, &n) == CASE_RESOURCE_EXHAUSTED) SHOW(n)
  SHOW(case_main(-4, 3.0f, y, 8, &n) == CASE_INVALID_ARGUMENT)
  SHOW(case_main(0, 3.0f, y, 0, &n)) SHOW(n)
  return 0;
}
""", "0 6 3 0 1 9 1 0 0 "),
    "extents with bounds": ("""
func.func @main(%x: tensor<?xf32> {plim.bounds = [{min = 1, max = 16}]}, %i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %one = arith.constant 1.0 : f32
  %g = tensor.insert %one into %f[%i] : tensor<?xf32>
  %h = linalg.add ins(%g, %f : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = tensor.extract %h[%i] : tensor<?xf32>
  return %r : f32
}
""", """
int run_case(void) {
  static float x[CASE_MAIN_X_MOST_ELEMENTS];
  static _Alignas(CASE_WORKSPACE_ALIGNMENT) uint8_t memory[CASE_WORKSPACE_BYTES];
  const struct case_workspaces workspaces = {memory};
  float r = 0;
  SHOW(CASE_MAIN_X_MOST_ELEMENTS) SHOW(CASE_WORKSPACE_BYTES >= 128)
  SHOW(case_main(&workspaces, x, 16, 15, &r)) SHOW(r)
  SHOW(case_main(&workspaces, x, 17, 15, &r) == CASE_INVALID_ARGUMENT) SHOW(case_main(&workspaces, x, 0, 0, &r) == CASE_INVALID_ARGUMENT)
  return 0;
}
""", "16 1 0 2 1 1 "),
    "extents for functions of the program, and of donated arguments": ("""
func.func private @halve(tensor<?x2xi32> {plim.donate = 0 : index}) -> tensor<?x2xi32>
func.func private @count(tensor<?xi32>) -> i32
func.func @main(%x: tensor<?x2xi32> {plim.donate = 0}, %y: tensor<?xi32>) -> (tensor<?x2xi32>, i32) {
  %r = func.call @halve(%x) : (tensor<?x2xi32>) -> tensor<?x2xi32>
  %s = func.call @count(%y) : (tensor<?xi32>) -> i32
  return %r, %s : tensor<?x2xi32>, i32
}
""", """
int32_t halve(int32_t *argument0, int64_t argument0_extent0) {
  for (int64_t i = 0; i < 2 * argument0_extent0; ++i)
    argument0[i] /= 2;
  return 0;
}
int32_t count(const int32_t *argument0, int64_t argument0_extent0, int32_t *result0) {
  *result0 = argument0[argument0_extent0 - 1];
  return 0;
}
int run_case(void) {
  int32_t x[6] = {2, 4, 6, 8, 10, 12}, s = 0;
  const int32_t y[3] = {7, 8, 9};
  int64_t n = 0;
  SHOW(case_main(x, 3, y, 2, &n, &s)) SHOW(n) SHOW(x[0]) SHOW(x[5]) SHOW(s)
  return 0;
}
""", "0 3 1 6 8 "),
    "buffers that extents give no memory": ("""
func.func @main(%x: tensor<?xf32>, %k: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.subi %n, %k : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %g = tensor.insert %one into %f[%c0] : tensor<?xf32>
  %h = linalg.add ins(%g, %f : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = tensor.extract %h[%c0] : tensor<?xf32>
  return %r : f32
}
""", """
int run_case(void) {
  static float x[8];
  static _Alignas(CASE_WORKSPACE_ALIGNMENT) uint8_t memory[1024];
  const struct case_workspaces workspaces = {memory, sizeof memory};
  float r = 0;
  SHOW(case_main(&workspaces, x, 8, 3, &r)) SHOW(r) SHOW(case_main(&workspaces, x, 8, 9, &r) != 0)
  return 0;
}
""", "0 2 1 "),
    "extents of buffers of kernels": ("""
func.func @double(%x: memref<?x?xi32>, %y: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xi32>
  %n = memref.dim %x, %c1 : memref<?x?xi32>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %a = memref.load %x[%i, %j] : memref<?x?xi32>
      %b = arith.addi %a, %a : i32
      memref.store %b, %y[%i, %j] : memref<?x?xi32>
    }
  }
  return
}
""", """
int run_case(void) {
  const int32_t x[6] = {1, 2, 3, 4, 5, 6};
  int32_t y[7] = {0};
  SHOW(case_double(x, 2, 3, y, 2, 3)) SHOW(y[0]) SHOW(y[5]) SHOW(y[6])
  return 0;
}
""", "0 2 12 0 "),
}

REFUSED = {
    "func.func @main(%x: memref<?xf32, strided<[?]>>) {\n  return\n}":
        "'main' cannot be exported: argument #0, ?xf32 with strides [?], has a stride that is not known",
}
