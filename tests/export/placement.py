"""Cases of features.py about where buffers and constants are: each with its C program, what that prints, the machine, and options of the export.

docs/design/placement.md says what each stands for."""

SUM = "\n".join(f"""  %e{i} = tensor.empty() : tensor<100xf32>
  %f{i} = linalg.exp ins(%f{i - 1} : tensor<100xf32>) outs(%e{i} : tensor<100xf32>) -> tensor<100xf32>
  %g{i} = tensor.insert %one into %f{i}[%i] : tensor<100xf32>""" for i in range(1, 9))
SUM_OF_ALL = "\n".join(f"""  %s{i} = linalg.add ins(%s{i - 1}, %g{i} : tensor<100xf32>, tensor<100xf32>) outs(%e : tensor<100xf32>) -> tensor<100xf32>"""
                       for i in range(1, 9))

CASES = {
    "allocations that each keep to the limit of one, and together to that of the call": (f"""
func.func @main(%f0: tensor<100xf32>, %i: index) -> tensor<100xf32> {{
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
{SUM}
{SUM_OF_ALL}
  return %s8 : tensor<100xf32>
}}
""", """
int run_case(void) {
  static float x[100], y[100];
  static _Alignas(CASE_WORKSPACE_ALIGNMENT) uint8_t memory[CASE_WORKSPACE_BYTES];
  const struct case_workspaces workspaces = {memory};
  for (int i = 0; i < 100; ++i) x[i] = -100.0f;
  SHOW(case_main(&workspaces, x, 5, y)) SHOW(y[5]) SHOW(CASE_MAIN_STACK_BYTES <= 2048) SHOW(CASE_WORKSPACE_BYTES >= 800)
  return 0;
}
""", "0 8 1 1 ", "cortex-m7"),
    "buffers that prefer one memory, and have room in another": ("""
func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %a = memref.alloc() {plim.candidate_pools = ["dtcm", "sram"]} : memref<64xf32>
  %b = memref.alloc() {plim.candidate_pools = ["dtcm", "sram"]} : memref<64xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<64xf32>
    %w = arith.addf %v, %v : f32
    %j = arith.subi %n, %i : index
    %k = arith.subi %j, %c1 : index
    memref.store %v, %a[%k] : memref<64xf32>
    memref.store %w, %b[%k] : memref<64xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %a[%i] : memref<64xf32>
    %w = memref.load %b[%i] : memref<64xf32>
    %s = arith.addf %v, %w : f32
    memref.store %s, %y[%i] : memref<64xf32>
  }
  memref.dealloc %a : memref<64xf32>
  memref.dealloc %b : memref<64xf32>
  return
}
""", """
static _Alignas(CASE_DTCM_ALIGNMENT) uint8_t dtcm[CASE_DTCM_BYTES];
static _Alignas(CASE_SRAM_ALIGNMENT) uint8_t sram[CASE_SRAM_BYTES];
int run_case(void) {
  static float x[64], y[64];
#ifdef CASE_WORKSPACE_BYTES
  static _Alignas(CASE_WORKSPACE_ALIGNMENT) uint8_t workspace[CASE_WORKSPACE_BYTES];
#endif
  const struct case_workspaces workspaces = {
#ifdef CASE_WORKSPACE_BYTES
      .workspace = workspace,
#endif
      .dtcm = dtcm,
      .sram = sram,
  };
  x[0] = 1, x[60] = 2;
  SHOW(case_main(&workspaces, x, y)) SHOW(y[3]) SHOW(y[63]) SHOW(CASE_DTCM_BYTES) SHOW(CASE_SRAM_BYTES)
  return 0;
}
""", "0 6 3 256 256 ", "cortex-m55", "--set", "memories.dtcm.bytes=300"),
    "a splat is a number, not a constant in memory": ("""
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %c = arith.constant dense<3.0> : tensor<1024xf32>
  %r = arith.addf %x, %c : tensor<1024xf32>
  return %r : tensor<1024xf32>
}
""", """
int run_case(void) {
  static float x[1024], y[1024];
  SHOW(case_main(x, y)) SHOW(y[1023])
  return 0;
}
""", "0 3 ", "cortex-m7"),
    "structs that a function has no use for are none of its parameters": ("""
ml_program.global private @w(#ml_program.extern<tensor<2xi32>>) : tensor<2xi32>
func.func @weighs(%x: tensor<2xi32>) -> tensor<2xi32> {
  %w = ml_program.global_load_const @w : tensor<2xi32>
  %r = arith.muli %x, %w : tensor<2xi32>
  return %r : tensor<2xi32>
}
func.func @neither(%x: i32) -> i32 {
  %r = arith.addi %x, %x : i32
  return %r : i32
}
""", """
int run_case(void) {
  int32_t n = 0, y[2] = {0, 0};
  const int32_t w[2] = {3, 4}, x[2] = {5, 6};
  const struct case_parameters parameters = {w};
  enum case_status (*const weighs)(const struct case_parameters *, const int32_t *, int32_t *) = case_weighs;
  enum case_status (*const neither)(int32_t, int32_t *) = case_neither;
  SHOW(weighs(&parameters, x, y)) SHOW(y[1]) SHOW(neither(4, &n)) SHOW(n)
  return 0;
}
""", "0 24 0 8 ", "cortex-m7"),
}

# With the device of examples/microcontroller, which does not reach dtcm.
DEVICES = {
    "a buffer of two devices is where both reach": ("""
func.func @main(%a: tensor<2x2xi8>, %b: tensor<2x2xi8>, %i: index) -> tensor<2x2xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x2xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<2x2xi32>) -> tensor<2x2xi32>
  %to = bufferization.alloc_tensor() {plim.candidate_pools = ["dtcm", "sram"]} : tensor<2x2xi8>
  %row = tensor.extract_slice %a[%i, 0] [1, 2] [1, 1] : tensor<2x2xi8> to tensor<1x2xi8>
  %h = tensor.insert_slice %row into %to[0, 0] [1, 2] [1, 1] : tensor<1x2xi8> into tensor<2x2xi8>
  %k = tensor.insert_slice %row into %h[1, 0] [1, 2] [1, 1] : tensor<1x2xi8> into tensor<2x2xi8>
  %r = linalg.matmul {plim.device = "ethos-u55"} ins(%k, %b : tensor<2x2xi8>, tensor<2x2xi8>) outs(%f : tensor<2x2xi32>) -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
""", """
static int32_t run(void *context, const void *code, size_t bytes, void *const *buffers, size_t count) {
  (void)code;
  const int8_t *a = buffers[0], *b = buffers[1];
  int32_t *c = buffers[2];
  *(int *)context = (const uint8_t *)a == sram && sizeof sram == 4 && bytes == 12 && count == 3;
  for (int i = 0; i < 4; ++i)
    c[i] = a[i / 2 * 2] * b[i % 2] + a[i / 2 * 2 + 1] * b[2 + i % 2];
  return 0;
}
int run_case(void) {
  int isReached = 0;
  const struct keywords_devices devices = {{&isReached, NULL, NULL, run, NULL, NULL}};
  const int8_t a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  int32_t c[4] = {0};
  const struct keywords_workspaces workspaces = {
#ifdef KEYWORDS_WORKSPACE_BYTES
      .workspace = workspace,
#endif
      .sram = sram,
  };
  SHOW(keywords_main(&workspaces, &devices, a, b, 1, c)) SHOW(isReached) SHOW(c[0]) SHOW(c[3])
  return 0;
}
""", "0 1 43 50 "),
}
HEAD = """
static _Alignas(KEYWORDS_SRAM_ALIGNMENT) uint8_t sram[KEYWORDS_SRAM_BYTES];
#ifdef KEYWORDS_WORKSPACE_BYTES
static _Alignas(KEYWORDS_WORKSPACE_ALIGNMENT) uint8_t workspace[KEYWORDS_WORKSPACE_BYTES];
#endif
"""
DEVICES = {title: (source, HEAD + program, want) for title, (source, program, want) in DEVICES.items()}


def faults(title, sections):
    """What is wrong with the object's sections, as llvm-readelf prints them: for cases that say so."""
    import re
    rows = re.findall(r"\] (\S+) +\w+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)", sections)
    size = sum(int(bytes, 16) for name, bytes in rows if name.startswith(".rodata"))
    return f"{size} bytes of constants" if "splat" in title and size > 256 else ""
